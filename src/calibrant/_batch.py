"""Rows of frozen dataclasses: how predictions, laws and charts are sliced, joined and moved.

A field holds one entry a row (an array, another batch, or a tuple of these) unless it is declared `shared()`; an array
with a single row in a batch of several stands for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, fields, is_dataclass, replace
from typing import Any, TypeVar, cast

import array_api_compat
import numpy as np

from calibrant._arrays import concatenate, moved, namespace, rows, to_numpy, wider

T = TypeVar("T")


def shared() -> Any:
    """A dataclass field that belongs to the whole batch, not to a row."""
    return field(metadata={"shared": True})


def no_rows(batch: Any) -> Any:
    """A mask of the rows of a batch that marks none, beside its arrays."""
    xp = namespace(batch.like)
    return xp.zeros(len(batch), dtype=xp.bool, device=array_api_compat.device(batch.like))


def take_rows(batch: T, index: Any) -> T:
    """The rows `index` of a batch."""
    count = batch.shape[0]  # type: ignore[attr-defined]
    changed = {name: _take(value, index, count) for name, value in row_fields(batch)}
    return replace(batch, **changed)  # type: ignore[type-var]


def _take(value: Any, index: Any, count: int) -> Any:
    if isinstance(value, tuple):
        return tuple(_take(item, index, count) for item in value)
    if is_dataclass(value):
        return take_rows(value, index) if getattr(value, "shape", ()) else value
    return rows(value, index) if getattr(value, "ndim", 0) and value.shape[0] == count else value


class OtherKind(TypeError):
    """Batches of different kinds, which are no single batch."""


class OtherFields(ValueError):
    """Batches of one kind that differ in more than their rows."""


def join_rows(batches: Sequence[T]) -> T:
    """The rows of several batches of one kind, one after the other; what they share must be the same."""
    first = batches[0]
    for other in batches[1:]:
        if type(other) is not type(first):
            raise OtherKind(f"cannot join a {type(first).__name__} with a {type(other).__name__}")
        if not same(_shared_fields(first), _shared_fields(other)):
            raise OtherFields(f"cannot join {first!r} with {other!r}: they differ in more than their rows")
    counts = [batch.shape[0] for batch in batches]  # type: ignore[attr-defined]
    columns = zip(*([value for _, value in row_fields(batch)] for batch in batches), strict=True)
    names = [name for name, _ in row_fields(first)]
    return replace(first, **{n: _join(v, counts) for n, v in zip(names, columns, strict=True)})  # type: ignore[type-var]


def _join(values: Sequence[Any], counts: Sequence[int]) -> Any:
    first = values[0]
    if isinstance(first, tuple):
        if len({len(value) for value in values}) > 1:
            raise OtherFields(f"cannot join batches of {', '.join(str(len(value)) for value in values)} parts")
        return tuple(_join(items, counts) for items in zip(*values, strict=True))
    if is_dataclass(first) and bool(getattr(first, "shape", False)):
        return join_rows(values)
    if not getattr(first, "ndim", 0):
        if all(same(first, value) for value in values):
            return first
        raise OtherFields(f"cannot join batches of {', '.join(repr(value) for value in values)}")
    homes = {(namespace(value), array_api_compat.device(value), value.shape[1:]) for value in values}
    if len(homes) > 1:
        raise OtherFields(f"cannot join arrays of {len(homes)} kinds: they differ in library, device or columns")
    full = [namespace(v).broadcast_to(v, (n, *v.shape[1:])) for v, n in zip(values, counts, strict=True)]
    return concatenate(full)


def same(one: Any, other: Any) -> bool:
    """Equality in depth, arrays included."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if is_dataclass(one):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one) if f.init)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if array_api_compat.is_array_api_obj(one):
        return np.array_equal(to_numpy(one), to_numpy(other))
    return bool(one == other)


def map_arrays(value: Any, function: Callable[[Any], Any]) -> Any:
    """A frozen dataclass with `function` applied to every array inside."""
    if is_dataclass(value) and not isinstance(value, type):
        pairs = [(f.name, getattr(value, f.name)) for f in fields(value) if f.init]
        return replace(value, **{name: map_arrays(item, function) for name, item in pairs})
    if isinstance(value, tuple):
        return tuple(map_arrays(item, function) for item in value)
    return function(value) if array_api_compat.is_array_api_obj(value) else value


def promoted(batch: T, *values: Any) -> T:
    """`batch` with its floats in the widest type among it and `values`, by the rule of `wider`; or as it is."""
    like = batch.like  # type: ignore[attr-defined]
    wide = wider(like, *values)
    return batch if wide is like else moved_floats(batch, wide)


def moved_floats(value: T, like: Any) -> T:
    """`value` with its floats in the namespace, dtype and device of `like`; other arrays, which count rows, stay."""

    def there(array: Any) -> Any:
        return moved(array, like) if namespace(array).isdtype(array.dtype, "real floating") else array

    return cast(T, map_arrays(value, there))


def first_array(value: Any) -> Any:
    """The first array inside a frozen dataclass, which tells namespace, dtype and device; None if there is none."""
    if array_api_compat.is_array_api_obj(value):
        return value
    inside: Sequence[Any] = ()
    if is_dataclass(value):
        inside = [getattr(value, f.name) for f in fields(value) if f.init]
    elif isinstance(value, tuple):
        inside = value
    return next((found for item in inside if (found := first_array(item)) is not None), None)


def row_fields(batch: Any) -> list[tuple[str, Any]]:
    """The fields that hold one entry a row, by name."""
    return [(f.name, getattr(batch, f.name)) for f in fields(batch) if f.init and "shared" not in f.metadata]


def _shared_fields(batch: Any) -> tuple[Any, ...]:
    return tuple(getattr(batch, f.name) for f in fields(batch) if f.init and "shared" in f.metadata)
