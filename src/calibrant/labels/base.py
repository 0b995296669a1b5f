"""What a kind of label must give."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant._arguments import generator, same_length
from calibrant._arrays import Array, anywhere, device_like, first_and_count, floats, namespace
from calibrant._types import Bound, Draws
from calibrant._words import about, in_all
from calibrant.distributions.base import Distribution
from calibrant.predictions import Prediction, Quantiles


class Labels(ABC):
    """A label is Y = g(Y') with g non-decreasing and Y' continuous.

    To write a kind of your own, make a frozen dataclass with `collapse`, and with what else differs from here.
    `calibrant.testing.check_labels` checks it. `bound` is what is known of each row, such as a capacity.

    >>> from calibrant import Calibrator
    >>> @dataclass(frozen=True)
    ... class AtLeastZero(Labels):
    ...     def collapse(self, distribution, *, bound=None):
    ...         return distribution.clip(lower=0.0)
    >>> Calibrator(labels=AtLeastZero()).fit([1.0, 2.0, 3.0], [0.0, 2.5, 3.5])([0.2]).interval(0.5)
    (array([0.]), array([0.7]))
    """

    draws: ClassVar[bool] = False
    """Whether `spread` draws: where labels have probabilities of their own, and a forecast needs no width."""

    @property
    def by_row(self) -> bool:
        """Whether it needs a `bound`."""
        return False

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that `bound` must have."""
        return ()

    @abstractmethod
    def collapse(self, distribution: Distribution, *, bound: Bound = None) -> Distribution:
        """The distribution of g(Y') for each row, where `distribution` is that of Y'.

        Args:
            distribution: The distribution of Y' in each row.
            bound: What is known of each row, such as a capacity: an array, or a table with the columns it names.
        """

    def check(self, y: Array, bound: Bound = None) -> None:  # noqa: B027
        """Raise a ValueError that names the rows, where y cannot be such a label.

        Args:
            y: The labels: one number per row.
            bound: What is known of each row, as in `collapse`.
        """

    def spread(self, y: Array, prediction: Any, *, bound: Bound = None, rng: Draws = None) -> Array:
        """Y' for each label, with g(Y') = y; where many are possible, one is drawn by `rng`.

        Args:
            y: The labels: one number per row.
            prediction: The prediction of each row.
            bound: What is known of each row, as in `collapse`.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
        """
        return y

    def spread_prediction(self, prediction: Any, *, bound: Bound = None) -> Prediction | Distribution:
        """The prediction of Y', of the same kind as that of Y.

        Args:
            prediction: The prediction of each row.
            bound: What is known of each row, as in `collapse`.
        """
        return prediction  # type: ignore[no-any-return]

    def clip_prediction(self, prediction: Any, *, bound: Bound = None) -> Prediction | Distribution:
        """`spread_prediction` where another kind follows, which may not be defined outside the labels of this one.

        Args:
            prediction: The prediction of each row.
            bound: What is known of each row, as in `collapse`.
        """
        return self.spread_prediction(prediction, bound=bound)

    def judging(self) -> Labels:
        """The kind whose `collapse`, after its `spread_prediction`, gives the Y that a forecast means."""
        return self

    def __or__(self, other: Labels) -> Labels:
        """Y = g(h(Y')): `self` says what the label is, and `other` what its continuous label is."""
        if not isinstance(other, Labels):
            return NotImplemented
        return Chained(tuple(step for part in (self, other) for step in getattr(part, "steps", (part,))))


@dataclass(frozen=True)
class Chained(Labels):
    """One kind after the other, from the label inwards: what `a | b | c` makes."""

    steps: tuple[Labels, ...]

    def __post_init__(self) -> None:
        if not self.steps or not all(isinstance(step, Labels) for step in self.steps):
            raise TypeError(f"Chained.steps must be a tuple of one or more Labels, got {self.steps!r}")

    @property
    def by_row(self) -> bool:
        return any(step.by_row for step in self.steps)

    @property
    def draws(self) -> bool:  # type: ignore[override]
        return any(step.draws for step in self.steps)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for step in self.steps for name in step.columns))

    def check(self, y: Array, bound: Bound = None) -> None:
        """That of the first step: the others check what it makes of the labels."""
        self.steps[0].check(y, bound)

    def spread(self, y: Array, prediction: Any, *, bound: Bound = None, rng: Draws = None) -> Array:
        for step in self.steps:
            step.check(y, bound)
            y = step.spread(y, prediction, bound=bound, rng=rng)
            if step is not self.steps[-1]:
                prediction = step.clip_prediction(prediction, bound=bound)
        return y

    def spread_prediction(self, prediction: Any, *, bound: Bound = None) -> Prediction | Distribution:
        *outer, last = self.steps
        for step in outer:
            prediction = step.clip_prediction(prediction, bound=bound)
        return last.spread_prediction(prediction, bound=bound)

    def collapse(self, distribution: Distribution, *, bound: Bound = None) -> Distribution:
        for step in reversed(self.steps):
            distribution = step.collapse(distribution, bound=bound)
        return distribution

    def judging(self) -> Chained:
        return Chained(tuple(step.judging() for step in self.steps))

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.steps))


def column_of(labels: Labels, name: Any, bound: Any, what: str, rows: Any) -> Array:
    """One number for each of these rows: a column of `bound`, `bound` itself if that is all, or a function of it."""
    column = floats(what, _column(labels, name, bound), like=getattr(rows, "like", rows), ndim=1, allow_inf=True)
    same_length("the prediction", rows.shape[0], what, column.shape[0])
    return column


def _column(labels: Labels, name: Any, bound: Any) -> Any:
    if callable(name):
        return name(bound)
    if len(labels.columns) == 1 and not hasattr(bound, "columns") and not hasattr(bound, "keys"):
        if getattr(bound, "ndim", 1) == 1:
            return bound
        raise TypeError(f"{labels} needs a table with a column {name!r}, got an array without names: pass a function")
    try:
        return bound[name]
    except KeyError:
        raise KeyError(f"{labels} needs a column {name!r}, which bound= does not have") from None


def refuse_labels(name: str, values: Array, bad: Array, problem: str) -> None:
    """Raise where a value is bad, with the first one, its row and the number of such rows."""
    if anywhere(bad):
        row, count = first_and_count(bad)
        first = values[row] if values.ndim == 1 else values[row, ...][bad[row, ...]][0]
        raise about("labels", ValueError(f"{name} is {float(first):.6g} in row {row} ({in_all(count)}){problem}"))


def shown(value: Any) -> str:
    """A number, a name, or the name of a function, as the repr of a kind has it."""
    return f"{value:g}" if isinstance(value, float) else getattr(value, "__name__", repr(value))


def uniform(y: Array, rng: Draws) -> Array:
    """A number for each label, just inside (0, 1)."""
    margin = 16 * float(namespace(y).finfo(y.dtype).eps)
    return device_like(np.clip(generator(rng).random(y.shape[0]), margin, 1 - margin), y)


def takes_any_quantile(labels: Labels | None) -> bool:
    """Whether it takes quantiles wherever they are, as refined ones may be below 0: a bare logarithm does not.

    >>> from calibrant.labels.named import labels_named
    >>> [name for name in ("0:", "counts", "log", "log1p", "0:,log1p") if takes_any_quantile(labels_named(name))]
    ['0:', 'counts', '0:,log1p']
    """
    if labels is None or labels.by_row:
        return True
    try:
        labels.spread_prediction(Quantiles([0.1, 0.5, 0.9], [[-9.0, 0.5, 9.0]]))
    except ValueError:
        return False
    return True
