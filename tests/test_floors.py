"""Rows without a width: each stands by itself, `fit` keeps one floor for all, and the guarantee says so."""

from __future__ import annotations

import re

import array_api_strict
import numpy as np
import pytest
import torch

from calibrant import (
    Calibrator,
    CrossCalibrated,
    Ensemble,
    Interval,
    Laplace,
    Logistic,
    LogNormal,
    Normal,
    Point,
    Quantiles,
    Samples,
    StudentT,
    Window,
    concatenate,
)
from calibrant.guarantee import Guarantee
from calibrant.interpolators import Linear, Random
from calibrant.intervals import Centred, ConformalInterval, NormalizedResidual
from calibrant.scores import CDFScore, EnsembleScore, IntervalScore, QuantileScore, SamplesScore, ZScore, signed

LEVELS = [0.1, 0.5, 0.9]
N = 60
RNG = np.random.default_rng(5)
CENTRE = RNG.normal(3.0, 2.0, N)
WIDTH = np.where(RNG.random(N) < 0.2, 0.0, RNG.uniform(0.5, 2.0, N))
LABELS = CENTRE + RNG.normal(size=N)
SPREAD = np.array([-1.0, 0.0, 1.0])
TIED = np.array([0.0, 0.0, 1.0])  # some quantiles equal in every row, all of them where the width is zero

quietly = pytest.mark.filterwarnings("ignore:.*(no width|zero width|smaller than the median)")

