"""The binomial law."""

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
class Binomial(Discrete):
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
        return self._masked(k, lambda k, n, p: betainc(n - k, k + 1, 1 - p), 0.0, 1.0)

    def _above(self, k: Array) -> Array:
        """I_p(k + 1, n - k)."""
        return self._masked(k, lambda k, n, p: betainc(k + 1, n - k, p), 1.0, 0.0)

    def _masked(self, k: Array, function: Any, before: float, after: float) -> Array:
        xp, n = namespace(k), self._lift(self.trials)
        none, all_ = (k < 0) & (n >= 0), k >= n
        inside = xp.where(none | all_, xp.zeros_like(k + n), k + xp.zeros_like(n))
        most = xp.where(n > 0, n, xp.ones_like(n))
        value = in_double(function, inside, most, self._lift(self.probability))
        return xp.where(none, xp.full_like(value, before), xp.where(all_, xp.full_like(value, after), value))

    def _log_mass(self, k: Array) -> Array:
        """-log(n + 1) - log B(n - k + 1, k + 1) + k log p + (n - k) log(1 - p)."""
        xp, n = namespace(k), self._lift(self.trials)
        outside = (k < 0) | (k > n)
        found = in_double(
            _log_mass, xp.where(outside, xp.zeros_like(k + n), k + 0 * n), n, self._lift(self.probability)
        )
        return xp.where(outside, xp.full_like(found, -xp.inf), found)

    def _mean(self) -> Array:
        return self.trials * self.probability

    def _std(self) -> Array:
        return namespace(self.trials).sqrt(self.trials * self.probability * (1 - self.probability))


def _log_mass(k: Array, n: Array, p: Array) -> Array:
    xp = namespace(p)
    found = -xp.log(n + 1) - betaln(n - k + 1, k + 1)
    return found + _times_log(k, p) + _times_log(n - k, 1 - p)


def _times_log(count: Array, p: Array) -> Array:
    """count log p, 0 for a count of 0."""
    xp = namespace(p)
    count, p = count + xp.zeros_like(p), p + xp.zeros_like(count)
    log = xp.where(p > 0, xp.log(xp.where(p > 0, p, xp.ones_like(p))), xp.full_like(p, -math.inf))
    return xp.where(count > 0, xp.where(count > 0, count, xp.ones_like(count)) * log, xp.zeros_like(log))
