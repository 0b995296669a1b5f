"""What the controls and charts of a forecast's report do."""

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import report_cases

from calibrant.reports.page import number

pytestmark = pytest.mark.browser


@pytest.fixture
def file(saved):
    return saved(report_cases.usual)


@pytest.fixture
def data(file, data_of):
    return data_of(file)


def percent(share):
    return f"{100 * share:.1f}%"


def path(page, selector):
    """The points of a drawn path, in pixels."""
    d = page.locator(selector).get_attribute("d")
    return np.array([[float(v) for v in point.split()] for point in re.findall(r"[-\d.]+ [-\d.]+", d)])


def is_a_picture_of(pixels, values):
    """Whether pixels are an affine map of values: what any linear axis draws."""
    values, pixels = np.asarray(values, float), np.asarray(pixels)
    slope, offset = np.polyfit(values, pixels, 1)
    return abs(slope * values + offset - pixels).max() < 0.1


def interval(distribution, coverage):
    k = round(100 * coverage)
    return distribution["q"][99 - k], distribution["q"][99 + k]


def sampled(data):
    """The places of the rows that the chart of intervals shows."""
    return [k for k, row in enumerate(data["rows"]) if row["sample"]]


def table(page, chart):
    page.locator(f"#{chart} details summary").click()
    page.locator(f"#{chart} tbody tr").first.wait_for()
    return [row.split("\t") for row in page.locator(f"#{chart} tbody").inner_text().splitlines()]


def ticks(page, chart, axis="x"):
    return page.locator(f"#{chart} .ticks.{axis} text").all_text_contents()


def middle_of(page, selector):
    box = page.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


# The slider


@pytest.mark.parametrize("coverage", [0.5, 0.8])
def test_the_slider_changes_the_sentence_the_bars_and_the_shading(visit, file, data, coverage):
    page = visit(file)
    shading = page.locator("#density .plot .layer.band path").get_attribute("d")
    page.get_by_label("Coverage", exact=True).fill(str(round(100 * coverage)))
    k = round(100 * coverage) - 1
    after, before = data["slices"][0]["after"], data["slices"][0]["before"]
    assert page.locator("#sentence").inner_text() == (
        f"The {coverage:.0%} interval holds {percent(after['covered'][k])} of the labels "
        f"(before: {percent(before['covered'][k])}) and is {number(after['width'][k])} wide on average "
        f"(before: {number(before['width'][k])})."
    )
    rows = [data["rows"][k] for k in sampled(data)]
    ends = sorted((interval(row["after"], coverage) for row in rows), key=lambda end: end[1] - end[0])
    middles = {interval(row["after"], coverage): row["after"]["q"][99] for row in rows}
    ends = [[lower - middles[lower, upper], upper - middles[lower, upper]] for lower, upper in ends]
    drawn = page.locator("#intervals .plot .stems line").evaluate_all(
        "lines => lines.map(line => [line.y1.baseVal.value, line.y2.baseVal.value])"
    )
    assert is_a_picture_of(np.ravel(drawn), np.ravel(ends))
    assert page.locator("#density .plot .layer.band path").get_attribute("d") != shading
    chosen = interval(data["rows"][0]["after"], coverage)
    shaded = path(page, "#density .plot .layer.band path")[:, 0]
    cdf = path(page, "#cdf .plot .line.after path")
    strip = page.locator("#cdf .plot .strip rect").bounding_box()
    quantiles = np.interp(chosen, data["rows"][0]["after"]["q"], cdf[:, 0])
    assert strip["width"] == pytest.approx(np.ptp(quantiles), abs=1)
    assert np.ptp(shaded) == pytest.approx(np.ptp(quantiles), rel=0.02)


def test_the_slider_listens_to_the_keyboard(visit, file, data):
    page = visit(file)
    slider = page.get_by_label("Coverage", exact=True)
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator("#coverage-text").inner_text() == "89%"
    assert slider.get_attribute("aria-valuetext") == "89%"
    assert percent(data["slices"][0]["after"]["covered"][88]) in page.locator("#sentence").inner_text()
    page.keyboard.press("End")
    assert page.locator("#coverage-text").inner_text() == "99%"


def test_a_click_on_the_coverage_chart_moves_the_slider(visit, file):
    page = visit(file)
    page.locator("#reached svg[role=application]").scroll_into_view_if_needed()
    left, right = path(page, "#reached .plot .line.after path")[[0, -1], 0]
    box = page.locator("#reached svg[role=application]").bounding_box()
    page.mouse.click(box["x"] + (left + right) / 2, box["y"] + 100)
    assert page.locator("#coverage-text").inner_text() == "50%"


