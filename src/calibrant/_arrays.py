"""The one door for array input: namespace, dtype, shape, finiteness.

Everything inside the library trusts what came through here. Arrays of the Python array API standard (numpy,
torch on any device, array-api-strict) stay what they are; lists and numbers become numpy float64.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import array_api_compat
import numpy as np

Array = Any
"""An array of any namespace of the array API standard; they share no base class to name here."""


def namespace(array: Array) -> Any:
    """The array API namespace of `array`; numpy's for plain numbers."""
    # numpy speaks the standard itself, and array-api-compat's copy of it takes half as long again to import
    if isinstance(array, (np.ndarray, np.generic)) or not array_api_compat.is_array_api_obj(array):
        return np
    return array_api_compat.array_namespace(array)


def floats(name: str, value: Any, *, like: Array = None, ndim: int | None = None, allow_inf: bool = False) -> Array:
    """`value` as an array of floats: in its own namespace, or in the namespace, device and dtype of `like`."""
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.is_masked(value):
            complain(name, np.ma.getmaskarray(value), "is masked")
        value = value.data
    array = value if array_api_compat.is_array_api_obj(value) else _from_python(name, value)
    xp = namespace(array)
    if array.dtype != xp.float64 and not xp.isdtype(array.dtype, "real floating"):
        if not xp.isdtype(array.dtype, "integral"):
            raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")
        array = xp.astype(array, xp.float64)
    if like is not None:
        array = _alike(name, array, like)
        xp = namespace(array)
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} must be {ndim}-d, got shape {tuple(array.shape)}")
    good = ~xp.isnan(array) if allow_inf else xp.isfinite(array)
    if not bool(xp.all(good)):
        complain(name, ~good, f"is {'NaN' if allow_inf else 'NaN or infinite'}")
    return array


def _from_python(name: str, value: Any) -> Array:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be an array of numbers, got rows of unequal length") from error
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")
    return array


def _alike(name: str, array: Array, like: Array) -> Array:
    xp = namespace(like)
    if at_home(array, like):
        return array
    if namespace(array) is not xp:
        if not array_api_compat.is_numpy_array(array):
            raise TypeError(
                f"{name} is a {type(array).__module__.split('.')[0]} array where {type(like).__module__.split('.')[0]}"
                f" is expected: convert it first"
            )
        return xp.asarray(array, dtype=like.dtype, device=array_api_compat.device(like))
    if array_api_compat.device(array) != array_api_compat.device(like):
        raise TypeError(
            f"{name} lies on {array_api_compat.device(array)} where {array_api_compat.device(like)} is expected"
        )
    return xp.astype(array, like.dtype, copy=False)


def complain(name: str, bad: Array, what: str) -> None:
    """Raise the one-sentence error that says what is wrong, how often, and in which row first."""
    first, count = first_and_count(bad)
    where = f"in row {first}" if bad.ndim else "as its only value"
    plural = f" ({count} rows in all)" if bad.ndim else ""
    raise ValueError(f"{name} {what} {where}{plural}")


def first_and_count(bad: Array) -> tuple[int, int]:
    """The first row with a true entry, and the number of such rows."""
    xp = namespace(bad)
    rows = xp.any(xp.reshape(bad, (bad.shape[0], -1)), axis=1) if bad.ndim else xp.reshape(bad, (1,))
    return int(xp.argmax(xp.astype(rows, xp.int8))), int(xp.sum(xp.astype(rows, xp.int64)))


def same_length(what: str, length: int, name: str, other: int) -> None:
    """Raise unless two lengths agree."""
    if length != other:
        raise ValueError(f"{name} must have one row for each of the {length} rows of {what}, got {other}")


def unit(name: str, value: float) -> float:
    """A number strictly inside (0, 1)."""
    number = one_number(name, value, "one number inside (0, 1)")
    if not 0 < number < 1:
        raise ValueError(f"{name} must lie strictly inside (0, 1), got {value!r}")
    return number


