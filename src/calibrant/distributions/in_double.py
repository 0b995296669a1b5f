"""Special functions in double precision."""

from __future__ import annotations

from collections.abc import Callable

from calibrant._arrays import Array, namespace, single_precision


def in_double(function: Callable[..., Array], *arguments: Array) -> Array:
    """The function of single precision worked out in double precision, and given back in single."""
    like = arguments[-1]
    if not single_precision(like):
        return function(*arguments)
    xp = namespace(like)
    return xp.astype(function(*(xp.astype(each, xp.float64) for each in arguments)), like.dtype)