def test_the_coverage_of_counts_is_said_to_lie_above_the_diagonal(visit, saved, file):
    said = "an interval holds whole values, so it reaches more than its nominal coverage."
    assert visit(saved(report_cases.counts)).locator("#reached .summary").inner_text().endswith(said)
    assert said not in visit(file).locator("#reached .summary").inner_text()


# The rows


def test_the_row_picker_changes_the_density_and_the_cdf_to_those_of_the_row(visit, file, data):
    page = visit(file)
    first = path(page, "#density .plot .line.after path")
    page.get_by_label("Row", exact=True).select_option(index=7)
    row = data["rows"][7]
    for series in ("after", "before"):
        distribution = row[series]
        width = (distribution["to"] - distribution["from"]) / len(distribution["density"])
        density = path(page, f"#density .plot .line.{series} path")
        assert is_a_picture_of(density[:, 1], distribution["density"])
        assert is_a_picture_of(density[:, 0], distribution["from"] + width * (np.arange(len(density)) + 0.5))
        cdf = path(page, f"#cdf .plot .line.{series} path")
        assert is_a_picture_of(cdf[:, 0], distribution["q"])
        assert is_a_picture_of(cdf[:, 1], data["levels"])
    assert path(page, "#density .plot .line.after path").tolist() != first.tolist()
    lower, upper = interval(row["after"], data["coverage"])
    text = page.locator("#row-text").inner_text()
    assert text.startswith(f"Row {row['row']}: demand = {number(row['y'])}, ")
    assert f"90% interval {number(lower)} to {number(upper)}" in text
    assert f"P(Y ≤ y) = {number(row['pit'], 3)}" in text


def test_next_and_previous_go_from_row_to_row(visit, file, data):
    page = visit(file)
    assert page.get_by_role("button", name="Previous row").is_disabled()
    page.get_by_role("button", name="Next row").click()
    assert page.locator("#row-text").inner_text().startswith(f"Row {data['rows'][1]['row']}:")
    page.get_by_role("button", name="Previous row").click()
    assert page.locator("#row-text").inner_text().startswith(f"Row {data['rows'][0]['row']}:")


def test_a_row_is_chosen_in_the_chart_of_intervals_by_click_and_by_enter(visit, file, data):
    page = visit(file)
    order = sorted(sampled(data), key=lambda k: np.diff(interval(data["rows"][k]["after"], 0.9))[0])
    page.locator("#intervals svg[role=application]").scroll_into_view_if_needed()
    page.mouse.click(*middle_of(page, "#intervals .plot .stems line:nth-child(31)"))
    assert page.locator("#row-text").inner_text().startswith(f"Row {data['rows'][order[30]]['row']}:")
    page.locator("#intervals svg[role=application]").focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    assert page.locator("#row-text").inner_text().startswith(f"Row {data['rows'][order[-1]]['row']}:")
    assert page.get_by_label("Row", exact=True).input_value() == str(order[-1])


def test_labels_outside_their_interval_are_crosses_and_the_table_agrees(visit, file, data):
    page = visit(file)
    page.get_by_label("Coverage", exact=True).fill("50")
    shown = [data["rows"][k] for k in sampled(data)]
    ends = [interval(row["after"], 0.5) for row in shown]
    out = [row["y"] for row, (lower, upper) in zip(shown, ends, strict=True) if not lower <= row["y"] <= upper]
    assert page.locator("#intervals .plot .layer.miss path").count() == len(out)  # crosses, and arrows at the edge
    assert f"{len(out)} of their labels lie outside" in page.locator("#intervals .summary").inner_text()
    rows = table(page, "intervals")
    assert sorted(row[1] for row in rows if row[4] == "outside") == sorted(map(number, out))
    page.get_by_label("Before", exact=True).check()
    assert page.locator("#intervals .plot .stems.before line").count() == len(shown)


# The groups


def test_the_group_filter_changes_the_charts_the_sentence_and_the_rows_offered(visit, file, data):
    page = visit(file)
    index = next(i for i, one in enumerate(data["slices"]) if one["value"] == "south")
    page.get_by_label("Rows", exact=True).select_option(str(index))
    one = data["slices"][index]
    sentence = page.locator("#sentence").inner_text()
    assert sentence.startswith(f"region: south ({number(one['m'])} rows): the 90% interval holds ")
    assert percent(one["after"]["covered"][89]) in sentence
    bars = page.locator("#pit .plot .bars rect").evaluate_all("all => all.map(bar => bar.height.baseVal.value)")
    assert is_a_picture_of(bars, one["after"]["pit"])
    deviation = path(page, "#deviation .plot .line.after path")[:, 1]
    assert is_a_picture_of(deviation, np.subtract(one["after"]["below"], data["levels"]))
    assert is_a_picture_of(path(page, "#width .plot .line.before path")[:, 1], one["before"]["width"])
    offered = page.locator("#row option").evaluate_all("all => all.map(one => Number(one.value))")
    assert offered == [i for i, row in enumerate(data["rows"]) if index in row["slices"]]
    assert 0 < len(offered) < len(data["rows"])
    shown = [i for i in offered if data["rows"][i]["sample"] or i not in data["misses"]]
    assert page.locator("#intervals .plot .stems line").count() == len(shown)


