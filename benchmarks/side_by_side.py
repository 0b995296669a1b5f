"""What other libraries do of the same work, with the error of each answer.

A work is asked of every library that has it; a library's answer is held against what it promises. A PIT of rank r lies
in [r, r + 1] / (n + 1), a quantile at p between the scores of the ranks floor and ceil of p (n + 1), by the theory. The
CRPS and the moments are those of the distribution that the library builds: of all scores (steps), or linear between
them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from integrals import mean_std_crps
from plain import Plain
from sklearn.base import BaseEstimator, RegressorMixin

from calibrant import Calibrated, Calibrator, Normal, Point
from calibrant.interpolators import Naive
from calibrant.intervals import AbsoluteResidual, ConformalInterval
from calibrant.scores import CDFScore

LEVELS = np.arange(1, 20) / 20
COVERAGE = 0.9
FEW = 3
"""Rows whose integrals are taken for comparison."""
YARDSTICK, OURS = "plain numpy", "calibrant"
DENSE = ("crepes", "scoringrules", "tinyconformal")
"""They build tables of n times m numbers, for the CRPS or all works."""


class FirstColumn(RegressorMixin, BaseEstimator):
    """A model that costs nothing: MAPIE calls its model inside every prediction."""

    def fit(self, x: np.ndarray, y: np.ndarray) -> FirstColumn:
        self.fitted_ = True
        return self

    def predict(self, x: np.ndarray) -> np.ndarray:
        return x[:, 0]


@dataclass(frozen=True)
class Entry:
    """What is timed, and how far its answer is off."""

    do: Callable[[], Any]
    off: Callable[[Any], float] | None = None


class Problem:
    """n calibration rows, m new ones, and all libraries fitted to the same residuals."""

    def __init__(self, n: int, m: int) -> None:
        rng = np.random.default_rng(0)
        self.n, self.m = n, m
        self.f, self.y = rng.normal(size=n), rng.normal(size=n)
        self.f_new, self.y_new = rng.normal(size=m), rng.normal(size=m)
        self.scores = np.sort(self.y - self.f)

    # ---- what is right -----------------------------------------------------------------------------------------------

    def off_rank(self, pit: np.ndarray) -> float:
        """The farthest that a PIT lies from [r, r + 1] / (n + 1)."""
        r = np.searchsorted(self.scores, self.y_new - self.f_new, side="right")
        return float(np.max(np.maximum(r / (self.n + 1) - pit, pit - (r + 1) / (self.n + 1)).clip(0)))

    def off_quantiles(self, quantiles: np.ndarray) -> float:
        """The farthest that a quantile lies from the scores next to its rank."""
        rank = [(self.n + 1) * Fraction(k, 20) for k in range(1, 20)]
        low, high = (self.scores[[side(r) - 1 for r in rank]] for side in (math.floor, math.ceil))
        residual = quantiles - self.f_new[:, None]
        return float(np.max(np.maximum(low - residual, residual - high).clip(0)))

    def off_two_sided(self, bounds: np.ndarray) -> float:
        """The farthest that f -+ t ends from the right t: (rows, 2, levels), the levels those of LEVELS."""
        sizes = np.sort(np.abs(self.scores))
        t = sizes[[math.ceil((self.n + 1) * Fraction(k, 20)) - 1 for k in range(1, 20)]]
        return float(np.max(np.abs(bounds - self.f_new[:, None, None] - np.stack([-t, t]))))

    def off_interval(self, bounds: np.ndarray) -> float:
        """The same for one level: (rows, 2)."""
        t = np.sort(np.abs(self.scores))[math.ceil((self.n + 1) * Fraction(9, 10)) - 1]
        return float(np.max(np.abs(bounds - self.f_new[:, None] - [-t, t])))

    def off_ends(self, bounds: tuple[np.ndarray, np.ndarray]) -> float:
        """The farthest that the ends of an equal-tailed interval lie from the scores next to their ranks."""
        rank = [(self.n + 1) * Fraction(k, 20) for k in (1, 19)]
        low, high = (self.scores[[side(r) - 1 for r in rank]] for side in (math.floor, math.ceil))
        residual = np.stack(bounds, axis=1) - self.f_new[:, None]
        return float(np.max(np.maximum(low - residual, residual - high).clip(0)))

    def crps_of_steps(self, rows: int) -> np.ndarray:
        """E|X - u| - E|X - X'| / 2, with sums that are rounded once."""
        s, n = self.scores, self.n
        half = math.fsum((2 * np.arange(1, n + 1) - n - 1) * s) / n**2
        u = (self.y_new - self.f_new)[:rows, None]
        return np.array([math.fsum(row) / n - half for row in np.abs(s - u)])

    def off_crps(self, crps: np.ndarray) -> float:
        rows = min(100, self.m)
        return float(np.max(np.abs(crps[:rows] / self.crps_of_steps(rows) - 1)))

    def off_mean_crps(self, crps: float) -> float:
        return abs(float(crps) / float(np.mean(Plain(self.f, self.y).crps(self.f_new, self.y_new))) - 1)

    def off_linear_crps(self, calibrated: Calibrated) -> Callable[[np.ndarray], float]:
        return lambda crps: float(np.max(np.abs(crps[:FEW] / self.integrals(calibrated)[:, 2] - 1)))

    def off_linear_moments(self, calibrated: Calibrated) -> Callable[[Any], float]:
        def off(found: Any) -> float:
            right = self.integrals(calibrated)
            return max(float(np.max(np.abs(found[k][:FEW] - right[:, k]))) for k in (0, 1))

        return off

    def integrals(self, calibrated: Calibrated) -> np.ndarray:
        """The mean, std and crps of the first rows, by quadrature of the cdf."""
        H = calibrated(Point(self.f_new[:FEW]))
        return np.stack([mean_std_crps(H[k : k + 1], self.y_new[k], self.f_new[k] + self.scores) for k in range(FEW)])

    def off_moments(self, found: tuple[np.ndarray, np.ndarray]) -> float:
        mean, std = found
        centre = math.fsum(self.scores) / self.n
        spread = math.sqrt(math.fsum((self.scores - centre) ** 2) / self.n)
        return max(float(np.max(np.abs(mean - self.f_new - centre))), float(np.max(np.abs(std - spread))))


