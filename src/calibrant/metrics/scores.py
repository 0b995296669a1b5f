"""Scores, which are better when smaller, and the sharpness and coverage of intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._arguments import unit
from calibrant._arrays import Array, floats, namespace, to_numpy
from calibrant._types import ArrayLike
from calibrant.distributions.clipped import Clipped
from calibrant.forecast import Forecast, PredictionLike
from calibrant.metrics.forecasts import Scalar, average, forecast, paired
from calibrant.predictions.quantiles import pinball_rows


def nll(H: PredictionLike, y: ArrayLike) -> Scalar:
    """mean_i -log h_i(y_i), with h_i the density of row i: the logarithmic score (Good 1952).

    Of a distribution of counts h_i(y_i) is the probability of y_i, and so it is where a clipped distribution has an
    atom at y_i. Elsewhere it is inf as soon as one label lies where the density is 0: always for another distribution
    of steps (naive, random), which has no density.

    Args:
        H: The forecasts: one distribution per row.
        y: The labels: one number per row.

    >>> from calibrant import Normal
    >>> round(nll(Normal([0.0, 1.0], 1.0), [0.5, 1.0]), 4)
    0.9814
    """
    H, y = paired(H, y)
    return average(nll_rows(H.as_distribution(), y))


def nll_rows(distribution: Any, y: Array) -> Any:
    """-log h_i(y_i); where there is an atom at the label, as on a lattice or on a bound, -log P(Y = y_i)."""
    if distribution.lattice is not None:
        return -distribution.logpmf(y)
    loss = -distribution.logpdf(y)
    if not isinstance(distribution, Clipped):
        return loss
    mass = distribution.logpmf(y)
    return namespace(loss).where(namespace(mass).isfinite(mass), -mass, loss)


def crps(H: PredictionLike, y: ArrayLike) -> Scalar:
    """mean_i of the integral of (H_i(t) - 1{y_i <= t})^2 over t (Gneiting and Raftery 2007).

    Of a Point it is the absolute error, of Samples the CRPS of their empirical distribution. It is inf where H puts
    mass at infinity (infinite tails, random), and has the unit of y.

    Args:
        H: The forecasts, one per row: distributions, `Samples`, or points.
        y: The labels: one number per row.

    >>> from calibrant import Normal, Point
    >>> round(crps(Normal([0.0, 1.0], 1.0), [0.5, 1.0]), 4)
    0.2825
    >>> crps(Point([0.0, 1.0]), [0.5, 1.0])
    0.25
    """
    H, y = paired(H, y)
    return average(H.crps_rows(y))


def std(H: PredictionLike) -> Scalar:
    """mean_i std(H_i): sharpness, without a look at the labels. Inf where H puts mass at infinity.

    Args:
        H: The forecasts, one per row: distributions, or `Samples`.

    >>> from calibrant import Normal
    >>> std(Normal([0.0, 1.0], [1.0, 2.0]))
    1.5
    """
    return average(_some(H).std_rows())


def ci_width(H: PredictionLike, coverage: float = 0.95) -> Scalar:
    """mean_i (u_i - l_i), with [l_i, u_i] the centred interval of probability `coverage`.

    Of an Interval it is the width of its own bounds, whatever `coverage` says. Quantiles and Samples need the
    two levels (1 -+ coverage) / 2 among their own.

    Args:
        H: The forecasts, one per row: distributions, or a prediction that says what the metric needs.
        coverage: The probability of the centred interval, between 0 and 1.

    >>> from calibrant import Normal
    >>> round(ci_width(Normal([0.0, 1.0], 1.0)), 4)
    3.9199
    """
    return average(width_rows(_some(H), unit("coverage", coverage)))


def width_rows(H: Forecast, coverage: float) -> Array:
    """u_i - l_i."""
    lower, upper = H.bounds(coverage)
    return upper - lower


def coverage(H: PredictionLike, y: ArrayLike, coverage: float = 0.9) -> Scalar:
    """The share of rows with l_i <= y_i <= u_i, [l_i, u_i] the centred interval of probability `coverage`.

    Of an Interval it is the share inside its own bounds, whatever `coverage` says.

    Args:
        H: The forecasts, one per row: distributions, or a prediction that says what the metric needs.
        y: The labels: one number per row.
        coverage: The probability of the centred interval, between 0 and 1.

    >>> from calibrant import Normal
    >>> coverage(Normal([0.0, 0.0, 0.0, 0.0], 1.0), [-2.0, -1.0, 0.0, 1.0])
    0.75
    """
    return average(coverage_rows(*paired(H, y), unit("coverage", coverage)))


def coverage_rows(H: Forecast, y: Array, coverage: float) -> Array:
    """1 where l_i <= y_i <= u_i, 0 elsewhere."""
    lower, upper = H.bounds(coverage)
    return namespace(y).astype((lower <= y) & (y <= upper), y.dtype)


def interval_score(H: PredictionLike, y: ArrayLike, coverage: float = 0.9) -> Scalar:
    """mean_i (u_i - l_i) + 2 / (1 - coverage) ((l_i - y_i)+ + (y_i - u_i)+).

    The interval score of Gneiting and Raftery (2007, eq. 43). Of an Interval it is the score of its own
    bounds, held to be of probability `coverage`. Inf for infinite bounds.

    Args:
        H: The forecasts, one per row: distributions, or a prediction that says what the metric needs.
        y: The labels: one number per row.
        coverage: The probability of the centred interval, between 0 and 1.

    >>> from calibrant import Interval
    >>> round(interval_score(Interval([0.0, 0.0], [1.0, 1.0]), [0.5, 1.25], coverage=0.5), 4)
    1.5
    """
    return average(interval_score_rows(*paired(H, y), unit("coverage", coverage)))


def interval_score_rows(H: Forecast, y: Array, coverage: float) -> Array:
    """The interval score of each row."""
    return interval_score_of(*H.bounds(coverage), y, coverage)


def interval_score_of(lower: Array, upper: Array, y: Array, coverage: float) -> Array:
    """The same, given the bounds."""
    xp, none = namespace(y), namespace(y).zeros_like(y)
    outside = xp.maximum(lower - y, none) + xp.maximum(y - upper, none)
    return upper - lower + 2 / (1 - coverage) * outside


def pinball(H: PredictionLike, y: ArrayLike, levels: ArrayLike | None = None) -> Scalar:
    """mean over rows i and levels a of (a - 1{y_i < q}) (y_i - q), q = H_i.ppf(a) (Koenker and Bassett 1978).

    Without `levels`: those of Quantiles, (k - 1/2) / K of K Samples, and 0.05, 0.10, ..., 0.95 of a distribution. Half
    the CRPS is the same mean over all levels. Inf where a quantile is infinite.

    Args:
        H: The forecasts, one per row: distributions, or a prediction that says what the metric needs.
        y: The labels: one number per row.
        levels: The levels of the quantiles, between 0 and 1. By default those of the forecast, or 0.05, 0.10, ..., 0.95
            of a distribution.

    >>> from calibrant import Quantiles
    >>> round(pinball(Quantiles([0.1, 0.9], [[-1.0, 1.0], [-2.0, 2.0]]), [0.0, 3.0]), 4)
    0.4
    """
    return average(pinball_loss_rows(*paired(H, y), levels))


def pinball_loss_rows(H: Forecast, y: Array, levels: ArrayLike | None = None) -> Array:
    """The mean over levels of each row's loss."""
    chosen = H.quantile_levels() if levels is None else checked_levels(levels)
    # a level at a time: nothing of the size rows x levels is held
    losses = [pinball_rows(H.quantile(level), y, level) for level in chosen]
    return sum(losses[1:], start=losses[0]) / len(losses)


def checked_levels(levels: ArrayLike) -> tuple[float, ...]:
    """Numbers strictly inside (0, 1), at least one."""
    shown = tuple(float(level) for level in np.atleast_1d(to_numpy(floats("levels", levels))))
    if not shown or not all(0 < level < 1 for level in shown):
        raise ValueError(f"levels must lie strictly inside (0, 1), got {list(shown)}")
    return shown


def _some(H: Any) -> Any:
    H = forecast(H)
    if H.shape and len(H) == 0:
        raise ValueError("a metric needs at least one row, got none")
    return H
