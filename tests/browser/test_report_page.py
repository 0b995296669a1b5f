"""What the controls and charts of a forecast's report do."""

import csv
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import report_cases

from calibrant.reports.page import number

pytestmark = pytest.mark.browser
AFTER, BEFORE = "after calibration", "before calibration"
LEVELS = np.arange(1, 200) / 200


@pytest.fixture
def file(saved):
    return saved(report_cases.usual)


def data_of(page):
    """What the charts draw: the slices and rows of the page, in numbers."""
    found = page.evaluate("() => ({slices: views.slices, rows: views.rows, ...{misses: page.data.misses}})")
    return found | {"time": page.evaluate("page.data.time")}


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


def interval(row, coverage, series=0):
    k = round(100 * coverage)
    return row["of"][series]["q"][99 - k], row["of"][series]["q"][99 + k]


def sampled(data):
    """The places of the rows in the chart of predictions, from the lowest median on."""
    order = [k for k, row in enumerate(data["rows"]) if row["sample"]]
    return sorted(order, key=lambda k: data["rows"][k]["of"][0]["q"][99])


def table(page, chart):
    page.locator(f"#{chart} details summary").click()
    page.locator(f"#{chart} tbody tr").first.wait_for()
    return [row.split("\t") for row in page.locator(f"#{chart} tbody").inner_text().splitlines()]


def middle_of(page, selector):
    box = page.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_the_slider_changes_the_sentence_the_intervals_and_the_shading(visit, file):
    page = visit(file)
    data = data_of(page)
    shading = page.locator("#density .plot .layer.band path").get_attribute("d")
    slider = page.get_by_label("Coverage", exact=True)
    slider.fill("80")
    after, before = data["slices"][0]["of"]
    said = [f"holds {percent(of['covered'][79])} of the labels and is {number(of['width'][79])} wide on average"
            for of in (after, before)]  # fmt: skip
    assert page.locator("#sentence").inner_text() == f"The 80% interval ({AFTER}) {said[0]}; {BEFORE} it {said[1]}."
    ends = [interval(data["rows"][k], 0.8) for k in sampled(data)]
    drawn = page.locator("#observed .plot .stems line").evaluate_all(
        "lines => lines.map(line => [line.y1.baseVal.value, line.y2.baseVal.value])"
    )
    assert is_a_picture_of(np.ravel(drawn), np.ravel(ends))
    assert page.locator("#density .plot .layer.band path").get_attribute("d") != shading
    row = data["rows"][0]
    cdf = path(page, "#cdf .plot .line.s0 path")
    strip = page.locator("#cdf .plot .strip rect").bounding_box()
    quantiles = np.interp(interval(row, 0.8), row["of"][0]["q"], cdf[:, 0])
    assert strip["width"] == pytest.approx(np.ptp(quantiles), abs=1)
    slider.focus()
    page.keyboard.press("End")
    assert (page.locator("#coverage-text").inner_text(), slider.get_attribute("aria-valuetext")) == ("99%", "99%")


def test_a_click_on_the_coverage_chart_moves_the_slider(visit, file):
    page = visit(file)
    page.locator("#reached svg[role=application]").scroll_into_view_if_needed()
    left, right = path(page, "#reached .plot .line.s0 path")[[0, -1], 0]
    box = page.locator("#reached svg[role=application]").bounding_box()
    page.mouse.click(box["x"] + (left + right) / 2, box["y"] + 100)
    assert page.locator("#coverage-text").inner_text() == "50%"


def test_the_row_picker_changes_the_density_and_the_cdf_to_those_of_the_row(visit, file):
    page = visit(file)
    data = data_of(page)
    page.get_by_label("Row", exact=True).select_option(index=7)
    row = data["rows"][7]
    for k, of in enumerate(row["of"]):
        width = (of["to"] - of["from"]) / len(of["density"])
        density = path(page, f"#density .plot .line.s{k} path")
        assert is_a_picture_of(density[:, 1], of["density"])
        assert is_a_picture_of(density[:, 0], of["from"] + width * (np.arange(len(density)) + 0.5))
        cdf = path(page, f"#cdf .plot .line.s{k} path")
        assert is_a_picture_of(cdf[:, 0], of["q"])
        assert is_a_picture_of(cdf[:, 1], LEVELS)
    lower, upper = interval(row, 0.9)
    text = page.locator("#row-text").inner_text()
    assert text.startswith(f"Row {row['row']}: demand = {number(row['y'])}, ")
    assert f"90% interval {number(lower)} to {number(upper)} ({BEFORE}: " in text
    assert f"P(Y ≤ y) = {percent(row['of'][0]['pit'])}" in text
    said = dict(line.split("\n") for line in page.locator("#features div").all_inner_texts())
    assert said == row["features"]
    page.get_by_role("button", name="Previous row").click()
    assert page.locator("#row-text").inner_text().startswith(f"Row {data['rows'][6]['row']}:")
    assert data["rows"][0]["of"][0]["smoothed"]
    assert "smoothed for drawing" in page.locator("#density .summary").inner_text()