def test_the_groups_stand_under_the_name_of_their_grouping(visit, file, data):
    page = visit(file)
    assert page.locator("#group > option").all_text_contents() == [f"all rows ({number(data['m'])})"]
    names = page.locator("#group > optgroup").evaluate_all("all => all.map(one => one.label)")
    assert names == list(dict.fromkeys(one["by"] for one in data["slices"][1:]))
    assert page.locator("#group option").count() == len(data["slices"])


def in_order(data):
    """The groups as they stand: under their grouping, the largest gap first."""
    by = list(dict.fromkeys(one["by"] for one in data["slices"]))
    return sorted(data["slices"], key=lambda one: (by.index(one["by"]), -abs(one["interval"]["share"] - 0.9)))


def test_each_group_has_a_small_histogram_of_its_pits(visit, file, data):
    page = visit(file)
    bars = page.locator("#groups .plot .aside .share, #groups .plot .aside .off")
    slices = in_order(data)
    assert bars.count() == sum(len(one["after"]["pit"]) for one in slices)
    heights = bars.evaluate_all("all => all.map(bar => bar.height.baseVal.value)")
    first = len(slices[0]["after"]["pit"])
    assert is_a_picture_of(heights[:first], slices[0]["after"]["pit"])
    off = sum(not one["band"]["pit"][0] <= c <= one["band"]["pit"][1] for one in slices for c in one["after"]["pit"])
    assert page.locator("#groups .plot .aside .off").count() == off


def test_coverage_by_group_shows_the_share_of_each_and_a_click_filters(visit, file, data):
    page = visit(file)
    dots = page.locator("#groups .plot .dots.after circle").evaluate_all("all => all.map(dot => dot.cx.baseVal.value)")
    slices = in_order(data)
    assert is_a_picture_of(dots, [one["after"]["covered"][89] for one in slices])
    ranges = page.locator("#groups .plot .ranges rect").evaluate_all(
        "all => all.map(one => [one.x.baseVal.value, one.x.baseVal.value + one.width.baseVal.value])"
    )
    bands = [[one["interval"]["low"], one["interval"]["high"]] for one in slices]
    assert is_a_picture_of(
        [*np.ravel(ranges), *dots], [*np.ravel(bands), *(one["interval"]["share"] for one in slices)]
    )
    first = table(page, "groups")[0]
    low, high = map(percent, bands[0])
    assert first[-2:] == [low, high]
    page.get_by_label("Coverage", exact=True).fill("50")  # not that of the verdict
    assert page.locator("#groups .plot .ranges").count() == 0
    assert "is shown at 90%, the coverage of the verdict" in page.locator("#groups .summary").inner_text()
    page.get_by_label("Coverage", exact=True).fill("90")
    page.locator("#groups svg[role=application]").scroll_into_view_if_needed()
    page.mouse.click(*middle_of(page, "#groups .plot .layer.dots.after circle:nth-child(3)"))
    assert page.locator("#group").input_value() == str(data["slices"].index(slices[2]))


# Reading and zooming


def test_pointer_and_arrow_keys_read_the_values(visit, file, data):
    page = visit(file)
    after, before = (data["slices"][0][series]["pit"] for series in ("after", "before"))
    low, high = data["slices"][0]["band"]["pit"]

    def said(i):
        counts = f"after {number(after[i])}, before {number(before[i])} rows"
        ends = f"{number(i / 20)} to {number((i + 1) / 20)}"
        return f"H(y) from {ends}: {counts}; expected {number(low)} to {number(high)}"

    readout = page.locator("#pit .readout")
    page.locator("#pit svg[role=application]").scroll_into_view_if_needed()
    page.mouse.move(*middle_of(page, "#pit .plot .bars rect:nth-child(4)"))
    assert readout.inner_text() == said(3)
    page.mouse.move(0, 0)
    assert readout.inner_text() == ""
    page.locator("#pit svg[role=application]").focus()
    for key, i in (("ArrowRight", 0), ("ArrowRight", 1), ("ArrowLeft", 0), ("End", 19), ("Home", 0)):
        page.keyboard.press(key)
        assert readout.inner_text() == said(i)
    assert readout.get_attribute("aria-live") == "polite"


