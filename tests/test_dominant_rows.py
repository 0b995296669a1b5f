"""A few rows with hardly any spread can outweigh all others: `fit` says so, once, and is silent on honest scales."""

from __future__ import annotations

import re
import warnings

import array_api_strict
import numpy as np
import pyarrow as pa
import pytest
import torch
from commands import run, write

from calibrant import (
    Calibrator,
    Ensemble,
    Interval,
    Normal,
    Point,
    Quantiles,
    Samples,
    tables,
)
from calibrant.metrics import crps
from calibrant.names import score_named
from calibrant.scores import EnsembleScore, QuantileScore, RelativeScore, SqrtScore, ZScore
from calibrant.tables import Columns

SPREAD = np.array([-1.0, -0.3, 0.2, 1.0])
KINDS = {
    "normal": (Normal, None),
    "interval": (lambda c, w: Interval(c - w, c + w), None),
    "quantiles": (lambda c, w: Quantiles([0.1, 0.3, 0.6, 0.9], c[:, None] + w[:, None] * SPREAD), None),
    "samples": (lambda c, w: Samples(c[:, None] + w[:, None] * SPREAD), None),
    "relative": (lambda c, w: Point(w), RelativeScore()),
    "ensemble": (lambda c, w: Ensemble([Normal(c, w), Interval(c - w, c + w)], [1.0, 2.0]), None),
    "ensemble of ensembles": (lambda c, w: Ensemble([Ensemble([Normal(c, w)]), Interval(c - w, c + w)]), None),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
N = 400


def data(kind="normal", *, n=N, narrow=(17, 230), factor=1e-4, unit=1.0, seed=0):
    """Forecasts with errors of one size, and a width that fits it in all rows but the narrow ones."""
    rng = np.random.default_rng(seed)
    width, centre = rng.uniform(0.5, 2.0, n), rng.normal(size=n)
    error = width * rng.normal(size=n)
    stated = width.copy()
    stated[list(narrow)] *= factor
    make, score = KINDS[kind]
    centre = stated if kind == "relative" else centre
    return make(unit * centre, unit * stated), unit * (centre + error), score


def said_by(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = fit()
    return [str(w.message) for w in caught if "smaller than the median" in str(w.message)], result


def said_of(prediction, y, score=None):
    return said_by(lambda: Calibrator(score).fit(prediction, y))[0]


# ---- it speaks -----------------------------------------------------------------------------------------------------


@every_kind
def test_two_rows_that_rule_the_distribution_are_named_once_in_words(kind):
    (said,) = said_of(*data(kind))
    name = re.match(r"\w+", said)[0]
    assert said.startswith(f"{name}: 2 of 400 calibration rows, the first is row 17, have a scale")
    times, share = re.search(
        r"have a scale ([\d,]+) times smaller.* scores make up ([\d.]+)% of the spread", said
    ).groups()
    assert 2e3 < float(times.replace(",", "")) < 5e4  # ten thousand, for widths between 0.5 and 2
    assert 66 < float(share) < 100
    assert "Pass" in said
    assert "floor" in said
    assert "ResidualScore() on points" in said
    assert "\n" not in said


def test_one_row_is_one_row_and_the_warning_points_at_the_line_of_the_user():
    prediction, y, _ = data(narrow=[3], factor=1e-5)
    with pytest.warns(UserWarning, match="times smaller than the median") as caught:
        Calibrator().fit(prediction, y)
    (said,) = (str(each.message) for each in caught)
    assert "ZScore: 1 of 400 calibration rows, the first is row 3, has a scale" in said
    assert "and its score makes up 99" in said
    assert caught[0].filename == __file__


def test_a_root_of_the_prediction_is_told_of_its_c():
    prediction, y, _ = data("relative")
    root = Point(prediction.values**2)
    assert "Pass a larger c, use" in said_of(root, root.values + y - prediction.values, SqrtScore())[0]


@every_kind
def test_the_unit_of_y_changes_nothing_but_the_floor_of_the_advice(kind):
    (here,), (there,) = said_of(*data(kind)), said_of(*data(kind, unit=1e12))
    without = [re.sub(r"floor=[^)]*", "", said) for said in (here, there)]
    assert without[0] == without[1]


def graded(values):
    return torch.tensor(values, requires_grad=True)


@pytest.mark.parametrize("array", [torch.tensor, array_api_strict.asarray, graded])
def test_other_arrays_say_the_same_also_with_gradients(array):
    prediction, y, _ = data()
    made = Normal(array(prediction.loc), array(prediction.scale))
    assert said_of(made, array(y).detach() if array is graded else array(y)) == said_of(prediction, y)


def test_the_advice_helps():
    prediction, y, _ = data("samples", n=800)
    new, truth, _ = data("samples", n=800, narrow=(), seed=1)
    (said,), ruled = said_by(lambda: Calibrator().fit(prediction, y))
    floor = re.search(r"floor=([^)]*)\)", said)[1]
    again, mended = said_by(lambda: Calibrator(score_named(f"samples:{floor}")).fit(prediction, y))
    assert again == []
    assert crps(mended(new), truth) < 0.9 * crps(ruled(new), truth)
    assert mended(new).std().mean() < 0.1 * ruled(new).std().mean()
    miss = [np.mean((distribution(new).mean() - truth) ** 2) for distribution in (mended, ruled)]
    assert miss[0] < 0.1 * miss[1]


# ---- it is silent --------------------------------------------------------------------------------------------------


@every_kind
def test_honest_widths_and_slightly_narrow_ones_say_nothing(kind):
    assert said_of(*data(kind, narrow=())) == []
    assert said_of(*data(kind, factor=0.05)) == []  # twenty times too narrow, but two rows of 400


@pytest.mark.parametrize(("n", "sigma", "most"), [(20, 1, 0), (20, 2, 8), (100, 2, 2)])
def test_heavy_tails_with_honest_scales_are_no_rows_that_rule(n, sigma, most):
    """t(2) labels: how many of 500 sets warn, with scales that vary by e^sigma.

    Scores that do not depend on their scale: a warning is a false alarm.
    """
    rng = np.random.default_rng(11)
    alarms = 0
    for _ in range(500):
        scale = np.exp(sigma * rng.normal(size=n))
        alarms += len(said_of(Normal(np.zeros(n), scale), scale * rng.standard_t(2, n)))
    assert alarms <= most


def test_points_few_rows_and_mixed_ensembles_say_nothing():
    prediction, y, _ = data()
    assert said_of(Point(prediction.loc), y) == []
    assert said_of(*data(n=19, narrow=[3])) == []
    assert said_of(Quantiles([0.5], prediction.loc[:, None]), y) == []
    both = Ensemble([prediction, Normal(prediction.loc, 1.0)])
    assert said_of(both, y, EnsembleScore([ZScore(), score_named("cdf")])) == []
    assert said_of(*data("quantiles")[:2], QuantileScore(outer_slope=1.0)) == []


def test_outliers_in_rows_of_ordinary_width_equal_scores_and_narrow_rows_that_are_right_say_nothing():
    prediction, y, _ = data(narrow=())
    y[5] += 1e9
    assert said_of(prediction, y) == []
    scale = np.where(np.arange(N) < 40, 1e-5, 1.0)
    assert said_of(Normal(np.zeros(N), scale), scale * np.random.default_rng(0).normal(size=N)) == []
    assert said_of(Interval(np.zeros(30), np.ones(30)), np.full(30, 0.5)) == []


# ---- through the doors ---------------------------------------------------------------------------------------------


def test_the_commands_say_it_once_and_count_rows_as_in_the_file(tmp_path):
    prediction, y, _ = data(narrow=[17])
    y[3] = np.nan  # left out, so that the library counts one less
    columns = {"mu": prediction.loc, "sigma": prediction.scale, "y": y}
    file = write(tmp_path / "cal.csv", columns)
    fit = ["fit", file, "--target", "y", "--mean", "mu", "--std", "sigma", "-o", tmp_path / "m.safetensors"]
    said = run(*fit).stderr
    assert said.count("times smaller than the median") == 1
    assert f"{file.name}: ZScore: 1 of 399 calibration rows, the first is row 17, has" in said
    assert "such as ZScore(floor=0.1" in said
    assert "(--score NAME:NUMBER)" in said
    mended = run(*fit, "--score", "zscore:0.1")
    assert "smaller than the median" not in mended.stderr
    assert "ZScore(floor=0.1)" in mended.stdout
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tables.fit(pa.record_batch(columns), Columns(target="y", mean="mu", std="sigma"))
    (said,) = [str(each.message) for each in caught if "smaller than the median" in str(each.message)]
    assert said.startswith("the table, the rows in the order of their keys: ZScore: 1 of 399 calibration rows, the")