def test_predicted_and_observed_values_are_drawn_on_their_own_scale(visit, file):
    page = visit(file)
    data = data_of(page)
    page.get_by_label("Coverage", exact=True).fill("50")
    rows = [data["rows"][k] for k in sampled(data)]
    inside = [row for row in rows if interval(row, 0.5)[0] <= row["y"] <= interval(row, 0.5)[1]]
    dots = page.locator("#observed .plot .dots.s0 circle").evaluate_all(
        "all => all.map(dot => [dot.cx.baseVal.value, dot.cy.baseVal.value])"
    )
    assert is_a_picture_of(np.array(dots)[:, 0], [row["of"][0]["q"][99] for row in inside])
    assert is_a_picture_of(np.array(dots)[:, 1], [row["y"] for row in inside])
    out = len(rows) - len(inside)
    assert page.locator("#observed .plot .layer.miss path").count() == out  # crosses, and arrows at the edge
    assert f"{out} of their labels lie outside the interval" in page.locator("#observed .summary").inner_text()
    assert [row[5] for row in table(page, "observed")].count("outside") == out
    page.locator("#observed svg[role=application]").focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    assert page.locator("#row-text").inner_text().startswith(f"Row {rows[-1]['row']}:")
    page.locator("#observed svg[role=application]").scroll_into_view_if_needed()
    page.mouse.click(*middle_of(page, "#observed .plot .layer.dots.s0 circle:nth-child(9)"))
    assert page.locator("#row-text").inner_text().startswith(f"Row {inside[8]['row']}:")
    page.get_by_label("Intervals").select_option("1")
    assert page.locator("#observed .plot .stems.s1 line").count() == len(rows)


def test_rows_with_one_prediction_stand_side_by_side(visit, saved):
    page = visit(saved(report_cases.counts))
    assert "stand side by side" in page.locator("#observed .summary").inner_text()
    across = page.locator("#observed .plot .stems line").evaluate_all("all => all.map(line => line.x1.baseVal.value)")
    assert len(set(across)) == len(across)


def test_the_group_filter_changes_the_charts_the_sentence_and_the_rows_offered(visit, file):
    page = visit(file)
    data = data_of(page)
    index = next(i for i, one in enumerate(data["slices"]) if one["value"] == "south")
    page.get_by_label("Rows", exact=True).select_option(str(index))
    one = data["slices"][index]
    sentence = page.locator("#sentence").inner_text()
    assert sentence.startswith(f"region: south ({number(one['m'])} rows): the 90% interval ({AFTER}) holds ")
    assert percent(one["of"][0]["covered"][89]) in sentence
    bars = page.locator("#pit .plot .bars rect").evaluate_all("all => all.map(bar => bar.height.baseVal.value)")
    assert is_a_picture_of(bars, one["of"][0]["pit"])
    deviation = path(page, "#deviation .plot .line.s0 path")[:, 1]
    assert is_a_picture_of(deviation, np.subtract(one["of"][0]["below"], LEVELS))
    assert is_a_picture_of(path(page, "#width .plot .line.s1 path")[:, 1], one["of"][1]["width"])
    offered = page.locator("#row option").evaluate_all("all => all.map(one => Number(one.value))")
    assert offered == [i for i, row in enumerate(data["rows"]) if index in row["slices"]]
    names = page.locator("#group > optgroup").evaluate_all("all => all.map(one => one.label)")
    assert names == ["region", "forecast", "predicted value", "width"]