def test_zoom_changes_the_axis_and_reset_restores_it(visit, file):
    page = visit(file)
    for chart in ("pit", "deviation", "groups"):
        whole = ticks(page, chart)
        zoomed = []
        chart_svg = page.locator(f"#{chart} svg[role=application]")

        def at(across, down, chart_svg=chart_svg):
            """A place on the chart, wherever the clicks before have scrolled it to."""
            box = chart_svg.bounding_box()
            return box["x"] + box["width"] * across, box["y"] + down

        def restored(chart=chart, whole=whole, zoomed=zoomed):
            zoomed.append(ticks(page, chart))
            assert zoomed[-1] != whole
            page.get_by_role("button", name="Reset zoom").and_(page.locator(f"#{chart} button")).click()
            assert ticks(page, chart) == whole

        page.locator(f"#{chart} button").first.click()
        restored()
        page.mouse.move(*at(0.6, 90))
        page.mouse.down()
        page.mouse.move(*at(0.8, 120), steps=3)
        page.mouse.up()
        restored()
        chart_svg.focus()
        page.keyboard.press("+")
        restored()
        page.mouse.move(*at(0.7, 90))
        page.keyboard.down("Control")
        page.mouse.wheel(0, -300)
        page.wait_for_function(
            "([name, text]) => document.querySelector(name).textContent !== text",
            arg=[f"#{chart} .ticks.x", "".join(whole)],
        )
        page.keyboard.up("Control")
        restored()
    chart_svg.focus()
    page.keyboard.press("+")
    page.keyboard.press("0")
    assert ticks(page, chart) == whole


def test_a_zoomed_chart_follows_the_arrow_keys(visit, file):
    page = visit(file)
    page.locator("#pit button").first.click()
    page.locator("#pit svg[role=application]").focus()
    assert "0.00" not in ticks(page, "pit")
    page.keyboard.press("Home")
    assert "0.00" in ticks(page, "pit")


def test_a_finger_reads_values_and_leaves_scrolling_alone(visit, file):
    page = visit(file, width=390, has_touch=True)
    chart = page.locator("#deviation svg[role=application]")
    chart.scroll_into_view_if_needed()
    page.touchscreen.tap(*middle_of(page, "#deviation svg[role=application]"))
    assert page.locator("#deviation .readout").inner_text().startswith("level 0.")
    assert chart.evaluate("svg => getComputedStyle(svg).touchAction") == "pan-y"


# Over time


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_time_is_drawn_read_and_tabled_with_the_numbers_of_the_verdict(visit, saved, data_of, width, scheme):
    file = saved(report_cases.drifting)
    page, periods = visit(file, width=width, color_scheme=scheme), data_of(file)["time"]
    assert [each["off"] for each in periods] == [False] * 7 + [True] * 3
    assert "since 2024-05-20 the forecasts are too low" in page.locator("section[aria-labelledby=in-time]").inner_text()
    for chart, number_of, ends in (
        ("time-coverage", lambda each, side: each[side]["covered"], lambda each: each["band"]),
        ("time-pit", lambda each, side: each[side]["gap"], lambda each: [0, each["allowed"]]),
    ):
        line = path(page, f"#{chart} .plot .layer.line.after path")
        band = path(page, f"#{chart} .plot .layer.band path")
        upper = [value for each in periods for value in [ends(each)[1]] * 2]
        lower = [value for each in reversed(periods) for value in [ends(each)[0]] * 2]
        drawn = [number_of(each, "after") for each in periods]
        assert is_a_picture_of([*line[:, 1], *band[:, 1]], [*drawn, *upper, *lower])  # one scale for both
        assert page.locator(f"#{chart} .plot .layer.dots.miss path.cross").count() == 3
        assert page.locator(f"#{chart} .plot .layer.dots.before rect").count() == 10
        rows = table(page, chart)
        assert [row[:3] for row in rows] == [[each["from"], each["to"], number(each["m"])] for each in periods]
        assert [row[-1] for row in rows] == ["within chance"] * 7 + ["too low"] * 3
        shown = ticks(page, chart)
        assert shown[0] == "2024-01-01"
        assert set(shown) <= {each["from"] for each in periods}
        texts = page.locator(f"#{chart} .ticks.x text").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect()).map(box => [box.left, box.right])"
        )
        assert all(left[1] < right[0] for left, right in pairwise(texts))
        assert texts[-1][1] <= width
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_the_keyboard_reads_the_periods(visit, saved, data_of):
    file = saved(report_cases.drifting)
    page, periods = visit(file), data_of(file)["time"]
    page.locator("#time-coverage svg[role=application]").focus()
    page.keyboard.press("End")
    last = periods[-1]
    low, high = map(percent, last["band"])
    shares = f"after {percent(last['after']['covered'])}, before {percent(last['before']['covered'])}"
    assert page.locator("#time-coverage .readout").inner_text() == (
        f"{last['from']} to {last['to']} (200 rows): coverage {shares}; chance allows {low} to {high}; too low"
    )
    page.locator("#time-pit svg[role=application]").focus()
    page.keyboard.press("Home")
    said = page.locator("#time-pit .readout").inner_text()
    first = periods[0]
    assert f"PIT deviation after {first['after']['gap']:.3f}" in said
    assert f"chance allows up to {first['allowed']:.3f}; mean PIT {first['after']['mean']:.3f}; within chance" in said


