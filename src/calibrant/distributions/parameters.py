"""The parameters of a family, checked: one number per row each, or one for all rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._arguments import same_length
from calibrant._arrays import Array, anywhere, first_and_count, floats, namespace, refuse, resolution, wider
from calibrant._words import in_rows, singular_if_one, warn_user


def parameters(family: str, **given: Any) -> list[Array]:
    """Arrays of one shape, () or (n,), and one type, from what was given by name."""
    names = [f"{family}.{name}" for name in given]
    first, *others = given.values()
    like = wider(floats(names[0], first), *others)
    arrays = [floats(name, value, like=like) for name, value in zip(names, given.values(), strict=True)]
    for name, array in zip(given, arrays, strict=True):
        if array.ndim > 1:
            raise ValueError(f"{family} takes one {name} per row, got shape {tuple(array.shape)}")
    rows = [(name, array.shape[0]) for name, array in zip(names, arrays, strict=True) if array.ndim]
    for name, length in rows[1:]:
        same_length(*rows[0], name, length)
    return arrays if len({array.shape for array in arrays}) == 1 else list(namespace(like).broadcast_arrays(*arrays))


def widths(name: str, scale: Array, centre: Array, *, least: float | None = None) -> Array:
    """A scale of at least 0; where it is 0, `resolution` there, counted in one warning."""
    if not anywhere(scale <= 0):
        return scale
    refuse(name, scale < 0, "is negative")
    scale, centre = namespace(scale).broadcast_arrays(scale, centre)
    flat = scale <= 0
    first, number = first_and_count(flat)
    where = f" {in_rows(number, first)}" if flat.ndim else ""
    lifted = singular_if_one(number, "they are given the least that floats tell apart")
    warn_user(f"{name} has zero width{where}: {lifted}")
    return namespace(scale).where(flat, resolution(centre, least), scale)


def check_bends(knots: Any, probs: Any, first: Any = ()) -> None:
    """Raise unless knots are finite, probs lie in [0, 1], and neither falls, other than at the places `first`."""
    if not np.isfinite(knots).all():
        raise ValueError("its knots must be finite")
    if not ((probs >= 0) & (probs <= 1)).all():
        raise ValueError("its probs must lie in [0, 1]")
    for name, column in (("knots", knots), ("probs", probs)):
        falls = np.flatnonzero(column[1:] < column[:-1]) + 1
        if falls.size and (falls := np.setdiff1d(falls, first)).size:
            raise ValueError(f"its {name} fall at place {falls[0]}")
