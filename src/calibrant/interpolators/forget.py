"""What a calibrator forgets as time goes on: all but a window of rows, or old rows little by little."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from calibrant._arguments import one_number
from calibrant._arrays import Array
from calibrant.guarantee import FadingGuarantee, WeightedGuarantee
from calibrant.interpolators.weights import CalibrationWeights

NOTHING_LEFT = 60
"""Half-lives after which a row weighs less than rounding does, and is dropped."""


@runtime_checkable
class Forgetting(Protocol):
    """Which rows still count, given that rows come in time order."""

    def recent(self, scores: Array, weights: CalibrationWeights | None) -> tuple[Array, CalibrationWeights | None]:
        """The scores that are kept, and the weights that were given with them."""

    def weigh(self, rows: int, weights: CalibrationWeights | None) -> CalibrationWeights | None:
        """What the rows that are kept weigh."""


@dataclass(frozen=True)
class Window:
    """Only the `last` rows count, all of them equally.

    >>> from calibrant import Calibrator
    >>> calibrated = Calibrator(forget=Window(3)).fit([0.0, 0.0, 0.0, 0.0], [9.0, 1.0, 2.0, 3.0])
    >>> calibrated([0.0]).median(), calibrated.update([0.0], [4.0])([0.0]).median()
    (array([2.]), array([3.]))
    """

    last: int

    def __post_init__(self) -> None:
        if isinstance(self.last, bool) or not isinstance(self.last, (int, np.integer)) or self.last < 1:
            raise ValueError(f"Window.last must be a number of rows, 1 or more, got {self.last!r}")
        object.__setattr__(self, "last", int(self.last))

    def recent(self, scores: Array, weights: CalibrationWeights | None) -> tuple[Array, CalibrationWeights | None]:
        """The last rows."""
        return _last(self.last, scores, weights)

    def weigh(self, rows: int, weights: CalibrationWeights | None) -> CalibrationWeights | None:
        """What they weighed when they came."""
        del rows
        return weights


@dataclass(frozen=True)
class HalfLife:
    """A row weighs half as much after `rows` more rows have come: 2^(-age / rows).

    Rows older than 60 half-lives are dropped: they weigh less than rounding does.

    >>> from calibrant import Calibrator
    >>> calibrated = Calibrator(forget=HalfLife(100)).fit([0.0, 0.0, 0.0], [1.0, 2.0, 3.0])
    >>> calibrated.guarantee.kind
    'no claim'
    """

    rows: float

    def __post_init__(self) -> None:
        rows = one_number("HalfLife.rows", self.rows)
        if not 0 < rows < math.inf:
            raise ValueError(f"HalfLife.rows must be positive and finite, got {self.rows!r}")
        object.__setattr__(self, "rows", rows)

    def recent(self, scores: Array, weights: CalibrationWeights | None) -> tuple[Array, CalibrationWeights | None]:
        """The rows that still weigh something."""
        if weights is not None:
            raise TypeError("HalfLife gives rows weights of its own and takes no weights=")
        return _last(math.ceil(NOTHING_LEFT * self.rows), scores, None)

    def weigh(self, rows: int, weights: CalibrationWeights | None) -> CalibrationWeights | None:
        """2^(-age / rows)."""
        del weights
        return Fading(0.5 ** (np.arange(rows - 1, -1, -1) / self.rows))


@dataclass(frozen=True, eq=False)
class Fading(CalibrationWeights):
    """Weights that fall with age."""

    promises: ClassVar[type[WeightedGuarantee]] = FadingGuarantee


def _last(count: int, scores: Array, weights: CalibrationWeights | None) -> tuple[Array, Any]:
    start = max(0, scores.shape[0] - count)
    kept = None if weights is None else weights.filter(np.arange(len(weights)) >= start)
    return scores[start:], kept
