"""The scores that q was made of, so that more can join them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import Array, concatenate, first_and_count, moved, namespace
from calibrant._words import in_all
from calibrant.distributions.context import Context
from calibrant.distributions.grouped import labels_of
from calibrant.interpolators.forget import Forgetting
from calibrant.interpolators.weights import CalibrationWeights, as_weights


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of each row, as its number among the labels."""

    labels: tuple[Hashable, ...]
    numbers: NDArray[np.int64]

    @classmethod
    def of(cls, by: Any) -> Groups:
        """From a label for each row, none of which is missing."""
        rows = labels_of(by)
        labels = tuple(dict.fromkeys(rows))
        index = {label: number for number, label in enumerate(labels)}
        return cls(labels, np.asarray([index[label] for label in rows], np.int64))

    def rows(self) -> list[Hashable]:
        """The label of each row."""
        return [self.labels[number] for number in self.numbers]

    def then(self, by: Any) -> Groups:
        """With the groups of later rows."""
        later = labels_of(by)
        missing = np.asarray([label is None for label in later])
        if missing.any():
            row, count = first_and_count(missing)
            raise ValueError(f"by is missing in row {row} ({in_all(count)}): every row needs a group")
        return Groups.of([*self.rows(), *later])


@dataclass(frozen=True, eq=False, repr=False)
class History:
    """Scores and their weights: in time order, unless no order matters, since all count equally for ever."""

    scores: Array
    weights: CalibrationWeights | None = None
    forget: Forgetting | None = None
    floored: int = 0
    """The rows of the first fit without a width of their own, see `Guarantee.floored`."""
    groups: Groups | None = None

    def __repr__(self) -> str:
        return f"History({int(self.scores.shape[0])} scores)"

    @classmethod
    def of(cls, scores: Array, weights: Any, forget: Forgetting | None, floored: int = 0) -> History:
        """What is not forgotten of these rows."""
        weights = None if weights is None else as_weights(weights)
        if forget is not None:
            scores, weights = forget.recent(scores, weights)
        return cls(scores, weights, forget, floored)

    def context(self, rng: Any = None) -> Context:
        """What is known of the rows beside their scores."""
        rows = int(self.scores.shape[0])
        by = None if self.groups is None else self.groups.rows()
        return Context(rows, by, self.weights if self.forget is None else self.forget.weigh(rows, self.weights), rng)

    def then(self, scores: Array, weights: Any, by: Any = None) -> History:
        """With later rows, less what is forgotten."""
        joined = concatenate([self.scores, _beside(scores, self.scores)])
        if self.groups is not None:
            return replace(self, scores=joined, groups=self.groups.then(by))
        if self.weights is None and self.forget is None:
            # a stable sort merges what is in order already, so many small updates cost little
            return replace(self, scores=namespace(joined).sort(joined, stable=True))
        return History.of(joined, self._joined(weights), self.forget, self.floored)

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

    def _joined(self, weights: Any) -> CalibrationWeights | None:
        if self.weights is None:
            return None
        return replace(self.weights, values=np.concatenate([self.weights.values, as_weights(weights).values]))


def _beside(scores: Array, like: Array) -> Array:
    """Scores where the others are; of one home, the wider type of the two wins."""
    same = namespace(scores) is namespace(like) and array_api_compat.device(scores) == array_api_compat.device(like)
    return scores if same else moved(scores, like)
