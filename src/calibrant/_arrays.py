"""Array input: its namespace, dtype, shape and finiteness.

Everything inside the library trusts what was checked here. Arrays of the Python array API standard (numpy,
torch on any device, array-api-strict) stay what they are; lists and numbers become numpy float64.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import array_api_compat
import numpy as np

from calibrant._arguments import same_length
from calibrant._types import Array as Array
from calibrant._types import Namespace
from calibrant._types import Rng as Rng
from calibrant._words import in_all

_DOUBLE = np.dtype(np.float64)


def namespace(array: Any) -> Namespace:
    """The array API namespace of `array`; numpy's for plain numbers."""
    # numpy speaks the standard itself, and array-api-compat's copy of it takes half as long again to import
    if isinstance(array, (np.ndarray, np.generic)) or not array_api_compat.is_array_api_obj(array):
        return np
    return array_api_compat.array_namespace(array)


def floats(
    name: str, value: Any, *, like: Any = None, ndim: int | None = None, allow_inf: bool = False, hint: str = ""
) -> Array:
    """`value` as an array of floats: in its own namespace, or in the namespace, device and dtype of `like`.

    Where `value` may have more digits than `like`, ask `wider` first. Half precision is refused. `hint` ends the error
    where the number of dimensions is wrong.
    """
    plain = type(value) is np.ndarray and value.dtype == _DOUBLE
    if like is not None:
        plain = plain and type(like) is np.ndarray and like.dtype == _DOUBLE
    array: Array = value if plain else _as_floats(name, value, like)  # most of what comes here is fine as it is
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} must be {ndim}-d, got shape {tuple(array.shape)}{hint}")
    xp = namespace(array)
    bad = xp.isnan(array) if allow_inf else ~xp.isfinite(array)
    if anywhere(bad):
        complain(name, bad, f"is NaN{'' if allow_inf else ' or infinite'}")
    return array


def _as_floats(name: str, value: Any, like: Any) -> Array:
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.is_masked(value):
            complain(name, np.ma.getmaskarray(value), "is masked")
        value = value.data
    if not array_api_compat.is_array_api_obj(value):
        try:
            value = np.asarray(value)
        except ValueError as error:
            raise ValueError(f"{name} must be an array of numbers, got rows of unequal length") from error
    xp, dtype = namespace(value), value.dtype
    if xp.isdtype(dtype, "integral"):
        value = xp.astype(value, xp.float64)
    elif not xp.isdtype(dtype, "real floating"):
        raise TypeError(f"{name} must hold real numbers, got dtype {dtype}")
    elif dtype != xp.float64 and xp.finfo(dtype).bits < 32:
        raise TypeError(f"{name} has dtype {dtype}, too coarse to calibrate with: convert it to float32 first")
    return value if like is None else _alike(name, value, like)


def anywhere(mask: Array) -> bool:
    """Whether a mask is true somewhere; numpy's own method is several times as fast as its function."""
    return bool(mask.any() if isinstance(mask, np.ndarray) else namespace(mask).any(mask))


def _alike(name: str, array: Array, like: Array) -> Array:
    if namespace(array) is namespace(like):
        here, there = array_api_compat.device(array), array_api_compat.device(like)
        if here != there:
            raise TypeError(f"{name} lies on {here} where {there} is expected")
        return namespace(like).astype(array, like.dtype, copy=False)
    if not array_api_compat.is_numpy_array(array):
        here, there = (type(each).__module__.split(".")[0] for each in (array, like))
        raise TypeError(f"{name} is a {here} array where {there} is expected: convert it first")
    return device_like(array, like)


def wider(like: Array, *values: Any) -> Array:
    """`like`; or, where one of `values` has more digits than it, an empty array in its home with float64's.

    The rule of precision: what meets, meets in the wider type, as in numpy. An array of float64 or of integers, a numpy
    number or a column of a table is wider than float32. Python's own numbers, and lists of them, have no precision of
    their own: they take that of the arrays they meet, so that a float32 pipeline stays one.
    """
    if like is None or like.dtype != (xp := namespace(like)).float32 or not any(map(_more_than_single, values)):
        return like
    return xp.zeros(0, dtype=xp.float64, device=array_api_compat.device(like))


def _more_than_single(value: Any) -> bool:
    if array_api_compat.is_array_api_obj(value):
        return not single_precision(value)
    return hasattr(value, "__array__") and np.asarray(value).dtype != np.float32


def single_precision(array: Array) -> bool:
    """Whether it holds float32."""
    return bool(array.dtype == namespace(array).float32)


def complain(name: str, bad: Array, what: str) -> None:
    """Raise the one-sentence error that says what is wrong, how often, and in which row first."""
    first, number = first_and_count(bad)
    where = f"in row {first}" if bad.ndim else "as its only value"
    plural = f" ({in_all(number)})" if bad.ndim else ""
    raise ValueError(f"{name} {what} {where}{plural}")


