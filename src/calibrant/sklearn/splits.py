"""Which rows train and which are held out, as `cv` says."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np
from sklearn.model_selection import GroupKFold, GroupShuffleSplit, KFold, ShuffleSplit, check_cv

from calibrant._arguments import unit
from calibrant._types import SupportsArray
from calibrant._words import count, in_all, warn_user
from calibrant.distributions.grouped import in_words

Numbers = np.ndarray[Any, Any]
Fold = tuple[Numbers, Numbers]
"""The rows that train, and those that are held out."""

LATEST = 0.2
"""The share of the rows that "latest" holds out, as by default a random split does."""
WAYS = "cv must be a share, a number of folds, 'auto', 'mixture', 'latest' or a splitter"
FEW = 5
"""Groups that calibrate, below which one wonders whether `by` was meant."""


class Splitter(Protocol):
    """A splitter of scikit-learn."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterable[tuple[Any, Any]]:
        """The rows to train on and the rows that are held out, for each fold."""


@dataclass(frozen=True)
class Split:
    """What `cv` comes to: a splitter of the user's own, a number of folds, or one part that is held out."""

    share: float | None = None
    """The part that is held out; None is a fifth of the rows, or 5 sqrt(n) of many."""
    number: int = 0
    """How many folds; 0 holds one part out."""
    splitter: Any = None
    """The user's own splitter, or a list of splits."""
    in_order: bool = False
    """Whether the last rows are held out, and folds are made of neighbours."""
    mixture: bool = False
    """Whether the distributions of the folds are averaged."""

    @classmethod
    def of(cls, cv: Any) -> Split:
        """What this value of `cv` means.

        >>> Split.of(0.3).share, Split.of(5).number, Split.of("latest").in_order, Split.of("mixture:10").number
        (0.3, 5, True, 10)
        """
        if isinstance(cv, Split):
            return cv
        if isinstance(cv, str):
            return cls._named(cv)
        if isinstance(cv, (bool, np.bool_)):
            raise TypeError(f"{WAYS}, got {cv!r}")
        if isinstance(cv, Integral):
            if cv < 2:
                raise ValueError(f"cv={cv} is no number of folds: give 2 or more, or a share such as cv=0.2")
            return cls(number=int(cv))
        if cv is None:  # as scikit-learn's estimators have it
            return cls(number=5)
        return cls(unit("cv as a share of the rows", float(cv))) if isinstance(cv, Real) else cls(splitter=cv)

    @classmethod
    def _named(cls, cv: str) -> Split:
        name, _, number = cv.partition(":")
        if cv == "auto":
            return cls()
        if name == "mixture":
            if number and not (number.isdecimal() and int(number) > 1):
                raise ValueError(f"cv must be 'mixture', or 'mixture:10' for the mean of 10 folds, got {cv!r}")
            return cls(number=int(number or 5), mixture=True)
        if name == "latest":
            try:
                return cls(unit("the share in cv", float(number)) if number else LATEST, in_order=True)
            except ValueError as error:
                raise ValueError(
                    f"cv must be 'latest', or 'latest:0.3' for the last 30% of the rows, got {cv!r}"
                ) from error
        way = ": wrap a model that is fitted already in FrozenEstimator(model), and every row calibrates"
        raise ValueError(f"{WAYS}, got {cv!r}{way if cv == 'prefit' else ''}")

    @property
    def at_random(self) -> bool:
        """Whether rows are drawn at random, with nobody having said so by a splitter."""
        return self.splitter is None and not self.in_order

    @property
    def one_part(self) -> bool:
        """Whether it is known beforehand that one part of the rows calibrates, which the models do not see."""
        return self.splitter is None and not self.number

    def uses_every_row(self, folds: Sequence[Fold]) -> bool:
        """Whether models that did not see a row score it, and models of all rows predict.

        Args:
            folds: What `folds` gave.
        """
        return len(folds) > 1 and not self.mixture

    def follows(self, folds: Sequence[Fold]) -> bool:
        """Whether every row that is held out comes after all that train.

        Args:
            folds: What `folds` gave.
        """
        return not self.at_random and all(np.max(train) < np.min(held) for train, held in folds)

    def folds(
        self,
        X: Any,
        y: Any,
        given: Mapping[str, Any],
        random: np.random.RandomState,
        *,
        by: Sequence[Hashable] | None = None,
        copies: Numbers | None = None,
    ) -> list[Fold]:
        """The rows that train and those that are held out, once or for each fold.

        Of rows that are copies one is held out, at most, and then none of them trains.

        Args:
            X: The features of the rows.
            y: Their labels.
            given: What goes to the splitter, such as `groups`.
            random: Draws a seed for the split.
            by: The groups that calibrate by themselves, of which some rows each are held out.
            copies: A number for each row, the same for copies.
        """
        seed = int(random.randint(2**31 - 1))
        groups = given.get("groups")
        if self.at_random and copies is not None and groups is None:
            # the first of each are split, and copies of those that train do so too
            some = first_of_each(copies)
            own = None if by is None else [by[row] for row in some]
            folds = self._cut(X, np.asarray(y)[some], {}, seed, own)
            return [(np.flatnonzero(np.isin(copies, copies[some[train]])), some[held]) for train, held in folds]
        folds = self._cut(X, y, given, seed, by)
        if copies is None:
            return folds
        apart = [
            (train[~np.isin(copies[train], copies[held])], held[first_of_each(copies[held])]) for train, held in folds
        ]
        for k, (train, _) in enumerate(apart):
            if not len(train):
                raise ValueError(f"split {k} of cv trains on nothing but copies of the rows that it holds out")
        return apart

    def _cut(self, X: Any, y: Any, given: Mapping[str, Any], seed: int, by: Sequence[Hashable] | None) -> list[Fold]:
        groups, n = given.get("groups"), len(y)
        if self.splitter is not None:
            folds = list(_checked(check_cv(self.splitter).split(X, y, **given)))
            if not folds:
                raise ValueError(
                    f"cv must yield at least one split, got none from {self.splitter!r}: a generator gives its splits"
                    " only once"
                )
            return folds
        if self.in_order and groups is not None:
            raise TypeError(
                "cv='latest' holds out the last rows, and groups= keeps the rows of a group together: give cv as a"
                " share or a splitter that knows groups, or leave groups out"
            )
        share = self._share(n if groups is None else len(np.unique(np.asarray(groups))), n, groups)
        rows: Any = np.arange(n)
        if by is not None and groups is None and not self.in_order:
            return list(_checked(_within(by, seed, self.number, share)))
        if self.in_order and not self.number:
            first = n - math.ceil(share * n)
            return [(rows[:first], rows[first:])]
        splitter: Any
        if self.in_order:
            splitter = KFold(self.number)
        elif self.number:
            splitter = (KFold if groups is None else GroupKFold)(self.number, shuffle=True, random_state=seed)
        else:
            one = ShuffleSplit if groups is None else GroupShuffleSplit
            splitter = one(1, test_size=share, random_state=seed)
        return list(_checked(splitter.split(rows, **given)))

    def _share(self, units: int, rows: int, groups: Any) -> float:
        """The share of so many rows, or groups, that is held out; of which some must be left to train on."""
        if self.number:
            return 0.0
        share = min(0.2, 5 / math.sqrt(max(units, 1))) if self.share is None else self.share
        if rows and math.ceil(share * units) >= units:
            what = "" if groups is None else f" in {units} groups"
            raise ValueError(
                f"cv={share:g} of n_samples={rows}{what} leaves none to train on: give more rows, or a model that is"
                " fitted already in a FrozenEstimator, and every row calibrates"
            )
        return share


