"""The report: its data, its values, its errors, and that nothing in it is more than text."""

from __future__ import annotations

import json
import os
import re
from html import unescape

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from systems import on_posix

import calibrant
from calibrant import Calibrator, CrossCalibrated, Interval, Normal, Point, Quantiles, Samples, judge, metrics
from calibrant.distributions import Poisson
from calibrant.interpolators import NAF, InfiniteTails, Linear, Naive, Random
from calibrant.judging.part import LEVELS
from calibrant.judging.rows import forecast_rows
from calibrant.labels import Counts
from calibrant.metrics.bands import pit_band
from calibrant.metrics.rounding import rounded
from calibrant.metrics.slices import all_rows, slices_of
from calibrant.predictions import Rates
from calibrant.reports import report
from calibrant.reports.curves import bins, curves
from calibrant.reports.page import number, page
from calibrant.reports.rows import chosen_rows
from calibrant.scores import CDFScore

N, M = 400, 600


def forecasts(m, rng, factor=1.0):
    """Forecasts whose spread is `factor` times the right one, and labels."""
    f, s = rng.normal(size=m), rng.uniform(0.5, 2, m)
    return Normal(f, s * factor), f + s * rng.normal(size=m)


def calibrated_on(n, rng, factor=0.5, calibrator=None):
    return (calibrator or Calibrator()).fit(*forecasts(n, rng, factor))


CALIBRATORS = {
    "linear": Calibrator(),
    "naive": Calibrator(interpolator=Naive()),
    "random": Calibrator(CDFScore(), Random()),
    "naf": Calibrator(interpolator=NAF()),
    "infinite tails": Calibrator(interpolator=Linear(InfiniteTails())),
}


def distribution_of(name, m=M, n=99):
    """A distribution per row and labels; n + 1 and n share divisors with the levels, so that steps end at levels."""
    rng = np.random.default_rng(7)
    base, y = forecasts(m, rng, 0.5)
    if name == "clipped":
        return calibrated_on(n, rng)(base).clip(-0.5, 1.0), np.clip(y, -0.5, 1.0)
    if name == "folds":
        return CrossCalibrated(tuple(calibrated_on(n, rng) for _ in range(3)))([base, base, base]), y
    if name == "torch":
        H = calibrated_on(n, rng)(base)
        return H.to(torch.zeros(1, dtype=torch.float64)), torch.asarray(y)
    if name == "one distribution":
        return Normal(0.0, 1.5), y
    return calibrated_on(n, rng, 0.5, CALIBRATORS[name])(base, rng=rng), y


NAMES = [*CALIBRATORS, "clipped", "folds", "torch", "one distribution"]


def data_of(made):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', made.html, re.DOTALL)[1])


# The numbers of the charts


@pytest.mark.parametrize("name", NAMES)
def test_the_curves_are_those_of_the_metrics_and_the_sentences_are_whole(name):
    H, y = distribution_of(name)
    made = report(H, y, base=Point(np.zeros(M)), groups=np.arange(M) % 3)
    drawn = data_of(made)["slices"][0]["of"][0]
    covered = np.cumsum(drawn["covered"]) / M
    for k in (9, 49, 89, 98):
        assert covered[k] == pytest.approx(float(metrics.coverage(H, y, (k + 1) / 100)), abs=1e-12)
        width = np.nan if drawn["width"][k] is None else drawn["width"][k]
        assert width == pytest.approx(rounded(metrics.ci_width(H, (k + 1) / 100)) or np.nan, nan_ok=True)
    assert sum(drawn["pit"]) == M
    if name not in ("clipped", "naive"):
        pits = np.asarray(metrics.pit(H, y))
        np.testing.assert_array_equal(np.cumsum(drawn["below"]), (pits[:, None] <= LEVELS).sum(axis=0))
        np.testing.assert_array_equal(drawn["pit"], np.histogram(pits, 20, (0, 1))[0])
    for statement in made.verdict:
        assert re.fullmatch(r"[A-Z0-9].*\.", statement.text), statement.text
        assert not re.search(r"nan|None(?! of)|\binf\b|\{|\}|  ", statement.text), statement.text


