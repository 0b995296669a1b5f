"""The calibration scores and what is known of their rows: groups, weights, time. Together they make q.

`History` keeps them, so that more can join; `interpolate` makes q and its guarantee of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, ClassVar, Protocol, runtime_checkable

import array_api_compat
import numpy as np

from calibrant._arguments import keep, positive
from calibrant._arrays import Array, concatenate, moved, namespace, to_numpy
from calibrant._words import count
from calibrant.distributions.base import Context, Distribution
from calibrant.guarantee import Basis, Guarantee
from calibrant.interpolators.base import ContextInterpolator, Interpolator
from calibrant.interpolators.by_group import Apart, ByGroup, Groups, by_group
from calibrant.interpolators.linear import Linear
from calibrant.interpolators.steps import Naive, Random
from calibrant.interpolators.support import Support
from calibrant.interpolators.weights import CalibrationWeights, Weights, as_weights

ADDING = (Linear, Naive, Random, ByGroup, Apart)
"""Interpolators whose q depends on which scores there are, and on nothing else."""


@runtime_checkable
class Forgetting(Protocol):
    """Which rows still count, given that rows come in time order."""

    @property
    def last(self) -> int:
        """How many rows still count."""

    def weigh(self, rows: int, weights: CalibrationWeights | None) -> CalibrationWeights | None:
        """The weights of the rows that still count, given the weights that they came with.

        Args:
            rows: How many rows still count.
            weights: The weights that they came with, if any.
        """


@dataclass(frozen=True)
class Window:
    """Only the `last` rows count, all of them equally.

    >>> from calibrant import Calibrator
    >>> calibrated = Calibrator(forget=Window(3)).fit([0.0, 0.0, 0.0, 0.0], [9.0, 1.0, 2.0, 3.0])
    >>> calibrated([0.0]).median(), calibrated.update([0.0], [4.0])([0.0]).median()
    (array([2.]), array([3.]))
    """

    last: int

    def __post_init__(self) -> None:
        if isinstance(self.last, bool) or not isinstance(self.last, (int, np.integer)) or self.last < 1:
            raise ValueError(f"Window.last must be a number of rows, 1 or more, got {self.last!r}")
        object.__setattr__(self, "last", int(self.last))

    def weigh(self, rows: int, weights: CalibrationWeights | None) -> CalibrationWeights | None:
        """The weights that they came with.

        Args:
            rows: How many rows still count.
            weights: The weights that they came with, if any.
        """
        return weights


@dataclass(frozen=True)
class HalfLife:
    """A row weighs half as much after `rows` more rows have come: 2^(-age / rows).

    Rows older than 60 half-lives are dropped: they weigh less than rounding does.

    >>> from calibrant import Calibrator
    >>> calibrated = Calibrator(forget=HalfLife(100)).fit([0.0, 0.0, 0.0], [1.0, 2.0, 3.0])
    >>> calibrated.guarantee.kind
    'no claim'
    """

    rows: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", positive("HalfLife.rows", self.rows))

    @property
    def last(self) -> int:
        """60 half-lives."""
        return math.ceil(60 * self.rows)

    def weigh(self, rows: int, weights: CalibrationWeights | None) -> CalibrationWeights | None:
        """2^(-age / rows).

        Args:
            rows: How many rows still count.
            weights: The weights that they came with: there are none.
        """
        return Fading(0.5 ** (np.arange(rows - 1, -1, -1) / self.rows))


@dataclass(frozen=True, eq=False)
class Fading(CalibrationWeights):
    """Weights that fall with age."""

    basis: ClassVar[Basis] = "recent"


@dataclass(frozen=True, eq=False, repr=False)
class History:
    """Scores with their weights or groups: in time order, unless no order matters, since all count equally for ever."""

    scores: Array
    weights: CalibrationWeights | None = None
    forget: Forgetting | None = None
    floored: int = 0
    """The rows of the first fit without a width of their own, see `Guarantee.floored`."""
    groups: Groups | None = None
    basis: Basis | None = None
    """What the guarantee rests on, where it is not what weights and groups say: "nested" or "time"."""

    def __post_init__(self) -> None:
        """A group and a weight for each score, less the rows that are forgotten."""
        n = int(self.scores.shape[0])
        if self.groups is not None and self.groups.numbers.size != n:
            raise ValueError(f"{n} scores do not go with the groups of {count(self.groups.numbers.size, 'row')}")
        if self.weights is not None and len(self.weights) != n:
            raise ValueError(f"{n} scores do not go with {len(self.weights)} weights")
        if self.groups is not None and self.forget is not None:
            raise TypeError("forget= and by= cannot be combined")
        if self.weights is not None and isinstance(self.forget, HalfLife):
            raise TypeError("HalfLife gives rows weights of its own and takes no weights=")
        if self.forget is not None and self.forget.last < n:
            last = slice(-self.forget.last, None)
            keep(self, scores=self.scores[last], weights=None if self.weights is None else self.weights[last])

    def __repr__(self) -> str:
        return f"History({int(self.scores.shape[0])} scores)"

    def then(self, scores: Array, by: Any, weights: Any) -> History:
        """With the scores of later rows, less what is forgotten."""
        xp, home = namespace(self.scores), array_api_compat.device(self.scores)
        if namespace(scores) is not xp or array_api_compat.device(scores) != home:
            scores = moved(scores, self.scores)
        scores = concatenate([self.scores, scores])
        if self.groups is None and self.weights is None and self.forget is None:
            # a stable sort merges what is in order already, so many small updates cost little
            return replace(self, scores=xp.sort(scores, stable=True))
        if self.weights is not None:
            weights = replace(self.weights, values=np.concatenate([self.weights.values, as_weights(weights).values]))
        groups = None if self.groups is None else Groups.of([*self.groups.rows(), *Groups.of(by).rows()])
        return replace(self, scores=scores, groups=groups, weights=weights)

    def check(self, by: Any, weights: Any) -> None:
        """Raise unless later rows come with groups and with weights of the kind that earlier ones had."""
        for name, own, given in (("by", self.groups, by), ("weights", self.weights, weights)):
            if own is None and given is not None:
                raise TypeError(f"the calibrator was fitted without {name}=: update takes no {name}=")
            if given is None and own is not None:
                raise TypeError(f"the calibrator was fitted with {name}=: update needs {name}= of each row")
        if weights is not None and type(as_weights(weights)) is not type(self.weights):
            kinds = [type(each).__name__ for each in (self.weights, as_weights(weights))]
            raise TypeError(f"the calibrator was fitted with {kinds[0]} as weights=, got {kinds[1]}")


def merged(histories: Sequence[History]) -> History:
    """One history of all the scores, whatever the order of the parts."""
    first, scores = histories[0], concatenate([each.scores for each in histories])
    for each in histories:
        if each.forget is not None:
            raise TypeError(f"parts have no order of time, so {each.forget!r} cannot be merged")
        if type(each.weights) is not type(first.weights) or (each.groups is None) != (first.groups is None):
            raise ValueError("calibrators with and without weights= or by= cannot be merged")
    keys = [to_numpy(scores)]  # by score, then by weight or group: the same for the same rows in any parts
    weights = groups = None
    if first.weights is not None:
        weights = replace(first.weights, values=np.concatenate([each.weights.values for each in histories]))  # type: ignore[union-attr]
        keys.insert(0, weights.values)
    if first.groups is not None:
        groups = Groups.of([label for each in histories for label in each.groups.rows()])  # type: ignore[union-attr]
        keys.insert(0, groups.numbers)
    order = np.lexsort(keys)
    return History(
        namespace(scores).take(scores, namespace(scores).asarray(order), axis=0),
        None if weights is None else weights[order],
        None,
        sum(each.floored for each in histories),
        None if groups is None else replace(groups, numbers=groups.numbers[order]),
        next((each.basis for each in histories if each.basis is not None), None),
    )


def remember(scores: Array, by: Any, weights: Weights, forget: Forgetting | None, floored: int) -> History:
    """The scores with the group and the weight of each row."""
    weights = None if weights is None else as_weights(weights)
    return History(scores, weights, forget, floored, None if by is None else Groups.of(by))


def interpolate(
    interpolator: Interpolator, history: History, support: Support, rng: Any = None, *, drawn: bool = False
) -> tuple[Distribution, Guarantee, Interpolator]:
    """q, what it promises, and the interpolator that made it: with groups, `by_group` says which."""
    scores, weights, groups = history.scores, history.weights, history.groups
    if history.forget is not None:
        weights = history.forget.weigh(scores.shape[0], weights)
    if groups is not None and not isinstance(interpolator, ContextInterpolator):
        interpolator = by_group(interpolator)
    if groups is None and weights is None:
        q, guarantee = interpolator.fit(scores, support=support, rng=rng), Guarantee.of(interpolator, scores)
    elif isinstance(interpolator, ContextInterpolator):
        context = Context(scores.shape[0], None if groups is None else groups.rows(), weights, rng)
        q, guarantee = interpolator.fit_rows(scores, context, support=support)
    elif weights is None or "weights" not in signature(interpolator.fit).parameters:
        raise TypeError(f"{type(interpolator).__name__}.fit has no parameter weights, so it cannot use weights=")
    else:
        q = interpolator.fit(scores, weights=weights, support=support, rng=rng)  # type: ignore[call-arg]
        guarantee = weights.guarantee(interpolator, scores)
    if history.floored or drawn:
        guarantee = guarantee.noting(floored=history.floored, drawn=drawn)
    return q, guarantee if history.basis is None else guarantee.on_basis(history.basis), interpolator
