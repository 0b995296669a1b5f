"""Calibration: how far the PITs H_i(y_i) are from uniform numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import scipy.special
from numpy.typing import NDArray

from calibrant._arrays import Array, device_like, namespace, ranks, to_numpy
from calibrant._types import ArrayLike
from calibrant.distributions.base import Distribution
from calibrant.distributions.clipped import Clipped
from calibrant.forecast import Forecast, PredictionLike
from calibrant.metrics.forecasts import Scalar, average, paired


def pit(H: PredictionLike, y: ArrayLike) -> Array:
    """H_i(y_i), one per row: the probability integral transform (Dawid 1984). Uniform if H is the distribution of y.

    Of a distribution of counts it is drawn over the jump at y, see `Distribution.pit`; else it would not be uniform. Of
    Samples it is the rank of y among the draws. What is drawn is the same for the same rows, in any order.

    Args:
        H: The forecasts, one per row: distributions, or `Samples`.
        y: The labels: one number per row.

    >>> from calibrant import Normal
    >>> pit(Normal([0.0, 1.0], 1.0), [0.0, 2.0])
    array([0.5       , 0.84134475])
    """
    H, y = paired(H, y)
    if isinstance(H, Distribution) and H.lattice is None:  # nothing is drawn
        return H.cdf(y)
    return H.pit_rows(y, draws_for(y, H.pit_rows))


def draws_for(y: Array, pit_rows: Callable[[Array, Array], Array]) -> Array:
    """The uniform numbers of PITs that are drawn, one for each row, given how the PITs follow from them."""
    full_like = namespace(y).full_like
    return device_like(draws(y, *(pit_rows(y, full_like(y, u)) for u in (0.25, 0.75))), y)


def draws(*of: Array) -> NDArray[np.float64]:
    """A uniform number for each row, by what is known of it: its label, say, and between what its PIT lies.

    They are the same for the same rows, in any order, and others for others: rows are numbered in the order of what is
    known, and of rows that agree in all of it no matter which comes first. They are a stream of their own, lest it be
    that of a calibration. One stream for all labels would do for the average, but not for a test: where most counts are
    0, the PITs are little else than these numbers.
    """
    known = [np.ascontiguousarray(to_numpy(each), np.float64) for each in of]
    order = np.lexsort(known[::-1])
    first = known[0][order].tobytes()
    seed = int.from_bytes(blake2b(first, digest_size=16, person=b"calibrant PIT").digest(), "little")
    found = np.empty(order.shape[0])
    found[order] = np.random.default_rng(seed).random(order.shape[0])
    return found


class DrawnPits(NamedTuple):
    """PITs as numpy, and whether a label lies on an atom of its distribution, so that some of them had to be drawn."""

    values: NDArray[np.float64]
    on_atoms: bool


def drawn_pits(distribution: Distribution, y: Array) -> DrawnPits:
    """H_i(y_i), drawn uniformly over the jump where H_i has an atom at y_i: F(y) is not uniform there."""
    if distribution.lattice is not None:
        drawn = distribution.pit(y, draws_for(y, distribution.pit))
        return DrawnPits(np.asarray(to_numpy(drawn), np.float64), on_atoms=True)
    sides = (np.asarray(to_numpy(side(y)), np.float64) for side in (distribution.cdf, distribution.cdf_left))
    pit, left = (np.broadcast_to(side, y.shape) for side in sides)
    return DrawnPits(randomised_pit(pit, left), bool((pit > left).any()))


def randomised_pit(pit: NDArray[np.float64], left: NDArray[np.float64]) -> NDArray[np.float64]:
    """pit - U (pit - left), from F(y) and its limit from the left: uniform for a true distribution with atoms too.

    F(y) itself is not, however good the distribution is (Czado, Gneiting and Held 2009). The draw is the same for the
    same numbers, and without atoms there is none: it is F(y).
    """
    jump = pit - left
    if not (jump > 0).any():
        return pit
    return np.asarray(pit - draws(pit, left) * jump, np.float64)


def sorted_pit(H: PredictionLike, y: ArrayLike) -> Array:
    """PIT_(1) <= ... <= PIT_(m); of labels that lie on a bound of a clipped distribution the randomised ones."""
    H, y = paired(H, y)
    p = pit(H, y)
    distribution = H.as_distribution() if H.has_distribution else None
    if isinstance(distribution, Clipped) and distribution.lattice is None:
        drawn = device_like(randomised_pit(to_numpy(p), to_numpy(distribution.cdf_left(y))), p)
        p = namespace(p).where(distribution.at_bound(y), drawn, p)
    return namespace(p).sort(p)


def pit_by(H: Forecast, y: Array, u: Array) -> Array:
    """The PIT of each row, drawn by a uniform number over the jump where the distribution has an atom at the label."""
    p = H.pit_rows(y, u)
    distribution = H.as_distribution() if H.has_distribution else None
    if isinstance(distribution, Clipped) and distribution.lattice is None:
        return namespace(p).where(distribution.at_bound(y), p - u * (p - distribution.cdf_left(y)), p)
    return p


def ece(H: PredictionLike, y: ArrayLike) -> Scalar:
    """mean_i |PIT_(i) - (i - 1/2) / m|, over the m sorted PITs: the expected calibration error of the paper.

    The Wasserstein-1 distance of the PITs to a uniform grid. Even a perfect forecast has a positive one,
    about 0.313 / sqrt(m): see `debiased_ece`.

    Args:
        H: The forecasts, one per row: distributions, or `Samples`.
        y: The labels: one number per row.

    >>> from calibrant import Normal
    >>> round(ece(Normal([0.0, 0.0], 1.0), [-0.6744898, 0.6744898]), 6)
    0.0
    """
    return ece_of(sorted_pit(H, y))


def ece_of(p: Array) -> Scalar:
    """The ECE of sorted PITs."""
    return average(namespace(p).abs(p - (ranks(p) - 0.5) / p.shape[0]))


def debiased_ece(H: PredictionLike, y: ArrayLike) -> Scalar:
    """ECE minus its expectation for m independent uniform PITs: on average 0 for a perfect forecast.

    It may be negative, and for a perfect forecast it is, more often than not.

    Args:
        H: The forecasts, one per row: distributions, or `Samples`.
        y: The labels: one number per row.

    >>> from calibrant import Normal
    >>> round(debiased_ece(Normal([0.0, 0.0], 1.0), [-0.6744898, 0.6744898]), 6)
    -0.197917
    """
    p = sorted_pit(H, y)
    return ece_of(p) - expected_ece(p.shape[0])


def expected_ece(m: int) -> float:
    """mean_i E|B_i - x_i|, B_i ~ Beta(i, m + 1 - i), x_i = (i - 1/2) / m: what m uniform PITs have.

    E|B - x| = (a / (m + 1) - x) (1 - 2 I_x(a, b)) + 2 x^a (1 - x)^b / ((m + 1) B(a, b))

    for B ~ Beta(a, b) with a + b = m + 1, I_x the regularised incomplete beta function. Beyond m = 5000 its
    expansion sqrt(pi / (32 m)) (1 - 1 / (4 m)) takes over, which is right to 2e-7 of it.

    >>> expected_ece(1), round(expected_ece(10_000), 9)
    (0.25, 0.003133207)
    """
    if m > 5000:
        return math.sqrt(math.pi / (32 * m)) * (1 - 1 / (4 * m))
    a = np.arange(1.0, m + 1)
    b = m + 1 - a
    x = (a - 0.5) / m
    bias = ((m + 1) / 2 - a) / (m * (m + 1))  # a / (m + 1) - x, without its cancellation
    log_density = a * np.log(x) + b * np.log1p(-x) - scipy.special.betaln(a, b)
    return float(np.mean(bias * (1 - 2 * scipy.special.betainc(a, b, x)) + 2 * np.exp(log_density) / (m + 1)))


def sup_calibration_error(H: PredictionLike, y: ArrayLike) -> Scalar:
    """sup_c |#{i: PIT_i <= c} / m - c|: the epsilon of Definition 1, estimated on m rows.

    The Kolmogorov-Smirnov distance of the PITs to the uniform distribution. Even a perfect forecast has a positive
    one, about 0.87 / sqrt(m) on average: compare it with that, and with `Guarantee.conditional`.

    Args:
        H: The forecasts, one per row: distributions, or `Samples`.
        y: The labels: one number per row.

    >>> from calibrant import Normal
    >>> sup_calibration_error(Normal([0.0, 0.0], 1.0), [0.0, 0.0])
    0.5
    """
    return sup_of(sorted_pit(H, y))


def sup_of(p: Array) -> Scalar:
    """max_i max(i / m - p_(i), p_(i) - (i - 1) / m): the supremum is reached at a PIT, or just below one."""
    xp, m, rank = namespace(p), p.shape[0], ranks(p)
    return average(xp.max(xp.maximum(rank / m - p, p - (rank - 1) / m)))


class LargestGap(NamedTuple):
    """sup_c |#{PIT <= c} / m - c|, and the level c where it is reached."""

    size: float
    level: float