def test_a_page_without_time_has_no_such_section(visit, file):
    assert visit(file).locator("#time-coverage, #in-time").count() == 0


# Atoms and counts


def test_an_atom_is_a_stem_with_its_probability_and_the_density_has_a_scale_of_its_own(visit, saved, data_of):
    file = saved(report_cases.rain)
    page, rows = visit(file), data_of(file)["rows"]
    k = next(k for k, row in enumerate(rows) if 0.2 < row["after"].get("atoms", [[0, 0]])[0][1] < 0.6)
    ((at, share),) = rows[k]["after"]["atoms"]
    assert at == 0
    page.get_by_label("Row", exact=True).select_option(index=k)
    stem = page.locator("#density .plot .layer.atoms.after rect").bounding_box()
    other = page.locator("#density .plot .layer.atoms.before rect").bounding_box()
    whole = page.locator("#density .plot .rule.label-mark line").bounding_box()  # from the foot to the top
    assert stem["height"] / whole["height"] == pytest.approx(share, abs=0.02)
    assert other["height"] / whole["height"] == pytest.approx(rows[k]["before"]["atoms"][0][1], abs=0.02)
    assert stem["y"] + stem["height"] == pytest.approx(whole["y"] + whole["height"], abs=1)
    assert page.locator("#density .plot .layer.atoms.after text").text_content() == number(share, 2)
    assert f"after P(rain = 0) = {number(share, 3)}" in page.locator("#density .legend").inner_text()
    line = path(page, "#density .plot .line.after path")
    density = rows[k]["after"]["density"]
    assert is_a_picture_of(line[:, 1], density)
    assert np.ptp(line[:, 1]) > 100  # pixels: the atom does not flatten the density
    page.locator("#density svg[role=application]").focus()
    said = []
    for _ in range(20):
        page.keyboard.press("ArrowRight")
        said.append(page.locator("#density .readout").inner_text())
    assert any(f"rain = 0: probability of this value after {number(share, 3)}, before" in text for text in said)
    assert ["0", "probability", number(share, 3)] in [row[:3] for row in table(page, "density")]
    assert "The stem is a feature of the forecast" in page.locator("body").inner_text()


def test_counts_are_probabilities_and_the_bars_of_an_interval_are_shaded_whole(visit, saved, data_of):
    file = saved(report_cases.counts)
    page, row = visit(file), data_of(file)["rows"][0]
    text = page.locator("#density").inner_text()
    assert "Probabilities of the chosen row" in text
    assert "density" not in text.lower()
    lower, upper = interval(row["after"], 0.9)
    shading = path(page, "#density .plot .layer.band path")[:, 0]
    line = path(page, "#density .plot .line.after path")[:, 0]
    at = np.interp([lower - 0.5, upper + 0.5], [row["after"]["from"], row["after"]["to"]], [line[0], line[-1]])
    assert [shading.min(), shading.max()] == pytest.approx(list(at), abs=0.1)
    first = row["after"]["from"] + 0.5
    shares = {int(cells[0]): cells[1] for cells in table(page, "density") if cells[0].isdigit()}
    assert shares[3] == number(row["after"]["density"][int(3 - first)], 3)
    assert "spikes" not in page.locator("body").inner_text()
    assert page.locator("#density .plot .line.before path").count() == 1  # rates of counts are a Poisson distribution


# Other forecasts


def test_a_forecast_without_a_base_is_shown_alone(visit, saved):
    page = visit(saved(report_cases.alone))
    assert "before" not in page.locator("body").inner_text().lower()
    assert page.locator("#pit .plot .bars rect").count() == 10  # of 300 rows


