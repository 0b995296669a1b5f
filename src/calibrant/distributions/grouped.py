"""A q that depends on the group of a row."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import generator
from calibrant._batch import take_rows
from calibrant._words import count, said_of, warn_user
from calibrant.distributions.base import Distribution
from calibrant.distributions.context import Context, in_words, labels_of
from calibrant.distributions.forwarding import Forwarding
from calibrant.distributions.joined import Joined

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Grouped(Forwarding):
    """The law of each group, in the order of `labels`; one law more is that of all rows, for groups never seen.

    `for_rows` gives each row the law of its group.
    """

    laws: Distribution
    labels: tuple[Hashable, ...] = field(metadata={"shared": True})

    @property
    def _other(self) -> Distribution:
        """Those of the groups, one after the other."""
        return self.laws

    def for_rows(self, context: Context) -> Distribution:
        """Row i has the law of the group by[i]."""
        if context.weights is not None:
            raise TypeError(f"{self!r} was made without weights=, so it takes none")
        if context.by is None:
            raise TypeError(f"q depends on the group of a row, one of {len(self.labels)}: pass by=")
        laws = take_rows(self.laws, self._numbers(context.by))
        if not isinstance(laws, Joined):
            return laws
        uniforms = cache(lambda: generator(context.rng).random(context.rows))  # of all rows, whatever their groups
        return laws.mapped(lambda law, rows: law.for_rows(Context(rows.size, rng=_Part(uniforms, rows))))

    def known(self, by: Any) -> NDArray[np.bool_]:
        """Whether each row's group is one that calibration rows had: only for those is anything promised."""
        return np.asarray([label in self._index for label in labels_of(by)], bool)

    @property
    def _index(self) -> dict[Hashable, int]:
        return self.remember("_kept_index", lambda: {label: number for number, label in enumerate(self.labels)})

    def _numbers(self, by: Any) -> Numbers:
        """The number of each row's law."""
        labels, missing = labels_of(by), len(self.labels)
        numbers = np.asarray([self._index.get(label, missing) for label in labels], np.int64)
        unknown = np.flatnonzero(numbers == missing)
        if unknown.size:
            self._unknown(unknown, labels)
        return numbers

    def _unknown(self, rows: Numbers, labels: list[Hashable]) -> None:
        """Say that some groups are new: an error, unless there is a law for them."""
        first = labels[rows[0]]
        what = "is missing" if first is None else f"is {in_words(first)}, which no calibration row had"
        some = f"{count(rows.size, 'row')} of {len(labels)} {said_of(rows.size, 'are')} of no known group"
        where = f"by {what}, in row {rows[0]} ({some})"
        if len(self.laws) == len(self.labels):
            raise ValueError(f"{where}: unseen='pooled' gives such rows the law of all")
        they = "it gets" if rows.size == 1 else "they get"
        warn_user(f"{where}: {they} the law of all groups, and nothing is promised for {said_of(rows.size, 'them')}")

    def __getitem__(self, index: Any) -> Distribution:
        """The laws of some groups, by their number."""
        return self.laws[index]

    def _describe(self) -> str:
        return f"{len(self.labels)} groups"


@dataclass(frozen=True)
class _Part:
    """Some rows' share of the uniforms of all."""

    uniforms: Callable[[], Any]
    rows: Numbers

    def random(self, count: int) -> Any:
        del count
        return self.uniforms()[self.rows]
