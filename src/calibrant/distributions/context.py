"""What is known of the rows besides their predictions."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass

from calibrant._types import ArrayLike, Draws, Values


@dataclass(frozen=True, eq=False)
class Context:
    """The number of rows, and for each a label `by`, such as its group, and a weight, such as a likelihood ratio.

    `rng` draws the uniform numbers of a randomised q. See `Distribution.for_rows`.
    """

    rows: int
    by: Values | None = None
    weights: ArrayLike | Sized | None = None
    rng: Draws = None