def test_a_base_that_is_no_distribution_is_marked_in_the_row(visit, saved, data_of):
    file = saved(report_cases.points)
    page = visit(file)
    assert page.locator("#density .plot .rule.before line").count() == 1
    assert "before" in page.locator("#density .legend").inner_text()
    point = data_of(file)["rows"][0]["before"]["marks"][0]["at"]
    assert f"(before: point {number(point)})" in page.locator("#row-text").inner_text()
    assert page.locator("#shown").is_hidden()


def test_intervals_without_end_are_said_to_be_infinite(visit, saved):
    page = visit(saved(report_cases.infinite))
    page.get_by_label("Coverage", exact=True).fill("99")
    assert "is infinitely wide on average" in page.locator("#sentence").inner_text()
    assert "−∞ to ∞" in page.locator("#row-text").inner_text()
    page.get_by_label("Coverage", exact=True).fill("50")
    assert "∞" not in page.locator("#sentence").inner_text()


def test_one_row_makes_a_report(visit, saved):
    page = visit(saved(report_cases.one_row))
    assert page.locator("#row option").count() == 1
    assert page.get_by_role("button", name="Next row").is_disabled()


def test_numbers_far_from_zero_are_told_apart(visit, saved, data_of):
    file = saved(report_cases.far)
    page = visit(file)
    row = data_of(file)["rows"][0]
    lower, upper = interval(row["after"], 0.9)
    point = row["before"]["marks"][0]["at"]
    assert upper - lower == pytest.approx(0.0329, abs=1e-4)
    assert f"{lower:,.3f} to {upper:,.3f} (before: point {point:,.3f});" in page.locator("#row-text").inner_text()
    page.locator("#density svg[role=application]").focus()
    said = []
    for _ in range(2):
        page.keyboard.press("ArrowRight")
        said.append(page.locator("#density .readout").inner_text().split(":")[0])
    page.keyboard.press("End")
    assert said[0] != page.locator("#density .readout").inner_text().split(":")[0]


def test_a_page_one_comes_back_to_shows_what_its_controls_say(visit, file):
    page = visit(file)
    page.get_by_label("Coverage", exact=True).fill("50")
    page.get_by_label("Rows", exact=True).select_option("1")
    page.get_by_label("Before", exact=True).check()
    page.get_by_label("Dark", exact=True).check()
    page.goto("data:text/html,")
    page.go_back()
    page.wait_for_selector("html[data-ready=true]", state="attached")
    page.wait_for_timeout(100)
    slider = page.get_by_label("Coverage", exact=True).input_value()
    assert page.locator("#coverage-text").inner_text() == f"{slider}%"
    kept = page.get_by_label("Before", exact=True).is_checked()
    assert page.locator("#intervals .plot .stems.before").count() == kept
    assert page.locator("html[data-theme=dark]").count() == page.get_by_label("Dark", exact=True).is_checked()
    one = page.locator("#group").input_value() != "0"
    assert page.locator("#sentence").inner_text().startswith("The ") is not one


# The first screen


@pytest.mark.few
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")])
@pytest.mark.parametrize(("case", "kind"), [(report_cases.usual, "good"), (report_cases.narrow, "bad")])
def test_the_verdict_stands_on_the_first_screen(visit, saved, width, scheme, case, kind):
    page = visit(saved(case), width=width, color_scheme=scheme)
    box = page.locator(".tiles").bounding_box()
    assert box["y"] + box["height"] < 900  # above the fold
    headline = page.locator(".headline")
    assert headline.get_attribute("class") == f"headline {kind}"
    ink, paper = (
        page.evaluate(f"getComputedStyle(document.body).getPropertyValue('--{name}')") for name in (kind, "paper")
    )
    assert ink != paper
    assert page.locator(".tile").count() == 4
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_the_tiles_say_what_the_table_and_the_charts_say(visit, saved, data_of):
    file = saved(report_cases.narrow)
    page, one = visit(file), data_of(file)["slices"][0]
    tiles = [list(filter(None, tile.inner_text().split("\n"))) for tile in page.locator(".tile").all()]
    assert tiles[0][:2] == ["90% interval coverage", percent(one["after"]["covered"][89])]
    assert tiles[0][-1] == "too few"
    assert tiles[1][1] == f"{number(one['after']['crps'], 3)} MW"
    assert tiles[2][1] == f"{number(one['after']['width'][89], 3)} MW"
    bars = page.locator(".small .share").evaluate_all("all => all.map(bar => bar.height.baseVal.value)")
    assert is_a_picture_of(bars, one["after"]["pit"])
    low, high = one["band"]["pit"]
    assert page.locator(".small .share.off").count() == sum(not low <= count <= high for count in one["after"]["pit"])
    assert "Not met on these rows." in page.locator("section[aria-labelledby=guarantee]").inner_text()