def first_and_count(bad: Array) -> tuple[int, int]:
    """The first row with a true entry, and the number of such rows."""
    xp = namespace(bad)
    rows = xp.any(xp.reshape(bad, (bad.shape[0], -1)), axis=1) if bad.ndim else xp.reshape(bad, (1,))
    return int(xp.argmax(xp.astype(rows, xp.int8))), int(xp.count_nonzero(rows))


def refuse(name: str, bad: Array, problem: str) -> None:
    """Raise if any entry is marked, naming the first and counting them."""
    if anywhere(bad):
        complain(name, bad, problem)


def probabilities(name: str, value: Any, *, like: Any = None) -> Array:
    """An array of numbers in [0, 1]."""
    array = floats(name, value, like=like)
    refuse(name, (array < 0) | (array > 1), "lies outside [0, 1]")
    return array


def rows(array: Array, index: Any) -> Array:
    """`array[index]` along the first axis, for a slice, a mask or a list of rows."""
    if isinstance(index, slice):
        return array[index, ...]
    if isinstance(index, (list, tuple)) or (
        hasattr(index, "__array__") and not array_api_compat.is_array_api_obj(index)  # a pandas mask
    ):
        index = np.asarray(index) if len(index) else np.zeros(0, dtype=np.int64)
    if not array_api_compat.is_array_api_obj(index) or index.ndim != 1:
        raise TypeError(f"rows are chosen by an integer, a slice, a mask or a list of integers, got {index!r}")
    if isinstance(index, np.ndarray):
        index = np.ascontiguousarray(index)  # torch takes no negative strides
    elif isinstance(array, np.ndarray):
        index = to_numpy(index)  # a distribution of torch's arrays may have numpy's too, which count rows
    xp = namespace(array)
    index = xp.asarray(index, device=array_api_compat.device(array))
    if xp.isdtype(index.dtype, "bool"):
        same_length("the batch", array.shape[0], "the mask", index.shape[0])
        index = xp.nonzero(index)[0]
    if not xp.isdtype(index.dtype, "integral"):
        raise TypeError(f"rows are chosen by an integer, a slice, a mask or integers, got {index.dtype} numbers")
    return xp.take(array, index, axis=0)


def resolution(centre: Array, least: float | None = None) -> Array:
    """4 eps |centre|, at least `least`: below that, floats near `centre` are hardly told apart.

    By default `least` is 1e-153 (1e-18 for float32), whose square still has all its digits.
    """
    xp = namespace(centre)
    spacing = 4 * float(xp.finfo(centre.dtype).eps) * abs(centre)
    if least is None:
        least = 2.0**-60 if centre.dtype == xp.float32 else 2.0**-508
    return xp.maximum(spacing, xp.full_like(spacing, least))


def clip(array: Any, lower: Any, upper: Any) -> Array:
    """`array` clipped between two bounds; on numpy by two functions that are faster than its own."""
    if isinstance(array, (np.ndarray, np.generic)):
        return np.minimum(np.maximum(array, lower), upper)  # type: ignore[no-any-return]
    own: Any = array.clip if array_api_compat.is_torch_array(array) else functools.partial(namespace(array).clip, array)
    return own(lower, upper)  # type: ignore[no-any-return]


def concatenate(arrays: Sequence[Array], *, axis: int = 0) -> Array:
    """Arrays of one namespace joined along `axis`."""
    return namespace(arrays[0]).concat(list(arrays), axis=axis)


def device_like(value: Any, like: Array) -> Array:
    """A numpy array or number in the namespace, dtype and device of `like`; numpy's doubles if that is None."""
    if like is None:
        return np.asarray(value, dtype=np.float64)
    return namespace(like).asarray(value, dtype=like.dtype, device=array_api_compat.device(like))


def at_home(array: Array, like: Array) -> bool:
    """Whether two arrays agree in namespace, dtype and device."""
    return (
        namespace(array) is namespace(like)
        and array.dtype == like.dtype
        and (type(array) is np.ndarray or array_api_compat.device(array) == array_api_compat.device(like))
    )


def moved(array: Array, like: Array) -> Array:
    """`array` in the namespace, dtype and device of `like`; the only place where an array may change home."""
    if namespace(array) is namespace(like) and array_api_compat.device(array) == array_api_compat.device(like):
        return namespace(like).astype(array, like.dtype, copy=False)
    return device_like(np.require(to_numpy(array), requirements="W"), like)  # torch takes no read-only array


def detached(array: Any) -> Array:
    """`array` out of any gradient."""
    own: Array = array.detach() if hasattr(array, "detach") else array
    return own


def to_numpy(array: Any) -> np.ndarray[Any, Any]:
    """A numpy copy of `array`, off any device and out of any gradient."""
    if array_api_compat.is_torch_array(array):
        return np.asarray(array.detach().cpu().numpy())
    return np.asarray(array)


def ranks(scores: Array) -> Array:
    """1, ..., n in the namespace of n scores."""
    xp = namespace(scores)
    return device_like(xp.arange(1, scores.shape[0] + 1), scores)


def largest_tie_of(values: Array) -> int:
    """The size of the largest group of equal values."""
    xp = namespace(values)
    return int(xp.max(xp.unique_counts(values).counts))