def test_groups_stand_in_natural_order_with_their_number_and_a_click_filters(visit, file):
    page = visit(file)
    slices = data_of(page)["slices"]
    texts = page.locator("#groups .ticks.y text").all_text_contents()
    assert texts[:5] == ["all rows (2,003)", "region", *(f"{one['value']} ({number(one['m'])})" for one in slices[1:4])]
    dots = page.locator("#groups .plot .dots.s0 circle").evaluate_all("all => all.map(dot => dot.cx.baseVal.value)")
    ranges = page.locator("#groups .plot .ranges rect").evaluate_all(
        "all => all.map(one => [one.x.baseVal.value, one.x.baseVal.value + one.width.baseVal.value])"
    )
    bands = [[one["interval"]["low"], one["interval"]["high"]] for one in slices]
    shares = [one["interval"]["share"] for one in slices]
    assert is_a_picture_of([*np.ravel(ranges), *dots], [*np.ravel(bands), *shares])
    heights = page.locator("#groups .plot .aside .share, #groups .plot .aside .off").evaluate_all(
        "all => all.map(bar => bar.height.baseVal.value)"
    )
    assert is_a_picture_of(heights[:20], slices[0]["of"][0]["pit"])
    assert table(page, "groups")[0][-2:] == list(map(percent, bands[0]))
    page.get_by_label("Coverage", exact=True).fill("50")  # not that of the verdict
    assert page.locator("#groups .plot .ranges").count() == 0
    assert "is shown at 90%, the coverage of the verdict" in page.locator("#groups .summary").inner_text()
    page.get_by_label("Coverage", exact=True).fill("90")
    page.locator("#groups svg[role=application]").scroll_into_view_if_needed()
    page.mouse.click(*middle_of(page, "#groups .plot .layer.dots.s0 circle:nth-child(3)"))
    assert page.locator("#group").input_value() == "2"


def test_pointer_finger_and_arrow_keys_read_the_values(visit, file):
    page = visit(file)
    one = data_of(page)["slices"][0]

    def said(i):
        shares = f"{AFTER} {percent(one['of'][0]['pit'][i])}, {BEFORE} {percent(one['of'][1]['pit'][i])}"
        band = " to ".join(map(percent, one["band"]["pit"]))
        return f"{5 * i}% to {5 * i + 5}%: {shares} of the rows; calibrated forecasts have {band}"

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
    phone = visit(file, width=390, has_touch=True)
    chart = phone.locator("#deviation svg[role=application]")
    chart.scroll_into_view_if_needed()
    phone.touchscreen.tap(*middle_of(phone, "#deviation svg[role=application]"))
    assert phone.locator("#deviation .readout").inner_text().startswith("level ")
    assert chart.evaluate("svg => getComputedStyle(svg).touchAction") == "pan-y"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_time_is_drawn_where_it_was_with_dates_below(visit, saved, width, scheme):
    page = visit(saved(report_cases.drifting), width=width, color_scheme=scheme)
    periods = data_of(page)["time"]
    assert [each["off"] for each in periods] == [False] * 7 + [True] * 3
    for chart, name, band in (("time-coverage", "covered", "band"), ("time-median", "below", "median")):
        line = path(page, f"#{chart} .plot .layer.line.s0 path")
        drawn = path(page, f"#{chart} .plot .layer.band path")
        upper = [value for each in periods for value in [each[band][1]] * 2]
        lower = [value for each in reversed(periods) for value in [each[band][0]] * 2]
        assert is_a_picture_of(
            [*line[:, 1], *drawn[:, 1]], [*(each["of"][0][name] for each in periods), *upper, *lower]
        )
        starts = np.array([each["from"] for each in periods], "datetime64[D]").astype(float)
        assert is_a_picture_of(drawn[:20:2, 0], starts)
        assert page.locator(f"#{chart} .plot .layer.dots.miss path.cross").count() == 3
        rows = table(page, chart)
        assert [row[:3] for row in rows] == [[each["from"], each["to"], number(each["m"])] for each in periods]
        assert [row[-1] for row in rows] == ["within chance"] * 7 + ["too low"] * 3
        ticks = page.locator(f"#{chart} .ticks.x text")
        assert all(re.fullmatch(r"2024-\d\d(-\d\d)?", text) for text in ticks.all_text_contents())
        texts = ticks.evaluate_all(
            "all => all.map(one => one.getBoundingClientRect()).map(box => [box.left, box.right])"
        )
        assert all(left[1] < right[0] for left, right in pairwise(texts))
    page.locator("#time-coverage svg[role=application]").focus()
    page.keyboard.press("End")
    last = periods[-1]
    shares = f"{AFTER} {percent(last['of'][0]['covered'])}, {BEFORE} {percent(last['of'][1]['covered'])}"
    ends = " to ".join(map(percent, last["band"]))
    assert page.locator("#time-coverage .readout").inner_text() == (
        f"{last['from']} to {last['to']} (200 rows): coverage {shares}; chance allows {ends}; too low"
    )