def test_slices_have_the_curves_of_their_own_rows():
    H, y = distribution_of("linear")
    south = np.random.default_rng(1).random(M) < 0.4
    found = curves(forecast_rows(H, y, 0.9), [all_rows(M), slices_of("south", south, M)])[2]
    alone = curves(forecast_rows(H[south], y[south], 0.9), [all_rows(int(south.sum()))])[0]
    assert found == alone


def test_widths_of_many_rows_come_from_some_and_small_slices_have_theirs():
    rng = np.random.default_rng(2)
    base, y = forecasts(30_000, rng)
    rare = (np.arange(30_000) < 5).astype(int)
    found = curves(forecast_rows(base, y, 0.9), [all_rows(30_000), slices_of("rare", rare, 30_000)])
    assert found[0]["width"][89] == pytest.approx(metrics.ci_width(base, 0.9), rel=0.02)
    assert found[2]["width"][89] == pytest.approx(metrics.ci_width(base[:5], 0.9), rel=1e-4)


@pytest.mark.parametrize(("m", "count"), [(40, 5), (200, 10), (399, 10), (400, 20)])
def test_few_rows_have_fewer_bins(m, count):
    base, y = forecasts(m, np.random.default_rng(m))
    (found,) = curves(forecast_rows(base, y, 0.9), [all_rows(m)])
    assert found["pit"] == np.histogram(base.cdf(y), count, (0, 1))[0].tolist()


def test_the_data_hold_what_the_charts_draw():
    rng = np.random.default_rng(22)
    calibrated = calibrated_on(N, rng)
    base, y = forecasts(M, rng, 0.5)
    groups = pd.DataFrame({"region": rng.choice(["n", "s"], M), "x": rng.normal(size=M)})
    H, promise = calibrated(base), calibrated.guarantee
    data = data_of(report(H, y, base=base, groups=groups, guarantee=promise, coverage=0.8, label="z"))
    assert (data["m"], data["coverage"], data["label"], data["dates"]) == (M, 0.8, "z", False)
    assert data["series"] == [{"name": "after calibration"}, {"name": "before calibration", "base": True}]
    named = [(None, "all rows"), ("region", "n"), ("region", "s")]
    assert [(each["by"], each["value"]) for each in data["slices"][:3]] == named
    assert [each["by"] for each in data["slices"][3:]] == ["x"] * 4 + ["predicted value"] * 5 + ["width"] * 5
    found = judge(H, y, by=groups, base=base, guarantee=promise, coverage=0.8)
    parts = {(part.by or None, part.value): part for part in (found.overall, *found.groups, *found.slices)}
    for each in data["slices"]:
        part = parts[each["by"], each["value"]]
        ends = {"share": rounded(part.share), "part": None, "low": rounded(part.low), "high": rounded(part.high)}
        assert each["interval"] == ends | {"off": part.off, "fault": part.fault}
        np.testing.assert_allclose(np.cumsum(each["band"]["low"]) / 1e4, part.band[0], atol=5.1e-5)
        assert each["band"]["pit"] == rounded(pit_band(each["m"], bins(each["m"]), n=part.n))
        for side in each["of"]:
            assert [len(side[key]) for key in ("pit", "below", "covered", "width")] == [bins(each["m"]), 199, 99, 99]
    assert 100 <= len(data["rows"]) <= 160
    for row in data["rows"][::20]:
        assert data["slices"][row["slices"][1]]["value"] == groups["region"][row["row"]]
        assert data["slices"][row["slices"][2]]["by"] == "x"
        assert row["of"][0]["crps"] == rounded(float(H[row["row"]].crps(y[row["row"]])))