# Outliers


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_outliers_do_not_squash_the_intervals(visit, saved, data_of, width, scheme):
    file = saved(report_cases.wild)
    page, data = visit(file, width=width, color_scheme=scheme), data_of(file)
    stems = page.locator("#intervals .plot .stems line").evaluate_all(
        "all => all.map(line => Math.abs(line.y1.baseVal.value - line.y2.baseVal.value))"
    )
    assert min(stems) > 90  # pixels
    rows = [data["rows"][k] for k in sampled(data)]
    assert len(rows) == len(stems) == 100
    above = np.array([row["y"] - row["after"]["q"][99] for row in rows])
    limit = (
        1.6
        * np.sort(np.abs([np.subtract(interval(row["after"], 0.9), row["after"]["q"][99]) for row in rows]), None)[179]
    )
    arrows = page.locator("#intervals .plot .layer.miss path:not(.cross)").count()
    assert arrows == (np.abs(above) > limit).sum() > 0
    assert "label beyond the picture" in page.locator("#intervals .legend").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_the_largest_misses_are_a_list_and_a_click_shows_the_row(visit, saved, data_of):
    file = saved(report_cases.wild)
    page, data = visit(file), data_of(file)
    lines = page.locator("#misses tbody tr")
    assert lines.count() == 10
    assert [row.split("\t")[0] for row in lines.all_inner_texts()] == [
        str(data["rows"][k]["row"]) for k in data["misses"]
    ]
    worst = data["rows"][data["misses"][0]]
    crps = [data["rows"][k]["crps"] for k in data["misses"]]
    assert crps == sorted(crps, reverse=True)
    page.get_by_role("button", name=f"Show row {worst['row']}", exact=True).click()
    assert (
        page.locator("#row-text").inner_text().startswith(f"Row {worst['row']}: demand = {number(worst['y'])}, outside")
    )
    line = path(page, "#density .plot .line.after path")
    box = page.locator("#density svg[role=application]").bounding_box()
    assert np.ptp(line[:, 0]) > box["width"] / 3  # a label far away does not squash the density
    assert (
        "→" in page.locator("#density .rules").text_content() or "←" in page.locator("#density .rules").text_content()
    )


def test_a_rough_density_is_smoothed_and_that_is_said(visit, file, data):
    page = visit(file)
    assert data["rows"][0]["after"]["smoothed"]
    assert "smoothed for drawing" in page.locator("#density .summary").inner_text()
    assert "smoothed" not in data["rows"][0]["before"]


# To keep and to send


@pytest.mark.parametrize("width", [1280, 390])
def test_the_state_is_in_the_address_and_survives_a_reload(visit, file, data, width):
    page = visit(file, width=width)
    assert "#" not in page.url
    index = next(i for i, one in enumerate(data["slices"]) if one["value"] == "east & west")
    page.get_by_label("Coverage", exact=True).fill("80")
    page.get_by_label("Rows", exact=True).select_option(str(index))
    page.get_by_role("button", name="Next row").click()
    page.get_by_label("Before", exact=True).check()
    said = [page.locator(f"#{part}").inner_text() for part in ("sentence", "row-text", "coverage-text")]
    address = page.url
    page.reload()
    page.wait_for_selector("html[data-ready=true]", state="attached")
    assert page.url == address
    assert [page.locator(f"#{part}").inner_text() for part in ("sentence", "row-text", "coverage-text")] == said
    assert page.locator("#intervals .plot .stems.before").count() == 1
    page.get_by_label("Coverage", exact=True).fill("90")
    page.get_by_label("Rows", exact=True).select_option("0")
    page.get_by_label("After", exact=True).check()
    page.get_by_label("Row", exact=True).select_option(index=0)
    assert "#" not in page.url  # as it was


@pytest.mark.parametrize(
    "address", ["#main", "#coverage=500&rows=nowhere&row=-3&shown=x", "#coverage=%00&row=%E0%A4%A"]
)
def test_an_address_that_says_nothing_changes_nothing(visit, file, address):
    page = visit(file)
    said = page.locator("#sentence").inner_text(), page.locator("#row-text").inner_text()
    page.evaluate("address => { location.hash = address }", address)
    page.wait_for_timeout(50)
    assert (page.locator("#sentence").inner_text(), page.locator("#row-text").inner_text()) == said


