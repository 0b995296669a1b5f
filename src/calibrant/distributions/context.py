"""What is known of the rows beside their predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arrays import generator, same_length


@dataclass(frozen=True, eq=False)
class Context:
    """Which rows a law is asked for: how many, and what q may depend on beside the score.

    A q that depends on the row takes what it needs from here in `Distribution.for_rows`, and raises where it is
    missing.
    """

    rows: int
    by: Any = None
    """A label for each row, such as its group."""
    weights: Any = None
    """A weight for each row, such as a likelihood ratio."""
    rng: np.random.Generator | None = None
    """What draws whatever is random."""
    draw: Callable[[], np.ndarray[Any, Any]] | None = None
    """The uniforms of these rows where they are their own, see `calibrant._uniforms`; None leaves them to `rng`."""

    def uniforms(self) -> np.ndarray[Any, Any]:
        """One uniform number for each row, for a randomised q."""
        return generator(self.rng).random(self.rows) if self.draw is None else self.draw()

    def __post_init__(self) -> None:
        for name in self.unused():
            known = getattr(self, name)
            if not hasattr(known, "__len__"):
                raise TypeError(f"{name} must hold one entry for each row, got {known!r}")
            same_length("the prediction", self.rows, name, len(known))

    def unused(self) -> tuple[str, ...]:
        """The names of what was said of the rows, for a law that uses none of it."""
        return tuple(name for name in ("by", "weights") if getattr(self, name) is not None)
