"""The groups of the rows of X, and splits that leave rows of every group to calibrate on."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import _num_samples

from calibrant._arguments import same_length
from calibrant._words import count, warn_user
from calibrant.distributions.grouped import in_words, labels_of
from calibrant.models.frames import is_frame

OTHERWISE = {
    "by": "give its number, or a function of X",
    "groups": "give its number",
    "features": "give its number",
    "time": "give its number, or the times themselves",
}
FEW = 5
"""Groups that calibrate, below which one wonders whether `by` was meant."""


def groups_in(X: Any, by: Any) -> list[Hashable]:
    """The group of each row: by a function of X, or by one or several of its columns.

    >>> groups_in(np.array([[1.0, 5.0], [2.0, 6.0]]), 0), groups_in([[1], [2]], lambda X: ["a", "b"])
    ([1, 2], ['a', 'b'])
    """
    if callable(by):
        found = labels_of(by(X))
        same_length("X", _num_samples(X), "what by gives", len(found))
        return found
    if hasattr(by, "__array__"):
        raise TypeError(f"by must name a column of X, or several, or be a function of X, got a {type(by).__name__}")
    columns = by if isinstance(by, (list, tuple)) else [by]
    if not columns:
        raise ValueError("by must name a column of X, or several, got none")
    values = [labels_of(column_of(X, name, "by")) for name in columns]
    rows = zip(*values, strict=True)
    return values[0] if len(values) == 1 else [None if None in row else tuple(row) for row in rows]


def check_column(X: Any, name: Any, what: str) -> None:
    """Raise unless X has the column that the parameter `what` names: by name in a data frame, by number in an array."""
    if is_frame(X):
        names = nw.from_native(X, eager_only=True).columns
        if name not in names:
            shown = str(name) if isinstance(name, str) else name  # numpy's own strings print their type
            raise ValueError(f"{what} names the column {shown!r}, and those of X are {', '.join(map(str, names))}")
        return
    if isinstance(name, str):
        raise TypeError(f"{what} names the column {str(name)!r}, but X is no data frame: {OTHERWISE[what]}")
    shape = np.shape(X)
    if len(shape) != 2 or not -shape[1] <= name < shape[1]:
        raise ValueError(f"{what} is column {name}, and X has shape {shape}")


def column_of(X: Any, name: Any, what: str) -> Any:
    """The column of X that the parameter `what` names: by its name in a data frame, by its number in an array."""
    check_column(X, name, what)
    if is_frame(X):
        return nw.from_native(X, eager_only=True).get_column(name).to_list()
    values = np.asarray(X)[:, name]
    # an array of floats has whole numbers as floats
    whole = values.dtype.kind == "f" and bool(np.all(np.isnan(values) | (values == np.floor(values))))
    return [None if math.isnan(value) else int(value) for value in values.tolist()] if whole else values


@dataclass(frozen=True)
class WithinGroups:
    """Splits every group by itself, at random: into `folds`, or once with a `share` held out, at least one row."""

    labels: Sequence[Hashable]
    seed: int
    folds: int = 1
    share: float | None = None

    def split(self, X: Any, y: Any = None) -> Iterator[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
        """The rows to train on and those to calibrate on."""
        del X, y
        numbers = {label: number for number, label in enumerate(dict.fromkeys(self.labels))}
        group = np.asarray([numbers[label] for label in self.labels])
        order = np.lexsort((np.random.default_rng(self.seed).random(len(group)), group))
        counts = np.bincount(group)
        place = np.empty(len(group), np.int64)
        place[order] = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
        if self.share is not None:
            held = place < np.maximum(1, np.rint(self.share * counts))[group]
            yield np.flatnonzero(~held), np.flatnonzero(held)
            return
        fold = np.empty(len(group), np.int64)
        fold[order] = np.arange(len(group)) % self.folds  # of groups in a row: all folds are of one size
        for k in range(self.folds):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def one_of_each(groups: np.ndarray[Any, Any], by: Sequence[Hashable] | None, random: Any) -> np.ndarray[Any, Any]:
    """A row of each group, at random; with `by` one of each group in each of its groups.

    Args:
        groups: The rows that belong together.
        by: The groups that are calibrated by themselves.
        random: A generator with `permutation`.
    """
    own = np.unique(groups, return_inverse=True)[1]
    if by is not None:
        numbers = {label: number for number, label in enumerate(dict.fromkeys(by))}
        own = own * len(numbers) + np.asarray([numbers[label] for label in by])
    order = random.permutation(len(own))
    return np.asarray(np.sort(order[np.unique(own[order], return_index=True)[1]]))


def check_all_groups_held_out(labels: Sequence[Hashable], held: Sequence[np.ndarray[Any, Any]]) -> None:
    """Raise if a group has no row to calibrate on: a later prediction for it would fail."""
    everything = set(labels)
    for k, rows in enumerate(held):
        lacking = everything - {labels[row] for row in rows}
        if lacking:
            first = min(lacking, key=str)
            where = f"in fold {k} of {len(held)}" if len(held) > 1 else "in the part held out"
            others = f", one of {len(lacking)} such groups" if len(lacking) > 1 else ""
            raise ValueError(
                f"group {in_words(first)}, with {count(labels.count(first), 'row')}, has none to calibrate on {where}"
                f"{others}: use fewer folds, or an interpolator with unseen='pooled'"
            )


def warn_of_few_groups(groups: np.ndarray[Any, Any] | None, held: Sequence[np.ndarray[Any, Any]]) -> None:
    """Say what `groups` means where so few of them calibrate that something else may have been meant."""
    if groups is None:
        return
    fewest = min(len(np.unique(groups[rows])) for rows in held)
    if fewest < FEW:
        warn_user(
            f"groups= keeps the rows of a group together in the split, and rows of only {fewest} groups calibrate:"
            " to calibrate each group by itself, use by= of CalibratedRegressor"
        )
