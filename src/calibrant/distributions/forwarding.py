"""What is made of another distribution, and answers as it does but for what it overrides."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from calibrant._arrays import Array
from calibrant.distributions.base import Distribution


def _asked(name: str) -> Any:
    def hook(self: Any, *arguments: Any) -> Any:
        return self._ask(name, *arguments)

    return hook


class Asking(Distribution):
    """Every hook that takes values is one method, `_ask`, with the name of the hook."""

    @abstractmethod
    def _ask(self, name: str, *arguments: Any) -> Any:
        """The answer of the hook `name` to its arguments."""

    _cdf, _cdf_left, _sf, _ppf, _ppf_logit = map(_asked, ("_cdf", "_cdf_left", "_sf", "_ppf", "_ppf_logit"))
    _logpdf, _logit, _integrals, _pit, _crps = map(_asked, ("_logpdf", "_logit", "_integrals", "_pit", "_crps"))


class OfBase(Distribution):
    """What is made of each row of `base`, and has as many rows."""

    base: Distribution

    @property
    def shape(self) -> tuple[int, ...]:
        return self.base.shape

    @property
    def like(self) -> Array:
        return self.base.like


class Forwarding(OfBase, Asking):
    """Every hook is that of `base`; a subclass overrides what differs."""

    def _ask(self, name: str, *arguments: Any) -> Any:
        return getattr(self.base, name)(*arguments)

    @property
    def lattice(self) -> tuple[float, float] | None:
        return self.base.lattice

    _moments, _table, _clip = map(_asked, ("_moments", "_table", "_clip"))
