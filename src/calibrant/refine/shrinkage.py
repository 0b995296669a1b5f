"""Scales shrunk towards a common one, as far as the data support it: s -> sqrt(a^2 + (b s)^2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._arrays import Array, namespace

_SHARES = (0.0, 0.01, 0.02, *(k / 20 for k in range(1, 21)))
_POWERS = (0.25, 0.5, 0.75, 1.0, 1.25)


@dataclass(frozen=True)
class Shrinkage:
    """sqrt(common^2 + (factor s^power)^2): a spread of nearly zero is no longer nearly zero."""

    common: float
    factor: float
    power: float = 1.0

    def __call__(self, spread: Array) -> Array:
        """The scale of each row."""
        return namespace(spread).hypot(self.factor * spread**self.power, spread * 0 + self.common)

    @classmethod
    def of(cls, spread: Array, errors: Array, weight: Array | None = None, *, powers: bool = False) -> Shrinkage:
        """The likeliest, if errors have Laplace's distribution: mean of log scale + |error| / scale is least.

        The spreads and errors are of rows that taught neither. The share of the common scale is tried on a grid, and
        with `powers` that of the spread too; then the size follows: the mean of |error| / scale is 1. With the least
        absolute error in place of the least square a few wild rows do not decide it.
        """
        errors = np.abs(errors)
        middle = float(np.median(spread[spread > 0])) if np.any(spread > 0) else 0.0
        mean = float(np.average(errors, weights=weight))
        if middle == 0 or mean == 0:
            return cls(max(mean, np.finfo(np.float64).tiny), 0.0)
        best = cls(mean, 0.0)
        least = np.log(mean) + 1.0
        for power in _POWERS if powers else (1.0,):
            relative = (spread / middle) ** power
            for share in _SHARES:
                scale = np.hypot(share, (1 - share) * relative)
                if np.min(scale) <= 0:
                    continue
                size = float(np.average(errors / scale, weights=weight))
                cost = float(np.average(np.log(scale), weights=weight)) + np.log(size) + 1.0
                if cost < least:
                    least, best = cost, cls(share * size, (1 - share) * size / middle**power, power)
        return best
