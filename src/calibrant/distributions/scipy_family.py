"""What the continuous and the discrete families of scipy.stats have in common."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from calibrant._arrays import Array, complain, floats
from calibrant.distributions.base import Distribution


class ScipyFamily(Distribution):
    """A family of scipy.stats, with one value of each parameter per row."""

    family: Any
    parameters: tuple[Array, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.parameters[0].shape)

    @property
    def _columns(self) -> Any:
        return self.remember("_kept_columns", lambda: self.family(*map(self._lift, self.parameters)))

    def _quietly(self, name: str, argument: Array) -> Array:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scipy's far tails overflow on their way to the right answer
            return np.asarray(getattr(self._columns, name)(argument))


def parameters_of(frozen: Any, *ends: str) -> tuple[Array, ...]:
    """The shapes of a frozen distribution and its `ends`, loc and scale, checked and brought to one shape."""
    family = frozen.dist
    shapes, *rest = family._parse_args(*frozen.args, **frozen.kwds)
    names = [*(family.shapes or "").replace(",", " ").split(), *ends]
    given = zip(names, (*shapes, *rest[: len(ends)]), strict=True)
    arrays = [floats(f"{family.name}.{name}", np.asarray(value, dtype=float)) for name, value in given]
    arrays = list(np.broadcast_arrays(*arrays))
    if arrays[0].ndim > 1:
        raise ValueError(f"{family.name} must have parameters of shape () or (n,), got {arrays[0].shape}")
    wrong = np.isnan(family(*arrays).support()[0])
    if np.any(wrong):
        complain(family.name, np.asarray(wrong), "has parameters outside their domain")
    return tuple(arrays)