def test_ticks_of_time_are_minutes_days_months_or_years(visit, file):
    page = visit(file)
    assert page.locator("#time-coverage, #in-time").count() == 0
    second = np.array(["2024-02-28T23:00:00"], "datetime64[s]").astype(float)[0]
    for seconds, first in ((7200, "02-28 23:00"), (10 * 86400, "2024-02-29"), (400 * 86400, "2024-07"), (1e9, "2030")):
        ticks = page.evaluate("([a, b]) => charts.dates([a, b], 400)", [1e3 * second, 1e3 * (second + seconds)])
        assert 2 <= len(ticks) <= 5
        assert ticks[0]["text"] == first


def test_an_atom_is_a_stem_with_its_probability_and_the_density_has_a_scale_of_its_own(visit, saved):
    page = visit(saved(report_cases.rain))
    rows = data_of(page)["rows"]
    k = next(k for k, row in enumerate(rows) if 0.2 < (row["of"][0]["atoms"] or [[0, 0]])[0][1] < 0.6)
    ((at, share),) = rows[k]["of"][0]["atoms"]
    assert at == 0
    page.get_by_label("Row", exact=True).select_option(index=k)
    stems = [page.locator(f"#density .plot .layer.atoms.s{i} rect").bounding_box() for i in (0, 1)]
    whole = page.locator("#density .plot .rule.label-mark line").bounding_box()  # from the foot to the top
    assert stems[0]["height"] / whole["height"] == pytest.approx(share, abs=0.02)
    assert stems[1]["height"] / whole["height"] == pytest.approx(rows[k]["of"][1]["atoms"][0][1], abs=0.02)
    assert f"{AFTER} P(rain = 0) = {number(share, 3)}" in page.locator("#density .legend").inner_text()
    line = path(page, "#density .plot .line.s0 path")
    assert is_a_picture_of(line[:, 1], rows[k]["of"][0]["density"])
    assert np.ptp(line[:, 1]) > 100  # pixels: the atom does not flatten the density
    assert ["0", "probability", number(share, 3)] in [row[:3] for row in table(page, "density")]
    assert "with ties split" in page.locator("#groups .legend").inner_text()


def test_counts_are_bars_shaded_whole_and_their_cdf_is_a_staircase_from_zero(visit, saved):
    page = visit(saved(report_cases.counts))
    row = data_of(page)["rows"][0]
    of = row["of"][0]
    assert "density" not in page.locator("#density").inner_text().lower()
    lower, upper = interval(row, 0.9)
    shading = path(page, "#density .plot .layer.band path")[:, 0]
    line = path(page, "#density .plot .line.s0 path")[:, 0]
    at = np.interp([lower - 0.5, upper + 0.5], [of["from"], of["to"]], [line[0], line[-1]])
    assert [shading.min(), shading.max()] == pytest.approx(list(at), abs=0.1)
    shares = {int(cells[0]): cells[1] for cells in table(page, "density") if cells[0].isdigit()}
    assert shares[3] == number(of["density"][int(3 - of["from"] - 0.5)], 3)
    stairs = path(page, "#cdf .plot .line.s0 path")
    assert (np.abs(np.diff(stairs, axis=0)) < 0.02).any(axis=1).all()
    axis = float(page.locator("#cdf .plot .axis").get_attribute("y1"))
    assert stairs[0, 1] == pytest.approx(axis, abs=0.1)
    said = "an interval holds whole values, so it reaches more than its nominal coverage."
    assert page.locator("#reached .summary").inner_text().endswith(said)


def test_a_forecast_without_a_base_is_shown_alone(visit, saved):
    page = visit(saved(report_cases.alone))
    assert "before" not in page.locator("body").inner_text().lower()
    assert page.locator("#models").is_hidden()
    assert page.locator("#pit .plot .bars rect").count() == 10  # of 300 rows


