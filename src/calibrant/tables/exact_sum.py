"""Sums without rounding: the same bits for the same numbers, in whatever order and in whatever parts they are added."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant.tables.rows import Numbers

HIGH, LOW = 27, 26
"""Bits of the two halves of a float's 53: a sum of 2^26 halves is a float without rounding."""
UNIT = 1073 + HIGH + LOW
"""A sum is counted in units of 2^-1126, below the last bit of the smallest float."""


@dataclass(frozen=True)
class ExactSum:
    """The sum of some floats, and how many they are.

    >>> ExactSum.of(np.array([1e100, 1.0, -1e100])).mean()
    0.3333333333333333
    """

    count: int = 0
    units: int = 0
    beyond: float = 0.0
    """The sum of those that are not finite."""

    @classmethod
    def of(cls, values: Numbers) -> ExactSum:
        """Of at most 2^26 numbers."""
        finite = np.isfinite(values)
        beyond = 0.0 if finite.all() else float(np.sum(values[~finite]))
        mantissa, exponent = np.frexp(values[finite] if beyond != 0.0 else values)
        first = int(exponent.min()) if len(exponent) else 0
        high = np.trunc(np.ldexp(mantissa, HIGH))
        low = np.ldexp(np.ldexp(mantissa, HIGH) - high, LOW)
        sums = [np.bincount(exponent - first, part) for part in (high, low)]
        units = sum(
            (int(above) << (UNIT + first + k - HIGH)) + (int(below) << (UNIT + first + k - HIGH - LOW))
            for k, (above, below) in enumerate(zip(*sums, strict=True))
        )
        return cls(len(values), units, beyond)

    def __add__(self, other: ExactSum) -> ExactSum:
        return ExactSum(self.count + other.count, self.units + other.units, self.beyond + other.beyond)

    def mean(self) -> float:
        """The mean, rounded once."""
        return self.beyond if self.beyond != 0.0 else self.units / (self.count << UNIT)
