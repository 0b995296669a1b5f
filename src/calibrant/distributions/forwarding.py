"""What answers as other distributions do, until it says otherwise."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from calibrant._arrays import Array
from calibrant.distributions.base import Distribution, Moments
from calibrant.distributions.table import MassTable


def _asked(name: str) -> Any:
    def hook(self: Any, *arguments: Any) -> Any:
        return self._ask(name, *arguments)

    return hook


class Asking(Distribution):
    """Every hook that takes values is one method, `_ask`, with the name of the hook."""

    @abstractmethod
    def _ask(self, name: str, *arguments: Any) -> Any:
        """The answer of the hook `name` to its arguments."""

    _cdf, _cdf_left, _sf = map(_asked, ("_cdf", "_cdf_left", "_sf"))
    _ppf, _ppf_logit = map(_asked, ("_ppf", "_ppf_logit"))
    _logpdf, _logit, _pit, _integrals = map(_asked, ("_logpdf", "_logit", "_pit", "_integrals"))


class Forwarding(Asking):
    """Every method is that of `_other`; a subclass overrides what differs."""

    @property
    @abstractmethod
    def _other(self) -> Distribution:
        """What is asked in its place."""

    def _ask(self, name: str, *arguments: Any) -> Any:
        return getattr(self._other, name)(*arguments)

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

    def _moments(self) -> Moments:
        return self._other._moments()

    def _table(self, count: int) -> MassTable:
        return self._other._table(count)

    def _clip(self, lower: Any, upper: Any) -> Distribution:
        return self._other._clip(lower, upper)
