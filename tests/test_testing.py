"""`calibrant.testing` passes what is right and names the law that broke in what is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from catalogue import DISTRIBUTIONS, HERE, INTERPOLATORS, LOC, PAIRS, PREDICTIONS, UGLY, Y

from calibrant import Distribution, Normal, Point, StudentT
from calibrant._kept import keep
from calibrant.distributions.location_scale import LocationScale
from calibrant.interpolators import Linear, Naive
from calibrant.scores import LocationScaleScore, MonotoneScore, ResidualScore
from calibrant.scores.charts import Affine, Monotone
from calibrant.testing import check_distribution, check_interpolator, check_score

POINTS = Point(np.array([10.0, 20.0, 30.0, 25.0]))
LABELS = np.array([11.0, 19.0, 33.0, 22.0])


# ---- what is right passes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", PAIRS)
def test_every_score_of_the_catalogue_keeps_the_laws(pair):
    case = PAIRS[pair]
    alike = np.argsort(LOC)[100:106]  # a label of any of these rows could have been another's
    check_score(case.score, PREDICTIONS[case.prediction](HERE)[alike], Y[alike])


@pytest.mark.parametrize("name", INTERPOLATORS)
def test_every_interpolator_of_the_catalogue_keeps_the_laws(name):
    slow = name.startswith("naf")
    check_interpolator(INTERPOLATORS[name], sizes=(1, 2, 30) if slow else (1, 2, 10, 100), equivariant=True)


def test_a_users_location_scale_score_of_three_lines_passes():
    class PercentageError(LocationScaleScore):
        def loc_scale(self, prediction):
            return prediction.values, abs(prediction.values)

    check_score(PercentageError(), POINTS, LABELS)


class LogRatio(MonotoneScore):
    def score(self, prediction, y):
        return np.log(y / prediction.values)

    def inverse(self, prediction, s):
        return prediction.values * np.exp(s)

    def log_slope(self, prediction, y):
        return -np.log(y)


def test_a_users_general_score_of_seven_lines_passes():
    check_score(LogRatio(), POINTS, LABELS)


def test_a_users_interpolator_that_promises_nothing_passes():
    class Gaussian:
        def fit(self, scores, *, support=(-np.inf, np.inf), rng=None):
            return Normal(scores.mean(), scores.std() or 1.0)

        def accuracy(self, n):
            return n

    check_interpolator(Gaussian())


def test_float32_predictions_pass():
    check_score(ResidualScore(), Point(np.float32([10.0, 20.0, 30.0])), np.float32([11.0, 19.0, 33.0]))


def test_labels_in_any_unit_pass():
    for unit in (1e-9, 1e9):
        check_score(ResidualScore(), Point(unit * POINTS.values), unit * LABELS)


def test_a_single_row_is_too_few_to_check():
    with pytest.raises(ValueError, match="at least two rows, got 1"):
        check_score(ResidualScore(), [1.0], [2.0])


# ---- what is broken is caught ----------------------------------------------------------------------------------------


class Falling(LogRatio):
    def score(self, prediction, y):
        return np.log(prediction.values / y)


class Flat(LogRatio):
    def score(self, prediction, y):
        return np.log(np.maximum(y, 20.0) / prediction.values)


class WrongInverse(LogRatio):
    def inverse(self, prediction, s):
        return prediction.values * np.exp(1.001 * s)


class WrongSlope(LogRatio):
    def log_slope(self, prediction, y):
        return np.log(y)


class SlightlyWrongSlope(LogRatio):
    def log_slope(self, prediction, y):
        return -np.log(y) + 0.01


class SeesTheBatch(LocationScaleScore):
    def loc_scale(self, prediction):
        return prediction.values, np.full_like(prediction.values, np.mean(prediction.values))


class Infinite(LogRatio):
    def score(self, prediction, y):
        return np.where(y > 30, np.inf, y - prediction.values)


class Summed(LogRatio):
    def __call__(self, prediction, y):
        return np.sum(super().__call__(prediction, y), keepdims=True)


class PullsBackElsewhere(ResidualScore):
    def pull_back(self, q, prediction):
        return LocationScale(prediction.values + 0.01, np.ones_like(prediction.values), q)


class PullsBackOneLaw(ResidualScore):
    def pull_back(self, q, prediction):
        return q


class ForgetsRows(MonotoneScore):
    """Its law is right, but only for the whole batch."""

    def score(self, prediction, y):
        return y - prediction.values

    def inverse(self, prediction, s):
        return s + prediction.values

    def log_slope(self, prediction, y):
        return np.zeros_like(y)

    def chart(self, prediction):
        if len(prediction) == len(POINTS):
            return Monotone(prediction, self.score, self.inverse, self.log_slope)
        return Affine(prediction.values * 0, np.ones(len(prediction)))


@pytest.mark.parametrize(
    ("score", "law"),
    [
        (Falling(), r"Falling must increase strictly in y, but in row 0 it is"),
        (Flat(), r"Flat must increase strictly in y"),
        (WrongInverse(), r"the inverse of WrongInverse must undo the score: in row"),
        (WrongSlope(), r"the log-slope of WrongSlope must be that of the score"),
        (SlightlyWrongSlope(), r"the log-slope of SlightlyWrongSlope must be that of the score"),
        (SeesTheBatch(), r"slicing must commute with SeesTheBatch"),
        (Infinite(), r"Infinite must be finite at the labels, but is not in row 2"),
        (Summed(), r"Summed must give one number a row, shape \(4,\), got shape \(1,\)"),
        (PullsBackElsewhere(), r"the cdf of PullsBackElsewhere.pull_back\(q, prediction\) must be q\(score\)"),
        (PullsBackOneLaw(), r"PullsBackOneLaw.pull_back must give one law a row, shape \(4,\), got shape \(\)"),
        (ForgetsRows(), r"slicing must commute with ForgetsRows"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_broken_score_is_told_which_law_it_breaks(score, law):
    with pytest.raises(AssertionError, match=law) as caught:
        check_score(score, POINTS, LABELS)
    assert "\n" not in str(caught.value)


class OverPromising(Naive):
    def accuracy(self, n):
        return 0.5


class WrongAtOutliers:
    """The law of the scores without the largest, which it takes for an outlier."""

    def fit(self, scores, *, support=(-np.inf, np.inf), rng=None):
        return Linear().fit(np.sort(scores)[:-1] if len(scores) > 5 else scores)

    def accuracy(self, n):
        return 0.4


class Unrepeatable(Linear):
    def fit(self, scores, *, support=(-np.inf, np.inf), rng=None):
        noise = np.random.default_rng().uniform(-0.3, 0.3)
        return Linear().fit(scores + noise * np.ptp(scores))

    def accuracy(self, n):
        return n


class SortsInPlace(Linear):
    def fit(self, scores, *, support=(-np.inf, np.inf), rng=None):
        scores.sort()
        return super().fit(scores)


class SeesTheOrder(Linear):
    def fit(self, scores, *, support=(-np.inf, np.inf), rng=None):
        return Normal(scores[0], scores.std() or 1.0)

    def accuracy(self, n):
        return n


class ReturnsABatch(Linear):
    def fit(self, scores, *, support=(-np.inf, np.inf), rng=None):
        return Normal(scores, np.ones_like(scores))


class NoLaw(Linear):
    def fit(self, scores, *, support=(-np.inf, np.inf), rng=None):
        class Decreasing(type(Normal(0.0, 1.0))):
            def _cdf(self, y):
                return super()._sf(y)

        return Decreasing(np.asarray(0.0), np.asarray(1.0), Normal(0.0, 1.0).base)


class WrongPPF(Linear):
    def fit(self, scores, *, support=(-np.inf, np.inf), rng=None):
        class Shifted(type(Normal(0.0, 1.0))):
            def _ppf(self, p):
                return super()._ppf(p) + 0.01

        return Shifted(np.asarray(0.0), np.asarray(1.0), Normal(0.0, 1.0).base)


class FixedUnit(Linear):
    def fit(self, scores, *, support=(-np.inf, np.inf), rng=None):
        return Normal(scores.mean(), 1.0)

    def accuracy(self, n):
        return n


@pytest.mark.parametrize(
    ("interpolator", "law"),
    [
        (
            OverPromising(),
            r"OverPromising.accuracy\(1\) promises 0.5, but q\(u_\(1\)\) is off by 1 / \(n \+ 1\) \(n = 1",
        ),
        (WrongAtOutliers(), r"WrongAtOutliers.accuracy\(10\) promises 0.4, but q"),
        (Unrepeatable(), r"Unrepeatable.fit must give the same q for the same rng"),
        (SortsInPlace(), r"SortsInPlace.fit must leave the scores as they are"),
        (SeesTheOrder(), r"SeesTheOrder.fit must not depend on the order of the scores"),
        (ReturnsABatch(), r"ReturnsABatch.fit must return one law, of shape \(\), got shape \(1,\)"),
        (NoLaw(), r"q of NoLaw must not decrease, but falls from"),
        (WrongPPF(), r"ppf of WrongPPF must invert its cdf"),
        (FixedUnit(), r"q of FixedUnit must move and stretch with the scores"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_broken_interpolator_is_told_which_law_it_breaks(interpolator, law):
    with pytest.raises(AssertionError, match=law) as caught:
        check_interpolator(interpolator, equivariant=True)
    assert "\n" not in str(caught.value)


# ---- distributions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_every_law_of_the_catalogue_keeps_the_laws_of_a_law(name):
    check_distribution(DISTRIBUTIONS[name](HERE))


@pytest.mark.parametrize("name", UGLY)
def test_ugly_laws_keep_the_laws_of_a_law(name):
    check_distribution(UGLY[name](HERE))


@dataclass(frozen=True, eq=False, repr=False)
class Exponential(Distribution):
    """A user's law: six primitives and nothing else."""

    scale: Any

    @property
    def shape(self):
        return np.shape(self.scale)

    def _cdf(self, y):
        return -np.expm1(-np.maximum(y, 0.0) / self._lift(self.scale))

    def _ppf(self, p):
        with np.errstate(divide="ignore"):
            return -self._lift(self.scale) * np.log1p(-p)

    def _logpdf(self, y):
        scale = self._lift(self.scale)
        return np.where(y < 0, -np.inf, -y / scale - np.log(scale))

    def _mean(self):
        return self.scale + 0.0

    def _std(self):
        return self.scale + 0.0

    def _crps(self, y):
        scale = self._lift(self.scale)
        above = np.maximum(y, 0.0)
        return np.abs(y) - 2 * scale * self._cdf(above) + scale / 2 + 0 * above


