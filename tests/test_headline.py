"""The verdict in one sentence: what is wrong, what to do, and whether the guarantee is met."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import stats
from typer.testing import CliRunner

from calibrant import Calibrator, CrossCalibrated, Normal
from calibrant.cli.app import app
from calibrant.cli.console import show_statement
from calibrant.diagnosis.headline import headline, known_by
from calibrant.diagnosis.over_time import Period
from calibrant.diagnosis.overall import overall_of
from calibrant.judging.words import Statement
from calibrant.metrics.by_slice import LEVELS, SliceResult
from calibrant.metrics.calibration import kolmogorov_pvalue
from calibrant.metrics.interval_coverage import IntervalResult


def pits_of(H, y):
    return np.asarray(H.cdf(y))


FAULTS = {
    "too low": lambda rng: (Normal(np.full(3000, -0.5), 1.0), rng.normal(size=3000)),
    "too high": lambda rng: (Normal(np.full(3000, 0.5), 1.0), rng.normal(size=3000)),
    "too narrow": lambda rng: (Normal(np.zeros(3000), 0.6), rng.normal(size=3000)),
    "too wide": lambda rng: (Normal(np.zeros(3000), 1.7), rng.normal(size=3000)),
    # the standard deviation is right: the middle is too wide, and yet large labels come too often
    "wrong in the tails": lambda rng: (Normal(np.zeros(5000), 3**0.5), rng.standard_t(3, 5000)),
    # in the middle of either half: mean and spread of the PITs are as they should be
    "wrong in shape": lambda rng: (
        Normal(np.zeros(4000), 1.0),
        stats.norm.ppf(rng.choice([0.15, 0.65], 4000) + rng.uniform(0, 0.2, 4000)),
    ),
}


HEAVY = {"t(2.2) * 0.62": (2.2, 0.62), "t(2) * 0.5": (2, 0.5), "t(3) * 0.6": (3, 0.6), "t(3) * 0.7": (3, 0.7)}


@pytest.mark.parametrize("distribution", HEAVY)
def test_heavy_tails_are_named_though_the_middle_is_too_wide(distribution):
    """The simultaneous band is wide in the tails: it does not show what is named."""
    df, scale = HEAVY[distribution]
    rng, named = np.random.default_rng(10), []
    for _ in range(10):
        overall = overall_of(stats.norm.cdf(scale * rng.standard_t(df, 3000)), 0.9)
        named += [overall.fault] if overall.fails else []
    assert len(named) >= 8
    assert named.count("wrong in the tails") >= len(named) - 1


@pytest.mark.parametrize("m", [300, 3000])
def test_a_shift_and_a_scale_are_never_called_tails(m):
    rng = np.random.default_rng(11)
    for fault, (shift, scale) in {"too low": (0.35, 1), "too narrow": (0, 1.35), "too wide": (0, 0.7)}.items():
        wholes = [overall_of(stats.norm.cdf(shift + scale * rng.normal(size=m)), 0.9) for _ in range(10)]
        assert {overall.fault for overall in wholes if overall.fails} == {fault}


def test_folds_that_cover_too_many_need_no_action():
    rng = np.random.default_rng(16)
    folds = CrossCalibrated(tuple(drawn(rng, 400, 1)[0] for _ in range(3)))
    overall = overall_of(0.5 + 0.97 * (rng.random(3000) - 0.5), 0.9, folds.guarantee)
    assert overall.coverage_fault == "too many"
    assert headline(overall).step == "No action is needed."


def drawn(rng, n, m, factor=0.5, later=0.0):
    f, noise = rng.normal(size=(2, n + m))
    base, y = Normal(f, factor), f + noise
    y[n:] += later
    return Calibrator().fit(base[:n], y[:n]), base[n:], y[n:]


def test_a_guarantee_is_seldom_said_not_to_be_met_where_it_holds():
    rng = np.random.default_rng(3)
    broken = 0
    for _ in range(200):
        calibrated, base, y = drawn(rng, 100, 300)
        broken += not overall_of(pits_of(calibrated(base), y), 0.9, calibrated.guarantee).is_consistent_with(
            calibrated.guarantee
        )
    assert broken <= 200 * 0.1 + 3 * (200 * 0.1 * 0.9) ** 0.5


def test_folds_break_their_guarantee_only_beyond_what_it_allows():
    rng = np.random.default_rng(4)
    folds = CrossCalibrated(tuple(drawn(rng, 400, 1)[0] for _ in range(3)))
    kept = {}
    for later in (0.0, 0.25, 2.0):
        f, noise = rng.normal(size=(2, 2000))
        H = folds([Normal(f, 0.5)] * 3)
        kept[later] = overall_of(pits_of(H, f + noise + later), 0.9, folds.guarantee).is_consistent_with(
            folds.guarantee
        )
    assert kept == {0.0: True, 0.25: True, 2.0: False}  # 2c + epsilon leaves room for a small shift


# The terminal


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(9)
    f, noise, new = rng.normal(size=(3, 2000))
    for name, y in (("cal", f + noise), ("same", f + new), ("later", f + new + 1)):
        parquet.write_table(pa.table({"mu": f, "sigma": np.full(2000, 0.5), "y": y}), f"{name}.parquet")
    Calibrator().fit(Normal(f, np.full(2000, 0.5)), f + noise).save("m.safetensors")


def evaluated(name, *more):
    wanted = ["evaluate", f"{name}.parquet", "-m", "m.safetensors", "--target", "y", "--mean", "mu", "--std", "sigma"]
    result = CliRunner().invoke(app, [*wanted, *more])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.usefixtures("files")
def test_evaluate_says_that_a_guarantee_is_not_met():
    later, same = evaluated("later"), evaluated("same")
    assert later.startswith("[problem] Not calibrated: the forecasts are too low. Calibrate again on rows like these")
    assert "[problem] The guarantee is not met on these rows. What was promised: A 90% interval" in later
    assert "not met" not in same
    assert same.startswith("[good] ")
    assert "\x1b" not in later + same
    found = json.loads(evaluated("later", "--json"))
    assert found["verdict"]["kind"] == "bad"
    assert found["verdict"]["text"] == "Not calibrated: the forecasts are too low."
    assert found["guarantee_met"] is False
    assert json.loads(evaluated("same", "--json"))["guarantee_met"] is True


@pytest.mark.parametrize("shift", [0.02, -0.02])
def test_the_gap_that_chance_allows_is_that_of_the_band_on_its_side(shift):
    pit = np.clip((np.arange(400) + 0.5) / 400 + shift, 1e-6, 1 - 1e-6)
    overall = overall_of(pit, 0.9)
    edge = np.interp(overall.largest.level, LEVELS, overall.band[0 if shift > 0 else 1])
    assert overall.allowed == pytest.approx(abs(edge - overall.largest.level), abs=0.01)
    assert overall.gap < overall.allowed


# Groups and periods, where all rows together pass

PASSES = overall_of(np.random.default_rng(0).random(2000), 0.9)


def part(share, *, m=500, gap=None, start=None, value="a"):
    """A group by predicted value, or a period; a gap of its PITs is one of 20 comparisons."""
    pvalue = 1.0 if gap is None else min(1.0, 20 * kolmogorov_pvalue(gap, m))
    said = ("predicted value", value, m, (IntervalResult(0.9, share, 0.86, 0.94),), gap, 0.5, 0.5, pvalue, 0.05)
    known = {"size": m, "comparisons": 20, "mean": 0.4, "spread": 0.5}
    return SliceResult(*said, **known) if start is None else Period(*said, **known, start=start, end=f"{start}, 23:00")


def periods(fifth):
    return [fifth if k == 4 else part(0.9, start=f"day {k}") for k in range(10)]


BARELY = part(0.9, m=155, gap=0.149, start="day 4")
BOTH = [part(1.0, value="0"), part(0.754, value="(15, 32]"), part(0.9)]


def test_what_is_barely_beyond_chance_is_a_warning_and_no_problem():
    assert BARELY.off
    assert 0 < BARELY.excess < 0.02 < 0.05 < BARELY.distance
    said = headline(PASSES, [part(0.9)], periods(BARELY))
    assert said.kind == "warn"
    assert said.text == "Calibrated over all rows together, but from day 4 to day 4, 23:00 the forecasts are too high."
    assert headline(PASSES, [], periods(part(0.9, m=155, gap=0.25, start="day 4"))).kind == "bad"
    assert headline(PASSES, [part(0.9), part(0.845)]).kind == "warn"
    assert headline(PASSES, [part(0.9), part(0.83)]).kind == "bad"


def test_what_is_farthest_beyond_chance_comes_first_and_the_other_is_named():
    alone, groups = headline(PASSES, BOTH), headline(PASSES, BOTH, periods(BARELY))
    assert alone.text.endswith(
        "2 of 3 groups are off, too wide for predicted value = 0 and too narrow for predicted value in (15, 32]."
    )
    assert groups.text == f"{alone.text[:-1]}; and 1 of 10 periods is off, from day 4 to day 4, 23:00."
    assert (groups.kind, groups.step) == (alone.kind, alone.step)
    time = headline(PASSES, BOTH, periods(part(0.5, start="day 4")))
    assert time.text.endswith("from day 4 to day 4, 23:00 the forecasts are too high; and 2 of 3 groups are off.")
    assert time.step.startswith("Calibrate again on rows like those to come")


def test_borderline_and_nearly_calibrated_are_not_called_calibrated_over_all_rows():
    rng = np.random.default_rng(2)
    drawn = (overall_of(rng.random(500), 0.9) for _ in range(400))
    borderline = next(each for each in drawn if each.state == "borderline")
    begin = f"Borderline over all rows together ({borderline.fault}), and "
    assert headline(borderline, BOTH).text.startswith(f"{begin}2 of 3 groups are off, too wide for ")
    assert headline(borderline, [], periods(BARELY)).text.startswith(f"{begin}from day 4 to day 4, 23:00 the forecasts")
    nearly = overall_of(rng.random(20_000) ** 1.03, 0.9)
    assert nearly.state == "nearly"
    assert headline(nearly, BOTH).text.startswith("Nearly calibrated over all rows together, but not in each group: ")


def test_those_who_calibrated_by_group_are_sent_to_finer_groups():
    f, noise = np.random.default_rng(20).normal(size=(2, 400))
    by = Calibrator().fit(Normal(f, 1.0), f + noise, by=np.arange(400) % 2)
    alone = Calibrator().fit(Normal(f, 1.0), f + noise)
    folds = CrossCalibrated((by, by))
    assert [known_by(each.guarantee) for each in (by, alone, folds)] == ["by group", "calibrated", "by group"]
    for overall in (PASSES, overall_of(np.random.default_rng(0).beta(0.5, 0.5, 2000), 0.9)):
        assert "or calibrate by groups (by=)." in headline(overall, BOTH).step
        assert "or calibrate by finer groups (by=)." in headline(overall, BOTH, known="by group").step


@pytest.mark.parametrize(("kind", "tag", "colour"), [("bad", "problem", "31"), ("good", "good", "32")])
def test_tags_have_colours_on_a_terminal(kind, tag, colour, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    show_statement(Statement(kind, "A sentence with [brackets]."))
    said = capsys.readouterr().out
    assert f"\x1b[1;{colour}m[{tag}]\x1b[0m A sentence with [brackets]." in said
