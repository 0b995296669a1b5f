"""The negative binomial law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibrant._arrays import Array, namespace
from calibrant._special import betainc, betaln
from calibrant._types import ArrayLike
from calibrant.distributions.discrete import Discrete
from calibrant.distributions.in_double import in_double
from calibrant.distributions.parameters import parameters, refuse_where


@dataclass(frozen=True, eq=False, repr=False)
class NegativeBinomial(Discrete):
    """Counts with mean `rate` and variance rate + dispersion * rate^2: Poisson counts whose rate is a gamma number.

    With r = 1 / dispersion and p = r / (r + rate): P(Y = k) = Gamma(k + r) / (k! Gamma(r)) p^r (1 - p)^k. As the
    dispersion goes to 0 it becomes the Poisson law; 0 itself raises. On torch no gradient flows through its CDF.

    >>> NegativeBinomial([0.5, 3.0], 0.7).std()
    array([0.82158384, 3.04959014])
    """

    rate: Array
    dispersion: Array

    if TYPE_CHECKING:

        def __init__(self, rate: ArrayLike, dispersion: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        rate, dispersion = parameters("NegativeBinomial", rate=self.rate, dispersion=self.dispersion)
        refuse_where("NegativeBinomial.rate", rate < 0, "is negative")
        refuse_where("NegativeBinomial.dispersion", dispersion <= 0, "is not positive (Poisson is the limit at 0)")
        object.__setattr__(self, "rate", rate)
        object.__setattr__(self, "dispersion", dispersion)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.rate.shape)

    def _ends(self) -> tuple[Any, Any]:
        return 0.0, math.inf

    def _below(self, k: Array) -> Array:
        """I_p(r, k + 1)."""
        return self._masked(k, lambda k, r, rate: betainc(r, k + 1, r / (r + rate)), 0.0)

    def _above(self, k: Array) -> Array:
        """I_(1 - p)(k + 1, r)."""
        return self._masked(k, lambda k, r, rate: betainc(k + 1, r, rate / (r + rate)), 1.0)

    def _log_mass(self, k: Array) -> Array:
        """-log(k + r) - log B(k + 1, r) + r log p + k log(1 - p)."""
        return self._masked(k, _log_mass, -math.inf)

    def _masked(self, k: Array, function: Any, before: float) -> Array:
        xp, none = namespace(k), k < 0
        k = xp.where(none, xp.zeros_like(k), k)
        value = in_double(
            lambda k, d, rate: function(k, 1 / d, rate), k, self._lift(self.dispersion), self._lift(self.rate)
        )
        return xp.where(none, xp.full_like(value, before), value)

    def _mean(self) -> Array:
        return self.rate

    def _std(self) -> Array:
        variance = self.rate + self.dispersion * self.rate**2
        return namespace(variance).sqrt(variance)


def _log_mass(k: Array, r: Array, rate: Array) -> Array:
    xp = namespace(rate)
    k, r, rate = (part + xp.zeros_like(k + rate) for part in (k, r, rate))
    zero = rate <= 0
    safe = xp.where(zero, xp.ones_like(rate), rate)
    found = -xp.log(k + r) - betaln(k + 1, r) - r * xp.log1p(safe / r) - k * xp.log1p(r / safe)
    none = xp.where(k == 0, xp.zeros_like(found), xp.full_like(found, -xp.inf))
    return xp.where(zero, none, found)