SCALES = np.array([0.3, 2.0, 50.0])


def test_a_users_law_of_six_primitives_passes_single_and_as_a_batch():
    check_distribution(Exponential(np.float64(2.0)))
    check_distribution(Exponential(SCALES))
    check_distribution(Exponential(SCALES[:1]))


def test_float32_torch_and_large_batches_of_laws_pass():
    check_distribution(Normal(np.float32([1.0, 20.0]), np.float32([0.5, 3.0])))
    check_distribution(Normal(torch.tensor([1.0, 20.0]), torch.tensor([0.5, 3.0])))
    check_distribution(Normal(np.arange(1000.0), np.ones(1000)))


def test_laws_without_a_mean_or_a_variance_pass():
    for df in (1.0, 1.7, 2.5):
        check_distribution(StudentT(df, [0.0, 3.0], [1.0, 2.0]))


class WrongStd(Exponential):
    def _std(self):
        return 1.001 * self.scale


class WrongMean(Exponential):
    def _mean(self):
        return self.scale * np.log(2)


class InfiniteStd(Exponential):
    def _std(self):
        return np.inf * self.scale


class CRPSTimesSigmaTwice(Exponential):
    def _crps(self, y):
        return self._lift(self.scale) * super()._crps(y)


class WrongInverseCDF(Exponential):
    def _ppf(self, p):
        return 1.0001 * super()._ppf(p)


