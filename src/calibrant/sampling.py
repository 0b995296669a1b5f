"""A sample of the calibration rows that is the same however they are split, ordered or read again.

A uniform sample of calibration rows is a calibration set: Theorem 1 holds for it with n = k, and without a further
term. Which rows are in it is a function of their ids alone, never of their values: equal rows would stand or fall
together.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import same_length
from calibrant._arrays import first_and_count
from calibrant._types import Values
from calibrant._uniforms import mixed
from calibrant._words import in_all
from calibrant.distributions.context import labels_of

Keys = NDArray[np.uint64]


_START = int.from_bytes(blake2b(b"0", digest_size=8).digest(), "little")


def row_keys(ids: Values) -> Keys:
    """64 bits for each row: a hash of its id, which is a whole number or a text.

    Several columns make one id as a tuple of arrays, such as the file and the number of a row in it.
    """
    columns = ids if isinstance(ids, tuple) else (ids,)
    state = np.full(len(columns[0]), _START, np.uint64)
    for column in columns:
        same_length("the ids", len(state), "another column of them", len(column))
        state = mixed(state ^ _bits(column))
    return mixed(state + np.uint64(0x9E3779B97F4A7C15))


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
    coded = (each if isinstance(each, bytes) else each.encode() for each in texts)
    return np.asarray([int.from_bytes(blake2b(each, digest_size=8).digest(), "little") for each in coded], np.uint64)


@dataclass(frozen=True, eq=False)
class RowDraws:
    """A generator whose number for a row is a function of its id: `fit(..., rng=RowDraws(ids))`.

    So parts that draw, as counts do, draw what one fit would draw.
    """

    ids: Values

    def random(self, count: int) -> NDArray[np.float64]:
        """A uniform number for each row, which must be as many as the ids."""
        keys = row_keys(self.ids)
        same_length("the ids", len(keys), "the rows that are drawn for", count)
        return (keys >> np.uint64(11)).astype(np.float64) * 2.0**-53


def smallest(keys: Keys, k: int, by: Values | None = None) -> NDArray[np.int64]:
    """The numbers of the k rows, or of the k rows of each group, with the smallest keys, in order.

    A sample of samples is a sample:

    >>> keys = row_keys(np.arange(10))
    >>> smallest(keys, 3)
    array([3, 5, 8])
    >>> kept = np.concatenate([smallest(keys[:5], 3), 5 + smallest(keys[5:], 3)])
    >>> kept[smallest(keys[kept], 3)]
    array([3, 5, 8])
    """
    order = np.argsort(keys, kind="stable")
    twice = keys[order][1:] == keys[order][:-1]
    if twice.any():
        one, other = sorted(order[int(np.argmax(twice)) : int(np.argmax(twice)) + 2].tolist())
        raise ValueError(f"ids must be of one row each, and rows {one} and {other} have the same")
    if by is None:
        return np.sort(order[:k])
    groups = labels_of(by)
    same_length("the ids", len(keys), "by", len(groups))
    index = {label: number for number, label in enumerate(dict.fromkeys(groups))}
    number = np.asarray([index[label] for label in groups], np.int64)[order]
    place = np.argsort(number, kind="stable")
    first = np.searchsorted(number[place], np.arange(len(index)))
    rank = np.empty(len(order), np.int64)
    rank[place] = np.arange(len(order)) - first[number[place]]
    return np.sort(order[rank < k])