def works(problem: Problem) -> dict[str, dict[str, Entry]]:
    """Every work, and the libraries that do it."""
    import scoringrules
    from crepes import ConformalPredictiveSystem, ConformalRegressor
    from mapie.regression import SplitConformalRegressor
    from scipy.special import ndtr
    from sklearn.isotonic import IsotonicRegression
    from tinyconformal.distribution.cross.distribution import ContinuousConformalDistribution
    from uncertainty_toolbox.recalibration import get_quantile_recalibrator

    f, y, f_new, y_new, m = problem.f, problem.y, problem.f_new, problem.y_new, problem.m
    x, x_new, model = f[:, None], f_new[:, None], FirstColumn().fit(f, y)
    one, one_new, percent = np.ones(problem.n), np.ones(m), list(100 * LEVELS)
    residuals = y - f

    def new() -> Point:
        return Point(f_new)  # nothing kept from an earlier call helps

    def split(levels: Any) -> Any:
        return SplitConformalRegressor(model, confidence_level=levels, prefit=True).conformalize(x, y)

    plain, linear, steps = Plain(f, y), Calibrator().fit(Point(f), y), Calibrator(None, Naive()).fit(Point(f), y)
    recalibrated, ranks = Calibrator(CDFScore()).fit(Normal(f, one), y), np.arange(1, problem.n + 1) / problem.n
    conformal = ConformalInterval(AbsoluteResidual(), COVERAGE).fit(f, y)
    crepes, crepes_interval = ConformalPredictiveSystem().fit(residuals), ConformalRegressor().fit(residuals)
    mapie, mapie_nineteen = split(COVERAGE), split(list(LEVELS))
    tiny = ContinuousConformalDistribution(f_new, residuals)
    toolbox = get_quantile_recalibrator(f, one, -y + 2 * f)  # mirrored, since it counts residuals as f - y

    def regression() -> IsotonicRegression:
        """From PITs to ranks, as Kuleshov et al. (2018) recalibrate."""
        return IsotonicRegression(out_of_bounds="clip").fit(np.sort(ndtr(y - f)), ranks)

    to_ranks = regression()

    def atoms() -> np.ndarray:
        return f_new[:, None] + problem.scores

    def moments(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return table.mean(axis=1), table.std(axis=1)

    def mean_and_std(H: Any) -> tuple[np.ndarray, np.ndarray]:
        return H.mean(), H.std()

    return {
        "fit": {
            YARDSTICK: Entry(lambda: Plain(f, y)),
            OURS: Entry(lambda: Calibrator().fit(Point(f), y)),
            "calibrant, isotonic": Entry(lambda: Calibrator(CDFScore()).fit(Normal(f, one), y)),
            "crepes": Entry(lambda: ConformalPredictiveSystem().fit(residuals)),
            "MAPIE": Entry(lambda: split(COVERAGE)),
            "scikit-learn, isotonic": Entry(regression),
            "uncertainty-toolbox": Entry(lambda: get_quantile_recalibrator(f, one, y)),
        },
        "PIT": {
            YARDSTICK: Entry(lambda: plain.cdf(f_new, y_new), problem.off_rank),
            OURS: Entry(lambda: linear(new()).cdf(y_new), problem.off_rank),
            "calibrant, isotonic": Entry(lambda: recalibrated(Normal(f_new, one_new)).cdf(y_new), problem.off_rank),
            "scikit-learn, isotonic": Entry(lambda: to_ranks.predict(ndtr(y_new - f_new)), problem.off_rank),
            "crepes": Entry(lambda: crepes.predict_p(f_new, y_new, smoothing=False), problem.off_rank),
            "tinyconformal": Entry(lambda: tiny.cdf(y_new[:, None]), problem.off_rank),
        },
        "19 quantiles": {
            YARDSTICK: Entry(lambda: plain.quantiles(f_new, LEVELS), problem.off_quantiles),
            OURS: Entry(lambda: linear(new()).quantiles(LEVELS), problem.off_quantiles),
            "calibrant, isotonic": Entry(
                lambda: recalibrated(Normal(f_new, one_new)).quantiles(LEVELS), problem.off_quantiles
            ),
            "crepes": Entry(
                lambda: crepes.predict_percentiles(f_new, higher_percentiles=percent), problem.off_quantiles
            ),
            "tinyconformal": Entry(lambda: tiny.ppf(LEVELS), problem.off_quantiles),
            "uncertainty-toolbox": Entry(
                lambda: np.stack([toolbox(f_new, one_new, level) for level in LEVELS], axis=1), problem.off_quantiles
            ),
            "MAPIE, 19 two-sided": Entry(lambda: mapie_nineteen.predict_interval(x_new)[1], problem.off_two_sided),
        },
        "90% interval": {
            YARDSTICK: Entry(lambda: plain.interval(f_new, COVERAGE), problem.off_ends),
            OURS: Entry(lambda: linear(new()).interval(COVERAGE), problem.off_ends),
            "calibrant, two-sided": Entry(
                lambda: conformal(f_new), lambda found: problem.off_interval(np.stack(found, axis=1))
            ),
            "crepes, two-sided": Entry(
                lambda: crepes_interval.predict_int(f_new, confidence=COVERAGE), problem.off_interval
            ),
            "MAPIE, two-sided": Entry(
                lambda: mapie.predict_interval(x_new)[1], lambda found: problem.off_interval(found[:, :, 0])
            ),
            "tinyconformal": Entry(
                lambda: tiny.interval(COVERAGE), lambda found: problem.off_ends((found[:, 0], found[:, 1]))
            ),
        },
        "CRPS": {
            "plain numpy, steps": Entry(lambda: plain.crps(f_new, y_new), problem.off_crps),
            OURS: Entry(lambda: linear(new()).crps(y_new), problem.off_linear_crps(linear)),
            "calibrant, steps": Entry(lambda: steps(new()).crps(y_new), problem.off_crps),
            "crepes, steps": Entry(
                lambda: crepes.evaluate(f_new, y_new, metrics=["CRPS"])["CRPS"], problem.off_mean_crps
            ),
            "scoringrules, steps": Entry(
                lambda: scoringrules.crps_ensemble(y_new, atoms(), estimator="qd", sorted_ensemble=True),
                problem.off_crps,
            ),
        },
        "mean and std": {
            "plain numpy, steps": Entry(lambda: plain.mean_std(f_new), problem.off_moments),
            OURS: Entry(lambda: mean_and_std(linear(new())), problem.off_linear_moments(linear)),
            "calibrant, steps": Entry(lambda: mean_and_std(steps(new())), problem.off_moments),
            "crepes, steps": Entry(lambda: moments(crepes.predict_cpds(f_new)), problem.off_moments),
        },
    }


def library(name: str) -> str:
    """Of an entry such as "crepes, steps"."""
    return name.partition(",")[0]