def test_a_base_that_is_no_distribution_is_marked_in_the_row(visit, saved):
    page = visit(saved(report_cases.points))
    assert page.locator("#density .plot .rule.base line").count() == 1
    assert BEFORE in page.locator("#density .legend").inner_text()
    point = data_of(page)["rows"][0]["of"][1]["marks"][0]["at"]
    assert f"({BEFORE}: point {number(point)})" in page.locator("#row-text").inner_text()
    assert page.locator("#models").is_hidden()


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


def test_numbers_far_from_zero_are_told_apart(visit, saved):
    page = visit(saved(report_cases.far))
    row = data_of(page)["rows"][0]
    lower, upper = interval(row, 0.9)
    point = row["of"][1]["marks"][0]["at"]
    assert upper - lower == pytest.approx(0.0329, abs=1e-4)
    assert f"{lower:,.3f} to {upper:,.3f} ({BEFORE}: point {point:,.3f});" in page.locator("#row-text").inner_text()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize(("case", "kind"), [(report_cases.usual, "good"), (report_cases.narrow, "bad")])
def test_the_verdict_stands_on_the_first_screen(visit, saved, width, scheme, case, kind):
    page = visit(saved(case), width=width, color_scheme=scheme)
    box = page.locator(".tiles").bounding_box()
    assert box["y"] + box["height"] < 900  # above the fold
    assert page.locator(".headline").get_attribute("class") == f"headline {kind}"
    assert page.locator(".tile").count() == 4
    one = data_of(page)["slices"][0]
    bars = page.locator(".small .share").evaluate_all("all => all.map(bar => bar.height.baseVal.value)")
    assert is_a_picture_of(bars, one["of"][0]["pit"])
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_outliers_do_not_squash_the_picture(visit, saved, width, scheme):
    page = visit(saved(report_cases.wild), width=width, color_scheme=scheme)
    data = data_of(page)
    medians = [data["rows"][k]["of"][0]["q"][99] for k in sampled(data)]
    dots = page.locator("#observed .plot .dots.s0 circle").evaluate_all("all => all.map(dot => dot.cx.baseVal.value)")
    assert len(medians) == 100
    assert np.ptp(dots) > 0.6 * page.locator("#observed svg[role=application]").bounding_box()["width"]
    page.get_by_role("button", name=f"Show row {data['rows'][data['misses'][0]]['row']}", exact=True).click()
    line = path(page, "#density .plot .line.s0 path")
    assert np.ptp(line[:, 0]) > page.locator("#density svg[role=application]").bounding_box()["width"] / 3
    assert re.search("[→←]", page.locator("#density .rules").text_content())


@pytest.mark.parametrize("width", [1280, 390])
def test_the_largest_misses_are_a_table_on_a_screen_and_cards_on_a_phone(visit, saved, width):
    page = visit(saved(report_cases.drifting), width=width)
    data = data_of(page)
    rows = [data["rows"][k] for k in data["misses"]]
    crps = [row["of"][0]["crps"] for row in rows]
    assert crps == sorted(crps, reverse=True)
    first = page.locator("#misses-table tbody tr").first
    assert first.locator("th").inner_text() == str(rows[0]["row"])
    assert first.locator("td").first.inner_text() == rows[0]["time"]
    off = max(rows[0]["y"] - interval(rows[0], 0.9)[1], interval(rows[0], 0.9)[0] - rows[0]["y"])
    assert first.locator("td").nth(3).inner_text().endswith(f" by {number(off, 2)}")
    for tables in ("#misses-table", "section[aria-labelledby=measures]"):
        cards = page.locator(f"{tables} tbody tr").first.evaluate("row => getComputedStyle(row).display")
        assert cards == {1280: "table-row", 390: "grid"}[width]
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", [1280, 390])
def test_the_state_is_in_the_address_and_survives_a_reload(visit, file, width):
    page = visit(file, width=width)
    assert "#" not in page.url
    page.get_by_label("Coverage", exact=True).fill("80")
    page.get_by_label("Rows", exact=True).select_option("1")
    page.get_by_role("button", name="Next row").click()
    page.get_by_label("Intervals").select_option("1")
    said = [page.locator(f"#{part}").inner_text() for part in ("sentence", "row-text", "coverage-text")]
    address = page.url
    page.reload()
    page.wait_for_selector("html[data-ready=true]", state="attached")
    assert page.url == address
    assert [page.locator(f"#{part}").inner_text() for part in ("sentence", "row-text", "coverage-text")] == said
    assert page.locator("#observed .plot .stems.s1").count() == 1
    page.get_by_label("Coverage", exact=True).fill("90")
    page.get_by_label("Rows", exact=True).select_option("0")
    page.get_by_label("Intervals").select_option("0")
    page.get_by_label("Row", exact=True).select_option(index=0)
    assert "#" not in page.url  # as it was


