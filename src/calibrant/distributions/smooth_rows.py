"""Integrals of H(y) = q(map(y)), row by row, with the rule of q that all rows share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device

from calibrant._arrays import Array, concatenate, device_like, namespace, single_precision, to_numpy
from calibrant._batch import moved_floats
from calibrant._kept import keep
from calibrant._search import gather
from calibrant.distributions.atom_rows import AtomRows, few_atoms
from calibrant.distributions.base import Distribution
from calibrant.distributions.in_units import InUnits, unit_of_rows
from calibrant.distributions.integrals import PartialMoments, Squares, double, in_double
from calibrant.distributions.maps import Increasing
from calibrant.distributions.rough_rows import RoughRows
from calibrant.distributions.row_blocks import Block, mended
from calibrant.distributions.rule import AT_ENDS, NODES, Rule, cells
from calibrant.distributions.tails import HEAVY, far_out, still_rising

_BLOCK = 2**16  # function values held at a time
_ROUGH = 6e-7  # of the spread: how far the polynomials may miss the ends of their cells, where they are worst

Integrate = Callable[["_Rows"], list[Array]]
Answer = Callable[[Block], list[Array]]


@dataclass(frozen=True, eq=False)
class SmoothRows:
    """Partial moments and squares of each row, to 1e-7 or better; rows too rough for that are left to `RoughRows`.

    A q of few atoms needs no rule, see `AtomRows`.

    `lower` and `upper` are bounds to integrate between, (n, 1) or None for the ends of the line.
    """

    map: Increasing
    q: Distribution

    def partial_moments(self, y: Array, lower: Any = None, upper: Any = None) -> PartialMoments:
        """See `PartialMoments`."""
        return in_double(self._partial_moments, y, lower, upper)

    def squares(self, y: Array, lower: Any = None, upper: Any = None) -> Squares:
        """See `Squares`."""
        return in_double(self._squares, y, lower, upper)

    def _partial_moments(self, y: Array, lower: Any, upper: Any) -> PartialMoments:
        rows, powers = self._in_double(), (1, 2, 1, 2)
        return PartialMoments(*rows._in_units(powers, y, lower, upper, _moments, rows._other.partial_moments))

    def _squares(self, y: Array, lower: Any, upper: Any) -> Squares:
        rows = self._in_double()
        return Squares(*rows._in_units((1, 1), y, lower, upper, _squares, rows._other.squares))

    @property
    def _other(self) -> RoughRows | AtomRows:
        """The way of rows that the rule is not for."""
        atoms = few_atoms(self.q)
        return RoughRows(self.q) if atoms is None else AtomRows(atoms)

    def _in_units(
        self, powers: tuple[int, ...], y: Array, lower: Any, upper: Any, integrate: Integrate, roughly: Answer
    ) -> list[Array]:
        """In a unit for each row, where numbers cannot be squared; integrals have these powers of it."""
        quartiles = self.q._ppf_logit(device_like([-1.0, 0.0, 1.0], self.map.like))[None, :]
        unit = unit_of_rows(self.map, quartiles)
        if unit is None:
            return self._in_blocks(y, lower, upper, integrate, roughly)
        rows, column = SmoothRows(InUnits(self.map, unit), self.q), unit[:, None]
        with np.errstate(over="ignore"):  # what is too large for floats is infinite
            lower, upper = (None if bound is None else bound / column for bound in (lower, upper))
            found = rows._in_blocks(y / column, lower, upper, integrate, roughly)
            once = [part * column for part in found]
            return [part * column if power == 2 else part for part, power in zip(once, powers, strict=True)]

    def _in_double(self) -> SmoothRows:
        like = self.map.like
        if not single_precision(like):
            return self
        wide = double(like)
        key = ("in double", namespace(like).__name__, str(device(like)))
        return SmoothRows(moved_floats(self.map, wide), keep(self.q, key, lambda: moved_floats(self.q, wide)))

    def _in_blocks(self, y: Array, lower: Array, upper: Array, integrate: Integrate, roughly: Answer) -> list[Array]:
        (rows,) = self.map.shape
        block = Block(self.map, namespace(y).broadcast_to(y, (rows, y.shape[1])), lower, upper)
        # between two bounds a stretch may be short beside the cells
        if self.map.solved or (lower is not None and upper is not None) or few_atoms(self.q) is not None:
            return roughly(block)
        size = max(1, _BLOCK // (self._rule(far=False).nodes.shape[0] * NODES + 4 * NODES * y.shape[1]))
        answers = [self._answer(part, integrate, roughly) for part in block.split(size)]
        return [concatenate(column) for column in zip(*answers, strict=True)]

    def _answer(self, block: Block, integrate: Integrate, roughly: Answer, *, far: bool = False) -> list[Array]:
        """By the usual rule; heavy tails by one that reaches farther, rough rows in another way."""
        rows = _Rows.of(block, self.q, self._rule(far=far))
        results, rough = integrate(rows), rows.rough()
        if not far:
            heavy = rows.heavy()
            again = partial(self._answer, integrate=integrate, roughly=roughly, far=True)
            results, rough = mended(results, heavy, block, again), rough & ~heavy
        return mended(results, rough, block, roughly)

    def _rule(self, *, far: bool) -> Rule:
        """Made once for each law and kind of map, which differ in the cells that they ask for."""
        edges = cells(self.q, self.map, self.map.like, far=far)
        key = ("rule", namespace(edges).__name__, str(device(edges)), to_numpy(edges).tobytes())
        return keep(self.q, key, lambda: Rule.of(self.q, edges))


class _Place(NamedTuple):
    """A place y in each row: y - c, F and 1 - F there, the cell, and the weights of the part of the cell below it."""

    y: Array
    F: Array
    S: Array
    cell: Array
    weights: tuple[Array, Array, Array] | None


@dataclass(frozen=True, eq=False)
class _Rows:
    """The values of Y - c at the nodes of a rule, for some rows."""

    block: Block
    q: Distribution
    rule: Rule
    c: Array
    Y: Array
    ends: Array
    """Y - c at the edges."""

    @classmethod
    def of(cls, block: Block, q: Distribution, rule: Rule) -> _Rows:
        """c is a value of Y in the middle of q."""
        xp, (cells, nodes) = namespace(block.y), rule.nodes.shape
        rows = block.y.shape[0]
        # the first edge, then the nodes of a cell and its upper edge, cell after cell: all in order
        upper = concatenate([rule.nodes, rule.edges[1:, None]], axis=1)
        s = concatenate([rule.edges[:1], xp.reshape(upper, (-1,))])[None, :]
        found = xp.broadcast_to(block.map.inverse_at(s), (rows, s.shape[1]))
        inner = xp.reshape(found[:, 1:], (rows, cells, nodes + 1))
        c = inner[:, rule.split, :1]
        ends = concatenate([found[:, :1], inner[:, :, -1]], axis=1) - c
        return cls(block, q, rule, c, inner[:, :, :-1] - c[:, :, None], ends)

    # ---- places ----------------------------------------------------------------------------------------------------

    def at(self, y: Array) -> _Place:
        """A y in each row, (n, k) or (1, k)."""
        s = self.block.map(y)
        cell, weights = self.rule.part(self.q, s)
        return _Place(y - self.c, self.q._cdf(s), self.q._sf(s), cell, weights)

    def end(self, side: int, bound: Array) -> _Place:
        """A bound, or else the end of the law: where its mass at -inf or +inf comes to lie, if it has any."""
        if bound is not None:
            return self.at(bound + namespace(self.c).zeros_like(self.c))
        xp, cells = namespace(self.c), self.Y.shape[1]
        mass = self.q._infinite_mass()[side]
        y = xp.zeros_like(self.c)
        if mass:
            far = self.block.map.inverse(device_like([[(-np.inf, np.inf)[side]]], self.c))
            last = self.block.map.inverse(xp.reshape(self.rule.edges[-side], (1, 1)))
            y = xp.where(xp.isfinite(far), far, last) - self.c
        inside, outside = xp.full_like(self.c, 1 - mass), xp.full_like(self.c, mass)
        F, S = (outside, inside) if side == 0 else (inside, outside)
        cell = xp.zeros(self.c.shape, dtype=xp.int64, device=self.c.device) + side * cells
        return _Place(y, F, S, cell, None)

    def between(self, a: _Place, b: _Place, values: Array, which: int) -> Array:
        """The integral of a function, given by its values at the nodes, against a measure from one place to another."""
        xp, split = namespace(values), self.rule.split
        cells = xp.sum(values * self.rule.whole[which], axis=-1)
        zero = xp.zeros_like(cells[:, :1])
        # outwards from the middle: what lies beyond both places never enters
        up = xp.cumulative_sum(concatenate([zero, cells[:, split:]], axis=1), axis=1)
        down = xp.cumulative_sum(concatenate([zero, xp.flip(cells[:, :split], axis=1)], axis=1), axis=1)
        total = concatenate([-xp.flip(down, axis=1)[:, :-1], up], axis=1)

        def up_to(place: _Place) -> Array:
            before = gather(total, place.cell)
            if place.weights is None:
                return before
            rows, count = place.cell.shape
            start = values.shape[1] * xp.arange(rows, dtype=place.cell.dtype, device=values.device)
            flat = xp.reshape(place.cell + start[:, None], (-1,))
            own = xp.take(xp.reshape(values, (-1, NODES)), flat, axis=0)
            return before + xp.sum(xp.reshape(own, (rows, count, NODES)) * place.weights[which], axis=-1)

        return up_to(b) - up_to(a)

    # ---- what to make of the rows ----------------------------------------------------------------------------------

    def _unbounded(self) -> tuple[bool, bool]:
        infinite = self.q._infinite_mass()
        return self.block.lower is None and not infinite[0], self.block.upper is None and not infinite[1]

    def heavy(self) -> Array:
        """The rows in which what lies beyond the outermost edges is more than a rounding."""
        xp, edges, q = namespace(self.c), self.rule.edges, self.q
        beyond = q._cdf(edges[:1]), q._sf(edges[-1:])
        with np.errstate(over="ignore", invalid="ignore"):
            total = xp.sum(xp.sum(self.Y**2 * self.rule.whole.once, axis=-1), axis=1)
            heavy = xp.zeros_like(total) > 1
            for open_end, mass, end in zip(
                self._unbounded(), beyond, (self.Y[:, 0, 0], self.Y[:, -1, -1]), strict=True
            ):
                heavy = heavy | ~(mass * end**2 <= HEAVY * total) if open_end else heavy
        return heavy

    def rough(self) -> Array:
        """The rows whose Y is not yet a polynomial in some cell, weighted as in mean and in variance."""
        xp = namespace(self.c)
        mass = xp.abs(xp.sum(self.rule.whole.once, axis=-1))
        # a map that ends at a bound bends there
        limit = _ROUGH if self.block.lower is None and self.block.upper is None else _ROUGH / 4
        with np.errstate(over="ignore", invalid="ignore"):
            size, miss = xp.max(xp.abs(self.Y), axis=-1), xp.zeros_like(self.Y[:, :, 0])
            for side, row in enumerate(AT_ENDS):
                guess = xp.sum(self.Y * device_like(row, self.Y), axis=-1)
                miss = miss + xp.abs(guess - self.ends[:, side : self.ends.shape[1] - 1 + side])
            fine = xp.ones_like(self.c[:, 0]) > 0
            for weight in (mass + xp.zeros_like(size), mass * size):
                fine = fine & (xp.sum(miss * weight, axis=1) <= limit * xp.sum(size * weight, axis=1))
        return ~fine

    def rises(self, values: Array, side: int) -> Array:
        """Whether the outermost cells, with hardly any mass beyond them, still add to an integral: it is infinite."""
        xp, edges = namespace(values), self.rule.edges
        mass = self.q._cdf(edges[1:]) if side == 0 else self.q._sf(edges[:-1])
        if not self._unbounded()[side] or not bool(xp.any(far_out(mass))):
            return xp.zeros_like(self.c) > 1
        with np.errstate(over="ignore", invalid="ignore"):  # a tail too heavy for floats is infinite
            terms = xp.abs(xp.sum(values * self.rule.whole.once, axis=-1))
            return still_rising(terms, xp.zeros_like(terms) + mass)[:, None]


def _moments(rows: _Rows) -> list[Array]:
    xp, block = namespace(rows.c), rows.block
    y, a, b = rows.at(block.y), rows.end(0, block.lower), rows.end(1, block.upper)
    once = rows.Y
    with np.errstate(over="ignore", invalid="ignore"):  # a tail too heavy for floats is infinite
        twice = rows.Y**2
        low, low2 = rows.between(a, y, once, 0), rows.between(a, y, twice, 0)
        high, high2 = rows.between(y, b, once, 0), rows.between(y, b, twice, 0)
        lower = y.y * y.F - a.y * a.F - low
        lower2 = (y.y**2 * (y.F - a.F) - 2 * y.y * low + low2 + (y.y - a.y) ** 2 * a.F) / 2
        upper = b.y * b.S - y.y * y.S + high
        upper2 = (y.y**2 * (y.S - b.S) - 2 * y.y * high + high2 + (b.y - y.y) ** 2 * b.S) / 2
    results, sure = [], ~rows.rough()[:, None]  # what is too rough to tell is left to `RoughRows`
    for moment, values, side in ((lower, once, 0), (lower2, twice, 0), (upper, once, 1), (upper2, twice, 1)):
        results.append(xp.where(rows.rises(values, side) & sure, xp.full_like(moment, xp.inf), moment))
    return results


def _squares(rows: _Rows) -> list[Array]:
    block = rows.block
    y, a, b = rows.at(block.y), rows.end(0, block.lower), rows.end(1, block.upper)
    with np.errstate(over="ignore", invalid="ignore"):
        lower = y.y * y.F**2 - a.y * a.F**2 - rows.between(a, y, rows.Y, 1)
        upper = b.y * b.S**2 - y.y * y.S**2 + rows.between(y, b, rows.Y, 2)
    return [lower, upper]
