"""What tracked levels promise: a long-run share of the labels, whatever the rows do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from calibrant.guarantee.short import InShort


@dataclass(frozen=True)
class TrackedGuarantee(InShort):
    """|share of labels at or below the tracked quantile - level| <= ((b - a) / step + K) / T over any T rows in a row.

    This holds for each of the K levels and any rows whatever, as long as their scores lie in [a, b]. It says nothing
    about a single row, nor about levels that are not tracked. docs/time.md has the proof.
    """

    levels: tuple[float, ...]
    step: float
    lowest: float
    """a: the least score so far, calibration rows and the start of the tracker included."""
    highest: float
    """b: the largest."""
    n: int
    """The rows that were tracked so far."""

    worth: ClassVar[None] = None
    """No calibration set stands behind it, whose size would explain a gap."""

    @property
    def kind(self) -> str:
        """Long run."""
        return "long run"

    @property
    def epsilon(self) -> float:
        """The bound over the rows that were tracked so far; for these the range of the scores is known."""
        return self.over(self.n)

    def over(self, rows: int) -> float:
        """((b - a) / step + K) / T, at most 1, for T rows whose scores are no further apart than those so far.

        Args:
            rows: T, a number of rows that come one after the other.
        """
        if rows < 0:
            raise ValueError(f"rows must be a number of rows, 0 or more, got {rows!r}")
        return min(1.0, ((self.highest - self.lowest) / self.step + len(self.levels)) / rows) if rows else 1.0

    def __str__(self) -> str:
        levels = ", ".join(f"{level:g}" for level in self.levels)
        width = self.highest - self.lowest
        return (
            f"For each tracked level ({levels}), the share of labels at or below its quantile over any T rows in a row"
            f" is within {width / self.step + len(self.levels):.3g} / T of the level, whatever the rows do, as long as"
            f" scores stay in a range of {width:.3g}, as all did so far. Nothing is promised for a single row, or"
            " between and beyond the tracked levels."
        )
