"""Consistency of the objects of a tree: each function raises a ValueError that says what is wrong."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from calibrant._words import count
from calibrant.calibration import Calibrated
from calibrant.distributions import PiecewiseLinear
from calibrant.distributions.grouped import Grouped
from calibrant.distributions.logistic_linear import LogisticLinear
from calibrant.distributions.randomised import Randomised
from calibrant.guarantee import Guarantee
from calibrant.interpolators import Linear, Naive
from calibrant.interpolators.history import HalfLife
from calibrant.interpolators.weights import OncePerGroup
from calibrant.several.joint import Joint


def no_relation(**values: Any) -> None:
    """Every field is free."""


def increasing_spline(knots: Any, values: Any, slopes: Any) -> None:
    """Knots and values rise, and so does the cubic between them: in files, as rounding may undo it in a copy."""
    if (
        not knots.shape == values.shape == slopes.shape
        or knots.size < 2
        or len({a.dtype for a in (knots, values, slopes)}) > 1
    ):
        raise ValueError(f"{knots.size} knots do not go with {values.size} values and {slopes.size} slopes")
    for name, column in (("knots", knots), ("values", values)):
        if bool(np.any(column[1:] <= column[:-1])):
            raise ValueError(f"its {name} do not rise at place {int(np.argmax(column[1:] <= column[:-1])) + 1}")
    if bool(np.any(np.maximum(slopes[1:], slopes[:-1]) * np.diff(knots) > 3.001 * np.diff(values))):
        raise ValueError("its slopes are too steep for a cubic that rises")


def by_horizon(calibrated: Calibrated, **others: Any) -> None:
    """The groups are steps ahead: 1, 2, ..."""
    if calibrated.guarantee.basis != "horizon":
        raise ValueError("it was not calibrated by horizon")
    if any(type(label) is not int or label < 1 for label in calibrated.guarantee.names):
        raise ValueError("its groups are no horizons")


def consistent_calibration(
    known: Collection[type], /, q: Any, guarantee: Guarantee, interpolator: Any, history: Any, **others: Any
) -> None:
    """What known interpolators promise, and how many scores their distributions are made of."""
    n, ours = guarantee.n, type(interpolator) in known
    once = history is not None and isinstance(history.weights, OncePerGroup)  # n counts groups, and q is made of rows
    if isinstance(q, Grouped) != (guarantee.basis in ("group", "horizon") or bool(guarantee.names)):
        raise ValueError(f"its guarantee, of basis {guarantee.basis!r}, does not go with q, {q!r}")
    if isinstance(q, Grouped):
        if q.labels != guarantee.names:
            raise ValueError("its guarantee is of other groups than its q")
        return
    promised = interpolator.accuracy(guarantee.calibration_rows) if ours else guarantee.accuracy
    if guarantee.accuracy != (max(0.0, promised) if once else promised):
        raise ValueError(f"its guarantee has lambda {guarantee.accuracy}, its interpolator promises {promised}")
    m = history.scores.size if once else n
    sizes: dict[type, tuple[int, ...]] = {Linear: (m, m + 1, m + 2), Naive: (2 * m,)}
    made_of = sizes.get(type(interpolator))
    knots = q.knots.shape[0] if isinstance(q, (PiecewiseLinear, LogisticLinear)) else None
    if (made_of and knots and knots not in made_of) or (
        isinstance(q, Randomised) and q.unit is None and q.total == round(q.total) != n
    ):
        raise ValueError(f"its guarantee has n = {n}, which does not go with q, {q!r}")
    if history is not None and history.weights is None and history.scores.size != n:
        raise ValueError(f"its guarantee has n = {n}, but its history has {history.scores.size} scores")


def no_double_weights(weights: Any, forget: Any, **others: Any) -> None:
    """A half-life weighs rows by itself."""
    if weights is not None and isinstance(forget, HalfLife):
        raise ValueError("a half-life takes no other weights")


def same_labels(names: Any, margins: Any, joint: Joint, references: Any) -> None:
    """A name and a calibration for each label, all of the same rows."""
    d, n = len(names), joint.n
    counts = [len(margins), joint.ranks.shape[1], d if references is None else len(references)]
    if len(set(names)) != d or counts != [d] * 3 or any(each.guarantee.n != n for each in margins):
        raise ValueError(
            f"its {d} labels must have names of their own, and a calibration of the same {count(n, 'row')} each"
        )
    if (references is None) != (joint.largest is None):
        raise ValueError("its references and the largest scores go together")