def test_the_data_of_periods_are_those_of_the_judge_in_any_order_of_rows():
    rng = np.random.default_rng(31)
    base, y = forecasts(2000, rng)
    day = np.datetime64("2024-01-01") + np.arange(2000) // 10
    y = np.where(day >= np.datetime64("2024-05-20"), y + 3, y)
    order = rng.permutation(2000)
    made = [data_of(report(base[rows], y[rows], time=day[rows], rows=[0])) for rows in (np.arange(2000), order)]
    assert made[0]["dates"]
    assert made[0]["time"] == made[1]["time"]
    for each, part in zip(made[0]["time"], judge(base, y, time=day).periods, strict=True):
        assert (each["from"], each["to"], each["m"], each["off"]) == (part.start, part.end, part.m, part.off)
        assert each["fault"] == (part.fault or "within chance")
        assert each["band"] == rounded([part.low, part.high])
        assert each["of"] == [{"covered": rounded(part.share), "below": rounded(float(part.below[99]))}]
        assert each["median"] == rounded([float(end[99]) for end in part.band])
    assert data_of(report(base, y))["time"] == []


# The rows that are shown


def test_a_random_sample_is_shown_with_some_of_every_slice_and_the_worst():
    base, y = forecasts(50_000, np.random.default_rng(25))
    side = forecast_rows(base, y, 0.9)
    rare = slices_of("rare", np.where(np.arange(50_000) == 31_234, "rare", "usual"), 50_000)
    shown = chosen_rows(side, [rare], 1)
    assert 31_234 in shown.rows
    assert list(shown.misses) == np.argsort(-side.columns["crps"])[:10].tolist()
    assert set(shown.misses) <= set(shown.rows)
    assert (shown.sample.sum(), shown.drawn) == (100, True)
    assert abs(side.columns["covered"][shown.rows[shown.sample]].sum() - 90) <= 9
    assert chosen_rows(side, [rare], 10).sample.sum() == 20


@pytest.mark.parametrize("m", [1, 10, 11])
def test_few_rows_are_all_shown_and_the_worst_of_them_listed(m):
    side = forecast_rows(*forecasts(m, np.random.default_rng(m)), 0.9)
    shown = chosen_rows(side, [], 2)
    assert (shown.rows.tolist(), shown.drawn) == (list(range(m)), False)
    assert list(shown.misses) == np.argsort(-side.columns["crps"], kind="stable")[:10].tolist()


def test_rows_can_be_named_and_are_checked():
    H, y = distribution_of("linear")
    assert [row["row"] for row in data_of(report(H, y, rows=[5, 2, 5]))["rows"]] == [2, 5]
    with pytest.raises(ValueError, match=r"rows must lie in 0..599, got 600"):
        report(H, y, rows=[1, 600])
    with pytest.raises(TypeError, match="rows must be a list of row numbers, got 'worst'"):
        report(H, y, rows="worst")
    with pytest.raises(ValueError, match="rows must name at most 500 rows, got 501"):
        report(H, y, rows=np.arange(501))


def test_features_are_texts_beside_the_shown_rows():
    H, y = distribution_of("linear")
    frame = pd.DataFrame({"id": [f"r{k}" for k in range(M)], "x": np.where(np.arange(M) == 5, np.nan, 1 / 3)})
    frame["hour"] = np.datetime64("2025-12-07T12:00", "ns") + np.arange(M) * np.timedelta64(1, "h")
    rows = data_of(report(H, y, features=frame, time=frame["hour"], rows=[3, 5]))["rows"]
    assert rows[0]["features"] == {"id": "r3", "x": "0.3333", "hour": "2025-12-07 15:00"}
    assert (rows[1]["features"]["x"], rows[0]["time"]) == ("missing", "2025-12-07 15:00")
    with pytest.raises(ValueError, match="features must have at most 30 columns, got 31"):
        report(H, y, features={str(k): y for k in range(31)})
    with pytest.raises(ValueError, match="the column 'id' of features must have one row for each of the 600 rows"):
        report(H, y, features=["a"])


# Several models

