"""What is known of the rows besides their predictions."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass

from calibrant._arguments import one_each
from calibrant._types import ArrayLike, Draws, Values


@dataclass(frozen=True, eq=False)
class Context:
    """Which rows a distribution is asked for: how many, and what q may depend on besides the score.

    A q that depends on the row takes what it needs from here in a method `for_rows`.
    """

    rows: int
    by: Values | None = None
    """A label for each row, such as its group."""
    weights: ArrayLike | Sized | None = None
    """A weight for each row, such as a likelihood ratio."""
    rng: Draws = None
    """What draws whatever is random, see `calibrant._arguments.generator`."""

    def __post_init__(self) -> None:
        for name, value in (("by", self.by), ("weights", self.weights)):
            if value is not None:
                one_each("the prediction", self.rows, name, value)
