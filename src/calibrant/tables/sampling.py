"""Row ids: a sample of rows, and what is drawn for a row, are functions of its id.

A uniform sample of calibration rows is a calibration set: Theorem 1 holds for it with n = k, and without a further
term. The ids alone decide which rows are in it, never their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import same_length
from calibrant._arrays import first_and_count
from calibrant._row_hash import Keys, Numbers, hashed, mixed, uniform
from calibrant._types import Values
from calibrant._words import in_all
from calibrant.distributions.grouped import labels_of
from calibrant.tables.rows import Batch, naming


def row_keys(ids: Values) -> Keys:
    """64 bits for each row: a hash of its id, which is a whole number or a text."""
    columns = ids if isinstance(ids, tuple) else (ids,)
    state = np.full(len(columns[0]), hashed(b"0"), np.uint64)
    for column in columns:
        same_length("the ids", len(state), "another column of them", len(column))
        state = mixed(state ^ _bits(column))
    return mixed(state + np.uint64(0x9E3779B97F4A7C15))


def keys_of(batch: Batch, ids: Sequence[str]) -> Keys:
    """The key of each row: of the columns of its id, or of the numbers of its part and of its row."""
    if not ids:
        return row_keys((np.full(len(batch), batch.part), np.arange(batch.start, batch.start + len(batch))))
    batch.check_complete(ids, "of the ids ")
    found = [batch.values(column).to_numpy(zero_copy_only=False) for column in ids]
    with naming(batch.source):
        return row_keys(tuple(found))


def _bits(column: Any) -> Keys:
    values = np.asarray(column)
    if values.dtype.kind in "iu":
        return values.astype(np.int64).view(np.uint64) if values.dtype.kind == "i" else values.astype(np.uint64)
    if values.dtype.kind == "M":
        return values.astype("datetime64[ns]").astype(np.int64).view(np.uint64)
    texts = values.tolist()
    wrong = np.asarray([not isinstance(each, (str, bytes)) for each in texts])
    if wrong.any():
        row, count = first_and_count(wrong)
        raise TypeError(f"ids must be whole numbers or texts, got {texts[row]!r} in row {row} ({in_all(count)})")
    return np.asarray([hashed(each if isinstance(each, bytes) else each.encode()) for each in texts], np.uint64)


@dataclass(frozen=True, eq=False)
class RowDraws:
    """A generator whose number for a row is a function of its id: `fit(..., rng=RowDraws(ids))`.

    So parts that draw, as counts do, draw what one fit would draw.
    """

    ids: Values

    def random(self, count: int) -> Numbers:
        """A uniform number for each row, which must be as many as the ids."""
        keys = row_keys(self.ids)
        same_length("the ids", len(keys), "the rows that are drawn for", count)
        return uniform(keys)


def smallest(keys: Keys, k: int, by: Values | None = None) -> NDArray[np.int64]:
    """The numbers of the k rows, or of the k rows of each group, with the smallest keys, in order.

    A sample of samples is a sample:

    >>> keys = row_keys(np.arange(10))
    >>> smallest(keys, 3)
    array([3, 5, 8])
    >>> rows = np.concatenate([smallest(keys[:5], 3), 5 + smallest(keys[5:], 3)])
    >>> rows[smallest(keys[rows], 3)]
    array([3, 5, 8])
    """
    order = np.argsort(keys, kind="stable")
    if by is None:
        return np.sort(order[:k])
    groups = labels_of(by)
    same_length("the ids", len(keys), "by", len(groups))
    rows: dict[Any, list[int]] = {}
    for row in order.tolist():
        rows.setdefault(groups[row], []).append(row)
    return np.sort(np.asarray([row for own in rows.values() for row in own[:k]], np.int64))