RNG = np.random.default_rng(1)
F, NOISE = RNG.normal(size=(2, 1500))
Y = F + NOISE
MODELS = {"rough": Normal(np.zeros(1500), 2**0.5), "sharp": Normal(F, 1.0), "sure": Normal(F, 0.4)}


def test_the_page_is_on_the_first_model_and_every_curve_has_all():
    made = report(MODELS, Y, base=Normal(F, 2.0))
    data = data_of(made)
    assert [each["name"] for each in data["series"]] == [*MODELS, "before calibration"]
    assert all(len(each["of"]) == 4 for each in (*data["slices"], *data["rows"]))
    assert made.headline == judge(MODELS["rough"], Y, base=Normal(F, 2.0)).headline
    assert "<title>Forecasts of y by rough</title>" in made.html
    assert made.verdict[0].text.startswith("Of 3 models, sharp has the lowest CRPS, 0.")
    assert made.verdict[0].text.endswith(") from rough. This page is on rough.")
    assert made.verdict[1:] == judge(MODELS["rough"], Y, base=Normal(F, 2.0)).statements
    twins = report({"a": MODELS["sharp"], "b": Normal(F, 1.001)}, Y, rows=[0]).verdict[0]
    assert (twins.kind, "1,500 rows cannot tell" in twins.text) == ("info", True)
    alone = report({"sharp": MODELS["sharp"]}, Y, rows=[0])
    assert alone.verdict == report(MODELS["sharp"], Y, rows=[0]).verdict


def test_the_table_has_the_lowest_crps_first_and_paired_outcomes():
    made = report(MODELS, Y, rows=[0])
    lines = data_of(made)["measures"]["rows"]
    crps = {name: MODELS[name].crps(Y).mean() for name in MODELS}
    assert [line[0] for line in lines] == sorted(crps, key=lambda name: crps[name]) == ["sharp", "sure", "rough"]
    assert [line[1] for line in lines] == [rounded(float(crps[line[0]])) for line in lines]
    tags = re.findall(r'class="outcome (\w+)"', made.html)
    assert tags[:3] == ["better", "better", "better"]  # the CRPS, NLL and score of sharp
    assert f"lowest of 3 models: sharp, {lines[0][1]:.3g}" in made.html
    kinds = re.findall(r'<span class="range (\w+)">', made.html)
    assert kinds == [judge(MODELS[line[0]], Y).kind for line in lines]


def test_each_model_has_its_own_guarantee():
    calibrated = Calibrator().fit(Normal(F, 0.4), Y)
    models = {"sure": MODELS["sure"], "mended": calibrated(MODELS["sure"])}
    assert "What is guaranteed" not in report(models, Y, guarantee={"mended": calibrated.guarantee}, rows=[0]).html
    assert "What is guaranteed" in report(models, Y, guarantee=calibrated.guarantee, rows=[0]).html


def test_ten_models_are_a_page_under_a_megabyte_and_a_half():
    models = {f"model {k}": Normal(F, 0.5 + 0.1 * k) for k in range(10)}
    assert len(report(models, Y, groups=np.arange(1500) % 10).html.encode()) < 1.5e6


# Bad input


@pytest.mark.parametrize(
    "H",
    [Point([1.0, 2.0]), Interval([0.0, 1.0], [1.0, 2.0]), Samples([[1.0], [2.0]]), Quantiles([0.5], [[1.0], [2.0]])],
    ids=lambda H: type(H).__name__,
)
def test_what_is_no_distribution_is_told_the_way_out(H):
    with pytest.raises(TypeError, match=r"H must be a distribution for each row, got \w+\(.*calibrate it, with"):
        report(H, [1.0, 2.0])


