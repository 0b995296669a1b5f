"""The constant c that keeps f + c and y + c positive, in the scores that take a root or a logarithm.

It has the unit of y, so no number but 0 means the same in every unit: a default of 1 would make dollars and thousands
of dollars two different scores. Nor does `fit` learn it. A floor learned there touches the few rows below it, but every
score depends on c: all calibration rows would be mended, and the guarantee approximate for all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from calibrant._arguments import one_number
from calibrant._arrays import Array, anywhere, first_and_count
from calibrant._words import in_all
from calibrant.predictions import Point
from calibrant.scores.base import ChartScore


@dataclass(frozen=True)
class Offset(ChartScore):
    """A score of f + c and y + c."""

    c: float = 0.0
    expects: ClassVar[tuple[type, ...]] = (Point,)

    def __post_init__(self) -> None:
        name = f"{type(self).__name__}.c"
        c = one_number(name, self.c)
        if not math.isfinite(c):
            raise ValueError(f"{name} must be finite, got {self.c}")
        object.__setattr__(self, "c", c)

    def positive(self, name: str, value: Array) -> Array:
        """value + c, which must be positive in every row."""
        moved = value + self.c
        bad = ~(moved > 0)
        if anywhere(bad):
            first, count = first_and_count(bad)
            own = type(self).__name__
            raise ValueError(
                f"{own} needs {name} + c > 0, but with c = {self.c:g} row {first} ({in_all(count)}) has"
                f" {name} = {float(value[first]):.6g}: pass a larger c, such as {own}(c=1) for counts"
            )
        return moved

    def middle(self, prediction: Point) -> float:
        """0, the score of f."""
        return 0.0
