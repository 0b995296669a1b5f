"""What a field of a file must be, one by one; the classes and `relations` have what must hold among them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant.distributions.base import Distribution
from calibrant.interpolators.support import LARGEST


def _unchanged(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class FieldRule:
    """The rule for a field, in words and as a test; and the form in which it is stored."""

    words: str
    test: Callable[[Any], bool]
    stored: Callable[[Any], Any] = _unchanged


def _number(words: str, test: Callable[[float], bool]) -> FieldRule:
    return FieldRule(words, lambda value: _is_number(value) and test(value), _as_number)


def _is_number(value: Any) -> bool:
    return type(value) is float or (type(value) is int and abs(value) <= 2**53)


def _as_number(value: Any) -> Any:
    """A Python number of a numpy number or an array of one."""
    return value.item() if getattr(value, "shape", None) == () else value


def count(words: str, least: int) -> FieldRule:
    """A whole number of at least `least`."""
    return FieldRule(words, lambda value: type(value) is int and least <= value <= 2**53, _as_number)


def _floats(words: str, ndims: tuple[int, ...], test: Callable[[Any], Any] = np.isfinite) -> FieldRule:
    def good(value: Any) -> bool:
        known = isinstance(value, np.ndarray) and value.ndim in ndims and value.dtype.kind == "f"
        return known and value.size > 0 and bool(np.all(np.isfinite(value) & test(value)))

    return FieldRule(words, good)


def instance(kind: type) -> FieldRule:
    """An object of a class."""
    return FieldRule(f"a {kind.__name__}", lambda value: isinstance(value, kind) and not isinstance(value, type))


def optional(wanted: FieldRule) -> FieldRule:
    """The same or None."""
    return FieldRule(
        f"{wanted.words} or None",
        lambda value: value is None or wanted.test(value),
        lambda value: None if value is None else wanted.stored(value),
    )


def several(wanted: FieldRule) -> FieldRule:
    """A tuple or list of them, not empty."""
    return FieldRule(
        f"one or more of {wanted.words}",
        lambda value: type(value) in (tuple, list) and len(value) > 0 and all(map(wanted.test, value)),
        lambda value: type(value)(map(wanted.stored, value)) if type(value) in (tuple, list) else value,
    )


def either(one: FieldRule, other: FieldRule) -> FieldRule:
    """The one or the other."""
    return FieldRule(f"{one.words} or {other.words}", lambda value: one.test(value) or other.test(value))


ANYTHING = FieldRule("anything", lambda value: True)
SINGLE = FieldRule("a single distribution", lambda value: isinstance(value, Distribution) and value.shape == ())
ROW = FieldRule("a batch of one distribution", lambda value: isinstance(value, Distribution) and value.shape == (1,))
TAILS = FieldRule("tails", lambda value: callable(getattr(value, "fit", None)))
FUNCTION = FieldRule("a function of n", callable)
NAME = FieldRule("a name", lambda value: type(value) is str and 0 < len(value) <= 200)
NONE = FieldRule("an empty tuple", lambda value: value == ())
YES_OR_NO = FieldRule("true or false", lambda value: type(value) is bool)
AT_LEAST_0 = _number("a number of at least 0", lambda value: value >= 0)
POSITIVE = _number("a positive number", lambda value: 0 < value < math.inf)
FLOOR = optional(POSITIVE)
FINITE = _number("a finite number", math.isfinite)
PLACE = _number("a place on the line", lambda value: not math.isnan(value))
BOUND = optional(either(PLACE, NAME))
WEIGHT = _number("a number in [0, 1]", lambda value: 0 <= value <= 1)
SCALE = _number("a mean excess", lambda value: 0 <= value <= 10 * LARGEST or value == math.inf)
LAMBDA = _number("a lambda, at least 0 or -1", lambda value: value >= 0 or value == -1)
KNOTS = _floats("finite floats in a row", (1,), lambda value: abs(value) <= np.float64(10 * LARGEST))
LOGITS = _floats("finite floats in a row", (1,))
POSITIVES = _floats("positive floats in a row", (1,), lambda value: value > 0)
PROBS = _floats("floats of [0, 1] in a row", (1,), lambda value: (value >= 0) & (value <= 1))
WEIGHTS = _floats("floats of at least 0 in a row", (1,), lambda value: value >= 0)
LOCS = _floats("finite floats, one per distribution", (0, 1))
SCALES = _floats("positive floats, one per distribution", (0, 1), lambda value: value > 0)
PLACES = FieldRule(
    "counts in a row",
    lambda value: isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == np.int64 and value.size > 0,
)
_LABEL = FieldRule("a name or a whole number", lambda value: type(value) in (str, int, bool))
LABELS = FieldRule(
    "groups, each once",
    lambda value: (
        type(value) is tuple
        and len(value) > 0
        and all(_LABEL.test(part) for label in value for part in (label if type(label) is tuple else (label,)))
        and len(set(value)) == len(value)
    ),
)
LEVELS_OF_COLUMNS = FieldRule(
    "columns and their levels",
    lambda value: (
        type(value) is tuple
        and all(type(pair) is tuple and len(pair) == 2 and NAME.test(pair[0]) and _is_number(pair[1]) for pair in value)
    ),
)
EXCESSES = FieldRule(
    "mean excesses, one per distribution",
    lambda value: (
        isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "f" and bool(np.all(value >= 0))
    ),
)
TABLE = _floats("finite floats, one column per component", (1, 2))
RANKS = FieldRule(
    "counts, one column per label",
    lambda value: isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype == np.int64 and value.size > 0,
)
SORTED = _floats("floats of at least 0 in a row", (1,), lambda value: value >= 0)
