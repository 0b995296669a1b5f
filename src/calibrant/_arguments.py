"""Checks of arguments that are no arrays: lengths, single numbers, generators, objects of a kind."""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import Any

import numpy as np


def same_length(what: str, length: int, name: str, other: int) -> None:
    """Raise unless two lengths agree."""
    if length != other:
        each = f"one row for each of the {length} rows of {what}" if length != 1 else f"one row, as {what} has"
        raise ValueError(f"{name} must have {each}, got {other}")


def one_each(what: str, length: int, name: str, value: Any) -> None:
    """Raise unless there is one entry for each row."""
    if not hasattr(value, "__len__"):
        raise TypeError(f"{name} must hold one entry for each row, got {value!r}")
    same_length(what, length, name, len(value))


def check_known(prediction: Any, labels: Any, by: Any, weights: Any, bound: Any) -> None:
    """Raise unless there is a group and a weight for each row, if any, and a bound if the labels need one."""
    if by is not None:
        one_each("the prediction", len(prediction), "by", by)
    if weights is not None:
        one_each("the prediction", len(prediction), "weights", weights)
    needed = labels is not None and labels.by_row
    if bound is not None and not needed:
        raise TypeError(f"bound= is for labels that are bounded row by row, got labels={labels!r}")
    if bound is None and needed:
        raise TypeError(f"{labels!r} needs bound=, with one entry for each row")


def unit(name: str, value: float) -> float:
    """A number strictly inside (0, 1)."""
    number = one_number(name, value, "one number inside (0, 1)")
    if not 0 < number < 1:
        raise ValueError(f"{name} must lie strictly inside (0, 1), got {value!r}{percentage(number)}")
    return number


def percentage(number: float) -> str:
    """A hint for a number that should lie inside (0, 1), and may be a percentage.

    >>> percentage(90), percentage(1.5)
    (': did you mean 0.9?', '')
    """
    return f": did you mean {number / 100:g}?" if 2 <= number < 100 else ""


def one_number(name: str, value: Any, what: str = "one number") -> float:
    """A Python float of a number or a 0-d array; not of a string, though float() would read it."""
    try:
        if isinstance(value, (str, bytes)) or getattr(value, "ndim", 0) != 0:  # numpy took arrays of one entry till 2.4
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        several = ": ask once for each" if hasattr(value, "__len__") and not isinstance(value, (str, bytes)) else ""
        raise TypeError(f"{name} must be {what}, got {value!r}{several}") from None


def positive(name: str, value: Any) -> float:
    """A number that is positive and finite."""
    number = one_number(name, value)
    if not 0 < number < math.inf:
        raise ValueError(f"{name} must be positive and finite, got {value!r}")
    return number


def finite(name: str, value: Any) -> float:
    """A number that is finite."""
    number = one_number(name, value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return number


def keep(whole: Any, **values: Any) -> None:
    """Set fields of a frozen dataclass, in its `__post_init__`."""
    for name, value in values.items():
        object.__setattr__(whole, name, value)


def generator(rng: Any) -> Any:
    """`rng`, or a fresh generator for None; a seed is refused."""
    if rng is None:
        return np.random.default_rng()
    if not callable(getattr(rng, "random", None)):
        way = f", such as np.random.default_rng({rng})" if isinstance(rng, (int, np.integer)) else ""
        raise TypeError(f"rng must be a numpy.random.Generator{way}, got {rng!r}")
    return rng


def check_has(name: str, value: Any, method: str, kind: str, *, optional: bool = False) -> None:
    """Raise unless this is an object with a method, not a name or a class; None too will do where it is optional."""
    if optional and value is None:
        return
    if isinstance(value, type) or not callable(getattr(value, method, None)):
        raise TypeError(f"{name} must be {kind}, got {value!r}")


def needs(what: str, extra: str, *libraries: str) -> None:
    """Raise unless these optional libraries are installed, with the way to install them."""
    missing = [library for library in libraries if find_spec(library) is None]
    if missing:
        way = f"pip install 'calibrant[{extra}]'"
        raise ModuleNotFoundError(f"{what} needs {', '.join(missing)}: {way}", name=missing[0])
