"""The uniform numbers of a randomised q, each a function of its row: the same row has the same one everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from hashlib import blake2b
from typing import Any

import array_api_compat
import numpy as np

from calibrant._arguments import check_generator, same_length
from calibrant._arrays import Array, single_precision, to_numpy
from calibrant._batch import row_fields
from calibrant.distributions.base import Distribution

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Bits = np.ndarray[Any, np.dtype[np.uint64]]

QUARTERS = (0.25, 0.75)
"""The quantiles by which a law is told from others, however it is written."""

DIGITS, DIGITS_OF_SINGLE = 30, 16
"""The binary digits of a forecast that count: a model that adds up in another order for another batch, as matrix
products do, changes only later ones."""


def source(prediction: Any, q: Distribution, rng: Any, seed: Any) -> Any:
    """What draws the uniforms of a prediction's rows: `rng`, or what a `seed` makes of the rows themselves."""
    if rng is not None:
        check_generator(rng)
    if seed is None:
        return rng
    if rng is not None:
        raise TypeError("a Calibrated takes rng= or seed=, not both")
    return RowUniforms(prediction, q, check_seed(seed))


@dataclass(frozen=True, eq=False)
class RowUniforms:
    """A generator for the rows of one prediction."""

    prediction: Any
    q: Distribution
    seed: int

    def random(self, count: int) -> Numbers:
        """The uniforms of the rows, which must be so many."""
        same_length("the prediction", len(self.prediction), "the rows asked for", count)
        return row_uniforms(self.prediction, self.q, self.seed)


def row_uniforms(prediction: Any, q: Distribution, seed: int) -> Numbers:
    """U_i = hash(seed, q, f(x_i)) in [0, 1): one number for each row of a prediction, whichever rows are beside it.

    Over seeds, and over calibration sets, U is uniform and independent of everything else. Rows of one q whose
    forecasts agree, to 9 decimal digits (5 of float32), share their U.
    """
    state = np.full(len(prediction), _key(q, seed), np.uint64)
    for column in _columns(prediction):
        state = mixed(state ^ _significant(column).view(np.uint64))
    return (mixed(state) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def check_seed(seed: Any) -> int:
    """A whole number, not negative."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed must be a whole number, 0 or larger, got {seed!r}")
    return int(seed)


def _key(q: Distribution, seed: int) -> int:
    """64 bits of the seed and of all numbers of q, which are others for another calibration set."""
    learned = q.remember("_kept_digest", lambda: _digest(q))
    return int.from_bytes(blake2b(learned + str(seed).encode(), digest_size=8).digest(), "little")


def _digest(q: Distribution) -> bytes:
    digest = blake2b(digest_size=32)
    for array in _arrays(q):
        digest.update(_significant(array).astype("<f8").tobytes())
    return digest.digest()


def _arrays(value: Any) -> Iterator[Array]:
    if array_api_compat.is_array_api_obj(value):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from _arrays(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from _arrays(item)


def _columns(batch: Any) -> Iterator[Array]:
    """The numbers of each row, column by column: all that a prediction holds, and two quantiles of a law."""
    if isinstance(batch, Distribution):
        batch = batch.quantiles(QUARTERS)
    if array_api_compat.is_array_api_obj(batch):
        flat = to_numpy(batch).reshape(batch.shape[0], -1)
        yield from flat.T
    elif is_dataclass(batch):
        for _, value in row_fields(batch):
            yield from _columns(value)
    elif isinstance(batch, tuple):
        for item in batch:
            yield from _columns(item)


def _significant(array: Array) -> Numbers:
    """The first digits of each number; 0 for -0."""
    digits = DIGITS_OF_SINGLE if single_precision(array) else DIGITS
    mantissa, exponent = np.frexp(to_numpy(array).astype(np.float64))
    with np.errstate(over="ignore"):
        return np.asarray(np.ldexp(np.rint(mantissa * 2.0**digits), exponent - digits) + 0.0, np.float64)


def mixed(bits: Bits) -> Bits:
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014; constants of Stafford's variant 13): one to one."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
