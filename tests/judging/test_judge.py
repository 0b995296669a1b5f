"""The judge: one value, whose words, bounds and p-values agree."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import calibrant
from calibrant import CalibratedRegressor, Calibrator, CrossCalibrated, Normal, Quantiles, judge
from calibrant.distributions import Poisson
from calibrant.judging.part import LEVELS, calibration_rows_of
from calibrant.labels import Counts
from calibrant.metrics.slices import slices_of

M = 1500


def forecasts(seed: int = 0):
    rng = np.random.default_rng(seed)
    f, e = rng.normal(size=(2, M))
    return f, e, rng.choice(["north", "south", "east"], M)


@pytest.mark.parametrize(
    ("fault", "remedy", "wrong"),
    [
        ("too low", "calibrate", lambda f, e, region, t: e + 0.4),
        ("too high", "calibrate", lambda f, e, region, t: e - 0.4),
        ("too narrow", "calibrate", lambda f, e, region, t: 1.4 * e),
        ("too wide", "calibrate", lambda f, e, region, t: 0.7 * e),
        ("wrong in the tails", "calibrate", lambda f, e, region, t: np.sinh(1.4 * e) / 2.6),
        ("too low for region = north", "by group", lambda f, e, region, t: e + 0.8 * (region == "north")),
        ("too high since 1050", "since", lambda f, e, region, t: e - 0.8 * (t >= 1050)),
        ("too low for x", "fit location", lambda f, e, region, t: e + 0.6 * np.sign(f)),
        ("too wide for x", "fit width", lambda f, e, region, t: e * np.exp(0.7 * f)),
    ],
)
def test_a_planted_fault_is_named_and_gets_its_own_remedy(fault, remedy, wrong):
    f, e, region = forecasts()
    t = np.arange(M)
    y = f + wrong(f, e, region, t)
    found = judge(Normal(f, 1.0), y, {"x": f}, time=t, by={"region": region})
    assert all(word in found.fault for word in fault.replace(" for x", "").split(" and "))
    assert found.remedy == remedy
    assert found.kind == "bad"
    assert found.fault in found.headline.text


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [None, 100])
def test_p_values_bounds_and_words_agree(seed, n):
    rng = np.random.default_rng(seed)
    f, e, region = forecasts(seed)
    guarantee = None if n is None else calibrant.Guarantee(n)
    found = judge(Normal(f, 1.0), f + e * rng.uniform(0.8, 1.25), by=region, guarantee=guarantee)
    assert found.pvalue == min(part.pvalue for part in found.parts)
    assert (found.pvalue <= 0.05) == (not found.passes) == bool(found.off) == (found.kind != "good")
    for part in found.parts:
        low, high = part.band
        inside = part.low - 1e-12 <= part.tested <= part.high + 1e-12
        within = inside and bool(((low - 1e-12 <= part.below) & (part.below <= high + 1e-12)).all())
        assert part.off == (not within) == (part.pvalue <= 0.05) == bool(part.fault) == (part.size > 0)
        if part.fault == "too narrow":
            assert part.tested <= part.high
        if part.fault == "too wide":
            assert part.tested >= part.low


def test_a_calibrated_forecast_passes():
    f, e, _ = forecasts()
    found = judge(Normal(f, 1.0), f + e, f)
    assert found.passes
    assert (found.fault, found.remedy) == ("", "none")
    assert not any("off by" in each.text and each.kind != "good" for each in found.statements)


def test_intervals_without_distributions_are_judged_by_where_labels_miss_them():
    f, e, _ = forecasts()
    found = judge(calibrant.Interval(f - 1.645, f + 1.645), f + e + 0.5)
    assert (found.fault, found.remedy) == ("too low", "calibrate")
    assert found.overall.below is None


def test_what_has_no_intervals_is_refused():
    with pytest.raises(TypeError, match="no distribution and no intervals"):
        judge([1.0, 2.0], [1.0, 2.0])


def test_the_p_value_of_the_metrics_is_that_of_the_judgement():
    f, e, _ = forecasts()
    found = judge(Normal(f, 1.0), f + e)
    assert found.metrics.pit_pvalue == found.pvalue
    assert found.overall.below.shape == LEVELS.shape


def test_next_steps_speak_the_language_of_the_command_line():
    from calibrant.judging.interface import TERMINAL

    f, e, _ = forecasts()
    found = judge(Normal(f, 1.0), f + e + 1).using(TERMINAL)
    assert "calibrant fit" in found.headline.step


# ---- counts, folds, groups -------------------------------------------------------------------------------------------


def test_counts_hold_more_than_asked_for_and_that_is_no_fault():
    rng = np.random.default_rng(1)
    rate = np.where(np.arange(1000) % 2, 3.0, 0.2)
    found = judge(Poisson(rate), rng.poisson(rate).astype(float))
    assert found.passes
    assert found.overall.share > found.overall.high > found.overall.split_share
    worse = judge(Poisson(rate), rng.poisson(1.6 * rate).astype(float))
    assert worse.fault.startswith("too low")
    assert "(ties split)" in worse.overall.evidence


def test_raw_labels_that_look_like_counts_are_asked_about():
    rng = np.random.default_rng(2)
    rate = rng.gamma(1.2, 2.0, 1000)
    found = judge(Normal(rate, np.sqrt(rate)), rng.poisson(rate).astype(float))
    assert found.remedy == "as counts"
    assert "labels=Counts()" in found.headline.step


def test_quantiles_that_are_right_at_their_levels_are_told_apart_from_what_lies_between():
    f, e, _ = forecasts()
    levels = [0.05, 0.5, 0.95]
    found = judge(Quantiles(levels, Normal(f, 1.0).quantiles(levels)), f + e)
    assert found.right_at_levels
    assert (found.kind, found.remedy) == ("warn", "at levels")


def folds(rng):
    f, noise = rng.normal(size=(2, 400))
    return CrossCalibrated(tuple(Calibrator().fit(Normal(f[k::3], 0.5), (f + noise)[k::3]) for k in range(3)))


def test_the_mean_over_folds_may_be_too_wide_and_keeps_its_weaker_guarantee():
    rng = np.random.default_rng(4)
    calibrated, met = folds(rng), {}
    for later in (0.0, 0.25, 2.0):
        f, noise = rng.normal(size=(2, 2000))
        met[later] = judge(
            calibrated([Normal(f, 0.5)] * 3), f + noise + later, guarantee=calibrated.guarantee
        ).guarantee_met
    assert met == {0.0: True, 0.25: True, 2.0: False}  # 2c + epsilon leaves room for a small shift
    wide = judge(Normal(np.zeros(3000), 1.3), rng.normal(size=3000), guarantee=calibrated.guarantee)
    assert wide.passes
    assert wide.wide_folds
    assert wide.headline.step == "No action is needed."


def test_a_slice_is_judged_by_the_rows_that_calibrated_it():
    region = slices_of("region", ["north"] * 40 + ["south"] * 40, 80)
    half = slices_of("half", ["one"] * 20 + ["two"] * 60, 80)
    behind = calibration_rows_of([half, region], 1010, {"north": 10, "south": 1000})
    assert [behind(region, 0), behind(region, 1), behind(half, 0)] == [10, 1000, 10]
    assert behind(half, 1) == int(1 / ((1 / 3) ** 2 / 10 + (2 / 3) ** 2 / 1000))
    assert calibration_rows_of([half], 1010, {"north": 10, "south": 1000})(half, 0) == 1010


def test_those_who_calibrated_by_group_are_sent_to_finer_groups():
    rng = np.random.default_rng(5)
    group, other = np.repeat(["a", "b"], 1000), np.tile(["x", "y"], 1000)
    y = rng.normal(size=2000) + (other == "x")
    calibrated = Calibrator().fit(np.zeros(1000), y[::2] - 0.5, by=group[::2])
    found = judge(Normal(np.zeros(2000), 1.0), y, by={"other": other}, guarantee=calibrated.guarantee)
    assert (found.known, found.remedy) == ("by group", "by group")
    assert "finer groups" in found.headline.step


def test_calibration_rows_that_explain_a_gap_leave_the_headline_green():
    rng = np.random.default_rng(6)
    explained = 0
    for _ in range(20):
        calibrated = Calibrator().fit(np.zeros(100), rng.normal(size=100))
        found = judge(calibrated(np.zeros(5000)), rng.normal(size=5000), guarantee=calibrated.guarantee)
        explained += found.explained
        assert found.kind == "good" or not found.passes
    assert explained > 10


def test_rows_that_calibrated_are_recognised():
    y = np.random.default_rng(7).normal(size=300)
    found = judge(Calibrator().fit(np.zeros(300), y)(np.zeros(300)), y)
    assert (found.kind, found.remedy) == ("warn", "other rows")


# ---- what comes in, and goes out -------------------------------------------------------------------------------------


def test_periods_say_when_and_their_order_does_not_matter():
    rng = np.random.default_rng(8)
    days = np.datetime64("2024-01-01") + np.arange(1000) // 5
    y = rng.normal(size=1000) + (np.arange(1000) >= 600)
    order = rng.permutation(1000)
    found, mixed = (judge(Normal(np.zeros(1000), 1.0), y[k], time=days[k]) for k in (np.arange(1000), order))
    assert found.fault == mixed.fault == "too low since 2024-04-30"
    assert [part.off for part in found.periods] == [False] * 6 + [True] * 4
    assert (found.periods[0].start, found.periods[0].end) == ("2024-01-01", "2024-01-20")


def test_features_together_find_what_no_slice_shows_and_nothing_is_called_failed():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(8000, 2))
    y = rng.normal(size=8000) + 0.12 * np.sign(X[:, 0] * X[:, 1])
    found = judge(Normal(np.zeros(8000), 1.0), y, X)
    assert found.dependence.off
    assert found.dependence.kind == "location"
    assert "ail" not in found.headline.text


def test_the_base_and_what_calibration_changed():
    torch = pytest.importorskip("torch")
    f, e, _ = forecasts()
    y = torch.asarray(f + e)
    found = judge(Normal(torch.asarray(f), 1.0), y, base=Normal(f, 0.3))
    assert found.before.fault == "too narrow"
    assert found.changes["crps"].outcome == "better"
    assert found.changes["covered"].before.value < 0.5 < found.changes["covered"].after.value
    assert found.base.n == M


def test_it_goes_into_json_and_a_table():
    f, e, region = forecasts()
    found = judge(Normal(f, 1.0), f + e + 1.0, {"x": f}, by=region, time=np.arange(M))
    assert json.loads(json.dumps(found.to_dict()))["remedy"] == found.remedy
    assert len(found.table().splitlines()) == 1 + len(found.parts)
    assert str(found).startswith(str(found.headline))


def test_labels_of_another_kind_and_missing_ones_are_refused():
    H = Normal(np.zeros(100), 1.0)
    with pytest.raises(ValueError, match=r"y is 0.5 in row 3 \(the only such row\): Counts\(\) takes whole numbers"):
        judge(H, np.where(np.arange(100) == 3, 0.5, 0.0), labels=Counts())
    with pytest.raises(ValueError, match=r"y is NaN or infinite in row 7 \(the only such row\): leave out rows"):
        judge(H, np.where(np.arange(100) == 7, np.nan, 1.0))
    with pytest.raises(TypeError, match="guarantee must be that of what was calibrated"):
        judge(H, np.zeros(100), guarantee="marginal")


def test_a_calibrated_forecast_is_seldom_found_off():
    rng, runs = np.random.default_rng(10), 200
    off = sum(
        not judge(Normal(np.zeros(200), 1.0), rng.normal(size=200), time=np.arange(200)).passes for _ in range(runs)
    )
    assert off / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_an_estimator_is_judged_by_the_columns_of_its_features():
    rng = np.random.default_rng(11)
    X = pd.DataFrame({"x": rng.normal(size=900), "site": rng.choice(["a", "b"], 900), "day": rng.permutation(900)})
    y = X["x"] + rng.normal(size=900)
    model = CalibratedRegressor(make_pipeline(FunctionTransformer(lambda X: X[["x"]]), LinearRegression()))
    found = model.fit(X[:600], y[:600]).judge(X[600:], y[600:] + 2, time="day", by="site")
    assert found.by == ("site",)
    assert {part.by for part in found.features} == {"x", "day"}
    assert len(found.periods) == 10
    assert (found.fault, found.remedy) == ("too low", "calibrate again")
    assert found.base is not None
