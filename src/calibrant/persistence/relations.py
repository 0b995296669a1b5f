"""What must hold among the fields of a class: each raises a ValueError that says what does not."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from calibrant._words import count
from calibrant.calibration import Calibrated
from calibrant.distributions import PiecewiseLinear
from calibrant.distributions.base import Distribution
from calibrant.distributions.grouped import Grouped
from calibrant.distributions.logistic_linear import LogisticLinear
from calibrant.distributions.randomised import Randomised
from calibrant.guarantee import GroupGuarantee, Guarantee
from calibrant.horizons import LongColumns
from calibrant.interpolators import Linear, Naive
from calibrant.interpolators.history import HalfLife
from calibrant.several import Joint


def nothing(**values: Any) -> None:
    """Every field is free."""


def line(knots: Any, probs: Any, left: float = math.inf, right: float = math.inf) -> None:
    """Knots and probs do not fall, and a tail that has mass has a width."""
    if knots.shape != probs.shape or knots.dtype != probs.dtype:
        raise ValueError(f"{knots.size} knots of {knots.dtype} do not go with {probs.size} probs of {probs.dtype}")
    for name, column in (("knots", knots), ("probs", probs)):
        if bool(np.any(column[1:] < column[:-1])):
            raise ValueError(f"its {name} fall at place {int(np.argmax(column[1:] < column[:-1])) + 1}")
    if (left == 0 and probs[0] > 0) or (right == 0 and probs[-1] < 1):
        raise ValueError("a tail that has mass needs a mean excess above 0")


def rising(knots: Any, values: Any, slopes: Any) -> None:
    """Knots and values rise, and so does the cubic between them."""
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


def ordered(lower: float, upper: float, **others: Any) -> None:
    """lower < upper."""
    if not lower < upper:
        raise ValueError(f"lower must be below upper, got {lower} and {upper}")


def atoms(atoms: Any, lower: float, upper: float, **others: Any) -> None:
    """lower <= upper, and two knots for each atom."""
    if lower > upper:  # they meet where both were clipped to one bound
        raise ValueError(f"lower must not be above upper, got {lower} and {upper}")
    if isinstance(atoms, PiecewiseLinear) and atoms.knots.shape[0] % 2:
        raise ValueError(f"atoms have two knots each, got {atoms.knots.shape[0]} in all")


def tailed(base: Any, low: float, high: float, **others: Any) -> None:
    """0 < low <= high < 1, or no tails: 0 and 1."""
    if not (0 < low <= high < 1 or (low, high) == (0, 1)):
        raise ValueError(f"its tails must end inside (0, 1), in order, or it has none, got {low} and {high}")


def grouped(laws: Distribution, labels: tuple[Any, ...]) -> None:
    """A law for each group, and perhaps one for all others."""
    if len(laws) - len(labels) not in (0, 1):
        raise ValueError(f"{len(labels)} groups do not go with {len(laws)} laws")


def per_group(labels: Any, counts: Any, accuracies: Any, ties: Any, floored: int, **_: Any) -> None:
    """A count, a lambda and a largest tie for each group."""
    if not len(labels) == len(counts) == len(accuracies) == len(ties):
        raise ValueError(f"{len(labels)} groups do not go with {len(counts)} counts and {len(accuracies)} lambdas")
    for n, tie in zip(counts, ties, strict=True):
        among(n, tie)
    if floored > sum(counts):
        raise ValueError(f"{floored} of its rows had no width, but n is {sum(counts)}")


def by_horizon(calibrated: Calibrated, columns: LongColumns) -> None:
    """The groups are steps ahead: 1, 2, ..."""
    if not isinstance(calibrated.guarantee, GroupGuarantee):
        raise ValueError("it was not calibrated by horizon")
    if any(type(label) is not int or label < 1 for label in calibrated.guarantee.labels):
        raise ValueError("its groups are no horizons")
    del columns


def some_columns(model: str, point: str | None, quantiles: Any) -> None:
    """A point or quantiles, at levels that increase inside (0, 1)."""
    levels = [level for _, level in quantiles]
    if point is None and not levels:
        raise ValueError(f"{model!r} has no columns")
    if any(b <= a for a, b in zip([0.0, *levels], [*levels, 1.0], strict=True)):
        raise ValueError(f"its levels must increase inside (0, 1), got {levels}")


def joined(laws: tuple[Distribution, ...], part: Any, row: Any) -> None:
    """Each row has a law, and a row of it."""
    if part.shape != row.shape:
        raise ValueError(f"{count(part.size, 'part')} do not go with {count(row.size, 'row')}")
    if not 0 <= int(part.min()) <= int(part.max()) < len(laws):
        raise ValueError(f"its rows must come from its {len(laws)} laws, got {int(part.min())} to {int(part.max())}")
    counts = np.asarray([law.shape[0] if law.shape else 1 for law in laws])
    outside = (row < 0) | (row >= counts[part])
    if bool(outside.any()):
        first = int(np.argmax(outside))
        raise ValueError(f"row {row[first]} is not among the {count(counts[part[first]], 'row')} of law {part[first]}")


def among(n: int, largest_tie: int, floored: int = 0, **others: Any) -> None:
    """largest_tie <= n and floored <= n."""
    if largest_tie > n:
        raise ValueError(f"its largest tie is of {largest_tie} scores, but n is {n}")
    if floored > n:
        raise ValueError(f"{floored} of its rows had no width, but n is {n}")


def agreeing(
    known: Collection[type],
    /,
    score: Any,
    q: Any,
    guarantee: Guarantee,
    interpolator: Any,
    form: Any = None,
    labels: Any = None,
    history: Any = None,
) -> None:
    """What known interpolators promise, and how many scores their laws are made of."""
    del score, form, labels
    n, ours = guarantee.n, type(interpolator) in known
    if isinstance(q, Grouped) != isinstance(guarantee, GroupGuarantee):
        raise ValueError(f"its guarantee, {type(guarantee).__name__}, does not go with q, {q!r}")
    if isinstance(q, Grouped):
        if q.labels != guarantee.labels:  # type: ignore[attr-defined]
            raise ValueError("its guarantee is of other groups than its q")
        return
    worth = getattr(guarantee, "worth", n)
    if ours and guarantee.accuracy != (promised := interpolator.accuracy(worth)):
        raise ValueError(f"its guarantee has lambda {guarantee.accuracy}, its interpolator promises {promised}")
    made_of = {Linear: (n, n + 1, n + 2), Naive: (2 * n,)}.get(type(interpolator))
    knots = q.knots.shape[0] if isinstance(q, (PiecewiseLinear, LogisticLinear)) else None
    if (made_of and knots and knots not in made_of) or (
        isinstance(q, Randomised) and q.unit is None and q.total == round(q.total) != n
    ):
        raise ValueError(f"its guarantee has n = {n}, which does not go with q, {q!r}")
    if history is not None and history.weights is None and history.scores.size != n:
        raise ValueError(f"its guarantee has n = {n}, but its history has {history.scores.size} scores")


def numbered(labels: tuple[Any, ...], numbers: Any) -> None:
    """Each row has one of the groups."""
    if not 0 <= int(numbers.min()) <= int(numbers.max()) < len(labels):
        raise ValueError(
            f"its rows must be of its {len(labels)} groups, got {int(numbers.min())} to {int(numbers.max())}"
        )


def weighed(scores: Any, weights: Any = None, forget: Any = None, floored: int = 0, groups: Any = None) -> None:
    """A group and a weight for each score."""
    if groups is not None and groups.numbers.size != scores.size:
        raise ValueError(f"{scores.size} scores do not go with the groups of {count(groups.numbers.size, 'row')}")
    if weights is not None and len(weights) != scores.size:
        raise ValueError(f"{scores.size} scores do not go with {len(weights)} weights")
    if weights is not None and isinstance(forget, HalfLife):
        raise ValueError("a half-life takes no other weights")
    del floored


def ranked(ranks: Any, largest: Any) -> None:
    """Each column of ranks holds 1 to n once, and the n largest scores do not fall."""
    n = len(ranks)
    if bool(np.any(np.sort(ranks, axis=0) != np.arange(1, n + 1)[:, None])):
        raise ValueError(f"each label must have the ranks 1 to {n} once")
    if largest is not None and (largest.shape != (n,) or bool(np.any(np.diff(largest) < 0))):
        raise ValueError(f"its largest scores must be {n} and not fall, got {largest.size}")


def labels_alike(names: Any, margins: Any, joint: Joint, references: Any) -> None:
    """A name and a calibration for each label, all of the same rows."""
    d, n = len(names), joint.n
    counts = [len(margins), joint.ranks.shape[1], d if references is None else len(references)]
    if len(set(names)) != d or counts != [d] * 3 or any(each.guarantee.n != n for each in margins):
        raise ValueError(
            f"its {d} labels must have names of their own, and a calibration of the same {count(n, 'row')} each"
        )
    if (references is None) != (joint.largest is None):
        raise ValueError("its references and the largest scores go together")


def tracked(levels: Any, held: Any, covered: Any, rows: int, extremes: Any, **others: Any) -> None:
    """A position and a count for each level."""
    if not len(levels) == held.size == covered.size:
        raise ValueError(f"{len(levels)} levels do not go with {held.size} positions and {covered.size} counts")
    if not 0 <= int(covered.min()) <= int(covered.max()) <= rows:
        raise ValueError(f"its counts must lie between 0 and its {count(rows, 'row')}, got {int(covered.min())}")
    if len(extremes) != 2 or extremes[0] > extremes[1]:
        raise ValueError("its least score must not be above its largest")
