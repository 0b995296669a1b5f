"""Rows without a width of their own: which scale they get, and what `fit` learns of it.

A score that divides by a width needs one in every row. The floor never depends on the other rows of a batch: it is a
number that the user knows from training rows, or that `Calibrator.fit` learned from the calibration predictions.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import Any, Self

from calibrant._arguments import one_number
from calibrant._arrays import Array, anywhere, detached, first_and_count, namespace, resolution, smallest
from calibrant._batch import no_rows
from calibrant._words import count, said_of, the_first, warn_user
from calibrant.scores.ruling import Scaled

SHARE = 1e-6
"""Of the median width of the calibration rows: the floor that `fit` learns."""


@dataclass(frozen=True, repr=False)
class Floored(Scaled):
    """A score that divides by max(width, floor).

    `floor` has the unit of y. Give one that you know from training rows, and the guarantee stays as it is. Otherwise
    `Calibrator.fit` learns one, a millionth of the median width of the calibration rows, keeps it for all later rows,
    and the guarantee counts the calibration rows that needed it. A score used by itself, without `fit` or `floor`,
    gives such a row the least width that floats tell apart.
    """

    _: KW_ONLY
    floor: float | None = None

    def __post_init__(self) -> None:
        if self.floor is None:
            return
        name = f"{type(self).__name__}.floor"
        floor = one_number(name, self.floor)
        if not 0 < floor < math.inf:
            raise ValueError(f"{name} must be positive and finite, got {self.floor}")
        object.__setattr__(self, "floor", floor)

    @abstractmethod
    def widths(self, prediction: Any) -> tuple[Array, Array] | None:
        """The width that each row has by itself, and a value near it; None where the score needs no width."""

    def learn(self, prediction: Any) -> tuple[Self, Array]:
        """The same score with a floor, and which rows are below it; as it is, if it has one."""
        prediction = self.expected(prediction)
        found = None if self.floor is not None else self.widths(prediction)
        if found is None:
            return self, no_rows(prediction)
        width, centre = (detached(part) for part in found)
        floor = _usual(width, centre)
        return replace(self, floor=floor), width < floor

    def scales(self, prediction: Any) -> Array | None:
        """max(width, floor); None where the score needs no width."""
        found = self.widths(self.expected(prediction))
        if found is None:
            return None
        width = found[0]
        return namespace(width).clip(width, max(smallest(width), self.floor or 0.0), None)

    def at_least(self, width: Array, centre: Array) -> Array:
        """`width`, with the floor, or what floats near `centre` tell apart, in the rows that are below the floor."""
        floor = max(smallest(width), self.floor or 0.0)
        low = width < floor
        xp = namespace(width)
        if not anywhere(low):
            return width
        first, number = first_and_count(low)
        given = f"a floor of {floor:.3g}" if self.floor else "the least that floats tell apart; pass a floor"
        warn_user(
            f"{type(self).__name__}: {count(number, 'row')}, {the_first(number, first)},"
            f" {said_of(number, 'have no width of their own: they are given')} {given}"
        )
        return xp.where(low, resolution(centre, floor), width)

    def __repr__(self) -> str:
        own = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.name != "floor"]
        return f"{type(self).__name__}({', '.join([*own, *([f'floor={self.floor:.3g}'] if self.floor else [])])})"


def _usual(width: Array, centre: Array) -> float:
    """A millionth of the median of the widths that are none of rounding's.

    Where there is none, every row gets the same scale, and any gives these rows the same law: then the spread of the
    centres, so that a later row with a width is not stretched beyond it.
    """
    xp, least = namespace(width), smallest(width)
    # a law whose scale is what floats tell apart has a std of a few times that
    own = xp.sort(width[(width > 16 * resolution(centre, least)) & xp.isfinite(width)])
    if own.shape[0]:
        return max(SHARE * float(own[own.shape[0] // 2]), least)
    size = float(xp.max(centre) - xp.min(centre)) or float(xp.max(xp.abs(centre))) or 1.0
    return max(size, least)
