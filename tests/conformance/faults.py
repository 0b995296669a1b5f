"""Where another library is wrong: what it says, what we say, and the exact value, found in a third way."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from comparisons import Fault


def crps_of_atoms(atoms: list[int], y: int) -> float:
    """E|X - y| - E|X - X'| / 2, in fractions."""
    n = len(atoms)
    far = Fraction(sum(abs(x - y) for x in atoms), n)
    apart = Fraction(sum(abs(x - z) for x in atoms for z in atoms), n * n)
    return float(far - apart / 2)


def rank(coverage: str, n: int) -> int:
    """ceil((n + 1) c), in fractions."""
    return math.ceil((n + 1) * Fraction(coverage))


def poisson_crps(rate: int, y: int) -> float:
    """The sum of (F(k) - 1{k >= y})^2, in 40 digits."""
    from mpmath import mp

    with mp.workdps(40):
        pmf = below = mp.exp(-rate)
        total = (below - (y <= 0)) ** 2
        for k in range(1, 4 * rate):
            pmf = pmf * rate / k
            below += pmf
            total += (below - (k >= y)) ** 2
        return float(total)


def logistic_crps(y: int) -> float:
    """The integrals of F^2 up to y and of (1 - F)^2 from there on, in 40 digits."""
    from mpmath import mp

    with mp.workdps(40):
        ends = [-1000, -500, -100, -20, -5, 0, 5, 20, 100, mp.inf]
        below = mp.quad(lambda t: 1 / (1 + mp.exp(-t)) ** 2, [-mp.inf, y - 50, y])
        above = mp.quad(lambda t: 1 / (1 + mp.exp(t)) ** 2, [y, *(end for end in ends if end > y)])
        return float(below + above)


def log_normal_crps(sigma: int, y: float) -> float:
    """The same integrals over z = log(t) / sigma."""
    from mpmath import mp

    with mp.workdps(40):
        at = mp.log(y) / sigma
        below = mp.quad(lambda z: mp.ncdf(z) ** 2 * sigma * mp.exp(sigma * z), [-40, -20, -10, -5, -2, -1, at])
        above = mp.quad(lambda z: mp.ncdf(-z) ** 2 * sigma * mp.exp(sigma * z), [at, 2, 4, 6, 8, 10, 15, 20, 30, 60])
        return float(below + above)


def normal_tail(y: float) -> float:
    from mpmath import mp

    with mp.workdps(40):
        return float(mp.quad(lambda t: mp.exp(-(t**2) / 2), [-mp.inf, 2 * y, y]) / mp.sqrt(2 * mp.pi))


def laplace_tail(y: float) -> float:
    from mpmath import mp

    with mp.workdps(40):
        return float(mp.quad(lambda t: mp.exp(t) / 2, [-mp.inf, 2 * y, y]))


def outside() -> float:
    """The share of new labels that lie above all labels of the calibration rows."""
    y = [math.sin(k) for k in range(200)]
    return sum(label + 100 > max(y[50:100]) for label in y[100:]) / 100


def untouched() -> Any:
    return np.random.RandomState(1).random_sample()


CLONED = """
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from calibrant import CalibratedRegressor

clone(CalibratedRegressor(DummyRegressor(quantile=0.3))).estimator.quantile
"""

