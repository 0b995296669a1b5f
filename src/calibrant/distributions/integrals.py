"""Integrals of a CDF: what means, variances and CRPS are made of."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple, TypeVar

import numpy as np
from array_api_compat import device

from calibrant._arrays import Array, namespace, single_precision

T = TypeVar("T", bound=tuple[Array, ...])


class PartialMoments(NamedTuple):
    """The four integrals of F and 1 - F that give means and variances."""

    lower: Array
    """E (y - Y)+, the integral of F up to y."""
    lower2: Array
    """E (y - Y)+^2 / 2."""
    upper: Array
    """E (Y - y)+, the integral of 1 - F from y on."""
    upper2: Array
    """E (Y - y)+^2 / 2."""


class Squares(NamedTuple):
    """The two integrals whose sum is the CRPS."""

    lower: Array
    """The integral of F^2 up to y."""
    upper: Array
    """The integral of (1 - F)^2 from y on."""


Parts = TypeVar("Parts", PartialMoments, Squares)


def moments_beyond(part: PartialMoments, over: Array, under: Array, infinite: tuple[float, float]) -> PartialMoments:
    """Partial moments `over` above or `under` below the ends of a law, from those at the ends.

    No mass is left beyond them, unless it is at -inf or +inf: `infinite` says how much.
    """
    below, above = infinite
    lower, lower2, upper, upper2 = part
    return PartialMoments(
        lower + (1 - above) * over - below * under,
        lower2 + arm(over, lower) + ((1 - above) * over**2 + below * under**2) / 2,
        upper + (1 - below) * under - above * over,
        upper2 + arm(under, upper) + ((1 - below) * under**2 + above * over**2) / 2,
    )


def arm(length: Array, integral: Array) -> Array:
    """A length times an integral: 0 for no length, also where the integral is infinite."""
    xp = namespace(integral)
    with np.errstate(over="ignore"):
        return length * xp.where(length > 0, integral, xp.zeros_like(integral))


def squares_beyond(part: Squares, over: Array, under: Array, infinite: tuple[float, float]) -> Squares:
    """The same for the squares."""
    below, above = infinite
    return Squares(
        part.lower + (1 - above) ** 2 * over - below**2 * under,
        part.upper + (1 - below) ** 2 * under - above**2 * over,
    )


def between(ask: Callable[[Array, Array], Parts], y: Array, lower: Array, upper: Array) -> Parts:
    """ask(lower, upper), a bound being finite in all rows it is asked for, or None where it is an end of the line."""
    xp = namespace(y)
    ends = [xp.isinf(bound) for bound in (lower, upper)]
    for side, end in enumerate(ends):
        if bool(xp.any(end)) and not bool(xp.all(end)):  # both kinds of rows, and each row is as it is by itself
            bounds = [lower, upper]
            within = (xp.min if side == 0 else xp.max)(y, axis=-1, keepdims=True)
            bounds[side] = xp.where(end, within, bounds[side])
            closed = between(ask, y, *bounds)
            bounds[side] = xp.full_like(bounds[side], (-xp.inf, xp.inf)[side])
            whole = between(ask, y, *bounds)
            return type(whole)(*(xp.where(end, one, other) for one, other in zip(whole, closed, strict=True)))
    low, high = (None if bool(xp.all(end)) else bound for end, bound in zip(ends, (lower, upper), strict=True))
    return ask(low, high)  # type: ignore[arg-type]


def double(like: Array) -> Array:
    """`like`, or a zero beside it in double precision."""
    xp = namespace(like)
    return xp.zeros((), dtype=xp.float64, device=device(like)) if single_precision(like) else like


def in_double(integrals: Callable[..., T], y: Array, *bounds: Array) -> T:
    """Integrals between values of single precision, in double precision.

    Tails count as far as 1e-100 of the mass, and squares of what lies there: single precision ends long before. What
    is made of them, `Integrated` gives back as it came.
    """
    if not single_precision(y):
        return integrals(y, *bounds)
    xp = namespace(y)
    return integrals(*(None if value is None else xp.astype(value, xp.float64) for value in (y, *bounds)))


def largest(like: Array) -> float:
    """A number whose square is still a float."""
    return 1e-3 * math.sqrt(float(namespace(like).finfo(like.dtype).max))


class Outward(NamedTuple):
    """Integrals from the middle m of a law out to y: of F below m, of 1 - F above it, all with a minus sign.

    What lies beyond y does not enter, so that a single outlier far out spoils no digit of what is between two bounds.
    Far from the middle the integrals from the nearer end have more digits: of the two the surer one is taken.
    """

    once: Array
    """-(the integral of F from y to m), or -(that of 1 - F from m to y)."""
    twice: Array
    """The integral of `once` from m to y."""
    square: Array
    """The same as `once`, of F^2 and of (1 - F)^2."""


class FromMiddle:
    """Integrals between bounds, for a law that can integrate from its middle outwards."""

    @abstractmethod
    def _middle(self) -> Any:
        """m, any point in the bulk of the law."""

    @abstractmethod
    def _reach(self) -> tuple[Any, Any]:
        """Points beyond which the law has no mass to speak of, but for mass at -inf and +inf."""

    @abstractmethod
    def _infinite_mass(self) -> tuple[Any, Any]:
        """The mass there."""

    @abstractmethod
    def _outward(self, y: Array) -> Outward:
        """See `Outward`."""

    @abstractmethod
    def _from_ends(self, y: Array) -> tuple[PartialMoments, Squares]:
        """The integrals from the ends of the law to y."""

    def _moments_within(self, y: Array, lower: Array, upper: Array) -> PartialMoments:
        m, (a, b) = self._middle(), self._held(lower, upper)
        (At, A2), (Aa, A2a) = self._of_F(y, m), self._of_F(a, m)
        (St, S2), (Sb, S2b) = self._of_S(y, m), self._of_S(b, m)
        at_y, at_a, at_b = (self._from_ends(place)[0] for place in (y, a, b))
        with np.errstate(invalid="ignore"):  # 0 times an integral that does not exist
            arms = -(y - a) * at_a.lower, -(b - y) * at_b.upper
        return PartialMoments(
            _surer((At, -Aa), (at_y.lower, -at_a.lower)),
            _surer((A2, -A2a, -(y - a) * Aa), (at_y.lower2, -at_a.lower2, arms[0])),
            _surer((Sb, -St), (at_y.upper, -at_b.upper)),
            _surer(((b - y) * Sb, -S2b, S2), (at_y.upper2, -at_b.upper2, arms[1])),
        )

    def _squares_within(self, y: Array, lower: Array, upper: Array) -> Squares:
        m, (a, b) = self._middle(), self._held(lower, upper)
        at_y, at_a, at_b = (self._from_ends(place)[1] for place in (y, a, b))
        return Squares(
            _surer((self._of_F_squared(y, m), -self._of_F_squared(a, m)), (at_y.lower, -at_a.lower)),
            _surer((self._of_S_squared(b, m), -self._of_S_squared(y, m)), (at_y.upper, -at_b.upper)),
        )

    def _held(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Bounds that are not needlessly far out, where digits are lost."""
        xp, (low, high) = namespace(lower), self._reach()
        below, above = self._infinite_mass()
        far = xp.isinf(lower) if below else lower < low
        lower = xp.where(far, xp.full_like(lower, low), lower)
        far = xp.isinf(upper) if above else upper > high
        return lower, xp.where(far, xp.full_like(upper, high), upper)

    def _of_F(self, y: Array, m: float) -> tuple[Array, Array]:
        """The integral of F from m to y, and the integral of that."""
        out, over = self._outward(y), _positive(y - m)
        return over + out.once, over**2 / 2 + out.twice

    def _of_S(self, y: Array, m: float) -> tuple[Array, Array]:
        """The same of 1 - F."""
        out, under = self._outward(y), _positive(m - y)
        return -under - out.once, under**2 / 2 - out.twice

    def _of_F_squared(self, y: Array, m: float) -> Array:
        """F^2 = 1 - 2 (1 - F) + (1 - F)^2 above the middle."""
        out = self._outward(y)
        return namespace(y).where(y < m, out.square, (y - m) + 2 * out.once - out.square)

    def _of_S_squared(self, y: Array, m: float) -> Array:
        out = self._outward(y)
        return namespace(y).where(y < m, out.square - 2 * out.once - (m - y), -out.square)


def _surer(one: tuple[Array, ...], other: tuple[Array, ...]) -> Array:
    """Of two sums that are equal but for rounding, the one whose terms are smaller: it has lost fewer digits."""
    xp = namespace(one[0])
    sizes = [reduce(xp.maximum, (xp.abs(term) for term in terms)) for terms in (one, other)]
    with np.errstate(invalid="ignore"):  # inf - inf, where one of them does not exist
        sums = [reduce(lambda a, b: a + b, terms) for terms in (one, other)]
    return xp.where(sizes[0] > sizes[1], sums[1], sums[0])  # a size that is nan is not the smaller one


def image(map: Callable[[Array], Array], bound: Array) -> Array:
    """map(bound), an infinite bound as it is: no gradient is infinite there."""
    xp = namespace(bound)
    infinite = xp.isinf(bound)
    found = map(xp.where(infinite, xp.zeros_like(bound), bound))
    return xp.where(infinite, bound, found)


def _positive(x: Array) -> Array:
    return namespace(x).maximum(x, namespace(x).zeros_like(x))
