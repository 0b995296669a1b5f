"""The scores that q was made of, so that more can join them, and which of them still count as time goes on."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import one_number
from calibrant._arrays import Array, concatenate, moved, namespace, refuse
from calibrant._words import count
from calibrant.distributions.context import Context
from calibrant.distributions.grouped import labels_of
from calibrant.guarantee import Basis
from calibrant.interpolators.weights import CalibrationWeights, as_weights


@runtime_checkable
class Forgetting(Protocol):
    """Which rows still count, given that rows come in time order."""

    @property
    def last(self) -> int:
        """How many rows are kept."""

    def weigh(self, rows: int, weights: CalibrationWeights | None) -> CalibrationWeights | None:
        """What the rows that are kept weigh, given what they weighed when they came."""


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
        """What they weighed when they came.

        Args:
            rows: How many rows are kept.
            weights: Likelihood ratios p_new(x) / p(x) of the calibration rows, up to a factor, one number each.
        """
        del rows
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
        rows = one_number("HalfLife.rows", self.rows)
        if not 0 < rows < math.inf:
            raise ValueError(f"HalfLife.rows must be positive and finite, got {self.rows!r}")
        object.__setattr__(self, "rows", rows)

    @property
    def last(self) -> int:
        """The rows that still weigh something."""
        return math.ceil(60 * self.rows)

    def weigh(self, rows: int, weights: CalibrationWeights | None) -> CalibrationWeights | None:
        """2^(-age / rows).

        Args:
            rows: How many rows are kept.
            weights: Likelihood ratios p_new(x) / p(x) of the calibration rows, up to a factor, one number each.
        """
        if weights is not None:
            raise TypeError("HalfLife gives rows weights of its own and takes no weights=")
        return Fading(0.5 ** (np.arange(rows - 1, -1, -1) / self.rows))


@dataclass(frozen=True, eq=False)
class Fading(CalibrationWeights):
    """Weights that fall with age."""

    basis: ClassVar[Basis] = "recent"


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of each row, as its number among the labels."""

    labels: tuple[Hashable, ...]
    numbers: NDArray[np.int64]

    def __post_init__(self) -> None:
        """Each row has one of the groups."""
        number, numbers = len(self.labels), self.numbers
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < number:
            raise ValueError(f"its rows must be of its {number} groups, got {numbers.min()} to {numbers.max()}")

    @classmethod
    def of(cls, by: Any) -> Groups:
        """From a label for each row, none of which may be missing; numbers come before names, each in their order."""
        rows = labels_of(by)
        refuse("by", np.asarray([label is None for label in rows], bool), "is missing")
        labels = tuple(sorted(set(rows), key=_parts))
        index = {label: number for number, label in enumerate(labels)}
        return cls(labels, np.asarray([index[label] for label in rows], np.int64))

    def rows(self) -> list[Hashable]:
        """The label of each row."""
        return [self.labels[number] for number in self.numbers]


def _parts(label: Any) -> tuple[Any, ...]:
    return tuple((isinstance(part, str), part) for part in (label if isinstance(label, tuple) else (label,)))


@dataclass(frozen=True, eq=False, repr=False)
class History:
    """Scores and their weights: in time order, unless no order matters, since all count equally for ever."""

    scores: Array
    weights: CalibrationWeights | None = None
    forget: Forgetting | None = None
    floored: int = 0
    """The rows of the first fit without a width of their own, see `Guarantee.floored`."""
    groups: Groups | None = None

    def __post_init__(self) -> None:
        """A group and a weight for each score."""
        n = int(self.scores.shape[0])
        if self.groups is not None and self.groups.numbers.size != n:
            raise ValueError(f"{n} scores do not go with the groups of {count(self.groups.numbers.size, 'row')}")
        if self.weights is not None and len(self.weights) != n:
            raise ValueError(f"{n} scores do not go with {len(self.weights)} weights")

    def __repr__(self) -> str:
        return f"History({int(self.scores.shape[0])} scores)"

    @classmethod
    def of(cls, scores: Array, weights: Any, forget: Forgetting | None, floored: int = 0) -> History:
        """What is not forgotten of these rows."""
        weights, n = None if weights is None else as_weights(weights), scores.shape[0]
        if forget is not None and n > forget.last:
            scores = scores[n - forget.last :]
            weights = None if weights is None else weights.filter(np.arange(n) >= n - forget.last)
        return cls(scores, weights, forget, floored)

    def context(self, rng: Any = None) -> Context:
        """What is known of the rows beside their scores."""
        rows = int(self.scores.shape[0])
        by = None if self.groups is None else self.groups.rows()
        return Context(rows, by, self.weights if self.forget is None else self.forget.weigh(rows, self.weights), rng)

    def then(self, scores: Array, weights: Any, by: Any = None) -> History:
        """With later rows, less what is forgotten."""
        xp, alike = namespace(self.scores), namespace(scores) is namespace(self.scores)
        if not (alike and array_api_compat.device(scores) == array_api_compat.device(self.scores)):
            scores = moved(scores, self.scores)
        joined = concatenate([self.scores, scores])
        if self.groups is not None:
            return replace(self, scores=joined, groups=Groups.of([*self.groups.rows(), *Groups.of(by).rows()]))
        if self.weights is None and self.forget is None:
            # a stable sort merges what is in order already, so many small updates cost little
            return replace(self, scores=xp.sort(joined, stable=True))
        if self.weights is not None:
            values = np.concatenate([self.weights.values, as_weights(weights).values])
            weights = replace(self.weights, values=values)
        return History.of(joined, weights, self.forget, self.floored)

    def check(self, weights: Any, by: Any = None) -> None:
        """Raise unless later rows come with groups and with weights of the kind that earlier ones had."""
        if self.groups is None and by is not None:
            raise TypeError("the calibrator was fitted without groups: update takes no by=")
        if self.groups is not None and by is None:
            raise TypeError("the calibrator was fitted by group: update needs the group of each row, by=")
        if self.weights is None and weights is not None:
            raise TypeError("the calibrator was fitted without weights: update takes no weights=")
        if self.weights is not None and (weights is None or type(as_weights(weights)) is not type(self.weights)):
            got = "none" if weights is None else type(as_weights(weights)).__name__
            raise TypeError(f"the calibrator was fitted with {type(self.weights).__name__} as weights=, got {got}")
