"""What answers as another distribution does, until it says otherwise."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from calibrant._arrays import Array
from calibrant.distributions.base import Distribution, Moments
from calibrant.distributions.table import MassTable


class Forwarding(Distribution):
    """Every method is that of `_other`; a subclass overrides what differs."""

    @property
    @abstractmethod
    def _other(self) -> Distribution:
        """What is asked in its place."""

    @property
    def shape(self) -> tuple[int, ...]:
        return self._other.shape

    @property
    def like(self) -> Array:
        return self._other.like

    @property
    def lattice(self) -> tuple[float, float] | None:
        return self._other.lattice

    @property
    def _block(self) -> int:
        return self._other._block

    def _cdf(self, y: Array) -> Array:
        return self._other._cdf(y)

    def _cdf_left(self, y: Array) -> Array:
        return self._other._cdf_left(y)

    def _sf(self, y: Array) -> Array:
        return self._other._sf(y)

    def _ppf(self, p: Array) -> Array:
        return self._other._ppf(p)

    def _ppf_logit(self, s: Array) -> Array:
        return self._other._ppf_logit(s)

    def _logpdf(self, y: Array) -> Array:
        return self._other._logpdf(y)

    def _logit(self, y: Array) -> tuple[Array, Array]:
        return self._other._logit(y)

    def _pit(self, y: Array, u: Array) -> Array:
        return self._other._pit(y, u)

    def _moments(self) -> Moments:
        return self._other._moments()

    def _integrals(self, y: Array, which: int) -> Array:
        return self._other._integrals(y, which)

    def _table(self, count: int) -> MassTable:
        return self._other._table(count)

    def _clip(self, lower: Any, upper: Any) -> Distribution:
        return self._other._clip(lower, upper)
