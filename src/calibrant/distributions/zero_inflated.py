"""A distribution of counts with more zeros."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibrant._arrays import Array, concatenate, namespace, probabilities, refuse
from calibrant._batch import promoted
from calibrant._special import safe_log
from calibrant._types import ArrayLike
from calibrant.distributions.on_lattice import CountFamily, OnLattice
from calibrant.distributions.parameters import keep


@dataclass(frozen=True, eq=False, repr=False)
class ZeroInflated(CountFamily):
    """0 with probability `zeros`, else a count from `base`: F(k) = zeros + (1 - zeros) F_base(k).

    >>> from calibrant.distributions import Poisson
    >>> ZeroInflated(Poisson([3.0, 3.0]), [0.0, 0.4]).pmf(0)
    array([0.04978707, 0.42987224])
    """

    base: OnLattice
    zeros: Array

    if TYPE_CHECKING:

        def __init__(self, base: OnLattice, zeros: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.base, OnLattice) or self.base.lattice != (0.0, 1.0):
            raise TypeError(
                f"ZeroInflated.base must be a distribution of counts, such as Poisson(3.0), got {self.base!r}"
            )
        base = promoted(self.base, self.zeros)
        zeros = probabilities("ZeroInflated.zeros", self.zeros, like=base.like)
        if zeros.shape not in ((), base.shape):
            raise ValueError(f"ZeroInflated.zeros must have shape {base.shape} or (), got {tuple(zeros.shape)}")
        refuse("ZeroInflated.base", base.cdf_left(0.0) > 0, "takes negative values")
        keep(self, base=base, zeros=namespace(zeros).broadcast_to(zeros, base.shape))

    @property
    def like(self) -> Array:
        return self.zeros

    def _ends(self) -> tuple[Any, Any]:
        return 0.0, self.base._ends()[1]

    def _below(self, k: Array) -> Array:
        w = self._lift(self.zeros)
        return w + (1 - w) * self.base._up_to(k)

    def _above(self, k: Array) -> Array:
        return (1 - self._lift(self.zeros)) * self.base._beyond(k)

    def _log_mass(self, k: Array) -> Array:
        """log((1 - zeros) P(k)), and at 0 log(zeros + (1 - zeros) P(0))."""
        xp, w = namespace(k), self._lift(self.zeros)
        own = self.base._logpdf(k)
        return xp.where(k == 0, safe_log(w + (1 - w) * xp.exp(own)), own + safe_log(1 - w))

    def _mean_std(self) -> tuple[Array, Array]:
        """Var = (1 - w) (var + w mean^2)."""
        mean, w = self.base.mean(), self.zeros
        return (1 - w) * mean, namespace(w).sqrt((1 - w) * (self.base.std() ** 2 + w * mean**2))

    def _points(self, most: int) -> Array:
        """Those of the base, and 0, however far it is from them."""
        k = self.base._points(most)
        return concatenate([0 * k[:, :1], k], axis=1)

    def _describe(self) -> str:
        return repr(self.base)
