"""The share of labels inside the intervals of one coverage: as counted, and as tested, with ties split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibrant.metrics.rounding import percent, percents

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

TIES_SPLIT = "with ties at their ends split"
"""How the tested share is described where it differs from the counted one."""


@dataclass(frozen=True)
class InsideFlags:
    """Whether the interval of each row holds its label."""

    counted: Flags
    """l_i <= y_i <= u_i."""
    drawn: Flags | None = None
    """The same by a PIT that is drawn over its jump; None where no label lies on an atom of its distribution."""

    @property
    def tested(self) -> Flags:
        """The flags that are tested: each is true with probability `coverage` for a true distribution."""
        return self.counted if self.drawn is None else self.drawn


@dataclass(frozen=True)
class IntervalResult:
    """The share of labels inside the intervals of one coverage, and what chance allows.

    A count is either inside its interval or outside, so the intervals of a true distribution of counts hold more than
    they are asked for. With ties at the ends split the probability is exact, so that share is tested.

    >>> IntervalResult(0.9, 0.96, 0.85, 0.95, split_share=0.91).off, IntervalResult(0.9, 0.96, 0.85, 0.95).off
    (False, True)
    """

    coverage: float
    share: float
    """#{l_i <= y_i <= u_i} / m: the counted share."""
    low: float
    high: float
    """What chance allows for the tested share."""
    split_share: float | None = None
    """The share with ties split; None where no label lies on an atom."""

    @property
    def tested(self) -> float:
        """The share that is tested: with ties split, where there are any."""
        return self.share if self.split_share is None else self.split_share

    @property
    def off(self) -> bool:
        """Whether the tested share is more than chance allows, or less."""
        return self.tested < self.low - 1e-12 or self.tested > self.high + 1e-12

    def in_words(self, m: int) -> str:
        """The counted share of m labels and, where it differs, the tested one.

        Args:
            m: The number of labels.

        >>> IntervalResult(0.9, 0.961, 0.852, 0.943, split_share=0.804).in_words(1000)
        '96.1% of the labels, and 80.4% with ties at their ends split, where chance allows 85.2% to 94.3%'
        """
        tested, low, high = percents(m, self.tested, self.low, self.high)
        counted = tested if self.split_share is None else percent(self.share, m)
        split = "" if tested == counted else f", and {tested} {TIES_SPLIT}"
        return f"{counted} of the labels{split}, where chance allows {low} to {high}"


def inside(pit: Floats, coverage: float) -> Flags:
    """(1 - coverage) / 2 < PIT <= (1 + coverage) / 2: the label lies in the interval; of an atom, its part."""
    return np.asarray((pit > (1 - coverage) / 2) & (pit <= (1 + coverage) / 2))
