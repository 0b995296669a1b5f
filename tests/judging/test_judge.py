"""The judge: one value, whose words, bounds and p-values agree."""

from __future__ import annotations

import numpy as np
import pytest

import calibrant
from calibrant import Normal, judge
from calibrant.judging.part import LEVELS

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
