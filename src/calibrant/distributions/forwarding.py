"""What answers as other distributions do, until it says otherwise."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from calibrant.distributions.base import Distribution


def _asked(name: str) -> Any:
    def hook(self: Any, *arguments: Any) -> Any:
        return self._ask(name, *arguments)

    return hook


def _read(name: str) -> Any:
    return property(lambda self: getattr(self._other, name))


class Asking(Distribution):
    """Every hook that takes values is one method, `_ask`, with the name of the hook."""

    @abstractmethod
    def _ask(self, name: str, *arguments: Any) -> Any:
        """The answer of the hook `name` to its arguments."""

    _cdf, _cdf_left, _sf = map(_asked, ("_cdf", "_cdf_left", "_sf"))
    _ppf, _ppf_logit = map(_asked, ("_ppf", "_ppf_logit"))
    _logpdf, _logit, _pit, _integrals = map(_asked, ("_logpdf", "_logit", "_pit", "_integrals"))


class Forwarding(Asking):
    """Every hook and property is that of `_other`; a subclass overrides what differs."""

    @property
    @abstractmethod
    def _other(self) -> Distribution:
        """What is asked in its place."""

    def _ask(self, name: str, *arguments: Any) -> Any:
        return getattr(self._other, name)(*arguments)

    shape, like, lattice, _block = map(_read, ("shape", "like", "lattice", "_block"))
    _moments, _table, _clip = map(_asked, ("_moments", "_table", "_clip"))
