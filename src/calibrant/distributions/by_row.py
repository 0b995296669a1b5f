"""Distributions that depend on the row by more than their transform."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from calibrant.distributions.base import Distribution
from calibrant.distributions.maps import Increasing

Pull = Callable[[Distribution, Any], Distribution]
"""What pulls a distribution back through a map."""


class ByRow(Distribution):
    """One made of another, shared one and of some numbers for each row: what is pulled back is the shared one."""

    @abstractmethod
    def pulled(self, map: Increasing, pull: Pull) -> Distribution:
        """H: this, with what it is made of pulled back by `pull` through a map for each row."""


def no_rows_yet(name: str) -> TypeError:
    """What is wrong with pulling back a q that has not met its rows."""
    return TypeError(f"{name} has no distribution before it meets its rows: pull back q.for_rows(context) in its place")
