"""The properties that a non-conformity of your own must have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from calibrant._arrays import Array, complain, floats, namespace
from calibrant._types import ArrayLike
from calibrant._words import count
from calibrant.forecast import PredictionLike
from calibrant.predictions.point import as_prediction
from calibrant.scores.nonconformity import Nonconformity


def check_nonconformity(nonconformity: Nonconformity, prediction: PredictionLike, y_grid: ArrayLike) -> None:
    """Raise ValueError unless a(f(x), y) is strictly unimodal in y, with this minimiser, level set and slope.

    Looks at every row of the prediction at the points of `y_grid`, which should surround the labels. What it
    refuses is wrong; what it passes may still be wrong between the points.

    Args:
        nonconformity: A measure a(f(x), y) of how far a label is from its prediction, see `Nonconformity`.
        prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an array of
            points.
        y_grid: Points that surround the labels, at which to test.

    >>> from calibrant import Interval
    >>> from calibrant.intervals import CQR
    >>> check_nonconformity(CQR(), Interval([0.0, 1.0], [2.0, 5.0]), np.linspace(-10, 10, 50))
    """
    prediction = as_prediction(prediction)
    grid = floats("y_grid", y_grid, like=prediction.like, ndim=1)
    xp = namespace(grid)
    if grid.shape[0] < 2 or bool(xp.any(grid[1:] <= grid[:-1])):
        raise ValueError("y_grid must hold at least two points in strictly increasing order")
    minimiser = nonconformity.minimiser(prediction)
    if tuple(minimiser.shape) != (len(prediction),):
        raise ValueError(
            f"{type(nonconformity).__name__}.minimiser must give one value for each of {count(len(prediction), 'row')},"
            f" got shape {tuple(minimiser.shape)}"
        )
    points = _Points(nonconformity, prediction, grid, minimiser[:, None])
    points.check_value()
    points.check_level_set()
    points.check_slope()


@dataclass(frozen=True)
class _Points:
    """The points of a grid in every row of a prediction."""

    nonconformity: Nonconformity
    prediction: Any
    grid: Array
    minimiser: Array

    def _at(self, function: Any, y: Array) -> Array:
        """A function of one value per row, at (rows, points)."""
        xp = namespace(y)
        rows, count = len(self.prediction), self.grid.shape[0]
        repeated = self.prediction[np.repeat(np.arange(rows), count)]
        result = function(repeated, xp.reshape(xp.broadcast_to(y, (rows, count)), (-1,)))
        return xp.reshape(result, (rows, count))

    def _refuse(self, method: str, bad: Array, what: str) -> None:
        if bool(namespace(bad).any(bad)):
            complain(f"{type(self.nonconformity).__name__}.{method}", bad, what)

    def check_value(self) -> None:
        """Finite, smallest at the minimiser, strictly falling before it and strictly rising after it."""
        xp, m, grid = namespace(self.grid), self.minimiser, self.grid[None, :]
        value = self._at(self.nonconformity.value, grid)
        least = self.nonconformity.value(self.prediction, m[:, 0])[:, None]
        self._refuse("value", ~xp.isfinite(value), "is not finite")
        steps = value[:, 1:] - value[:, :-1]
        rounding = 100 * xp.finfo(value.dtype).eps * xp.max(xp.abs(value))
        self._refuse("value", value < least - rounding, "is smaller elsewhere than at its minimiser")
        self._refuse("value", (grid[:, 1:] <= m) & (steps >= 0), "does not fall strictly up to its minimiser")
        self._refuse("value", (grid[:, :-1] >= m) & (steps <= 0), "does not rise strictly from its minimiser on")

    def check_level_set(self) -> None:
        """Up to y itself where t is the value at y."""
        a, xp = self.nonconformity, namespace(self.grid)
        y = xp.broadcast_to(self.grid[None, :], (len(self.prediction), self.grid.shape[0]))
        t = self._at(a.value, y)
        lower = self._at(lambda rows, t: a.level_set(rows, t)[0], t)
        upper = self._at(lambda rows, t: a.level_set(rows, t)[1], t)
        self._refuse("level_set", ~(lower <= upper), "has its ends in the wrong order")
        off = xp.abs(xp.where(y < self.minimiser, lower, upper) - y)
        # half the digits: where the value is flat, as a square is, rounding moves its level set that much
        slack = xp.finfo(self.grid.dtype).eps ** 0.5 * (xp.max(xp.abs(self.grid)) + xp.abs(y - self.minimiser))
        self._refuse("level_set", ~(off <= slack), "does not end where the value is t")

    def check_slope(self) -> None:
        """The rise of the value over a short step: either way, to the left or to the right, in case it bends."""
        a, xp, grid = self.nonconformity, namespace(self.grid), self.grid
        eps = xp.finfo(grid.dtype).eps
        step = eps**0.33 * (xp.abs(grid) + grid[-1] - grid[0])[None, :]
        # at the minimiser itself there may be no slope
        y = xp.where(xp.abs(grid - self.minimiser) < 4 * step, self.minimiser + 4 * step, grid)
        left, here, right = (self._at(a.value, y + k * step) for k in (-1, 0, 1))
        slope = xp.exp(self._at(a.log_slope, y))
        rises = (right - left) / 2, here - left, right - here
        off = reduce(xp.minimum, (xp.abs(xp.abs(rise) - slope * step) for rise in rises))
        slack = 1e-3 * slope * step + 10 * eps * (xp.abs(here) + slope * xp.abs(y))
        self._refuse("log_slope", ~(off <= slack), "is not the log of the slope of the value")