class FallingCDF(Exponential):
    def _cdf(self, y):
        F = super()._cdf(y)
        return F - 0.3 * F * (1 - F) * np.sin(40 * F)


class NegativeCDF(Exponential):
    def _cdf(self, y):
        return 1.1 * super()._cdf(y) - 0.1


class NeverReaches1(Exponential):
    def _cdf(self, y):
        return 0.9999999 * super()._cdf(y)


class WrongSF(Exponential):
    def _sf(self, y):
        return np.exp(-1.01 * np.maximum(y, 0.0) / self._lift(self.scale))


class WrongLeft(Exponential):
    def _cdf_left(self, y):
        return np.minimum(super()._cdf(y) + 1e-6, 1.0)


class WrongQuantiles(Exponential):
    def _quantiles(self, p):
        return super()._quantiles(p)[..., ::-1]


class WrongDensity(Exponential):
    def _logpdf(self, y):
        return super()._logpdf(y) + 0.01


class WrongClip(Exponential):
    def _clipped(self, lower, upper):
        return super()._clipped(lower, 1.01 * upper)


class WrongSecondMoment(Exponential):
    """Right by itself; its clipped std is wrong."""

    def _moments_within(self, y, lower, upper):
        part = super()._moments_within(y, lower, upper)
        return part._replace(upper2=1.1 * part.upper2)