Folds = float | str | Splitter | Split | Iterable[tuple[Sequence[int] | SupportsArray, Sequence[int] | SupportsArray]]
"""A share to hold out, "auto", "latest", "mixture", a number of folds, a splitter, or the splits themselves."""


def first_of_each(numbers: Numbers) -> Numbers:
    """The places where each number stands first, in order."""
    return np.sort(np.unique(numbers, return_index=True)[1])


def units(rows: Numbers, groups: Numbers | None) -> int:
    """How many can be held apart among these rows: the groups, or the rows where there are none."""
    return len(rows) if groups is None else len(np.unique(groups[rows]))


def _within(labels: Sequence[Hashable], seed: int, number: int, share: float) -> Iterator[Fold]:
    """Every group split by itself, at random: into folds, or once, with one row at least held out of each.

    >>> [(train, held)] = _within(["a"] * 8 + ["b"] * 2 + ["c"], 0, 0, 0.25)
    >>> sorted("aaaaaaaabbc"[row] for row in held)
    ['a', 'a', 'b', 'c']
    """
    group = numbered(labels)
    order = np.lexsort((np.random.default_rng(seed).random(len(group)), group))
    counts = np.bincount(group)
    fold = np.empty(len(group), np.int64)
    if number:
        fold[order] = np.arange(len(group)) % number  # of groups in a row: all folds are of one size
    else:
        place = np.empty(len(group), np.int64)
        place[order] = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
        fold = np.where(place < np.maximum(1, np.rint(share * counts))[group], 0, 1)
    for k in range(number or 1):
        yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def numbered(labels: Sequence[Hashable]) -> Numbers:
    """A number for each row, the same for equal labels."""
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    return np.asarray([numbers[label] for label in labels], np.int64)


def _checked(splits: Any) -> Iterator[Fold]:
    """Each split as two arrays of row numbers, neither empty, without a row in both."""
    for k, parts in enumerate(splits):
        train, test = (np.flatnonzero(part) if part.dtype == bool else part for part in map(np.asarray, parts))
        for name, part in (("train on", train), ("calibrate on", test)):
            if part.size == 0:
                raise ValueError(f"split {k} of cv must have rows to {name}, got none")
        seen = np.intersect1d(train, test)
        if seen.size:
            raise ValueError(f"cv puts row {seen[0]} in both parts of a split ({in_all(seen.size)})")
        yield np.sort(train), test


def one_of_each(groups: Numbers, by: Sequence[Hashable] | None, random: Any) -> Numbers:
    """A row of each group, at random; with `by` one of each group in each of its groups.

    Args:
        groups: The rows that belong together.
        by: The groups that are calibrated by themselves.
        random: A generator with `permutation`.
    """
    own = np.unique(groups, return_inverse=True)[1]
    if by is not None:
        own = own * len(by) + numbered(by)
    order = random.permutation(len(own))
    return np.asarray(np.sort(order[np.unique(own[order], return_index=True)[1]]))


def check_all_groups_held_out(labels: Sequence[Hashable], held: Sequence[Numbers]) -> None:
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


def warn_of_few_groups(groups: Numbers | None, held: Sequence[Numbers]) -> None:
    """Say what `groups` means where so few of them calibrate that something else may have been meant."""
    if groups is None:
        return
    fewest = min(len(np.unique(groups[rows])) for rows in held)
    if fewest < FEW:
        warn_user(
            f"groups= keeps the rows of a group together in the split, and rows of only {fewest} groups calibrate:"
            " to calibrate each group by itself, use by= of CalibratedRegressor"
        )
