"""A law of counts with more zeros."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibrant._arrays import Array, complain, floats, namespace, probabilities
from calibrant._batch import promoted
from calibrant._special import safe_log
from calibrant._types import ArrayLike
from calibrant.distributions.discrete import Discrete


@dataclass(frozen=True, eq=False, repr=False)
class ZeroInflated(Discrete):
    """0 with probability `zeros`, else a count from `law`: F(k) = zeros + (1 - zeros) F_law(k).

    >>> from calibrant.distributions import Poisson
    >>> ZeroInflated(Poisson([3.0, 3.0]), [0.0, 0.4]).pmf(0)
    array([0.04978707, 0.42987224])
    """

    law: Discrete
    zeros: Array

    if TYPE_CHECKING:

        def __init__(self, law: Discrete, zeros: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.law, Discrete) or self.law.lattice != (0.0, 1.0):
            raise TypeError(f"ZeroInflated.law must be a law of counts, such as Poisson(3.0), got {self.law!r}")
        law = promoted(self.law, self.zeros)
        zeros = probabilities("ZeroInflated.zeros", self.zeros, like=law.like)
        if zeros.shape != law.shape:
            if zeros.ndim:
                raise ValueError(f"ZeroInflated.zeros must have shape {law.shape} or (), got {tuple(zeros.shape)}")
            zeros = namespace(zeros).broadcast_to(zeros, law.shape)
        negative = floats("the law's first point", law._ends()[0], like=zeros, allow_inf=True) + 0 * zeros < 0
        if bool(namespace(zeros).any(negative)):
            complain("ZeroInflated.law", negative, "takes negative values")
        object.__setattr__(self, "law", law)
        object.__setattr__(self, "zeros", zeros)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.law.shape

    @property
    def like(self) -> Array:
        return self.zeros

    def _ends(self) -> tuple[Any, Any]:
        return 0.0, self.law._ends()[1]

    def _below(self, k: Array) -> Array:
        xp, w = namespace(k), self._lift(self.zeros)
        value = w + (1 - w) * self.law._below(k)
        return xp.where(k < 0, xp.zeros_like(value), value)

    def _above(self, k: Array) -> Array:
        xp, w = namespace(k), self._lift(self.zeros)
        value = (1 - w) * self.law._above(k)
        return xp.where(k < 0, xp.ones_like(value), value)

    def _log_mass(self, k: Array) -> Array:
        """log((1 - zeros) P(k)), and at 0 log(zeros + (1 - zeros) P(0))."""
        xp, w = namespace(k), self._lift(self.zeros)
        own = self.law._log_mass(k)
        return xp.where(k == 0, safe_log(w + (1 - w) * xp.exp(own)), own + safe_log(1 - w))

    def _mean(self) -> Array:
        return (1 - self.zeros) * self.law._mean()

    def _std(self) -> Array:
        """Var = (1 - w) (var + w mean^2)."""
        variance = (1 - self.zeros) * (self.law._std() ** 2 + self.zeros * self.law._mean() ** 2)
        return namespace(variance).sqrt(variance)

    def _describe(self) -> str:
        return repr(self.law)
