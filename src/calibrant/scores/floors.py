"""Rows without a width of their own: which scale they get, and what `fit` learns of it.

A score that divides by a width needs one in every row. The floor never depends on the other rows of a batch: it is a
number that the user knows from training rows, or that `Calibrator.fit` learned from the calibration predictions.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import Any, ClassVar, Self

from calibrant._arguments import one_number
from calibrant._arrays import Array, anywhere, detached, first_and_count, namespace, resolution, smallest
from calibrant._batch import no_rows
from calibrant._words import count, said_of, the_first, warn_user
from calibrant.scores.base import TransformScore, upper_median


@dataclass(frozen=True, repr=False)
class Floored(TransformScore):
    """A score that divides by max(width, floor).

    `floor` has the unit of y. Give one that you know from training rows, and the guarantee stays as it is. Otherwise
    `Calibrator.fit` learns one, a millionth of the median width of the calibration rows, keeps it for all later rows,
    and the guarantee counts the calibration rows that needed it. A score used by itself, without `fit` or `floor`,
    gives such a row the least width that floats tell apart.
    """

    _: KW_ONLY
    floor: float | None = None

    share: ClassVar[float] = 1e-6
    """Of the median width of the calibration rows: the floor that `fit` learns."""
    warns: ClassVar[bool] = True
    """Whether it warns of rows that are given the floor."""
    remedy = "pass a floor, such as {name}(floor={floor:.2g}), a tenth of the median scale"

    def __post_init__(self) -> None:
        if self.floor is not None:
            object.__setattr__(self, "floor", positive(f"{type(self).__name__}.floor", self.floor))

    @abstractmethod
    def loc_scale(self, prediction: Any) -> tuple[Array, Array] | None:
        """A value near which each row lies, and the width it has by itself; None where the score needs no width."""

    def learn(self, prediction: Any) -> tuple[Self, Array]:
        """The same score with a floor, and which rows are below it; as it is, if it has one.

        The floor is a share of the median of the widths that are more than rounding. Where there is none, every row
        gets the same scale, and any gives these rows the same distribution: then it is the spread of the centres, so
        that a later row with a width is not stretched beyond it.
        """
        prediction = self.expected(prediction)
        found = None if self.floor is not None else self.loc_scale(prediction)
        if found is None:
            return self, no_rows(prediction)
        centre, width = detached(found[0]), detached(found[1])
        xp, least = namespace(width), smallest(width)
        # a distribution whose scale is what floats tell apart has a std of a few times that
        own = width[width > 16 * resolution(centre, least)]
        if own.shape[0]:
            floor = self.share * float(upper_median(own))
        else:
            floor = float(xp.max(centre) - xp.min(centre)) or float(xp.max(xp.abs(centre))) or 1.0
        floor = max(floor, least)
        return replace(self, floor=floor), width < floor

    def wide_enough(self, width: Array, centre: Array) -> Array:
        """`width`, with the floor, or what floats near `centre` tell apart, in the rows that are below the floor."""
        floor = max(smallest(width), self.floor or 0.0)
        low = width < floor
        if not anywhere(low):
            return width
        if self.warns:
            first, number = first_and_count(low)
            given = f"a floor of {floor:.3g}" if self.floor else "the least that floats tell apart; pass a floor"
            warn_user(
                f"{type(self).__name__}: {count(number, 'row')}, {the_first(number, first)},"
                f" {said_of(number, 'have no width of their own: they are given')} {given}"
            )
        return namespace(width).where(low, resolution(centre, floor), width)

    def __repr__(self) -> str:
        own = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.name != "floor"]
        return f"{type(self).__name__}({', '.join([*own, *([f'floor={self.floor:.3g}'] if self.floor else [])])})"


def positive(name: str, value: Any) -> float:
    """A parameter that is a positive, finite number."""
    number = one_number(name, value)
    if not 0 < number < math.inf:
        raise ValueError(f"{name} must be positive and finite, got {value}")
    return number
