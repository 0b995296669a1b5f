"""Rows of frozen dataclasses: how predictions, distributions and transforms are sliced, joined and moved.

A field holds one entry per row (an array, another batch, or a tuple of these) unless it is declared `shared()`; an
array with a single row in a batch of several is that of all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields, is_dataclass, replace
from typing import Any, TypeVar, cast

import array_api_compat
import numpy as np

from calibrant._arrays import anywhere, concatenate, first_and_count, moved, namespace, rows, to_numpy, wider
from calibrant._words import count, singular_if_one, the_first, warn_user

T = TypeVar("T")


def shared() -> Any:
    """A dataclass field that belongs to the whole batch, not to a row."""
    return field(metadata={"shared": True})


def no_rows(batch: Any) -> Any:
    """A mask of the rows of a batch that marks none, in the namespace and on the device of its arrays."""
    xp = namespace(batch.like)
    return xp.zeros(len(batch), dtype=xp.bool, device=array_api_compat.device(batch.like))


def have_labels(y: Any, length: int, others: str = "left out", name: str = "y") -> Any:
    """Which rows have a label, NaN being none, with a warning that counts the others; None where all have one.

    Labels of another length, or that are no numbers, are left to later checks.
    """
    if not array_api_compat.is_array_api_obj(y):
        try:
            y = np.asarray(y)
        except ValueError:  # rows of unequal length
            return None
    if y.shape != (length,) or not namespace(y).isdtype(y.dtype, "real floating"):
        return None
    missing = namespace(y).isnan(y)
    if not anywhere(missing):
        return None
    first, number = first_and_count(missing)
    among = f"{number} of {count(length, 'row')}, {the_first(number, first)}"
    warn_user(f"{name} is missing in {among}: {singular_if_one(number, 'they are')} {others}")
    return ~to_numpy(missing)


def some_rows(column: Any, there: Any) -> Any:
    """The rows in a mask of whatever holds one entry for each row: a prediction, an array, a list, a table."""
    if isinstance(column, Mapping):
        return {name: some_rows(values, there) for name, values in column.items()}
    if not hasattr(column, "__len__") or len(column) != len(there):
        return column
    if is_dataclass(column):
        return column[there]  # type: ignore[index]
    if hasattr(column, "iloc"):
        return column.iloc[np.flatnonzero(there)]
    if array_api_compat.is_array_api_obj(column):
        return rows(column, there)
    if hasattr(column, "filter"):
        return column.filter(np.asarray(there).tolist())  # a list, since not every polars takes numpy's masks
    return [item for item, chosen in zip(column, there, strict=True) if chosen]


def take_rows(batch: T, index: Any) -> T:
    """The rows `index` of a batch."""
    count = batch.shape[0]  # type: ignore[attr-defined]
    changed = {name: _take(value, index, count) for name, value in row_fields(batch)}
    return replace(batch, **changed)  # type: ignore[type-var]


def _take(value: Any, index: Any, count: int) -> Any:
    if isinstance(value, tuple):
        return tuple(_take(item, index, count) for item in value)
    if is_dataclass(value) and bool(getattr(value, "shape", False)):
        return take_rows(value, index)
    return rows(value, index) if getattr(value, "ndim", 0) and value.shape[0] == count else value


class NoSingleBatch(TypeError, ValueError):
    """Batches of different kinds, or that differ in more than their rows."""


def join_rows(batches: Sequence[T]) -> T:
    """The rows of several batches of one kind, one after the other; what they share must be the same."""
    first = batches[0]
    for other in batches[1:]:
        if type(other) is not type(first):
            raise NoSingleBatch(f"cannot join a {type(first).__name__} with a {type(other).__name__}")
        if not same(_shared_fields(first), _shared_fields(other)):
            raise NoSingleBatch(f"cannot join {first!r} with {other!r}: they differ in more than their rows")
    counts = [batch.shape[0] for batch in batches]  # type: ignore[attr-defined]
    joined = {name: _join([getattr(batch, name) for batch in batches], counts) for name, _ in row_fields(first)}
    return replace(first, **joined)  # type: ignore[type-var]


def _join(values: Sequence[Any], counts: Sequence[int]) -> Any:
    first = values[0]
    if isinstance(first, tuple):
        if len({len(value) for value in values}) > 1:
            raise NoSingleBatch(f"cannot join batches of {', '.join(str(len(value)) for value in values)} parts")
        return tuple(_join(items, counts) for items in zip(*values, strict=True))
    if is_dataclass(first) and bool(getattr(first, "shape", False)):
        return join_rows(values)
    if not getattr(first, "ndim", 0):
        if all(same(first, value) for value in values):
            return first
        raise NoSingleBatch(f"cannot join batches of {', '.join(repr(value) for value in values)}")
    if not all(getattr(value, "ndim", 0) for value in values):
        raise NoSingleBatch("cannot join batches some of which have a number for all rows and others one per row")
    homes = {(namespace(value), array_api_compat.device(value), value.shape[1:]) for value in values}
    if len(homes) > 1:
        raise NoSingleBatch(f"cannot join arrays of {len(homes)} kinds: they differ in library, device or columns")
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


def promoted(batch: T, *values: Any) -> T:
    """`batch` with its floats in the widest type among it and `values`, by the rule of `wider`; or as it is."""
    like = batch.like  # type: ignore[attr-defined]
    wide = wider(like, *values)
    return batch if wide is like else moved_floats(batch, wide)


def moved_floats(value: T, like: Any) -> T:
    """`value` with its floats in the namespace, dtype and device of `like`; other arrays, which count rows, stay.

    A single distribution inside, such as the q of many predictions, is moved once and stored with it, so that what is
    computed for it serves them all.
    """
    home = (namespace(like).__name__, str(like.dtype), str(array_api_compat.device(like)))

    def there(item: Any) -> Any:
        if array_api_compat.is_array_api_obj(item):
            return moved(item, like) if namespace(item).isdtype(item.dtype, "real floating") else item
        if isinstance(item, tuple):
            return tuple(map(there, item))
        if not is_dataclass(item) or isinstance(item, type):
            return item
        single = getattr(item, "shape", None) == () and not graded(item)
        before: dict[Any, Any] = item.__dict__.setdefault("_kept_moved", {}) if single else {}
        if home not in before:
            before[home] = replace(item, **{f.name: there(getattr(item, f.name)) for f in fields(item) if f.init})
        return before[home]

    return cast(T, there(value))


def graded(value: Any) -> bool:
    """Whether torch's gradients flow to an array inside; where one holds numpy's floats, all do."""
    for array in arrays_in(value):
        if getattr(array, "requires_grad", False):
            return True
        if isinstance(array, np.ndarray) and array.dtype.kind == "f":
            return False
    return False


def first_array(value: Any) -> Any:
    """The first array inside a frozen dataclass, which tells namespace, dtype and device; None if there is none."""
    return next(arrays_in(value), None)


def arrays_in(value: Any) -> Iterator[Any]:
    """The arrays inside a frozen dataclass or a tuple, one after the other."""
    if array_api_compat.is_array_api_obj(value):
        yield value
    elif is_dataclass(value):
        for f in fields(value):
            yield from arrays_in(getattr(value, f.name)) if f.init else ()
    elif isinstance(value, tuple):
        for item in value:
            yield from arrays_in(item)


def row_fields(batch: Any) -> list[tuple[str, Any]]:
    """The fields that hold one entry per row, by name."""
    return [(f.name, getattr(batch, f.name)) for f in fields(batch) if f.init and "shared" not in f.metadata]


def _shared_fields(batch: Any) -> tuple[Any, ...]:
    return tuple(getattr(batch, f.name) for f in fields(batch) if f.init and "shared" in f.metadata)