def largest_gap(p: NDArray[np.float64]) -> LargestGap:
    """The largest gap of sorted PITs, and where it is.

    >>> largest_gap(np.array([0.5, 0.6, 0.7, 0.8]))
    LargestGap(size=0.5, level=0.5)
    """
    m = p.shape[0]
    up, down = np.arange(1, m + 1) / m - p, p - np.arange(m) / m
    k, j = int(np.argmax(up)), int(np.argmax(down))
    return LargestGap(float(up[k]), float(p[k])) if up[k] > down[j] else LargestGap(float(down[j]), float(p[j]))


class UniformityTest(NamedTuple):
    """The distance sup_c |#{PIT <= c} / m - c| and how often m uniform PITs are that far off, or farther."""

    statistic: float
    pvalue: float


def pit_uniformity_test(H: PredictionLike, y: ArrayLike) -> UniformityTest:
    """The Kolmogorov-Smirnov test that the PITs are uniform: D = sup_c |#{PIT <= c} / m - c| and P(D' >= D).

    The p-value is that of `scipy.stats.kstwo`; of more than 10,000 rows that of Kolmogorov's limit.

    What it does not say: a small p-value means that H is not perfectly calibrated, not that it is badly so.
    No H is perfect: one calibrated on n rows is off by about 1 / sqrt(n) for good (`Guarantee.conditional`),
    so with m much larger than n the test rejects it, rightly and to no purpose; then read
    `sup_calibration_error`. A large p-value is no proof of calibration either. The rows must be independent
    and not used in calibration, and H continuous or a distribution of counts, whose PITs are drawn (`pit`): the PITs of
    another distribution of steps (naive) are not uniform however good it is.

    Args:
        H: The forecasts, one per row: distributions, or `Samples`.
        y: The labels: one number per row.

    >>> from calibrant import Normal
    >>> test = pit_uniformity_test(Normal([0.0] * 4, 1.0), [-1.0, -0.3, 0.2, 0.9])
    >>> round(test.statistic, 3), test.pvalue > 0.9
    (0.184, True)
    """
    return uniformity_of(sorted_pit(H, y))


def uniformity_of(p: Array) -> UniformityTest:
    """The test on sorted PITs."""
    D = float(to_numpy(sup_of(p)))
    return UniformityTest(D, kolmogorov_pvalue(D, p.shape[0]))


def kolmogorov_pvalue(D: float, m: int) -> float:
    """P(sup_c |#{U_i <= c} / m - c| >= D) for m uniform numbers; beyond 10,000 Kolmogorov's limit (Vrbik 2018)."""
    if m > 10_000:
        t = math.sqrt(m) * D
        return float(scipy.special.kolmogorov(t + 1 / (6 * math.sqrt(m)) + (t - 1) / (4 * m)))
    from scipy.stats import kstwo  # takes a while, which `import calibrant.metrics` need not spend

    return float(kstwo.sf(D, m))