KINDS = {
    "interval": (lambda c, w: Interval(c, c + w), None),
    "quantiles": (lambda c, w: Quantiles(LEVELS, c[:, None] + w[:, None] * SPREAD), None),
    "quantiles, some equal": (lambda c, w: Quantiles(LEVELS, c[:, None] + w[:, None] * TIED), None),
    "quantiles, the paper's": (
        lambda c, w: Quantiles(LEVELS, c[:, None] + w[:, None] * SPREAD),
        QuantileScore(outer_slope=1),
    ),
    "samples": (lambda c, w: Samples(c[:, None] + w[:, None] * SPREAD[::-1]), None),
    "normal": (Normal, None),
    "cdf of normal": (Normal, CDFScore()),
    "student t": (lambda c, w: StudentT(5.0, c, w), None),
    "ensemble": (lambda c, w: Ensemble([Interval(c, c + w), Normal(c, w)], [1.0, 2.0]), None),
    "ensemble of ensembles": (
        lambda c, w: Ensemble([Ensemble([Interval(c, c + w)]), Samples(c[:, None] + w[:, None] * SPREAD)]),
        None,
    ),
    "signed": (lambda c, w: Interval(c, c + w), signed(Centred(IntervalScore()))),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


# ---- constructors ----------------------------------------------------------------------------------------------------


def test_equal_bounds_quantiles_and_draws_stay_equal_whatever_stands_beside_them():
    for other in (1.0, 1000.0):
        assert Interval([0.0, 0.0], [0.0, other]).upper.tolist() == [0.0, other]
    assert Quantiles(LEVELS, [[1.0, 1.0, 2.0]]).values.tolist() == [[1.0, 1.0, 2.0]]
    assert Samples([[2.0, 1.0, 1.0]]).values.tolist() == [[1.0, 1.0, 2.0]]


DISTRIBUTION_CASES = {
    "normal": Normal,
    "logistic": Logistic,
    "laplace": Laplace,
    "student t": lambda *a, **k: StudentT(4.0, *a, **k),
    "log-normal": LogNormal,
}


@quietly
@pytest.mark.parametrize("name", DISTRIBUTION_CASES)
@pytest.mark.parametrize("loc", [0.0, 7.0, -3e5])
def test_a_zero_scale_gives_the_same_distribution_alone_in_company_and_as_a_single_distribution(name, loc):
    make = DISTRIBUTION_CASES[name]
    loc = loc / 1e5 if name == "log-normal" else loc
    company, alone, single = make([1.0, loc, 2.0], [1.0, 0.0, 1000.0]), make([loc], [0.0]), make(loc, 0.0)
    for p in (0.1, 0.5, 0.9):
        assert alone.ppf(p)[0] == single.ppf(p) == company.ppf(p)[1]
        assert single.ppf(p) == pytest.approx(np.exp(loc) if name == "log-normal" else loc, rel=1e-12, abs=1e-90)
    assert np.isfinite(alone.logpdf([2.0])[0])
    assert alone.std()[0] > 0
    for array in (np.float32, lambda v: torch.tensor(v, dtype=torch.float32), array_api_strict.asarray):
        distribution = make(array([0.0, 1.0]), array([0.0, 0.0]))
        assert np.all(np.isfinite(np.asarray(distribution.logpdf(array([1.0, 2.0])))))
        assert np.all(np.asarray(distribution.std()) > 0)


def test_a_single_distribution_of_zero_scale_says_so():
    with pytest.warns(UserWarning, match="has zero width: it is given the least that floats tell apart"):
        Normal(1.0, 0.0)


# ---- a row stands by itself ------------------------------------------------------------------------------------------


def answers(H):
    return np.concatenate([H.quantiles([0.05, 0.5, 0.9]), H.cdf(3.0)[:, None]], axis=1)


@quietly
@every_kind
def test_any_row_alone_reordered_or_among_others_gives_the_same_bits(kind):
    make, score = KINDS[kind]
    calibrated = Calibrator(score).fit(make(CENTRE, WIDTH), LABELS)
    width = np.where(np.arange(N) % 3 == 0, 0.0, 10.0 ** (np.arange(N) % 7 - 3))
    whole = answers(calibrated(make(CENTRE, width)))
    assert np.all(np.isfinite(whole))
    order = np.random.default_rng(0).permutation(N)
    np.testing.assert_array_equal(answers(calibrated(make(CENTRE[order], width[order]))), whole[order])
    for row in (0, 1, 3, 33):
        alone = answers(calibrated(make(CENTRE[row : row + 1], width[row : row + 1])))
        np.testing.assert_array_equal(alone[0], whole[row])
    parts = [make(CENTRE[part], width[part]) for part in (slice(0, 1), slice(1, N))]
    np.testing.assert_array_equal(answers(calibrated(concatenate(parts))), whole)


@quietly
@every_kind
def test_a_change_of_unit_changes_the_floor_and_the_distribution_by_that_unit(kind):
    if kind == "quantiles, the paper's":
        return  # it depends on the unit by itself
    make, score = KINDS[kind]
    unit = 2.0**-20
    here = Calibrator(score).fit(make(CENTRE, WIDTH), LABELS)
    there = Calibrator(score).fit(make(unit * CENTRE, unit * WIDTH), unit * LABELS)
    p = [0.05, 0.5, 0.9]
    H, small = here(make(CENTRE, WIDTH)).quantiles(p), there(make(unit * CENTRE, unit * WIDTH)).quantiles(p)
    np.testing.assert_allclose(small, unit * H, rtol=1e-12)
    if hasattr(here.score, "floor"):
        assert there.score.floor == unit * here.score.floor


# ---- what fit learns -------------------------------------------------------------------------------------------------


def test_fit_learns_a_millionth_of_the_median_width_and_counts_the_rows_below_it():
    prediction = Interval([0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 4.0, 3.0])
    with pytest.warns(UserWarning, match="IntervalScore: 2 rows, the first is row 1, have no width"):
        calibrated = Calibrator().fit(prediction, [0.5, 1.1, 3.5, 3.2])
    assert calibrated.score.floor == pytest.approx(2e-6)
    assert repr(calibrated.score) == "IntervalScore(floor=2e-06)"
    assert (calibrated.guarantee.kind, calibrated.guarantee.floored) == ("approximate", 2)
    assert str(calibrated.guarantee).startswith(
        "|P(H(Y) <= c) - c| <= 0.2 for every c, but only approximately: 2 calibration rows had no width of their own"
        " and were given a floor learned from all, on average"
    )
    kept = Calibrator().fit(Interval(CENTRE, CENTRE + 2.0), LABELS)  # for later rows, where none needs it here
    assert kept.score.floor == pytest.approx(2e-6)
    assert (kept.guarantee.kind, kept.guarantee.floored) == ("marginal", 0)
    with pytest.warns(UserWarning, match="IntervalScore: 1 row, row 0, has no width of its own: it is given"):
        narrow = kept(Interval([5.0], [5.0])).quantiles([0.1, 0.9])[0]
    assert np.diff(narrow) == pytest.approx(1e-6 * np.diff(kept(Interval([5.0], [7.0])).quantiles([0.1, 0.9])[0]))


def test_a_floor_that_the_user_knows_leaves_the_guarantee_as_it_is():
    prediction = Interval(CENTRE, CENTRE + WIDTH)
    with pytest.warns(UserWarning, match=r"given a floor of 0\.3"):
        calibrated = Calibrator(IntervalScore(floor=0.3)).fit(prediction, LABELS)
    assert calibrated.score == IntervalScore(floor=0.3)
    assert calibrated.guarantee == Guarantee(N, 0.0)
    assert calibrated.guarantee.kind == "marginal"


@quietly
def test_rows_that_are_all_without_width_are_scored_by_their_residuals():
    """Any scale gives the same distribution; a later row with a width is not stretched beyond theirs."""
    plain = Calibrator().fit(Point(CENTRE), LABELS)(Point(CENTRE)).quantiles([0.1, 0.5, 0.9])
    for kind in ("interval", "normal", "student t"):
        prediction = KINDS[kind][0](CENTRE, np.zeros(N))
        calibrated = Calibrator().fit(prediction, LABELS)
        distribution = calibrated(prediction)
        np.testing.assert_allclose(distribution.quantiles([0.1, 0.5, 0.9]), plain, rtol=1e-9)
        assert calibrated.guarantee.floored == N
        assert calibrated.score.floor == pytest.approx(np.ptp(CENTRE))


@quietly
@pytest.mark.parametrize("kind", ["interval", "quantiles", "samples", "normal"])
def test_equal_rows_without_width_work(kind):
    prediction = KINDS[kind][0](np.zeros(4), np.zeros(4))
    distribution = Calibrator().fit(prediction, [-1.0, 0.5, 1.0, 3.0])(prediction)
    assert np.all(distribution.ppf(0.7) > distribution.ppf(0.3))


@quietly
def test_an_ensemble_learns_a_floor_for_every_member_and_counts_a_row_once():
    flat = np.arange(N) % 4 == 0
    other = np.where(np.arange(N) % 6 == 0, 0.0, 1.0)
    prediction = Ensemble([Interval(CENTRE, CENTRE + ~flat), Normal(CENTRE, other), Point(CENTRE)])
    with pytest.warns(UserWarning, match="this ensemble adds residuals"):
        calibrated = Calibrator().fit(prediction, LABELS)
    floors = [getattr(score, "floor", None) for score in calibrated.score.scores]
    assert floors == [pytest.approx(1e-6), pytest.approx(1e-6), None]
    assert calibrated.guarantee.floored == int(np.sum(flat | (other == 0)))
    points = Ensemble([Point(CENTRE), Point(CENTRE + 1)])
    assert Calibrator().fit(points, LABELS).score == EnsembleScore()


@pytest.mark.parametrize("score", [IntervalScore, ZScore, QuantileScore, SamplesScore, NormalizedResidual])
def test_a_floor_is_a_positive_number(score):
    name = re.escape("ZScore" if score is NormalizedResidual else score.__name__)
    for bad in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match=rf"{name}\.floor must be positive and finite, got"):
            score(floor=bad)
    with pytest.raises(TypeError, match=rf"{name}\.floor must be one number, got '1'"):
        score(floor="1")
    made = score(floor=np.float32(2.0))
    assert type(getattr(made, "score", made).floor) is float  # that of a residual is around a z-score


