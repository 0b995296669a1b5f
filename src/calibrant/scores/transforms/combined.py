"""Transforms one after another, and weighted sums of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import inf
from operator import add

from calibrant._arrays import Array, concatenate, device_like, namespace
from calibrant._search import Curve, solve_increasing
from calibrant.distributions.mixture import Mixture
from calibrant.scores.transforms.base import Affine, BrokenLine, Transform
from calibrant.scores.transforms.curves import CDF, LogitCDF

_EVERY = 16  # of the scores, those whose places are found by themselves


@dataclass(frozen=True, eq=False)
class Composed(Transform):
    """s = then(first(y)); `then` may be one map for all rows."""

    first: Transform
    then: Transform

    @property
    def shape(self) -> tuple[int, ...]:
        return self.first.shape

    def __call__(self, y: Array) -> Array:
        return self.then(self.first(y))

    def left(self, y: Array) -> Array:
        return self.then.left(self.first.left(y))

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        middle, slope = self.first.with_slope(y)
        s, then_slope = self.then.with_slope(middle)
        return s, slope + then_slope

    def inverse(self, s: Array) -> Array:
        return self.first.inverse(self.then.inverse(s))

    @property
    def standard(self) -> tuple[Array, Array, Transform] | None:
        """One map of all rows after the row's line."""
        if self.then.shape or not self.shape or not isinstance(self.first, Affine):
            return None
        return self.first.loc, self.first.scale, self.then

    @property
    def bends(self) -> Array | None:
        """Those of `then`, or else of `first`."""
        first, then = self.first.bends, self.then.bends
        return then if then is not None or first is None else self.then(first)


def compose(first: Transform, then: Transform) -> Transform:
    """s = then(first(y)), as a line or a broken line where it is one."""
    if isinstance(first, Affine) and isinstance(then, Affine):
        return Affine(first.loc + then.loc * first.scale, first.scale * then.scale)
    if isinstance(first, Affine) and isinstance(then, BrokenLine):
        loc, scale = first.loc[:, None], first.scale[:, None]
        return BrokenLine(loc + scale * then.values, then.levels, then.slopes / scale)
    if isinstance(first, BrokenLine) and isinstance(then, Affine):
        return BrokenLine(first.values, then(first.levels), first.slopes / then.scale[..., None])
    return Composed(first, then)


def shifted(transform: Transform, origin: float, unit: float = 1.0) -> Transform:
    """(s - origin) / unit."""
    if origin == 0 and unit == 1:
        return transform
    return compose(transform, Affine(*(device_like(number, transform.like) for number in (origin, unit))))


@dataclass(frozen=True, eq=False)
class Sum(Transform):
    """s = sum of weight * part(y), inverted by safeguarded Newton steps."""

    terms: tuple[tuple[Transform, float], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.terms[0][0].shape

    def __call__(self, y: Array) -> Array:
        return _total(w * part(y) for part, w in self.terms)

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        xp, found = namespace(y), [(w, *part.with_slope(y)) for part, w in self.terms]
        return _total(w * s for w, s, _ in found), xp.log(_total(w * xp.exp(log_slope) for w, _, log_slope in found))

    def inverse(self, s: Array) -> Array:
        xp, (lows, highs) = namespace(s), self._brackets(s)
        low, high = reduce(xp.minimum, lows), reduce(xp.maximum, highs)
        finite = xp.isfinite(low) & xp.isfinite(high)
        root = solve_increasing(self.with_slope, *(xp.where(finite, p, xp.zeros_like(low)) for p in (s, low, high)))
        return xp.where(finite, root, xp.where(s > 0, high, low))

    def inverse_with_width(self, s: Array) -> tuple[Array, Array]:
        places = [self.inverse(concatenate([s[:, :-1:_EVERY], s[:, -1:]], axis=1))]
        inner = device_like([[k / 64 for k in range(1, 64)]], s)
        places = places + [part.inverse(inner) for part, _ in self.terms if isinstance(part, CDF)]
        places = places + [part.values for part, _ in self.terms if isinstance(part, BrokenLine)]
        return Curve.of(self.with_slope, _sorted(places, self.shape[0])).inverse(self.with_slope, s)

    def _brackets(self, s: Array) -> tuple[list[Array], list[Array]]:
        """For each part but the CDFs, the y at which it alone would make at most, and at least, s.

        A CDF has no share of s: it only moves s, by 0 to its weight.
        """
        free = [(part, w) for part, w in self.terms if not isinstance(part, CDF)]
        total = sum(w for _, w in free)
        most = sum(w for part, w in self.terms if isinstance(part, CDF))
        return [part.inverse((s - most) / total) for part, _ in free], [part.inverse(s / total) for part, _ in free]


def weighted_sum(parts: Sequence[Transform], weights: Sequence[float]) -> Transform:
    """s = sum of weight * part(y): a line if all are lines, a broken line if all are lines or broken lines.

    Cdf scores sum to a multiple of the CDF of the pooled forecast, so they become its cdf score.
    """
    cdfs = [part for part in parts if isinstance(part, LogitCDF)]
    if len(cdfs) == len(parts):
        shares = [weight * part.weight for part, weight in zip(cdfs, weights, strict=True)]
        total = sum(shares)
        return LogitCDF(
            Mixture(tuple(part.distribution for part in cdfs), tuple(share / total for share in shares)), total
        )
    terms: list[tuple[Transform, float]] = []
    for part, weight in zip(parts, weights, strict=True):
        if isinstance(part, LogitCDF):
            terms.append((CDF(part.distribution), weight * part.weight))
        else:
            terms += [(p, weight * w) for p, w in part.terms] if isinstance(part, Sum) else [(part, weight)]
    lines = [(part, w) for part, w in terms if isinstance(part, Affine)]
    broken = [(part, w) for part, w in terms if isinstance(part, BrokenLine)]
    if len(lines) + len(broken) < len(terms):
        return Sum(tuple(terms))
    return _broken_line(broken, [*lines, *broken]) if broken else _line(lines)


def _line(lines: Sequence[tuple[Affine, float]]) -> Affine:
    """scale = 1 / sum(w / scale_k), loc = scale * sum(w loc_k / scale_k)."""
    scale = 1 / _total(w / line.scale for line, w in lines)
    # measured from the first line's loc, so that a common large loc does not cancel
    origin = lines[0][0].loc
    return Affine(origin + scale * _total(w * (line.loc - origin) / line.scale for line, w in lines), scale)


def _broken_line(broken: Sequence[tuple[BrokenLine, float]], every: Sequence[tuple[Transform, float]]) -> BrokenLine:
    """The broken line with the knots of all; its levels and slopes are the sums of theirs."""
    knots = _sorted([part.values for part, _ in broken], broken[0][0].shape[0])
    xp, end = namespace(knots), namespace(knots).full_like(knots[:, :1], inf)
    pieces = concatenate([-end, (knots[:, 1:] + knots[:, :-1]) / 2, end], axis=1)
    slopes = _total(w * xp.exp(part.log_slope(pieces)) for part, w in every)
    return BrokenLine(knots, _total(w * part(knots) for part, w in every), slopes)


def _sorted(columns: Sequence[Array], rows: int) -> Array:
    """All columns of each row in order."""
    xp = namespace(columns[0])
    return xp.sort(concatenate([xp.broadcast_to(part, (rows, part.shape[1])) for part in columns], axis=1), axis=1)


def _total(parts: Iterable[Array]) -> Array:
    """The sum of arrays."""
    return reduce(add, parts)
