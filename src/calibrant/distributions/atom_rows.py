"""Integrals of a few atoms, pulled back through one map a row: sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibrant._arrays import Array, concatenate, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.moved_atoms import are_atoms
from calibrant.distributions.piecewise import PiecewiseLinear
from calibrant.distributions.row_blocks import Block

_FEW = 100  # knots, two for each atom
_BLOCK = 2**18  # distances held at a time


def few_atoms(q: Distribution) -> PiecewiseLinear | None:
    """q, if sums over all of its atoms take no longer than a rule does."""
    if not isinstance(q, PiecewiseLinear) or q.knots.shape[0] > _FEW or q._infinite_mass() != (0.0, 0.0):
        return None
    return q if are_atoms(q) else None


@dataclass(frozen=True, eq=False)
class AtomRows:
    """Partial moments and squares of rows that share a q of few atoms: exact, wherever the atoms lie."""

    q: PiecewiseLinear

    def partial_moments(self, block: Block) -> list[Array]:
        """See `PartialMoments`."""
        return _in_blocks(block, self._partial_moments)

    def squares(self, block: Block) -> list[Array]:
        """See `Squares`."""
        return _in_blocks(block, self._squares)

    def _partial_moments(self, block: Block) -> list[Array]:
        under, over, before, after = self._distances(block)
        xp, mass = namespace(under), after - before
        return [xp.sum(mass * part, axis=-1) for part in (under, under**2 / 2, over, over**2 / 2)]

    def _squares(self, block: Block) -> list[Array]:
        """F^2 is the CDF of the larger of two draws, 1 - (1 - F)^2 that of the smaller."""
        under, over, before, after = self._distances(block)
        xp, mass = namespace(under), after - before
        larger, smaller = mass * (before + after), mass * ((1 - before) + (1 - after))
        return [xp.sum(larger * under, axis=-1), xp.sum(smaller * over, axis=-1)]

    def _distances(self, block: Block) -> tuple[Array, Array, Array, Array]:
        """How far each atom lies below and above each y, (n, k, atoms), and q before and after it.

        Beyond a bound it counts as lying there: then F is what it is from there on.
        """
        before, after = self.q.probs[:-1], self.q.probs[1:]
        jumps = after > before
        atoms = block.map.inverse(self.q.knots[1:][jumps][None, :])
        xp = namespace(atoms)
        low = atoms if block.lower is None else xp.maximum(atoms, block.lower)
        high = atoms if block.upper is None else xp.minimum(atoms, block.upper)
        y = block.y[:, :, None]
        zero = xp.zeros_like(y)
        under, over = xp.maximum(y - low[:, None, :], zero), xp.maximum(high[:, None, :] - y, zero)
        return under, over, before[jumps], after[jumps]


def _in_blocks(block: Block, integrate: Callable[[Block], list[Array]]) -> list[Array]:
    size = max(1, _BLOCK // (_FEW * max(block.y.shape[1], 1)))
    with np.errstate(over="ignore"):  # what is too large for floats is infinite
        return [concatenate(column) for column in zip(*map(integrate, block.split(size)), strict=True)]
