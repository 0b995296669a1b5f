"""A distribution rounded down to a lattice: what a calibrated distribution of Y + step * U says of Y."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from calibrant._arguments import one_number
from calibrant._arrays import Array, anywhere, device_like, namespace
from calibrant._special import safe_log, sigmoid
from calibrant.distributions.base import Distribution
from calibrant.distributions.mixture import Mixture
from calibrant.distributions.on_lattice import OnLattice, position
from calibrant.distributions.table import ONCE


@dataclass(frozen=True, eq=False, repr=False)
class Lattice(OnLattice):
    """The distribution of Y = lower + step * floor((Y' - lower) / step), Y' ~ base: P(Y <= y) = P(Y' < y + step).

    The mass below `lower` sits on it. With `lower` None the lattice has no end; its points are the multiples of `step`.

    >>> from calibrant import Normal
    >>> Lattice(Normal([1.5, 3.0], [1.0, 2.0])).interval(0.8)
    (array([0., 0.]), array([2., 5.]))
    """

    base: Distribution
    step: float = field(default=1.0, metadata={"shared": True})
    lower: float | None = field(default=0.0, metadata={"shared": True})

    def __post_init__(self) -> None:
        if not isinstance(self.base, Distribution):
            raise TypeError(f"Lattice.base must be a Distribution, got {self.base!r}")
        step = one_number("Lattice.step", self.step)
        if not 0 < step < math.inf:
            raise ValueError(f"Lattice.step must be positive and finite, got {self.step!r}")
        object.__setattr__(self, "step", step)
        if self.lower is not None:
            lower = one_number("Lattice.lower", self.lower)
            if not math.isfinite(lower):
                raise ValueError(f"Lattice.lower must be finite or None, got {self.lower!r}")
            object.__setattr__(self, "lower", lower)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.base.shape

    @property
    def like(self) -> Array:
        return np.zeros(0) if self.base.like is None else self.base.like

    @property
    def origin(self) -> float:
        return 0.0 if self.lower is None else self.lower

    @property
    def points(self) -> tuple[float, float | None]:
        """What its points are: from one to the next, and the first."""
        return self.step, self.lower

    def _ends(self) -> tuple[Any, Any]:
        return -math.inf if self.lower is None else 0.0, math.inf

    def _infinite(self) -> tuple[Any, Any]:
        """Mass of the base at -inf sits on `lower`, where there is one."""
        far = device_like([[-np.inf, np.inf]], self.like)
        below, above = self.base._cdf(far)[:, :1], 1 - self.base._cdf_left(far)[:, 1:]
        if not anywhere(below + above > 0):
            return 0.0, 0.0
        return below if self.lower is None else 0 * below, above

    # ---- cells -----------------------------------------------------------------------------------------------------

    def _from_first(self, k: Array, value: Array, before: float) -> Array:
        """`value`, or `before` for points below the first."""
        return value if self.lower is None else namespace(k).where(k < 0, before + 0 * value, value)

    def _below(self, k: Array) -> Array:
        return self._from_first(k, self.base._cdf_left(self._place(k + 1)), 0.0)

    def _above(self, k: Array) -> Array:
        y = self._place(k + 1)
        return self._from_first(k, self.base._sf(y) + (self.base._cdf(y) - self.base._cdf_left(y)), 1.0)

    def _log_mass(self, k: Array) -> Array:
        """log(F(b) - F(a)) over the cell [a, b), from the tail that it lies in, so that little cancels."""
        F0, F1, S0, S1 = self._below(k - 1), self._below(k), self._above(k - 1), self._above(k)
        return safe_log(namespace(k).where(S0 < F1, S0 - S1, F1 - F0))

    def _summed(self, k: Array) -> Array:
        """The integral of the base up to the middle of the cell, by the midpoint rule."""
        return self.base._integrals(self._place(k) + self.step / 2, ONCE) / self.step

    # ---- quantiles -------------------------------------------------------------------------------------------------

    def _cell(self, y: Array) -> Array:
        """The k of the cell (k, k + 1] that y lies in."""
        k = namespace(y).ceil((y - self.origin) / self.step) - 1
        return k if self.lower is None else namespace(k).maximum(k, namespace(k).zeros_like(k))

    def _among_cells(self, ends: list[Array], enough: Callable[[Array], Array]) -> Array | None:
        """Of a mixture, the least cell that is enough, between those of its components; None where one is infinite."""
        xp, cells = namespace(ends[0]), [self._cell(end) for end in ends]
        low, high = (reduce(pick, cells) for pick in (xp.minimum, xp.maximum))
        if anywhere(~(xp.isfinite(low) & xp.isfinite(high))):
            return None
        low, high = low - 2, high + 1  # where rounding, or an atom on the lattice, asks for it
        while anywhere(high - low > 1):
            middle = xp.floor(low / 2 + high / 2)
            found = enough(middle)
            low, high = xp.where(found, low, middle), xp.where(found, middle, high)
        return self._place(high)

    def _ppf(self, p: Array) -> Array:
        """From that of the base; a step back or forth where rounding, or an atom on the lattice, asks for it."""
        if isinstance(self.base, Mixture):
            found = self._among_cells(self.base.ends("_ppf", p), lambda k: self._at_k("_below", k) >= p)
            if found is not None:
                return found
        xp, k = namespace(p), self._cell(self.base._ppf(p))
        inner = xp.isfinite(k) & (p > 0) & (p < 1)
        k = xp.where(inner & (self._at_k("_below", k) < p), k + 1, k)
        back = inner & (self._at_k("_below", k - 1) >= p)
        return self._place(xp.where(back, k - 1, k))

    def _ppf_logit(self, s: Array) -> Array:
        xp, y = namespace(s), self.base._ppf_logit(s)
        k = self._cell(y)
        edge = xp.isfinite(y) & (position(y, self.lattice)[1] == 0) & (self._place(k + 1) >= y)
        if anywhere(edge):  # where an atom of the base belongs to the next cell
            few = xp.where(s <= 0, self._at_k("_below", k) < sigmoid(s), self._at_k("_above", k) > sigmoid(-s))
            k = xp.where(edge & few, k + 1, k)
        return self._place(k)

    def _places(self, s: Array) -> Array:
        if not isinstance(self._infinite()[1], float):
            return super()._places(s)
        k = position(self.base._places(s), self.lattice)[0]
        return self._place(k if self.lower is None else namespace(k).maximum(k, 0 * k))

    def _pit(self, y: Array, u: Array) -> Array:
        """H'(y + step * u): uniform where H' is calibrated for Y + step * U."""
        k, t = position(y, self.lattice)
        return self.base._cdf(self._place(k + namespace(y).where(t > 0, namespace(y).ones_like(t), u)))

    def _describe(self) -> str:
        start = "" if self.lower is None else f" from {self.lower:g}"
        return f"{self.base!r} in steps of {self.step:g}{start}"
