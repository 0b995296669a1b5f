"""A distribution whose logit is a cubic spline: as smooth as a mixture of hundreds, as quick as a broken line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp

from calibrant._arrays import Array, anywhere, clip, device_like, namespace, to_numpy
from calibrant._batch import shared
from calibrant._search import Finder
from calibrant._special import log_logistic, log_sigmoid, safe_log, sigmoid
from calibrant.distributions.base import ByLogit, bent_places

_NEWTON = 4  # steps that take the first guess to the resolution of floats
_KNOTS = 5000  # about that many in all, but no fewer than 25 a unit
_FAR = np.asarray([60.0, 100.0, 200.0, 400.0, 700.0])


@dataclass(frozen=True, eq=False, repr=False)
class LogitSpline(ByLogit):
    """F(s) = sigmoid(c(s)), c the increasing cubic with these values and slopes at the knots, straight beyond them."""

    knots: Array = shared()
    values: Array = shared()
    slopes: Array = shared()
    shape: ClassVar[tuple[int, ...]] = ()

    def __post_init__(self) -> None:
        """The cubic rises; in single precision, rounding may undo it."""
        knots, values, slopes = columns = list(map(to_numpy, (self.knots, self.values, self.slopes)))
        if knots.ndim != 1 or knots.size < 2 or len({(each.shape, each.dtype) for each in columns}) > 1:
            raise ValueError(f"{knots.size} knots do not go with {values.size} values and {slopes.size} slopes")
        h, rise, steepest = np.diff(knots), np.diff(values), np.maximum(slopes[1:], slopes[:-1])
        good = (h > 0) & (rise > 0) & (steepest * h <= 3.001 * rise) & (slopes[1:] > 0) & (slopes[:-1] > 0)
        if not np.isfinite(columns).all() or (knots.dtype == np.float64 and not good.all()):
            raise ValueError(f"its cubic does not rise after knot {int(np.argmin(good))}")

    @classmethod
    def of_mixture(cls, weights: Any, locs: Any, scales: Any, like: Array) -> LogitSpline:
        """The spline through a mixture of logistic distributions, given in numpy, in the home of `like`."""
        knots = np.unique(to_numpy(device_like(knots_of_units(locs, scales), like)).astype(np.float64))
        return cls.drawn(knots, *logit_of_mixture(knots, weights, locs, scales), like)

    @classmethod
    def drawn(cls, knots: Any, value: Any, log_slope: Any, like: Array) -> LogitSpline:
        """The spline with these logits and slopes at increasing knots, in the home of `like`."""
        with np.errstate(over="ignore"):
            slope = np.exp(log_slope)
        good = np.isfinite(value) & np.isfinite(slope) & (slope > 0)
        knots, value, slope = knots[good], value[good], slope[good]
        # where the distribution is flat, the logits still rise, by a rounding each
        value = np.maximum.accumulate(value)
        value = value + np.cumsum(2 * np.spacing(np.abs(value) + 1))
        # a cubic of this kind increases if no slope is more than three times that of the neighbouring chords
        chord = np.diff(value) / np.diff(knots)
        limit = 3 * np.minimum(np.append(chord, np.inf), np.insert(chord, 0, np.inf))
        return cls(*(device_like(part, like) for part in (knots, value, np.minimum(slope, limit))))

    def _columns(self) -> tuple[Finder, Finder, list[Array]]:
        """What finds the piece of a place, or of a value; start and length of each, value and slopes of its cubic."""
        h, rise = self.knots[1:] - self.knots[:-1], self.values[1:] - self.values[:-1]
        da, db = h * self.slopes[:-1], h * self.slopes[1:]
        columns = [self.knots[:-1], h, self.values[:-1], da, 3 * rise - 2 * da - db, da + db - 2 * rise]
        return Finder(self.knots), Finder(self.values), columns

    def _piece(self, which: int, argument: Array) -> list[Array]:
        """The columns of the piece of each place (0), or value (1)."""
        *finders, columns = self.remember("_kept_columns", self._columns)
        i = clip(finders[which].count(argument) - 1, 0, self.knots.shape[0] - 2)
        return [namespace(argument).take(column, i) for column in columns]

    def _cubic(self, s: Array) -> tuple[Array, Array]:
        """c and its slope."""
        xp, shape = namespace(s), s.shape
        s = xp.reshape(s, (-1,))
        inside = clip(s, self.knots[0], self.knots[-1])
        a, h, v, c1, c2, c3 = self._piece(0, inside)
        t = (inside - a) / h
        value = v + t * (c1 + t * (c2 + t * c3))
        if anywhere(s != inside):
            value = value + (s - inside) * xp.where(s < inside, self.slopes[0], self.slopes[-1])
        slope = (c1 + t * (2 * c2 + t * 3 * c3)) / h
        return xp.reshape(value, shape), xp.reshape(slope, shape)

    def _cdf(self, s: Array) -> Array:
        return sigmoid(self._cubic(s)[0])

    def _sf(self, s: Array) -> Array:
        return sigmoid(-self._cubic(s)[0])

    def _logpdf(self, s: Array) -> Array:
        value, slope = self._cubic(s)
        return log_logistic(value) + safe_log(slope)  # in single precision a slope may round to less than 0

    def _ppf_logit(self, s: Array) -> Array:
        """The root of the cubic on the piece that holds s: Newton steps from the chord, kept on the piece."""
        xp, shape = namespace(s), s.shape
        s = xp.reshape(s, (-1,))
        inside = clip(s, self.values[0], self.values[-1])
        a, h, v, c1, c2, c3 = self._piece(1, inside)
        gap = inside - v
        t = gap / (c1 + c2 + c3)
        for _ in range(_NEWTON):
            slope = c1 + t * (2 * c2 + t * 3 * c3)
            step = (t * (c1 + t * (c2 + t * c3)) - gap) / xp.where(slope > 0, slope, 1.0)
            t = clip(t - step, 0.0, 1.0)
        y = a + h * t
        return xp.reshape(y + (s - inside) / xp.where(s < inside, self.slopes[0], self.slopes[-1]), shape)

    def _places(self, s: Array) -> Array:
        return bent_places(self, s, self.knots)


def logit_of_mixture(s: Any, weights: Any, locs: Any, scales: Any) -> tuple[Any, Any]:
    """The logit of the sum of w_k sigmoid((s - m_k) / t_k), and the log of its slope, in numpy."""
    with np.errstate(over="ignore"):
        z = (s[:, None] - locs) / scales
    below, above, w = log_sigmoid(z), log_sigmoid(-z), safe_log(weights)
    F, S, f = (logsumexp(w + part, axis=1) for part in (below, above, below + above - np.log(scales)))
    return F - S, f - F - S


def knots_of_units(locs: Any, scales: Any) -> Any:
    """Where to take the logit of a mixture of logistic units: close enough to follow every one of them."""
    middle, scale = locs[:, None], scales[:, None]
    count = max(25, _KNOTS // len(locs))
    grid = np.sinh(np.linspace(-4.4, 4.4, count))  # dense in the middle of a unit, 40 scales out at its ends
    low, high = (middle - scale * _FAR).min(axis=0), (middle + scale * _FAR).max(axis=0)
    return np.concatenate([low, (middle + scale * grid).ravel(), high])