def test_charts_and_tables_can_be_saved(visit, file, data, tmp_path):
    page = visit(file)
    page.locator("#deviation details summary").click()

    def saved_as(kind, name="Deviation from the diagonal"):
        with page.expect_download() as found:
            page.get_by_role("button", name=f"Save as {kind}: {name}", exact=True).click()
        assert found.value.suggested_filename == f"{name.lower().replace(' ', '-')}.{kind.lower()}"
        found.value.save_as(tmp_path / kind)
        return (tmp_path / kind).read_bytes()

    rows = [line.split(",") for line in saved_as("CSV").decode("utf-8-sig").splitlines()]
    assert rows[0] == ["level", "after", "before", "band from", "to"]
    after = np.subtract(data["slices"][0]["after"]["below"], data["levels"])
    assert [float(row[1]) for row in rows[1:]] == pytest.approx(after, abs=6e-4)
    drawing = saved_as("SVG").decode()
    root = ElementTree.fromstring(drawing)
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "Deviation from the diagonal" in texts
    assert "after" in texts
    assert "var(" not in drawing  # it no longer needs the page
    assert saved_as("PNG").startswith(b"\x89PNG")
    whole = saved_as("CSV", "Before and after").decode("utf-8-sig").splitlines()
    assert whole[0].startswith("measure,before,")
    crps = next(line for line in whole if line.startswith("CRPS")).split(",")
    assert float(crps[4]) == pytest.approx(data["slices"][0]["after"]["crps"], rel=1e-4)


def test_what_a_spreadsheet_would_run_is_quoted_and_numbers_are_plain(visit, file):
    page = visit(file)
    with page.expect_download() as found:
        page.evaluate(
            """save.csv("x", {head: ["a,b", "=1+1"], rows: [["−1,234.5", "90.1%", "1×10⁻⁷", "−∞", "–", 0.5]]})"""
        )
    text = Path(found.value.path()).read_text("utf-8-sig").splitlines()
    assert text == ['"a,b",\'=1+1', "-1234.5,0.901,1e-7,-inf,,0.5"]


def test_features_stand_beside_the_chosen_row(visit, file, data):
    page = visit(file)
    page.get_by_label("Row", exact=True).select_option(index=5)
    row = data["rows"][5]
    said = dict(line.split("\n") for line in page.locator("#features div").all_inner_texts())
    assert said == row["features"]
    assert said["id"] == f"shop {row['row']}"


# Several models


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_several_models_stand_in_a_league(visit, saved, width, scheme):
    page = visit(saved(report_cases.several), width=width, color_scheme=scheme)
    lines = page.locator("section[aria-labelledby=models] tbody tr")
    names = [line.split("\n")[0] for line in lines.locator("th").all_inner_texts()]
    assert names == ["calibrated", "base", "rough"]
    crps = [float(line.split("\n")[0]) for line in lines.locator("td:nth-child(2)").all_inner_texts()]
    assert crps == sorted(crps)
    assert lines.locator("td:nth-child(3)").nth(2).inner_text() == "–"  # the first that was named
    assert "better" in lines.locator("td:nth-child(3)").nth(0).inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") == width


def lines_of(page, name):
    """The lines of a table that is saved."""
    with page.expect_download() as found:
        page.get_by_role("button", name=f"Save as CSV: {name}", exact=True).click()
    return [line.split(",") for line in Path(found.value.path()).read_text("utf-8-sig").splitlines()]


def test_models_and_misses_can_be_saved(visit, saved, data_of):
    file = saved(report_cases.several)
    page, data = visit(file), data_of(file)
    head, *models = lines_of(page, "Models")
    assert head[:2] == ["model", "CRPS"]
    assert [line[0] for line in models] == [row[0] for row in data["models"]["rows"]]
    head, *misses = lines_of(page, "Largest misses")
    assert head[0] == "row"
    assert [int(line[0]) for line in misses] == [data["rows"][k]["row"] for k in data["misses"]]


def test_a_table_too_wide_for_a_phone_scrolls_inside_the_page(visit, saved):
    page = visit(saved(report_cases.drifting), width=390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    table = page.locator("#misses .sideways")
    assert table.evaluate("box => box.scrollWidth > box.clientWidth")
    assert "gradient" in table.evaluate("box => getComputedStyle(box).backgroundImage")


def test_a_miss_is_named_by_its_time_too(visit, saved, data_of):
    file = saved(report_cases.drifting)
    page, data = visit(file), data_of(file)
    worst = data["rows"][data["misses"][0]]
    assert page.locator("#misses tbody tr").first.locator("td").first.inner_text() == worst["time"]


def test_the_cdf_of_counts_is_a_staircase(visit, saved):
    page = visit(saved(report_cases.counts))
    steps = np.diff(path(page, "#cdf .plot .line.after path"), axis=0)
    assert (np.abs(steps) < 0.02).any(axis=1).all()
