"""The columns that `predict` writes: quantiles, the bounds of centred intervals, and probabilities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from calibrant._arguments import one_number, unit
from calibrant._arrays import to_numpy
from calibrant.batches.rows import Numbers
from calibrant.distributions.base import Distribution


@dataclass(frozen=True)
class OutputColumns:
    """Quantiles at some levels, the bounds of centred intervals, and P(Y <= t) and P(Y > t) at some thresholds t."""

    levels: tuple[float, ...] = ()
    coverages: tuple[float, ...] = ()
    below: tuple[float, ...] = ()
    above: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not (self.levels or self.coverages or self.below or self.above):
            raise ValueError("expected quantiles, interval or probabilities, got none of them")
        given = (
            ("quantiles", self.levels),
            ("interval", self.coverages),
            ("probabilities", self.below),
            ("exceedances", self.above),
        )
        for name, values in given:
            if len(set(values)) < len(values):
                raise ValueError(f"{name} must differ, got {list(values)}")

    @classmethod
    def of(
        cls,
        quantiles: float | Iterable[float] = (),
        interval: float | Iterable[float] = (),
        probabilities: float | Iterable[float] = (),
    ) -> OutputColumns:
        """From one number or several of each."""
        levels, coverages = (
            tuple(unit(name, each) for each in _several(given))
            for name, given in (("quantiles", quantiles), ("interval", interval))
        )
        return cls(levels, coverages, tuple(one_number("probabilities", each) for each in _several(probabilities)))

    @property
    def names(self) -> list[str]:
        """The names of the new columns; the bounds of one interval need no coverage in theirs."""
        several = len(self.coverages) > 1
        ends = [f"_{coverage:g}" if several else "" for coverage in self.coverages]
        bounds = [f"{side}{end}" for end in ends for side in ("lower", "upper")]
        sides = [("cdf", each) for each in self.below] + [("sf", each) for each in self.above]
        probabilities = [f"{side}_{str(threshold).removesuffix('.0')}" for side, threshold in sides]
        return [f"q{level}" for level in self.levels] + bounds + probabilities

    @property
    def all_levels(self) -> list[float]:
        """The level of each column that is a quantile: the bounds of intervals are quantiles too."""
        return [*self.levels, *(level for c in self.coverages for level in ((1 - c) / 2, (1 + c) / 2))]

    def of_rows(self, H: Distribution) -> Numbers:
        """The new columns, one after the other."""
        quantiles = [to_numpy(H.quantiles(self.all_levels)).T] if self.all_levels else []
        found = [*(H.cdf(threshold) for threshold in self.below), *(H.sf(threshold) for threshold in self.above)]
        probabilities = [np.broadcast_to(to_numpy(each), (1, len(H))) for each in found]
        return np.concatenate([*quantiles, *probabilities])


def _several(given: float | Iterable[float]) -> Iterable[float]:
    return given if isinstance(given, Iterable) else (given,)