def test_a_score_by_itself_gives_a_row_the_least_that_floats_tell_apart():
    with pytest.warns(UserWarning, match="the least that floats tell apart; pass a floor"):
        scores = IntervalScore()(Interval([0.0, 1.0], [2.0, 1.0]), [1.0, 2.0])
    assert scores.tolist() == [0.5, 1 / (4 * np.finfo(float).eps)]


@quietly
def test_a_row_with_some_equal_quantiles_needs_no_floor():
    values = np.array([[0.0, 0.0, 4.0], [0.0, 2.0, 2.0]])
    chart = QuantileScore().transform_of(Quantiles(LEVELS, values))
    np.testing.assert_allclose(chart.values, [[0.0, 2e-6, 4.000002], [0.0, 2.0, 2.000001]], rtol=1e-9)
    assert Calibrator().fit(Quantiles(LEVELS, values), [1.0, 1.5]).guarantee.floored == 0


@pytest.mark.parametrize("array", [np.float32, torch.tensor, array_api_strict.asarray], ids=["f4", "torch", "strict"])
@quietly
def test_floors_work_in_every_library(array):
    lower, upper, y = (array(v) for v in ([0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 4.0, 3.0], [0.5, 1.5, 3.0, 3.5]))
    calibrated = Calibrator().fit(Interval(lower, upper), y)
    assert type(calibrated.score.floor) is float
    assert calibrated.guarantee.floored == 2
    distribution = calibrated(Interval(lower, upper))
    assert distribution.cdf(y).dtype == y.dtype
    assert np.all(np.diff(np.asarray(distribution.quantiles([0.1, 0.5, 0.9])), axis=1) > 0)


