"""The form of a prediction, which must be the same in calibration and prediction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Form:
    """What must stay the same from calibration to prediction: the kind, its levels, its draws per row, its members.

    >>> from calibrant import Quantiles
    >>> print(Quantiles([0.1, 0.9], [[-1.0, 1.0]]).form())
    quantiles at levels 0.1, 0.9
    """

    kind: str
    """In the plural, as in errors; of a kind of one's own the name of its class."""
    levels: tuple[float, ...] | None = None
    draws: int | None = None
    members: tuple[Form, ...] = ()

    def __post_init__(self) -> None:
        if type(self.kind) is not str or not self.kind or not self.kind.isprintable():
            raise TypeError(f"Form.kind must be a name, got {self.kind!r}")
        if self.levels is not None:
            object.__setattr__(self, "levels", increasing("Form.levels", self.levels))
        if self.draws is not None and (type(self.draws) is not int or self.draws < 1):
            raise ValueError(f"Form.draws must be a count, got {self.draws!r}")
        if type(self.members) is not tuple or not all(isinstance(member, Form) for member in self.members):
            raise TypeError(f"Form.members must be forms, got {self.members!r}")

    def fits(self, other: Form) -> bool:
        """Whether they are the same; levels may be off by what rounding to single precision leaves, 1e-6.

        Args:
            other: The form of another prediction.
        """
        levels, others = self.levels or (), other.levels or ()
        return (
            (self.kind, self.draws, len(self.members)) == (other.kind, other.draws, len(other.members))
            and len(levels) == len(others)
            and np.allclose(levels, others, rtol=0, atol=1e-6)
            and all(one.fits(two) for one, two in zip(self.members, other.members, strict=True))
        )

    def __str__(self) -> str:
        text = self.kind
        if self.levels is not None:
            text += f" at {_listed(self.levels)}"
        if self.draws is not None:
            text += f" of {self.draws} {'draw' if self.draws == 1 else 'draws'} a row"
        if self.members:
            text += f" of {len(self.members)} ({'; '.join(map(str, self.members))})"
        return text


def increasing(name: str, levels: Iterable[float]) -> tuple[float, ...]:
    """Levels of quantiles, which must increase strictly inside (0, 1)."""
    found = tuple(map(float, levels))
    if not found or not all(a < b for a, b in zip((0.0, *found), (*found, 1.0), strict=True)):
        raise ValueError(f"{name} must increase strictly inside (0, 1), got {list(found)}")
    return found


def _listed(levels: tuple[float, ...]) -> str:
    shown = [f"{level:.7g}" for level in levels]
    if len(shown) > 9:
        return f"{len(shown)} levels {shown[0]}, {shown[1]}, ..., {shown[-1]}"
    return f"{'level' if len(shown) == 1 else 'levels'} {', '.join(shown)}"