def one_number(name: str, value: Any, what: str = "one number") -> float:
    """A Python float of a number or a 0-d array; not of a string, though float() would read it."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be {what}, got {value!r}") from None


def generator(rng: Any) -> Any:
    """`rng`, or a fresh generator for None."""
    if rng is None:
        return np.random.default_rng()
    check_generator(rng)
    return rng


def check_generator(rng: Any) -> None:
    """Raise unless this draws random numbers; a seed does not."""
    if not callable(getattr(rng, "random", None)):
        raise TypeError(f"rng must be a numpy.random.Generator, got {rng!r}")


def probabilities(name: str, value: Any, *, like: Array = None) -> Array:
    """An array of numbers in [0, 1]."""
    array = floats(name, value, like=like)
    xp = namespace(array)
    bad = (array < 0) | (array > 1)
    if bool(xp.any(bad)):
        complain(name, bad, "lies outside [0, 1]")
    return array


def rows(array: Array, index: Any) -> Array:
    """`array[index]` along the first axis, for an integer, a slice, a mask or a list of rows."""
    if isinstance(index, (list, tuple)):
        index = np.asarray(index) if len(index) else np.zeros(0, dtype=np.int64)
    elif hasattr(index, "__array__") and not array_api_compat.is_array_api_obj(index):
        index = np.asarray(index)  # a pandas mask
    xp = namespace(array)
    if not (isinstance(index, slice) or (array_api_compat.is_array_api_obj(index) and index.ndim == 1)):
        raise TypeError(f"rows are chosen by an integer, a slice, a mask or a list of integers, got {index!r}")
    if array_api_compat.is_array_api_obj(index) and index.ndim == 1:
        if isinstance(index, np.ndarray):
            index = np.ascontiguousarray(index)  # torch takes no negative strides
        index = xp.asarray(index, device=array_api_compat.device(array))
        if not xp.isdtype(index.dtype, "bool"):
            return xp.take(array, index, axis=0)
        same_length("the batch", array.shape[0], "the mask", index.shape[0])
        return array[index] if array.ndim == 1 else xp.take(array, xp.nonzero(index)[0], axis=0)
    return array[index, ...]


def widen(name: str, width: Array, centre: Array, *, strict: bool, depth: int = 4) -> Array:
    """`width` with every zero lifted (see `lifted`), counted in one warning; or raise, if `strict`."""
    flat = width <= 0
    if not bool(namespace(width).any(flat)):
        return width
    first, count = first_and_count(flat)
    if strict:
        raise ValueError(f"{name} has zero width in row {first} ({count} rows in all)")
    wider = lifted(name, width, centre)
    warnings.warn(
        f"{name} has zero width in {count} rows, the first is row {first}: they are given a millionth of the usual one",
        stacklevel=depth,
    )
    return wider


def lifted(name: str, width: Array, centre: Array) -> Array:
    """`width` with every zero lifted to a millionth of the batch's median width.

    Where every width is zero, the spread of `centre` takes the place of the median width. No floor is below the
    resolution of the floats at `centre`.
    """
    xp = namespace(width)
    usual = _median_positive(width)
    if usual == 0:
        usual = float(xp.max(centre) - xp.min(centre))
    if usual == 0:
        raise ValueError(f"{name} has zero width in every row, so nothing tells its scale")
    resolution = 4 * float(xp.finfo(width.dtype).eps) * xp.abs(centre)
    floor = xp.maximum(xp.full_like(width, 1e-6 * usual), resolution + xp.zeros_like(width))
    return xp.where(width <= 0, floor, width)


def _median_positive(width: Array) -> float:
    xp = namespace(width)
    positive = xp.sort(xp.reshape(width, (-1,))[xp.reshape(width, (-1,)) > 0])
    count = positive.shape[0]
    return float(positive[count // 2]) if count else 0.0


def clip(array: Array, lower: Any, upper: Any) -> Array:
    """`array` kept between two bounds; on numpy and torch by their own function, which is several times as fast."""
    if array_api_compat.is_numpy_array(array):
        return np.clip(array, lower, upper)
    return (
        array.clip(lower, upper)
        if array_api_compat.is_torch_array(array)
        else namespace(array).clip(array, lower, upper)
    )


def concatenate(arrays: Sequence[Array], *, axis: int = 0) -> Array:
    """Arrays of one namespace joined along `axis`."""
    return namespace(arrays[0]).concat(list(arrays), axis=axis)


def device_like(value: Any, like: Array) -> Array:
    """A numpy array or number moved beside `like`: its namespace, dtype and device."""
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
    return device_like(to_numpy(array), like)


def detached(array: Array) -> Array:
    """`array` out of any gradient."""
    return array.detach() if hasattr(array, "detach") else array


def to_numpy(array: Array) -> np.ndarray[Any, Any]:
    """A numpy copy of `array`, off any device and out of any gradient."""
    if array_api_compat.is_torch_array(array):
        return np.asarray(array.detach().cpu().numpy())
    return np.asarray(array)