# ---- guarantees ------------------------------------------------------------------------------------------------------


@quietly
def test_randomised_distributions_and_folds_with_a_learned_floor_are_approximate_and_name_no_ties():
    folds = tuple(
        Calibrator().fit(Interval(CENTRE[rows], CENTRE[rows] + WIDTH[rows]), LABELS[rows])
        for rows in (slice(0, 30), slice(30, 60))
    )
    cross, randomised = CrossCalibrated(folds).guarantee, Guarantee(99, -1.0, largest_tie=4, floored=1)
    assert (cross.kind, randomised.kind) == ("cross, approximate", "approximate")
    assert cross.floored == int(np.sum(WIDTH == 0))
    assert f"but only approximately: {cross.floored} calibration rows had no width" in str(cross)
    assert str(randomised).startswith(
        "P(H(Y) <= c) = c for every c, but only approximately: 1 calibration row had no width of its own and was given"
    )
    assert "ties" not in str(cross) + str(randomised)
    assert randomised.conditional() == Guarantee(99, -1.0).conditional()


@quietly
def test_no_more_rows_have_a_learned_floor_than_there_are(tmp_path):
    intervals = Interval(CENTRE, CENTRE + WIDTH)
    window = Calibrator(forget=Window(3)).fit(intervals, LABELS)
    for calibrated in (window, window.update(intervals, LABELS)):
        assert calibrated.guarantee.floored == calibrated.guarantee.n == 3
        calibrated.save(tmp_path / "model.safetensors")
    groups = Calibrator().fit(intervals, LABELS, by=[0] * 2 + [1] * (len(LABELS) - 2)).guarantee
    assert (groups[0].floored, groups[1].floored) == (2, int(np.sum(WIDTH == 0)))


@quietly
def test_conformal_intervals_learn_a_floor_too():
    for nonconformity, kind in ((Centred(IntervalScore()), "interval"), (NormalizedResidual(), "normal")):
        fitted = ConformalInterval(nonconformity, 0.8).fit(KINDS[kind][0](CENTRE, WIDTH), LABELS)
        assert fitted.guarantee.kind == "approximate"
        assert "but only approximately" in str(fitted.guarantee)
        whole = fitted(KINDS[kind][0](CENTRE, WIDTH))
        alone = fitted(KINDS[kind][0](CENTRE[7:8], WIDTH[7:8]))
        assert (whole[0][7], whole[1][7]) == (alone[0][0], alone[1][0])


@quietly
@pytest.mark.parametrize("interpolator", [Linear(), Random()], ids=["linear", "random"])
def test_calibration_and_test_rows_without_width_are_treated_alike(interpolator):
    """20% of the rows have no width: the PIT of a test row is uniform, among these rows and among the others."""
    rng = np.random.default_rng(1)
    n, rounds = 99, 400
    pits, flats = [], []
    for _ in range(rounds):
        centre = rng.normal(size=n + 5)
        flat = rng.random(n + 5) < 0.2
        width = np.where(flat, 0.0, rng.uniform(0.5, 2.0, n + 5))
        y = centre + np.where(flat, 0.3, width) * rng.normal(size=n + 5)
        calibrated = Calibrator(interpolator=interpolator).fit(Interval(centre[:n], centre[:n] + width[:n]), y[:n])
        pits.append(calibrated(Interval(centre[n:], centre[n:] + width[n:]), rng=rng).cdf(y[n:]))
        flats.append(flat[n:])
    pits, flats = np.concatenate(pits), np.concatenate(flats)
    levels = np.linspace(0.05, 0.95, 19)
    error = np.max(np.abs(np.mean(pits[:, None] <= levels, axis=0) - levels))
    assert error < 0.05  # 1/(n + 1), and three standard errors of 2000 PITs that share calibration sets
    # the rows without a width are the outermost scores on both sides, in the calibration set and among test rows
    outside = np.mean((pits[flats] < 0.2) | (pits[flats] > 0.8))
    assert outside > 0.95


# ---- files -----------------------------------------------------------------------------------------------------------
