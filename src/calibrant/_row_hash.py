"""Random numbers that are functions of their rows: the same row has the same one in any batch, order or process.

Here a row is known by its forecast, for the uniform numbers of a randomised q; in `calibrant.tables` by an id.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from hashlib import blake2b
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import generator, same_length
from calibrant._arrays import Array, single_precision, to_numpy
from calibrant._batch import arrays_in, row_fields
from calibrant.distributions.base import Distribution

Keys = NDArray[np.uint64]
Numbers = NDArray[np.float64]

_QUARTERS = (0.25, 0.75)  # the quantiles by which a distribution is told from others, however it is written
_DIGITS, _DIGITS_OF_SINGLE = 30, 16
"""The binary digits of a forecast that count: a model that adds up in another order for another batch, as matrix
products do, changes only later ones."""


def uniforms_of(prediction: Any, q: Distribution, rng: Any, seed: Any) -> Any:
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
    """U_i = hash(seed, q, f(x_i)) in [0, 1): one number for each row of a prediction, whatever the other rows are.

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
        state = np.full(count, hashed(learned + str(self.seed).encode()), np.uint64)
        for column in _columns(self.prediction):
            state = mixed(state ^ _significant(column).view(np.uint64))
        return uniform(mixed(state))


def _digest(q: Distribution) -> bytes:
    """Of all numbers of q, which are others for another calibration set."""
    digest = blake2b(digest_size=32)
    for array in arrays_in(q):
        digest.update(_significant(array).astype("<f8").tobytes())
    return digest.digest()


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


def hashed(text: bytes) -> int:
    """64 bits of a text."""
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")


def mixed(bits: Keys) -> Keys:
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014; constants of Stafford's variant 13): one to one."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def uniform(bits: Keys) -> Numbers:
    """In [0, 1)."""
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