@pytest.mark.parametrize(
    "address", ["#main", "#coverage=500&rows=nowhere&row=-3&model=x", "#coverage=%00&row=%E0%A4%A"]
)
def test_an_address_that_says_nothing_changes_nothing(visit, file, address):
    page = visit(file)
    said = page.locator("#sentence").inner_text(), page.locator("#row-text").inner_text()
    page.evaluate("address => { location.hash = address }", address)
    page.wait_for_timeout(50)
    assert (page.locator("#sentence").inner_text(), page.locator("#row-text").inner_text()) == said


def test_charts_and_tables_can_be_saved(visit, file, tmp_path):
    page = visit(file)
    one = data_of(page)["slices"][0]
    page.locator("#deviation details summary").click()

    def saved_as(kind, name="Deviation from the diagonal"):
        with page.expect_download() as found:
            page.get_by_role("button", name=f"Save as {kind}: {name}", exact=True).click()
        assert found.value.suggested_filename == f"{name.lower().replace(' ', '-')}.{kind.lower()}"
        found.value.save_as(tmp_path / kind)
        return (tmp_path / kind).read_bytes()

    def lines(text):
        return list(csv.reader(text.decode("utf-8-sig").splitlines()))

    rows = lines(saved_as("CSV"))
    assert rows[0] == ["level", AFTER, BEFORE, "band from", "to"]
    after = np.subtract(one["of"][0]["below"], LEVELS)
    assert [float(row[1].strip("'")) for row in rows[1:]] == pytest.approx(after, abs=6e-4)
    drawing = saved_as("SVG").decode()
    texts = [each.text for each in ElementTree.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text")]
    assert {"Deviation from the diagonal", AFTER} <= set(texts)
    assert "var(" not in drawing  # it no longer needs the page
    assert saved_as("PNG").startswith(b"\x89PNG")
    head, *whole = lines(saved_as("CSV", "In numbers"))
    assert head[:4] == ["forecast", "CRPS", "CRPS, low", "CRPS, high"]
    assert [line[0] for line in whole] == [AFTER, BEFORE]
    assert [int(line[0]) for line in lines(saved_as("CSV", "Largest misses"))[1:]] == page.evaluate(
        "page.data.misses.map(k => page.data.rows[k].row)"
    )


def test_what_a_spreadsheet_would_run_is_quoted_and_numbers_are_plain(visit, file):
    page = visit(file)
    with page.expect_download() as found:
        page.evaluate(
            """save.csv("x", {head: ["a,b", "=1+1"], rows: [["−1,234.5", "90.1%", "1×10⁻⁷", "−∞", "–", 0.5]]})"""
        )
    text = Path(found.value.path()).read_text("utf-8-sig").splitlines()
    assert text == ['"a,b",\'=1+1', "-1234.5,0.901,1e-7,-inf,,0.5"]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_every_chart_draws_all_models_each_in_its_colour(visit, saved, width, scheme):
    page = visit(saved(report_cases.several), width=width, color_scheme=scheme)
    lines = page.locator("section[aria-labelledby=measures] tbody tr")
    assert [line.split("\n")[0] for line in lines.locator("th").all_inner_texts()] == ["calibrated", "base", "rough"]
    for chart in ("pit", "reliability", "deviation", "reached", "width", "observed", "density", "cdf", "groups"):
        inks = {
            page.locator(f"#{chart} .plot .layer.s{k}").first.evaluate(
                "it => getComputedStyle(it).getPropertyValue('--ink')"
            )
            for k in range(3)
        }
        assert len(inks) == 3, chart
    assert page.locator("#sentence").inner_text().startswith("The 90% interval (rough) holds ")
    page.get_by_label("Intervals").select_option("calibrated")
    assert page.locator("#sentence").inner_text().startswith("The 90% interval (calibrated) holds ")
    assert page.evaluate("document.documentElement.scrollWidth") == width
