"""The binomial distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibrant._arrays import Array, namespace
from calibrant._special import betainc, betaln, safe_log
from calibrant._types import ArrayLike
from calibrant.distributions.on_lattice import OnLattice, from_zero
from calibrant.distributions.parameters import parameters, refuse_where


@dataclass(frozen=True, eq=False, repr=False)
class Binomial(OnLattice):
    """How many of `trials` succeed, each with `probability`: P(Y = k) = C(n, k) p^k (1 - p)^(n - k).

    On torch no gradient flows through its CDF.

    >>> Binomial([10, 20], 0.3).ppf(0.9)
    array([5., 9.])
    """

    trials: Array
    probability: Array

    if TYPE_CHECKING:

        def __init__(self, trials: ArrayLike, probability: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        trials, p = parameters("Binomial", trials=self.trials, probability=self.probability)
        wrong = (trials < 0) | (trials != namespace(trials).round(trials))
        refuse_where("Binomial.trials", wrong, "is no count")
        refuse_where("Binomial.probability", (p < 0) | (p > 1), "lies outside [0, 1]")
        object.__setattr__(self, "trials", trials)
        object.__setattr__(self, "probability", p)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.trials.shape)

    def _ends(self) -> tuple[Any, Any]:
        return 0.0, self.trials

    def _below(self, k: Array) -> Array:
        """I_(1 - p)(n - k, k + 1)."""
        return self._inside(k, lambda k, n, p: betainc(n - k, k + 1, 1 - p), 0.0, 1.0)

    def _above(self, k: Array) -> Array:
        """I_p(k + 1, n - k)."""
        return self._inside(k, lambda k, n, p: betainc(k + 1, n - k, p), 1.0, 0.0)

    def _inside(self, k: Array, function: Any, before: float, after: float) -> Array:
        """function(k, n, p), but `before` for k < 0 and `after` from n on."""
        xp, n = namespace(k), self._lift(self.trials)
        all_ = k >= n
        some = xp.where(n > 0, n, xp.ones_like(n))
        value = from_zero(xp.where(all_, 0 * n, k), before, lambda k: function(k, some, self._lift(self.probability)))
        return xp.where(all_, after + 0 * value, value)

    def _log_mass(self, k: Array) -> Array:
        """-log(n + 1) - log B(n - k + 1, k + 1) + k log p + (n - k) log(1 - p)."""
        xp, n, p = namespace(k), self._lift(self.trials), self._lift(self.probability)
        outside = (k < 0) | (k > n)
        k = xp.where(outside, 0 * n, k)
        found = -xp.log(n + 1) - betaln(n - k + 1, k + 1) + _times_log(k, p) + _times_log(n - k, 1 - p)
        return xp.where(outside, xp.full_like(found, -math.inf), found)

    def _mean_std(self) -> tuple[Array, Array]:
        mean = self.trials * self.probability
        return mean, namespace(mean).sqrt(mean * (1 - self.probability))


def _times_log(count: Array, p: Array) -> Array:
    """count log p, 0 for a count of 0."""
    xp = namespace(p)
    some = count > 0
    return xp.where(some, xp.where(some, count, xp.ones_like(count)) * safe_log(p), 0 * count * p)
