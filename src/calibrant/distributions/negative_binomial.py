"""The negative binomial distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibrant._arrays import Array, namespace
from calibrant._special import betainc, betaln
from calibrant._types import ArrayLike
from calibrant.distributions.on_lattice import OnLattice, from_zero
from calibrant.distributions.parameters import parameters, refuse_where


@dataclass(frozen=True, eq=False, repr=False)
class NegativeBinomial(OnLattice):
    """Counts with mean `rate` and variance rate + dispersion * rate^2: Poisson counts whose rate is a gamma number.

    With r = 1 / dispersion and p = r / (r + rate): P(Y = k) = Gamma(k + r) / (k! Gamma(r)) p^r (1 - p)^k. As the
    dispersion goes to 0 it becomes the Poisson distribution; 0 itself raises. On torch no gradient flows through its
    CDF.

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

    def _columns(self) -> tuple[Array, Array]:
        return 1 / self._lift(self.dispersion), self._lift(self.rate)

    def _below(self, k: Array) -> Array:
        """I_p(r, k + 1)."""
        r, rate = self._columns()
        return from_zero(k, 0.0, lambda k: betainc(r, k + 1, r / (r + rate)))

    def _above(self, k: Array) -> Array:
        """I_(1 - p)(k + 1, r)."""
        r, rate = self._columns()
        return from_zero(k, 1.0, lambda k: betainc(k + 1, r, rate / (r + rate)))

    def _log_mass(self, k: Array) -> Array:
        return from_zero(k, -math.inf, lambda k: _log_mass(k, *self._columns()))

    def _mean_std(self) -> tuple[Array, Array]:
        variance = self.rate + self.dispersion * self.rate**2
        return self.rate, namespace(variance).sqrt(variance)


def _log_mass(k: Array, r: Array, rate: Array) -> Array:
    """-log(k + r) - log B(k + 1, r) + r log p + k log(1 - p)."""
    xp = namespace(rate)
    k, r, rate = xp.broadcast_arrays(k, r, rate)
    safe = xp.where(rate > 0, rate, xp.ones_like(rate))
    found = -xp.log(k + r) - betaln(k + 1, r) - r * xp.log1p(safe / r) - k * xp.log1p(r / safe)
    return xp.where(rate > 0, found, xp.where(k == 0, 0 * k, xp.full_like(k, -xp.inf)))