CASES = (
    Fault(
        "crepes",
        "CRPS of a normalised system",
        "The cell that holds the label is multiplied by sigma twice"
        " ([crepes#40](https://github.com/henrikbostrom/crepes/issues/40)).",
        """
from crepes import ConformalPredictiveSystem

system = ConformalPredictiveSystem().fit(np.array([-1.0, 1.0]), sigmas=np.ones(2))
system.evaluate(np.zeros(1), np.zeros(1), sigmas=np.array([10.0]), metrics=["CRPS"])["CRPS"]
""",
        """
from calibrant import Calibrator, Normal
from calibrant.interpolators import Naive

Calibrator(interpolator=Naive()).fit(Normal([0.0, 0.0], 1.0), [-1.0, 1.0])(Normal([0.0], 10.0)).crps([0.0])[0]
""",
        lambda: crps_of_atoms([-10, 10], 0),
        "E|X − y| − E|X − X′|/2 of the atoms −10 and 10, in fractions",
    ),
    Fault(
        "crepes",
        "the 29% percentile of 99 scores",
        "29 / 100 · 100 is 28.999999999999996 in floating point, and the rank is cut to 28. The same happens at 57 and"
        " 58, and for higher percentiles at 7, 14, 28, 55 and 56.",
        """
from crepes import ConformalPredictiveSystem

ConformalPredictiveSystem().fit(np.arange(1.0, 100.0)).predict_percentiles(np.zeros(1), lower_percentiles=[29])[0]
""",
        """
from calibrant import Calibrator

Calibrator().fit(np.zeros(99), np.arange(1.0, 100.0))([0.0]).ppf(0.29)[0]
""",
        lambda: rank("0.29", 99),
        "the scores are 1, …, 99: the rank (n + 1) · 29/100, in fractions",
    ),
    Fault(
        "crepes",
        "the 90% interval of 99 residuals",
        "(1 − 0.9) · 100 is 9.999999999999998 in floating point: the interval is one rank too wide. The coverage is"
        " still at least 90%.",
        """
from crepes import ConformalRegressor

ConformalRegressor().fit(np.arange(1.0, 100.0)).predict_int(np.zeros(1), confidence=0.9)[0]
""",
        """
from calibrant.intervals import AbsoluteResidual, ConformalInterval

np.ravel(ConformalInterval(AbsoluteResidual(), 0.9).fit(np.zeros(99), np.arange(1.0, 100.0))([0.0]))
""",
        lambda: [-rank("0.9", 99), rank("0.9", 99)],
        "the residuals are 1, …, 99: the rank ⌈(n + 1) · 9/10⌉, in fractions",
    ),
    Fault(
        "crepes",
        "the 90% interval and a p-value of a Mondrian category without calibration rows",
        "The answers stay at the zeros that the arrays were made of, whatever the prediction is.",
        """
from crepes import ConformalPredictiveSystem

system = ConformalPredictiveSystem().fit(np.arange(-50.0, 50.0), bins=np.array(["a", "b"] * 50))
interval = system.predict_int(np.array([500.0]), bins=np.array(["c"]), confidence=0.9)[0]
np.append(interval, system.predict_p(np.array([500.0]), np.array([500.0]), bins=np.array(["c"])))
""",
        """
from calibrant import Calibrator

calibrated = Calibrator().fit(np.zeros(100), np.arange(-50.0, 50.0), by=["a", "b"] * 50)
H = calibrated([500.0], by=["c"])
np.append(H.interval(0.9), H.cdf([500.0]))
""",
        lambda: None,
        "none: no row says anything about the category, so that it must be refused",
    ),
    Fault(
        "crepes",
        "numpy's global random state after a call with a seed",
        "The state is set and not restored: the next number that anybody draws is another one.",
        """
from crepes import ConformalPredictiveSystem

np.random.seed(1)
ConformalPredictiveSystem().fit(np.arange(9.0)).predict_p(np.zeros(3), np.zeros(3), seed=5)
np.random.random_sample()
""",
        """
from calibrant import Calibrator
from calibrant.interpolators import Random

np.random.seed(1)
Calibrator(interpolator=Random()).fit(np.zeros(9), np.arange(9.0))(np.zeros(3), seed=5).cdf(np.zeros(3))
np.random.random_sample()
""",
        untouched,
        "the first number of the seed 1",
    ),
    Fault(
        "crepes",
        "numpy's global random state after p-values without smoothing",
        "Uniforms are drawn from it and not used.",
        """
from crepes import ConformalPredictiveSystem

np.random.seed(1)
ConformalPredictiveSystem().fit(np.arange(9.0)).predict_p(np.zeros(3), np.zeros(3), smoothing=False)
np.random.random_sample()
""",
        """
from calibrant import Calibrator
from calibrant.interpolators import Naive

np.random.seed(1)
Calibrator(interpolator=Naive()).fit(np.zeros(9), np.arange(9.0))(np.zeros(3)).cdf(np.zeros(3))
np.random.random_sample()
""",
        untouched,
        "the first number of the seed 1",
    ),
    Fault(
        "crepes",
        "the share of labels outside 90% intervals that hold none",
        "`WrapRegressor.evaluate` passes its arguments one position off and evaluates online: it learns from the"
        " labels that it judges.",
        """
from crepes import WrapRegressor
from sklearn.dummy import DummyRegressor

x, y = np.zeros((200, 1)), np.sin(np.arange(200.0))
wrapped = WrapRegressor(DummyRegressor())
wrapped.fit(x[:50], y[:50])
wrapped.calibrate(x[50:100], y[50:100], cps=True)
wrapped.evaluate(x[100:], y[100:] + 100, confidence=0.9, metrics=["error"])["error"]
""",
        """
from sklearn.dummy import DummyRegressor
from sklearn.frozen import FrozenEstimator
from calibrant import CalibratedRegressor

x, y = np.zeros((200, 1)), np.sin(np.arange(200.0))
model = CalibratedRegressor(FrozenEstimator(DummyRegressor().fit(x[:50], y[:50]))).fit(x[50:100], y[50:100])
1 - model.evaluate(x[100:], y[100:] + 100).coverage
""",
        outside,
        "a count: all labels lie 98 or more above every calibration label",
    ),
    Fault(
        "crepes",
        "the CRPS of a wrapped model with the residuals −1 and 1",
        "For the same reason: an online system has no CRPS"
        " ([crepes#39](https://github.com/henrikbostrom/crepes/issues/39)).",
        """
from crepes import WrapRegressor
from sklearn.dummy import DummyRegressor

x, y = np.zeros((2, 1)), np.array([-1.0, 1.0])
wrapped = WrapRegressor(DummyRegressor())
wrapped.fit(x, y)
wrapped.calibrate(x, y, cps=True)
wrapped.evaluate(x[:1], np.zeros(1), metrics=["CRPS"])["CRPS"]
""",
        """
from sklearn.dummy import DummyRegressor
from sklearn.frozen import FrozenEstimator
from calibrant import CalibratedRegressor
from calibrant.interpolators import Naive

x, y = np.zeros((2, 1)), np.array([-1.0, 1.0])
model = CalibratedRegressor(FrozenEstimator(DummyRegressor().fit(x, y)), interpolator=Naive(), refine=None).fit(x, y)
model.predict_distribution(x[:1]).crps([0.0])[0]
""",
        lambda: crps_of_atoms([-1, 1], 0),
        "E|X − y| − E|X − X′|/2 of the atoms −1 and 1, in fractions",
    ),
    Fault(
        "crepes",
        "a percentile of predictions in a pandas Series whose index does not start at 0",
        "Rows are looked up by the label of the index.",
        """
import pandas
from crepes import ConformalPredictiveSystem

predictions = pandas.Series([0.0, 7.0], index=[5, 6])
ConformalPredictiveSystem().fit(np.arange(1.0, 10.0)).predict_percentiles(predictions, lower_percentiles=[50])
""",
        """
import pandas
from calibrant import Calibrator

predictions = pandas.Series([0.0, 7.0], index=[5, 6])
Calibrator().fit(np.zeros(9), np.arange(1.0, 10.0))(predictions).ppf(0.5)
""",
        lambda: [rank("0.5", 9), 7 + rank("0.5", 9)],
        "the scores are 1, …, 9: the rank 10 · 1/2, and 7 more",
    ),
    Fault(
        "crepes",
        "a parameter of the model, read from scikit-learn's clone of the wrapper",
        "`WrapRegressor` has no `get_params`, so that no search and no cross-validation can clone it.",
        """
from crepes import WrapRegressor
from sklearn.base import clone
from sklearn.dummy import DummyRegressor

clone(WrapRegressor(DummyRegressor(quantile=0.3))).learner.quantile
""",
        CLONED,
        lambda: 0.3,
        "what the model was given",
    ),
    Fault(
        "mapie",
        "the 55% interval of 99 residuals",
        "The rank ⌈0.55 · 100⌉ is taken in floating point, as 56. The same happens at 21 of the levels 1%, 2%, …, 99%.",
        """
from mapie.regression import SplitConformalRegressor
from sklearn.dummy import DummyRegressor

x, model = np.zeros((99, 1)), DummyRegressor(strategy="constant", constant=0.0).fit([[0.0]], [0.0])
split = SplitConformalRegressor(model, confidence_level=0.55, prefit=True).conformalize(x, np.arange(1.0, 100.0))
split.predict_interval(x[:1])[1][0, :, 0]
""",
        """
from calibrant.intervals import AbsoluteResidual, ConformalInterval

np.ravel(ConformalInterval(AbsoluteResidual(), 0.55).fit(np.zeros(99), np.arange(1.0, 100.0))([0.0]))
""",
        lambda: [-rank("0.55", 99), rank("0.55", 99)],
        "the residuals are 1, …, 99: the rank ⌈(n + 1) · 55/100⌉, in fractions",
    ),
    Fault(
        "mapie",
        "the 95% interval of 19 residuals",
        "It requires more than 1 / (1 − c) rows; 19 are enough for rank 19.",
        """
from mapie.regression import SplitConformalRegressor
from sklearn.dummy import DummyRegressor

x, model = np.zeros((19, 1)), DummyRegressor(strategy="constant", constant=0.0).fit([[0.0]], [0.0])
split = SplitConformalRegressor(model, confidence_level=0.95, prefit=True).conformalize(x, np.arange(1.0, 20.0))
split.predict_interval(x[:1])[1][0, :, 0]
""",
        """
from calibrant.intervals import AbsoluteResidual, ConformalInterval

np.ravel(ConformalInterval(AbsoluteResidual(), 0.95).fit(np.zeros(19), np.arange(1.0, 20.0))([0.0]))
""",
        lambda: [-rank("0.95", 19), rank("0.95", 19)],
        "the residuals are 1, …, 19: the rank ⌈20 · 19/20⌉, in fractions",
    ),
    Fault(
        "mapie",
        "the 95% interval of 10 residuals, infinite bounds allowed",
        "The option exists, but the call still raises an error; `CrossConformalRegressor` returns infinite bounds.",
        """
from mapie.regression import SplitConformalRegressor
from sklearn.dummy import DummyRegressor

x, model = np.zeros((10, 1)), DummyRegressor(strategy="constant", constant=0.0).fit([[0.0]], [0.0])
split = SplitConformalRegressor(model, confidence_level=0.95, prefit=True).conformalize(x, np.arange(1.0, 11.0))
split.predict_interval(x[:1], allow_infinite_bounds=True)[1][0, :, 0]
""",
        """
from calibrant.intervals import AbsoluteResidual, ConformalInterval

np.ravel(ConformalInterval(AbsoluteResidual(), 0.95).fit(np.zeros(10), np.arange(1.0, 11.0))([0.0]))
""",
        lambda: [-math.inf, math.inf] if rank("0.95", 10) > 10 else None,
        "the rank ⌈11 · 19/20⌉ = 11 is beyond the 10 rows",
    ),
    Fault(
        "mapie",
        "a parameter of the model, read from scikit-learn's clone of the regressor",
        "The public classes have no `get_params`, so that no search and no cross-validation can clone them.",
        """
from mapie.regression import SplitConformalRegressor
from sklearn.base import clone
from sklearn.dummy import DummyRegressor

clone(SplitConformalRegressor(DummyRegressor(quantile=0.3)))._estimator.quantile
""",
        CLONED,
        lambda: 0.3,
        "what the model was given",
    ),
    Fault(
        "uncertainty-toolbox",
        "the recalibrated median of a forecast that is half a unit too low",
        "Residuals are counted as f − y: a bias is doubled instead of removed.",
        """
from scipy.stats import norm
from uncertainty_toolbox.recalibration import get_quantile_recalibrator

zero, one, y = np.zeros(1999), np.ones(1999), 0.5 + norm.ppf((np.arange(1999) + 0.5) / 1999)
get_quantile_recalibrator(zero, one, y)(zero[:1], one[:1], 0.5)[0]
""",
        """
from scipy.stats import norm
from calibrant import Calibrator, Normal
from calibrant.scores import CDFScore

y = 0.5 + norm.ppf((np.arange(1999) + 0.5) / 1999)
Calibrator(CDFScore()).fit(Normal(np.zeros(1999), 1.0), y)(Normal([0.0], 1.0)).median()[0]
""",
        lambda: 0.5,
        "the median of the labels, which are symmetric about 1/2",
        1e-6,
    ),
    Fault(
        "uncertainty-toolbox",
        "the share of N(0, 2²) inside a recalibrated 95% interval, where the model said N(0, 1)",
        "The map is learned on 100 levels, with nothing between 0.99 and 1.",
        """
from scipy.stats import norm
from uncertainty_toolbox.recalibration import get_quantile_recalibrator

zero, one, y = np.zeros(1999), np.ones(1999), 2 * norm.ppf((np.arange(1999) + 0.5) / 1999)
quantile = get_quantile_recalibrator(zero, one, y)
np.diff(norm.cdf([quantile(zero[:1], one[:1], level)[0] / 2 for level in (0.025, 0.975)]))[0]
""",
        """
from scipy.stats import norm
from calibrant import Calibrator, Normal
from calibrant.scores import CDFScore

y = 2 * norm.ppf((np.arange(1999) + 0.5) / 1999)
lower, upper = Calibrator(CDFScore()).fit(Normal(np.zeros(1999), 1.0), y)(Normal([0.0], 1.0)).interval(0.95)
norm.cdf(upper[0] / 2) - norm.cdf(lower[0] / 2)
""",
        lambda: 0.95,
        "what was asked for; ours may be off by 1 / (n + 1) on either side",
        1e-3,
    ),
    Fault(
        "tinyconformal",
        "the 95% quantile of 9 scores",
        "The rank 10 is cut to 9, so that a tenth of all labels may lie above.",
        """
from tinyconformal.distribution.cross.distribution import ContinuousConformalDistribution

ContinuousConformalDistribution(np.zeros(1), np.arange(1.0, 10.0)).ppf(0.95)[0]
""",
        """
from calibrant import Calibrator
from calibrant.interpolators import InfiniteTails, Linear

Calibrator(interpolator=Linear(tails=InfiniteTails())).fit(np.zeros(9), np.arange(1.0, 10.0))([0.0]).ppf(0.95)[0]
""",
        lambda: math.inf if rank("0.95", 9) > 9 else None,
        "the rank ⌈10 · 19/20⌉ = 10 is beyond the 9 rows",
    ),
    Fault(
        "tinyconformal",
        "the 55% quantile of 99 scores",
        "100 · 0.55 is 55.00000000000001 in floating point, and the rank is raised to 56. The same happens at 7, 14, 28"
        " and 56%.",
        """
from tinyconformal.distribution.cross.distribution import ContinuousConformalDistribution

ContinuousConformalDistribution(np.zeros(1), np.arange(1.0, 100.0)).ppf(0.55)[0]
""",
        """
from calibrant import Calibrator

Calibrator().fit(np.zeros(99), np.arange(1.0, 100.0))([0.0]).ppf(0.55)[0]
""",
        lambda: rank("0.55", 99),
        "the scores are 1, …, 99: the rank (n + 1) · 55/100, in fractions",
    ),
    Fault(
        "scoringrules",
        "CRPS of a Poisson distribution with rate 300",
        "300! overflows.",
        """
import scoringrules

scoringrules.crps_poisson(300.0, 300.0)
""",
        """
from calibrant.distributions import Poisson

Poisson([300.0]).crps([300.0])[0]
""",
        lambda: poisson_crps(300, 300),
        "Σ (F(k) − 1{k ≥ y})², in 40 digits",
    ),
    Fault(
        "scoringrules",
        "CRPS of a logistic distribution at −1000",
        "log F(y) is taken of an F(y) that has become 0.",
        """
import scoringrules

scoringrules.crps_logistic(-1000.0, 0.0, 1.0)
""",
        """
from calibrant import Logistic

Logistic([0.0], 1.0).crps([-1000.0])[0]
""",
        lambda: logistic_crps(-1000),
        "∫ (F − 1{t ≥ y})² dt, in 40 digits",
    ),
    Fault(
        "scoringrules",
        "CRPS of a log-normal distribution with σ = 10",
        "The difference of two numbers near 10²¹.",
        """
import scoringrules

scoringrules.crps_lognormal(1.0, 0.0, 10.0)
""",
        """
from calibrant import LogNormal

LogNormal([0.0], 10.0).crps([1.0])[0]
""",
        lambda: log_normal_crps(10, 1.0),
        "∫ (F − 1{t ≥ y})² dt, in 40 digits",
    ),
    Fault(
        "torch",
        "the normal cdf at −9",
        "(1 + erf) / 2 loses all digits in the lower tail, as in `torch.special.ndtr`"
        " ([pytorch#192295](https://github.com/pytorch/pytorch/issues/192295)).",
        """
import torch

float(torch.distributions.Normal(0.0, 1.0).cdf(torch.tensor(-9.0, dtype=torch.float64)))
""",
        """
import torch
from calibrant import from_torch

float(from_torch(torch.distributions.Normal(torch.zeros(1, dtype=torch.float64), 1.0)).cdf([-9.0])[0])
""",
        lambda: normal_tail(-9.0),
        "the integral of the density, in 40 digits",
    ),
    Fault(
        "torch",
        "the Laplace cdf at −40",
        "1/2 + expm1(−40) / 2 loses all digits in the lower tail.",
        """
import torch

float(torch.distributions.Laplace(0.0, 1.0).cdf(torch.tensor(-40.0, dtype=torch.float64)))
""",
        """
import torch
from calibrant import from_torch

float(from_torch(torch.distributions.Laplace(torch.zeros(1, dtype=torch.float64), 1.0)).cdf([-40.0])[0])
""",
        lambda: laplace_tail(-40.0),
        "the integral of the density, in 40 digits",
    ),
)
