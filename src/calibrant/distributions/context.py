"""What is known of rows beside their predictions."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass

from calibrant._types import ArrayLike, Draws, Values


@dataclass(frozen=True, eq=False)
class Context:
    """How many rows a distribution is for, and what q may depend on beside the score; see `Distribution.for_rows`."""

    rows: int
    by: Values | None = None
    """A label for each row, such as its group."""
    weights: ArrayLike | Sized | None = None
    """A weight for each row, such as a likelihood ratio."""
    rng: Draws = None
    """What draws the uniform numbers of a randomised q."""