class OneNumber(Exponential):
    def _mean(self):
        return np.mean(self.scale)


class DependsOnTheBatch(Exponential):
    """Right for any batch of three."""

    def _mean(self):
        return self.scale * (1 + 1e-6 * (len(self.scale) != 3))


class DependsOnTheOrder(Exponential):
    def _crps(self, y):
        return super()._crps(y) * (1 + 1e-6 * (self.scale[0] > self.scale[-1]))


class KeepsInside(Exponential):
    def _std(self):
        object.__setattr__(self, "kept", super()._std())
        return self.kept


class CountsItsCalls(Exponential):
    """Its first answers are right."""

    def _std(self):
        calls = keep(self, "calls", lambda: [0])
        calls[0] += 1
        return super()._std() * (1 + 1e-9 * calls[0])


class ChangesItsFields(Exponential):
    def _mean(self):
        mean = self.scale.copy()
        self.scale[:] *= 1 + 2.0**-52
        return mean


class ChangesItsName(Exponential):
    def _mean(self):
        ChangesItsName.asked = True
        return super()._mean()

    def _describe(self):
        return "asked" if hasattr(ChangesItsName, "asked") else ""


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (WrongStd, r"WrongStd.std\(\) is 0.3003, but the integral of its cdf gives 0.3.* \(row 0\)"),
        (WrongMean, r"WrongMean.mean\(\) is 0.2079"),
        (InfiniteStd, r"InfiniteStd.std\(\) is inf, but the integral"),
        (CRPSTimesSigmaTwice, r"CRPSTimesSigmaTwice.crps\(.*\) is .*, but the integral"),
        (WrongInverseCDF, r"ppf of WrongInverseCDF must be the smallest y with cdf\(y\) >= p: ppf\("),
        (FallingCDF, r"the cdf of FallingCDF must not decrease, but falls from"),
        (NegativeCDF, r"the cdf of NegativeCDF must lie in \[0, 1\], but is -0.1 at"),
        (NeverReaches1, r"the cdf of NeverReaches1 must be 1 at \+inf, got"),
        (WrongSF, r"sf of WrongSF must be 1 - cdf: at y"),
        (WrongLeft, r"cdf_left of WrongLeft must lie between the cdf just before y and at y"),
        (WrongQuantiles, r"quantiles of WrongQuantiles must be what ppf says"),
        (WrongDensity, r"logpdf of WrongDensity must be the log of the slope of the cdf"),
        (WrongClip, r"the cdf of WrongClip.clip\(.*\) must be 0 below, 1 from the upper bound on"),
        (WrongSecondMoment, r"WrongSecondMoment.clip\(.*\).std\(\) is .*, but the integral"),
        (OneNumber, r"OneNumber.mean\(\) must have shape \(3,\), got \(\)"),
        (DependsOnTheBatch, r"a row of DependsOnTheBatch must not depend on the others: mean of row 0 is .* alone"),
        (DependsOnTheOrder, r"a row of DependsOnTheOrder must not depend on the others: crps .* in another order"),
        (KeepsInside, r"KeepsInside must never change, but its pickle is another after its methods ran"),
        (CountsItsCalls, r"CountsItsCalls must never change, but its std is .* when asked again"),
        (ChangesItsFields, r"ChangesItsFields must never change, but its"),
        (ChangesItsName, r"ChangesItsName must never change, but its repr became"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_a_broken_law_is_told_which_law_it_breaks(kind, law):
    with pytest.raises(AssertionError, match=law) as caught:
        check_distribution(kind(SCALES.copy()))
    assert "\n" not in str(caught.value)


def test_a_check_of_a_law_takes_a_law_with_rows():
    with pytest.raises(TypeError, match="check_distribution takes a Distribution, got 3"):
        check_distribution(3)
    with pytest.raises(ValueError, match="at least one row, got none"):
        check_distribution(Normal(np.zeros(0), np.zeros(0)))
