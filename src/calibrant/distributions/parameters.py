"""The door for the parameters of a family: one number a row each, or one in all."""

from __future__ import annotations

from typing import Any

from calibrant._arguments import same_length
from calibrant._arrays import Array, anywhere, complain, floats, namespace, wider


def parameters(family: str, **given: Any) -> list[Array]:
    """Arrays of one shape, () or (n,), and one type, from what was given by name."""
    names, values = list(given), list(given.values())
    like = floats(f"{family}.{names[0]}", values[0])
    like = wider(like, *values[1:])
    arrays = [floats(f"{family}.{name}", value, like=like) for name, value in given.items()]
    for name, array in zip(names, arrays, strict=True):
        if array.ndim > 1:
            raise ValueError(f"{family} takes one {name} a row, got shape {tuple(array.shape)}")
    lengths = [(name, array.shape[0]) for name, array in zip(names, arrays, strict=True) if array.ndim]
    for name, length in lengths[1:]:
        same_length(f"{family}.{lengths[0][0]}", lengths[0][1], f"{family}.{name}", length)
    return list(namespace(arrays[0]).broadcast_arrays(*arrays)) if len(arrays) > 1 else arrays


def refuse_where(name: str, bad: Array, problem: str) -> None:
    """Raise if a parameter is outside its domain somewhere."""
    if anywhere(bad):
        complain(name, bad, problem)
