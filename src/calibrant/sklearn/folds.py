"""Which rows train and which calibrate."""

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
from calibrant._words import in_all
from calibrant.sklearn.groups import WithinGroups


class Splitter(Protocol):
    """A splitter of scikit-learn."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterable[tuple[Any, Any]]:
        """The rows to train on and the rows that are held out, for each fold."""


Folds = float | str | Splitter | Iterable[tuple[Sequence[int] | SupportsArray, Sequence[int] | SupportsArray]]
"""A share to hold out, "auto", "latest", "mixture", a number of folds, a splitter, or the splits themselves."""
LATEST = 0.2
"""The share of the rows that "latest" holds out, as by default a random split does."""


def folds_of(
    cv: Any, X: Any, y: Any, split: Mapping[str, Any], random: Any, by: Sequence[Hashable] | None = None
) -> list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """The rows to train on and the rows to calibrate on, once or for each fold; with `by` of every group some."""
    grouped = split.get("groups") is not None
    seed = random.randint(2**31 - 1)
    if isinstance(cv, (bool, np.bool_)):
        raise TypeError(f"cv must be a share, a number of folds, 'auto', 'mixture', 'latest' or a splitter, got {cv!r}")
    if is_mixture(cv):
        cv = _folds_of_mixture(cv)
    if isinstance(cv, str) and cv == "auto":
        cv = share_of(len(y) if not grouped else len(np.unique(np.asarray(split["groups"]))))
    if isinstance(cv, str):
        share = _latest(cv)
        if grouped:
            raise TypeError(
                f"cv={cv!r} holds out the last rows, and groups= keeps the rows of a group together: give cv as a share"
                " or a splitter that knows groups, or leave groups out"
            )
        _check_enough(share, len(y), None)
        splitter: Any = Latest(share)
    elif isinstance(cv, Integral) and by is not None and not grouped:
        splitter = WithinGroups(by, seed, folds=int(cv))
    elif isinstance(cv, Integral):
        if cv < 2:
            raise ValueError(f"cv={cv} is no number of folds: give 2 or more, or a share such as cv=0.2")
        splitter = (GroupKFold if grouped else KFold)(int(cv), shuffle=True, random_state=seed)
    elif isinstance(cv, Real):
        share = unit("cv as a share of the rows", float(cv))
        _check_enough(share, len(y), split.get("groups"))
        splitter = (GroupShuffleSplit if grouped else ShuffleSplit)(1, test_size=share, random_state=seed)
        splitter = splitter if by is None or grouped else WithinGroups(by, seed, share=share)
    else:
        splitter = check_cv(cv)
    folds = list(_check_columns(splitter.split(X, y, **split)))
    if not folds:
        raise ValueError(
            f"cv must yield at least one split, got none from {cv!r}: a generator gives its splits only once"
        )
    return folds


@dataclass(frozen=True)
class Latest:
    """Holds out the last rows, in the order given."""

    share: float

    def split(self, X: Any, y: Any) -> Iterator[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
        """The earlier rows to train on, and the later ones to calibrate on."""
        del X
        rows = np.arange(len(y))
        first = len(rows) - math.ceil(self.share * len(rows))
        yield rows[:first], rows[first:]


def _latest(cv: str) -> float:
    """The share that "latest" or, for another one, "latest:0.3" holds out."""
    name, _, share = cv.partition(":")
    if name == "latest":
        try:
            return unit("the share in cv", float(share)) if share else LATEST
        except ValueError as error:
            raise ValueError(
                f"cv must be 'latest', or 'latest:0.3' for the last 30% of the rows, got {cv!r}"
            ) from error
    way = ": wrap a model that is fitted already in FrozenEstimator(model), and every row calibrates"
    raise ValueError(
        "cv must be a share, a number of folds, 'auto', 'mixture', 'latest' or a splitter, got"
        f" {cv!r}{way if cv == 'prefit' else ''}"
    )


def share_of(count: int) -> float:
    """The share of so many rows that calibrates: a fifth, or 10 sqrt(n) rows, whichever is less.

    >>> share_of(1_000), share_of(1_000_000)
    (0.2, 0.01)
    """
    return min(0.2, 10 / math.sqrt(max(count, 1)))


def is_mixture(cv: Any) -> bool:
    """Whether the distributions of several folds are averaged."""
    return isinstance(cv, str) and cv.partition(":")[0] == "mixture"


def _folds_of_mixture(cv: str) -> int:
    number = cv.partition(":")[2] or "5"
    if not number.isdecimal() or int(number) < 2:
        raise ValueError(f"cv must be 'mixture', or 'mixture:10' for the mean of 10 folds, got {cv!r}")
    return int(number)


def is_latest(cv: Any) -> bool:
    """Whether the last rows calibrate."""
    return isinstance(cv, str) and cv.partition(":")[0] == "latest"


def splits_at_random(cv: Any) -> bool:
    """Whether rows are drawn at random, with nobody having said so by a splitter."""
    return isinstance(cv, Real) or cv == "auto" or is_mixture(cv)


def uses_every_row(cv: Any) -> bool:
    """Whether every row trains and calibrates: a number of folds, or a splitter that makes several."""
    return not isinstance(cv, (float, str))


def _check_enough(share: float, rows: int, groups: Any) -> None:
    """Raise where so large a share of so few rows, or groups, leaves none to train on."""
    count = rows if groups is None else len(np.unique(np.asarray(groups)))
    if rows and math.ceil(share * count) >= count:
        what = "" if groups is None else f" in {count} groups"
        raise ValueError(
            f"cv={share:g} of n_samples={rows}{what} leaves none to train on: give more rows, or a model that is fitted"
            " already in a FrozenEstimator, and every row calibrates"
        )


def units(rows: np.ndarray[Any, Any], groups: np.ndarray[Any, Any] | None) -> int:
    """How many can be held apart among these rows: the groups, or the rows where there are none."""
    return len(rows) if groups is None else len(np.unique(groups[rows]))


def at_most_folds(cv: Any, count: int) -> Any:
    """A number of folds, or so many where they are fewer, but two at least; a splitter as it is."""
    number = isinstance(cv, Integral) and not isinstance(cv, bool)
    return max(2, min(int(cv), count)) if number and cv > 2 else cv


def _check_columns(splits: Any) -> Iterator[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
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