def test_bad_input_is_named():
    H, y = distribution_of("linear")
    for error, said, how in (
        (ValueError, "y must have one row for each of the 600 rows", {"y": y[:10]}),
        (ValueError, "y is NaN or infinite in row 0", {"y": np.full(M, np.nan)}),
        (ValueError, "the column 'group' of groups must have one row for each of the 600 rows", {"groups": ["a"]}),
        (TypeError, "groups must be an array, a mapping of names to arrays or a data frame", {"groups": "region"}),
        (ValueError, "groups must have at most 10 columns, got 11", {"groups": {str(k): y for k in range(11)}}),
        (TypeError, "guarantee must be that of what was calibrated", {"guarantee": "good"}),
        (TypeError, "weights must be a dict of names and weights", {"weights": [1.0]}),
        (ValueError, "coverage must lie strictly inside", {"coverage": 90}),
        (ValueError, "time must have one row for each of the 600 rows of the forecast, got 5", {"time": np.arange(5)}),
        (TypeError, "time must hold numbers or dates", {"time": ["a"] * M}),
        (TypeError, r"H\['b'\] must be a distribution for each row, got Point", {"H": {"a": H, "b": Point(y)}}),
        (ValueError, r"H\['b'\] must have one row for each of the 600 rows of y", {"H": {"a": H, "b": H[:10]}}),
        (ValueError, "H must name 1 to 10 models, got 0", {"H": {}}),
        (ValueError, "guarantee must name models of H, a, got 'b'", {"H": {"a": H}, "guarantee": {"b": None}}),
        (ValueError, "base must have one row for each of the 600 rows of the forecast, got 10", {"base": y[:10]}),
    ):
        with pytest.raises(error, match=said):
            report(**{"H": H, "y": y} | how)


def test_groups_come_in_every_form_and_in_natural_order():
    H, y = distribution_of("linear", m=40)
    columns = {"a": ["x 10", "x 9"] * 20, "b": list(range(40))}
    for groups in (columns, pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        named = [(each["by"], each["value"]) for each in data_of(report(H, y, groups=groups))["slices"]]
        assert named[:4] == [(None, "all rows"), ("a", "x 9"), ("a", "x 10"), ("b", "[0, 9]")]
    assert data_of(report(H, y, groups=pd.Series(columns["a"], name="region")))["slices"][1]["by"] == "region"


# The page


def test_the_first_screen_says_what_the_judge_says():
    rng = np.random.default_rng(0)
    calibrated = calibrated_on(500, rng, 0.5)
    base, y = forecasts(1000, rng, 0.5)
    for H in (calibrated(base), base):
        made = report(H, y, base=base, guarantee=calibrated.guarantee, coverage=0.8, rows=[0])
        found = judge(H, y, base=base, guarantee=calibrated.guarantee, coverage=0.8)
        assert (made.headline, made.verdict) == (found.headline, found.statements)
        text = unescape(made.html)
        assert all(said in text for said in (found.headline.text, found.headline.step, *map(str, found.statements)))
        assert f"<strong>{calibrated.guarantee.in_short(0.8)}</strong>" in text
        assert ("Not met on these rows." in text) == (not found.guarantee_met) == (H is base)
        assert ("too few</span>" in text) == (H is base)


def test_a_tile_says_what_was_before():
    rng = np.random.default_rng(62)
    f, noise = rng.normal(size=(2, 2000))
    small = report(Normal(f, 1.0), f + noise, base=Normal(f, 1.1), rows=[0], label="output (MW)").html
    assert re.search(r'class="unit"> MW<.*?was [\d.]+, [+\N{MINUS SIGN}]0\.\d%', small, re.DOTALL)
    point = report(Normal(f, 1.0), f + noise, base=Point(f), rows=[0]).html
    assert f"mean absolute error before: {np.mean(np.abs(noise)):.3g}" in point


def test_an_interval_that_is_its_number_is_left_out():
    y = np.random.default_rng(3).normal(size=500)
    cells = re.findall(r'<td data-name="90% interval width">(.*?)</td>', report(Normal(0.0, 1.0), y, rows=[0]).html)
    assert cells == ["3.29"]


def test_rates_stand_for_poisson_distributions_and_a_base_without_curves_is_explained():
    rng = np.random.default_rng(41)
    rate = rng.uniform(0.5, 6, 800)
    y = rng.poisson(rate).astype(float)
    H = Calibrator(labels=Counts()).fit(Rates(rate[:400]), y[:400], rng=rng)(Rates(rate[400:]))
    of_rates, of_poisson, of_points = (
        report(H, y[400:], base=base(rate[400:]), rows=[0]).html for base in (Rates, Poisson, Point)
    )
    assert of_rates == of_poisson != of_points
    why = "The base predicts no distribution, so that it has no curves: it is shown by marks, row by row."
    assert [f"<li>{why}</li>" in text for text in (of_poisson, of_points)] == [False, True]


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{7*7}}",
    "a\u2028b\u2029c",
    "<!--",
    "&lt;b&gt;",
]


