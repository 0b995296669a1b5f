"""Random numbers that are functions of their rows: the same row has the same one in any batch, order or process.

A row is known by its forecast, for the uniform numbers of a randomised q, or by an id, for a sample of calibration
rows and for what is drawn for these. A uniform sample of calibration rows is a calibration set: Theorem 1 holds for it
with n = k, and without a further term. Which rows are in it is a function of their ids alone, never of their values:
equal rows would stand or fall together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from hashlib import blake2b
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import generator, same_length
from calibrant._arrays import Array, first_and_count, single_precision, to_numpy
from calibrant._batch import row_fields
from calibrant._types import Values
from calibrant._words import in_all
from calibrant.distributions.base import Distribution
from calibrant.distributions.grouped import labels_of

Keys = NDArray[np.uint64]
Numbers = NDArray[np.float64]

_QUARTERS = (0.25, 0.75)  # the quantiles by which a distribution is told from others, however it is written
_DIGITS, _DIGITS_OF_SINGLE = 30, 16
"""The binary digits of a forecast that count: a model that adds up in another order for another batch, as matrix
products do, changes only later ones."""


# ---- by forecasts ---------------------------------------------------------------------------------------------------


def source(prediction: Any, q: Distribution, rng: Any, seed: Any) -> Any:
    """What draws the uniforms of a prediction's rows: `rng`, or what a `seed` makes of the rows themselves."""
    if seed is None:
        return None if rng is None else generator(rng)
    if rng is not None:
        raise TypeError("a Calibrated takes rng= or seed=, not both")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed must be a whole number, 0 or larger, got {seed!r}")
    return ForecastDraws(prediction, q, int(seed))


@dataclass(frozen=True, eq=False)
class ForecastDraws:
    """U_i = hash(seed, q, f(x_i)) in [0, 1): one number for each row of a prediction, whichever rows are beside it.

    Over seeds, and over calibration sets, U is uniform and independent of everything else. Rows of one q whose
    forecasts agree, to 9 decimal digits (5 of float32), share their U.
    """

    prediction: Any
    q: Distribution
    seed: int

    def random(self, count: int) -> Numbers:
        """The uniforms of the rows, which must be so many."""
        same_length("the prediction", len(self.prediction), "the rows asked for", count)
        learned = self.q.remember("_kept_digest", lambda: _digest(self.q))
        state = np.full(count, _hash(learned + str(self.seed).encode()), np.uint64)
        for column in _columns(self.prediction):
            state = _mixed(state ^ _significant(column).view(np.uint64))
        return _uniform(_mixed(state))


def _digest(q: Distribution) -> bytes:
    """Of all numbers of q, which are others for another calibration set."""
    digest = blake2b(digest_size=32)
    for array in _arrays(q):
        digest.update(_significant(array).astype("<f8").tobytes())
    return digest.digest()


def _arrays(value: Any) -> Iterator[Array]:
    if array_api_compat.is_array_api_obj(value):
        yield value
    elif is_dataclass(value) or isinstance(value, tuple):
        parts = value if isinstance(value, tuple) else [getattr(value, field.name) for field in fields(value)]
        for part in parts:
            yield from _arrays(part)


def _columns(batch: Any) -> Iterator[Array]:
    """The numbers of each row, column by column: all that a prediction holds, and two quantiles of a distribution."""
    if isinstance(batch, Distribution):
        batch = batch.quantiles(_QUARTERS)
    if array_api_compat.is_array_api_obj(batch):
        yield from to_numpy(batch).reshape(batch.shape[0], -1).T
    elif is_dataclass(batch) or isinstance(batch, tuple):
        for part in batch if isinstance(batch, tuple) else [value for _, value in row_fields(batch)]:
            yield from _columns(part)


def _significant(array: Array) -> Numbers:
    """The first digits of each number; 0 for -0."""
    digits = _DIGITS_OF_SINGLE if single_precision(array) else _DIGITS
    mantissa, exponent = np.frexp(to_numpy(array).astype(np.float64))
    with np.errstate(over="ignore"):
        return np.asarray(np.ldexp(np.rint(mantissa * 2.0**digits), exponent - digits) + 0.0, np.float64)


# ---- by ids ----------------------------------------------------------------------------------------------------------


def row_keys(ids: Values) -> Keys:
    """64 bits for each row: a hash of its id, which is a whole number or a text.

    Several columns make one id as a tuple of arrays, such as the file and the number of a row in it.
    """
    columns = ids if isinstance(ids, tuple) else (ids,)
    state = np.full(len(columns[0]), _hash(b"0"), np.uint64)
    for column in columns:
        same_length("the ids", len(state), "another column of them", len(column))
        state = _mixed(state ^ _bits(column))
    return _mixed(state + np.uint64(0x9E3779B97F4A7C15))


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
    return np.asarray([_hash(each if isinstance(each, bytes) else each.encode()) for each in texts], np.uint64)


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
        return _uniform(keys)


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
        first = int(np.argmax(twice))
        one, other = sorted(order[first : first + 2].tolist())
        raise ValueError(f"ids must be of one row each, and rows {one} and {other} have the same")
    if by is None:
        return np.sort(order[:k])
    groups = labels_of(by)
    same_length("the ids", len(keys), "by", len(groups))
    taken: dict[Any, int] = {}
    kept = []
    for row in order.tolist():
        taken[groups[row]] = taken.get(groups[row], 0) + 1
        if taken[groups[row]] <= k:
            kept.append(row)
    return np.sort(np.asarray(kept, np.int64))


# ---- bits ------------------------------------------------------------------------------------------------------------


def _hash(text: bytes) -> int:
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")


def _mixed(bits: Keys) -> Keys:
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014; constants of Stafford's variant 13): one to one."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _uniform(bits: Keys) -> Numbers:
    """In [0, 1)."""
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
