"""Integrals of a function that is known at some places and runs straight between them, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from calibrant._arrays import Array, clip, concatenate, namespace
from calibrant._search import count_up_to, gather


class LineIntegrals(NamedTuple):
    """What is known of a line up to x."""

    value: Array
    once: Array
    """Its integral from the first place to x."""
    twice: Array
    """The integral of that."""
    square: Array
    """The integral of its square."""
    rises: Array
    """The sum of its squared rises over steps of length 1, for an x that is whole."""


@dataclass(frozen=True)
class LineTable:
    """Row i runs straight through (places[i, j], values[i, j]), is 0 before the first and stays at the last value."""

    places: Array
    values: Array
    once: Array
    twice: Array
    square: Array
    rises: Array

    @classmethod
    def through(cls, places: Array, values: Array, start: tuple[Array, Array, Array] | None = None) -> LineTable:
        """Prefix sums, all of them of positive terms; `start` is what lies before, (n, 1). A place may come twice."""
        none = namespace(values).zeros_like(values[:, :1])
        first, second, third = (none, none, none) if start is None else start
        h, a, b = places[:, 1:] - places[:, :-1], values[:, :-1], values[:, 1:]
        once = _sums(first, h * (a + b) / 2)
        return cls(
            places,
            values,
            once,
            _sums(second, h * once[:, :-1] + h**2 * (2 * a + b) / 6),
            _sums(third, h * (a**2 + a * b + b**2) / 3),
            _sums(none, (b - a) ** 2 * _inverse(h)),
        )

    def at(self, x: Array) -> LineIntegrals:
        """The integrals up to x, (n, k)."""
        xp = namespace(x)
        x = xp.broadcast_to(x, (self.places.shape[0], x.shape[-1]))
        first, last = self.places[:, :1], self.places[:, -1:]
        inside = xp.minimum(xp.maximum(x, first), last)
        i = clip(count_up_to(self.places, inside) - 1, 0, max(self.places.shape[1] - 2, 0))
        start, a, b = gather(self.places, i), gather(self.values, i), gather(self.values, i + 1)
        r, h = inside - start, gather(self.places, i + 1) - start
        v = a + (b - a) * r * _inverse(h)
        once = gather(self.once, i) + r * (a + v) / 2
        twice = gather(self.twice, i) + r * gather(self.once, i) + r**2 * (2 * a + v) / 6
        square = gather(self.square, i) + r * (a**2 + a * v + v**2) / 3
        rises = gather(self.rises, i) + (v - a) ** 2 * _inverse(r)
        over = x - inside
        over = xp.maximum(over, xp.zeros_like(over))
        before = xp.zeros_like(v)
        return LineIntegrals(
            xp.where(x < first, before, v),
            once + over * v,
            twice + over * once + over**2 * v / 2,
            square + over * v**2,
            rises,
        )


def _sums(start: Array, terms: Array) -> Array:
    """The start and the running sums from it."""
    return namespace(terms).cumulative_sum(concatenate([start, terms], axis=1), axis=1)


def _inverse(length: Array) -> Array:
    """1 / length, and 0 for no length."""
    xp, some = namespace(length), length > 0
    return xp.where(some, 1 / xp.where(some, length, xp.ones_like(length)), xp.zeros_like(length))
