"""A law censored at bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arrays import Array, anywhere, clip, concatenate, device_like, namespace, to_numpy
from calibrant.distributions.base import Distribution, handed_in
from calibrant.distributions.integrals import PartialMoments, Squares, moments_beyond, squares_beyond
from calibrant.distributions.integrated import Integrated
from calibrant.distributions.mixture import Mixture
from calibrant.distributions.outline import Outline


@dataclass(frozen=True, eq=False, repr=False)
class Clipped(Integrated):
    """The law of min(max(Y, lower), upper), Y ~ law: its CDF is the law's between the bounds, and so are its integrals.

    What the law has beyond the bounds enters as the mass on them and in no other way: a clipped law has moments also
    where the law has none. The bounds are two numbers, or two arrays with one number a row.
    """

    law: Distribution
    lower: Any
    upper: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return self.law.shape

    @property
    def by_row(self) -> bool:
        """Whether each row has bounds of its own."""
        return not isinstance(self.lower, float)

    @property
    def _ends(self) -> tuple[Any, Any]:
        """The bounds, ready to meet arguments."""
        return (self.lower[:, None], self.upper[:, None]) if self.by_row else (self.lower, self.upper)

    def _inside(self, y: Array) -> Array:
        return clip(y, *self._ends)

    def _cdf(self, y: Array) -> Array:
        low, high = self._ends
        return self._chosen(y < low, y >= high, self.law._cdf(self._inside(y)), 0.0, 1.0)

    def _cdf_left(self, y: Array) -> Array:
        low, high = self._ends
        return self._chosen(y <= low, y > high, self.law._cdf_left(self._inside(y)), 0.0, 1.0)

    def _sf(self, y: Array) -> Array:
        low, high = self._ends
        return self._chosen(y < low, y >= high, self.law._sf(self._inside(y)), 1.0, 0.0)

    def _logcdf(self, y: Array) -> Array:
        low, high = self._ends
        return self._chosen(y < low, y >= high, self.law._logcdf(self._inside(y)), -math.inf, 0.0)

    def _logsf(self, y: Array) -> Array:
        low, high = self._ends
        return self._chosen(y < low, y >= high, self.law._logsf(self._inside(y)), 0.0, -math.inf)

    def _logpdf(self, y: Array) -> Array:
        low, high = self._ends
        return self._chosen(y < low, y > high, self.law._logpdf(self._inside(y)), -math.inf, -math.inf)

    @staticmethod
    def _chosen(low: Array, high: Array, inside: Array, below: float, above: float) -> Array:
        xp = namespace(inside)
        return xp.where(low, xp.full_like(inside, below), xp.where(high, xp.full_like(inside, above), inside))

    def _ppf(self, p: Array) -> Array:
        return self._inside(self.law._ppf(p))

    def _ppf_logit(self, s: Array) -> Array:
        return self._inside(self.law._ppf_logit(s))

    def _quantiles(self, p: Array) -> Array:
        return self._inside(self.law._quantiles(p))

    def _quantiles_logit(self, s: Array) -> Array:
        return self._inside(self.law._quantiles_logit(s))

    def _partial_moments(self, y: Array) -> PartialMoments:
        inside = self._inside(y)
        part = self.law._moments_within(inside, *self._bounds)
        if self._is_open:  # a side without a bound is the law's own
            whole = self.law._partial_moments(inside)
            lower, upper = (self._sided(bound, whole, part) for bound in (self.lower, self.upper))
            part = PartialMoments(lower[0], lower[1], upper[2], upper[3])
        return moments_beyond(part, *self._beyond(y, inside), (0.0, 0.0))

    def _squares(self, y: Array) -> Squares:
        inside = self._inside(y)
        part = self.law._squares_within(inside, *self._bounds)
        if self._is_open:
            whole = self.law._squares(inside)
            lower, upper = (self._sided(bound, whole, part) for bound in (self.lower, self.upper))
            part = Squares(lower[0], upper[1])
        return squares_beyond(part, *self._beyond(y, inside), (0.0, 0.0))

    @property
    def _is_open(self) -> bool:
        """Whether a bound is infinite, of any row."""
        if not self.by_row:
            return math.isinf(self.lower) or math.isinf(self.upper)
        return anywhere(namespace(self.lower).isinf(self.lower) | namespace(self.upper).isinf(self.upper))

    def _sided(self, bound: float | Array, whole: tuple[Array, ...], part: tuple[Array, ...]) -> Sequence[Array]:
        """The integrals of the whole law where there is no such bound, and those up to the bound where there is."""
        if not self.by_row:
            return part if math.isfinite(bound) else whole
        xp, none = namespace(bound), namespace(bound).isinf(bound)[:, None]
        return [xp.where(none, one, other) for one, other in zip(whole, part, strict=True)]

    def _crps(self, y: Array) -> Array:
        """A clipped draw of a mixture is a draw of a clipped component, whose CRPS is more exact."""
        if isinstance(self.law, Mixture):
            parts = tuple(law.clip(self.lower, self.upper) for law in self.law.components)
            return Mixture(parts, self.law.weights)._crps(y)
        return super()._crps(y)

    def _moments_within(self, y: Array, lower: Array, upper: Array) -> PartialMoments:
        inside, (low, high) = self._inside(y), (self._inside(bound) for bound in (lower, upper))
        part = self.law._moments_within(inside, low, high)
        return moments_beyond(part, *self._beyond_between(y, lower, upper), (0.0, 0.0))

    def _squares_within(self, y: Array, lower: Array, upper: Array) -> Squares:
        inside, (low, high) = self._inside(y), (self._inside(bound) for bound in (lower, upper))
        part = self.law._squares_within(inside, low, high)
        return squares_beyond(part, *self._beyond_between(y, lower, upper), (0.0, 0.0))

    def _beyond_between(self, y: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
        """How much of the way from `lower` to y lies above this law, where F is 1; and from y to `upper` below it."""
        xp = namespace(y)
        zero, (first, last) = xp.zeros_like(y), self._bounds
        return xp.maximum(y - xp.maximum(last, lower), zero), xp.maximum(xp.minimum(first, upper) - y, zero)

    @property
    def _bounds(self) -> tuple[Array, Array]:
        if self.by_row:
            return self._ends
        lower, upper = (device_like(bound, self.like) for bound in self._ends)
        return (lower[None, None], upper[None, None]) if self.shape else (lower, upper)

    @staticmethod
    def _beyond(y: Array, inside: Array) -> tuple[Array, Array]:
        xp = namespace(y)
        zero = xp.zeros_like(y)
        return xp.maximum(y - inside, zero), xp.maximum(inside - y, zero)

    def _infinite_mass(self) -> tuple[Any, Any]:
        below, above = self.law._infinite_mass()
        if not self.by_row:
            return 0.0 if math.isfinite(self.lower) else below, 0.0 if math.isfinite(self.upper) else above
        xp, zero = namespace(self.lower), namespace(self.lower).zeros_like(self.lower)
        left, right = (
            xp.where(xp.isinf(bound), mass + zero, zero) for bound, mass in ((self.lower, below), (self.upper, above))
        )
        return left, right

    @property
    def is_discrete(self) -> bool:
        return self.law.is_discrete

    @property
    def lattice(self) -> tuple[float, float] | None:
        """The law's, if the bounds are points of it."""
        lattice = self.law.lattice
        if lattice is None:
            return None
        for bound in (np.atleast_1d(to_numpy(end)) for end in (self.lower, self.upper)):
            finite = bound[np.isfinite(bound)]
            if np.any(np.remainder(finite - lattice[0], lattice[1]) != 0):
                return None
        return lattice

    def _breaks(self) -> Array:
        points = self._inside(self.law._breaks())
        bounds = [device_like([bound], points) for bound in self._ends if math.isfinite(bound)]  # of a single law
        return namespace(points).sort(concatenate([points, *bounds]))

    def _outline(self) -> Outline | None:
        """The law's between the bounds, and a jump at each of them."""
        outline = self.law._outline()
        if outline is None:
            return None
        xp, y, inside = namespace(outline.y), outline.y, self._inside(outline.y)
        low, high = (xp.zeros_like(y[..., :1]) + bound for bound in self._bounds)
        first = xp.min(xp.where(y > low, inside, inside[..., -1:]), axis=-1, keepdims=True)
        last = xp.max(xp.where(y < high, inside, inside[..., :1]), axis=-1, keepdims=True)
        # points beyond a bound are put close to it: what bulges from there on does not see half of the jump
        first, last = _close_to(low, first), _close_to(high, last)
        F_first, F_last, S_first = self.law._cdf(first), self.law._cdf_left(last), self.law._sf(first)
        S_last = self.law._sf(last) + (self.law._cdf(last) - F_last)
        inside, left, right, rest = (
            xp.where(y <= low, start, xp.where(y >= high, end, part))
            for part, start, end in (
                (inside, first, last),
                (outline.left, F_first, F_last),
                (outline.right, F_first, F_last),
                (outline.rest, S_first, S_last),
            )
        )
        F_low, F_high, S_low = self.law._cdf(low), self.law._cdf_left(high), self.law._sf(low)
        none, bend = xp.zeros_like(low), outline.bend + xp.zeros_like(y[..., 1:])
        start: tuple[Array, ...] = (low, none, F_low, S_low, none)
        end: tuple[Array, ...] = (high, F_high, xp.ones_like(high), none, none)
        parts = [[inside], [left], [right], [rest], [bend]]
        if self.by_row:  # a row without a bound has its own first or last point once more
            F, G = left[..., :1], right[..., -1:]
            start = tuple(map(xp.where, [xp.isinf(low)] * 5, (y[..., :1], F, F, 1 - F, none), start))
            end = tuple(map(xp.where, [xp.isinf(high)] * 5, (y[..., -1:], G, G, rest[..., -1:], none), end))
        if self.by_row or math.isfinite(self.lower):
            parts = [[new, *part] for new, part in zip(start, parts, strict=True)]
        if self.by_row or math.isfinite(self.upper):
            parts = [[*part, new] for new, part in zip(end, parts, strict=True)]
        return Outline(*(concatenate(part, axis=-1) for part in parts))

    def _clipped(self, lower: Any, upper: Any) -> Distribution:
        if self.by_row or not isinstance(lower, float):
            xp, zero = namespace(self.like), device_like(np.zeros(len(self)), self.like)
            low, high, first, last = (zero + bound for bound in (lower, upper, self.lower, self.upper))
            if anywhere((low > last) | (high < first)):
                return Clipped(self, low, high)
            return Clipped(self.law, xp.maximum(low, first), xp.minimum(high, last))
        return (
            Clipped(self.law, max(lower, self.lower), min(upper, self.upper))
            if (lower < self.upper and upper > self.lower)
            else Clipped(self, lower, upper)
        )

    def _describe(self) -> str:
        bounds = "bounds by row" if self.by_row else f"[{self.lower:g}, {self.upper:g}]"
        return f"{self.law!r} to {bounds}"


def _close_to(bound: Array, point: Array) -> Array:
    """A sixteenth of the way from a bound to a point, if the bound is finite."""
    xp = namespace(bound)
    return bound + (point - xp.where(xp.isinf(bound), point, bound)) / 16


handed_in["clipped"] = Clipped