@pytest.mark.few(2)
@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_strangers_stays_text(text):
    H, y = distribution_of("linear", m=120)
    west = np.arange(120) % 2 == 0
    y = np.where(west, y + 5, y)  # so that the group is named in the verdict

    def tags(of, other, name):
        made = report(H, y, groups={of: np.where(west, of, other)}, title=name, label=name)
        return made, sorted(re.findall(r"<[a-zA-Z/!][^\s>]*", made.html))

    (made, found), (_, plain) = tags(text, "b", text), tags("west", "b", "title")
    assert found == plain
    data = data_of(made)
    assert (data["label"], data["slices"][1]["by"]) == (text, text)
    assert text in unescape(made.html)
    assert ">49<" not in made.html
    assert "\u2028" not in re.search(r'id="data">(.*?)</script>', made.html, re.DOTALL)[1]


@pytest.mark.few(1)
@pytest.mark.parametrize("m", [10_000, 100_000])
def test_the_page_is_small_however_many_rows_there_are(m):
    rng = np.random.default_rng(26)
    base, y = forecasts(m, rng, 0.5)
    groups = {"a": rng.integers(0, 12, m), "b": rng.normal(size=m), "c": rng.choice([f"v{k}" for k in range(50)], m)}
    made = report(calibrated_on(N, rng)(base), y, base=base, groups=groups)
    assert len(made.html.encode()) < 1e6
    assert len(data_of(made)["slices"]) == 1 + 12 + 4 + 30 + 5 + 5


def test_the_same_report_twice_is_the_same_and_loads_late():
    H, y = distribution_of("clipped")
    groups = {"g": np.arange(M) % 5}
    assert calibrant.report(H, y, groups=groups).html == report(H, y, groups=groups).html
    assert "report" in dir(calibrant)


def test_a_report_is_saved_whole_or_not_at_all(tmp_path):
    made = report(*distribution_of("linear"))
    made.save(tmp_path / "page")
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
    assert (tmp_path / "page.html").read_text("utf-8") == made.html
    with pytest.raises(FileNotFoundError):
        made.save(tmp_path / "nowhere" / "report.html")
    with pytest.raises(IsADirectoryError):
        made.save(tmp_path)


@on_posix
def test_a_page_that_cannot_be_written_says_where(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=r"pipe is a device or a pipe, not a file"):
        report(*forecasts(50, np.random.default_rng(42))).save(tmp_path / "pipe")


def test_notebooks_show_the_page_in_a_frame():
    made = report(*distribution_of("linear"))
    frame = made._repr_html_()
    assert frame.count("<") == 2  # the page itself is escaped
    assert unescape(frame[len('<iframe srcdoc="') : frame.index('" title=')]) == made.html
    assert repr(made).startswith("Report(")
    assert str(made) == "\n".join([str(made.headline), *(said.text for said in made.verdict)])


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.25, "−0.25"), (-2e-5, "−2×10⁻⁵"), (-np.inf, "−∞"), (-0.0, "0"), (12345.6, "12,346"), (np.nan, "–")],
)
def test_a_number_has_its_sign_and_few_digits_on_the_page(value, text):
    assert number(value) == text


def test_data_of_a_page_that_are_no_json_are_refused():
    with pytest.raises(ValueError, match=r"^data must be JSON, with None for a number that is not finite, got: "):
        page("page.html", (), {"share": np.nan}, title="t")
