"""A summary of a calibrated model in a few words and numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import array_api_compat

from calibrant.calibration import Calibrated
from calibrant.interpolators.support import Line, Logits
from calibrant.scores.floors import Floored
from calibrant.several.calibration import SeveralCalibrated


def summary(root: Any) -> dict[str, Any]:
    """The score, interpolator, tails, distribution q, n, lambda and support; of several folds the n of all together.

    Of several labels those of the first.
    """
    parts = list(calibrations(root))
    first = parts[0]
    tails = getattr(first.interpolator, "tails", None)
    accuracy = max(part.guarantee.accuracy for part in parts)
    return {
        "kind": type(root).__name__,
        "labels": None if first.labels is None else describe(first.labels),
        "score": describe(first.score),
        "interpolator": describe(first.interpolator),
        "tails": None if tails is None else describe(tails),
        "q": describe(first.q),
        "n": first.guarantee.n if isinstance(root, SeveralCalibrated) else sum(part.guarantee.n for part in parts),
        "lambda": accuracy if math.isfinite(accuracy) else describe(accuracy),
        "support": _support(first.score.support),
    }


def describe(value: Any) -> str:
    """An object as its class and fields; the same in every run, which a repr need not be."""
    if array_api_compat.is_array_api_obj(value):
        return f"{str(value.dtype).rpartition('.')[2]}{list(value.shape)}"
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, Floored):
        return repr(value)  # it shows no more digits of its floor than a reader wants
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(describe, value))})"
    if callable(value) and hasattr(value, "__qualname__"):  # a function
        return str(value.__qualname__)
    inside = [f for f in fields(value) if f.init] if is_dataclass(value) else []
    return f"{type(value).__name__}({', '.join(f'{f.name}={describe(getattr(value, f.name))}' for f in inside)})"


def _support(support: Any) -> str:
    if isinstance(support, Line):
        return f"({support.lower:g}, {support.upper:g})"
    return "(0, 1), held as logits" if isinstance(support, Logits) else describe(support)


def calibrations(value: Any) -> Iterator[Calibrated]:
    """Every `Calibrated` inside, itself included."""
    if isinstance(value, Calibrated):
        yield value
    elif is_dataclass(value):
        for f in fields(value):
            yield from calibrations(getattr(value, f.name))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from calibrations(item)
