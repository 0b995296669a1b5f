"""The scores that people write by hand: relative errors, errors over roots, logarithms of ratios."""

from __future__ import annotations

import numpy as np
import pytest
from test_bad_input import complaint

from calibrant import Calibrator, Ensemble, Normal, Point
from calibrant.interpolators import InfiniteTails, Linear
from calibrant.names import NUMBERS, SCORES, score_named
from calibrant.scores import EnsembleScore, LogScore, RelativeScore, SqrtScore

RNG = np.random.default_rng(8)
F = RNG.uniform(1, 9, 200)
Y = F * np.exp(0.3 * RNG.normal(size=200))
NEW = np.array([0.5, 2.0, 8.0])
SCORES_OF_C = pytest.mark.parametrize("score", [SqrtScore, LogScore])


@SCORES_OF_C
@pytest.mark.parametrize("c", [0.0, 1.0, 12.5])
def test_labels_predictions_and_c_in_another_unit_give_the_same_distribution_in_that_unit(score, c):
    H = Calibrator(score(c=c)).fit(F, Y)(NEW)
    unit = 1e9
    there = Calibrator(score(c=c * unit)).fit(F * unit, Y * unit)(NEW * unit)
    np.testing.assert_allclose(there.quantiles([0.05, 0.5, 0.95]), unit * H.quantiles([0.05, 0.5, 0.95]), rtol=1e-9)
    np.testing.assert_allclose(there.crps(NEW * unit), unit * H.crps(NEW), rtol=1e-6)


@SCORES_OF_C
def test_a_prediction_that_is_not_above_minus_c_is_refused_by_its_row(score):
    f = np.array([3.0, 0.0, 2.0, -1.5])
    name = score.__name__
    said = complaint(ValueError, Calibrator(score()).fit, f, np.ones(4))
    assert said == (
        f"{name} needs f + c > 0, but with c = 0 row 1 (2 rows in all) has f = 0: pass a larger c, such as 1.7"
    )
    said = complaint(ValueError, Calibrator(score(c=1.0)).fit(F, Y), f)
    assert "with c = 1 row 3 (the only such row) has f = -1.5" in said


def test_a_label_that_is_not_above_minus_c_is_refused_by_the_logarithm_alone():
    y = np.array([1.0, 2.0, 0.0, -3.0])
    said = complaint(ValueError, Calibrator(LogScore()).fit, np.ones(4), y)
    assert "LogScore needs y + c > 0, but with c = 0 row 2 (2 rows in all) has y = 0: pass a larger c" in said
    assert "row 3 (the only such row) has y = -3" in complaint(ValueError, LogScore(c=1.0), np.ones(4), y)
    assert np.isfinite(SqrtScore()(np.ones(4), y)).all()


@SCORES_OF_C
def test_c_must_be_one_finite_number(score):
    name = score.__name__
    assert complaint(ValueError, score, c=np.nan) == f"{name}.c must be finite, got nan"
    assert complaint(TypeError, score, c="1") == f"{name}.c must be one number, got '1'"
    assert type(score(c=np.float32(2)).c) is float


@pytest.mark.parametrize("c", [0.0, 2.0])
def test_the_distribution_of_the_log_score_lives_above_minus_c(c):
    H = Calibrator(LogScore(c=c)).fit(F, Y)(NEW)
    np.testing.assert_array_equal(H.cdf(-c), 0)
    np.testing.assert_array_equal(H.logpdf(-c - 1.0), -np.inf)
    assert np.all(H.ppf(1e-9) > -c)
    assert np.all(H.sample(1000, rng=np.random.default_rng(0)) > -c)
    infinite = Calibrator(LogScore(c=c), Linear(InfiniteTails())).fit(F, Y)(NEW)
    np.testing.assert_array_equal(infinite.ppf(1e-9), -np.inf)  # as with every other score
    held = infinite.clip(-c, 3.0)  # the mass there counts: E Y = 3 - integral of F
    np.testing.assert_array_equal(held.ppf(1e-9), -c)
    grid = np.linspace(-c, 3.0, 200_001)[None, :]
    np.testing.assert_allclose(held.mean(), 3 - (3 + c) * infinite.cdf(grid).mean(axis=1), rtol=1e-4)


def test_the_log_score_of_a_normal_q_is_a_log_normal():
    H = LogScore(c=1.0).pull_back(Normal(0.2, 0.3), Point(NEW))
    mean = (NEW + 1) * np.exp(0.2 + 0.3**2 / 2) - 1
    np.testing.assert_allclose(H.mean(), mean, rtol=1e-9)
    np.testing.assert_allclose(H.std(), (mean + 1) * np.sqrt(np.expm1(0.3**2)), rtol=1e-9)


@pytest.mark.parametrize("each", [LogScore(), SqrtScore(), RelativeScore()], ids=repr)
def test_an_ensemble_adds_them_up(each):
    other = F * np.exp(0.1 * RNG.normal(size=200))
    both = Ensemble([Point(F), Point(other)], weights=[2.0, 1.0])
    score = EnsembleScore(each)
    np.testing.assert_allclose(score(both, Y), 2 * each(F, Y) + each(other, Y), rtol=1e-12)
    H = Calibrator(score).fit(both, Y)(both[:5])
    np.testing.assert_allclose(H.ppf(H.cdf(Y[:5])), Y[:5], rtol=1e-8)


def test_a_relative_error_of_nothing_gets_a_floor_and_the_guarantee_counts_it():
    f = np.where(np.arange(200) < 3, 0.0, F)
    y = np.where(np.arange(200) < 3, 0.0, Y)  # right, where nothing is predicted
    with pytest.warns(UserWarning, match="RelativeScore: 3 rows, the first is row 0, have no width of their own"):
        calibrated = Calibrator(RelativeScore()).fit(f, y)
    assert calibrated.guarantee.floored == 3
    assert calibrated.score.floor == pytest.approx(1e-6 * np.median(F[3:]), rel=0.05)
    given = Calibrator(RelativeScore(floor=0.5)).fit(F, Y)
    assert given.guarantee.floored == 0
    assert RelativeScore(floor=0.5)([-4.0], [-3.0]).tolist() == [0.25]


def test_a_name_may_carry_the_number_of_its_score():
    assert score_named("log:1") == LogScore(c=1.0)
    assert score_named("sqrt:0.375") == SqrtScore(c=0.375)
    assert score_named("log") == LogScore() == LogScore(c=0.0)
    for name, field in NUMBERS.items():
        assert getattr(score_named(f"{name}:2"), field) == 2.0
    assert set(SCORES) - set(NUMBERS) == {"residual", "cdf"}


def test_a_number_that_is_none_and_a_score_without_one_are_refused():
    assert complaint(ValueError, score_named, "log:a") == "score 'log' takes a number for its c, got log:a"
    assert complaint(ValueError, score_named, "zscore:") == "score 'zscore' takes a number for its floor, got zscore:"
    assert complaint(ValueError, score_named, "cdf:1") == "score 'cdf' takes no number, got cdf:1"
    assert complaint(ValueError, score_named, "logs:1").endswith("got 'logs:1': did you mean 'log'?")
    assert complaint(ValueError, score_named, "zscore:-1") == "ZScore.floor must be positive and finite, got -1.0"
