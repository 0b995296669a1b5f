"""Rows of different distributions in one batch; one row by itself; rows of which nothing is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from array_api_compat import device

from calibrant._arguments import same_length
from calibrant._arrays import Array, concatenate, device_like, moved, namespace, to_numpy
from calibrant._arrays import rows as rows_of
from calibrant._batch import OtherFields, OtherKind, join_rows, take_rows
from calibrant._types import RowIndex, SupportsArray
from calibrant._words import count
from calibrant.distributions.base import Distribution, Moments, log_density
from calibrant.distributions.forwarding import Asking
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.table import MassTable

Rows = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False, repr=False)
class Joined(Asking):
    """Row i is row `row[i]` of the batch `laws[part[i]]`; a part that is a single one is the same for all its rows.

    Every method is that of the parts, each asked for its own rows.

    >>> from calibrant import Laplace, Normal
    >>> law = Joined.of([Normal(0.0, 1.0), Laplace(0.0, 1.0)], [0, 1, 0])
    >>> law.std()
    array([1.        , 1.41421356, 1.        ])
    """

    laws: tuple[Distribution, ...] = field(metadata={"shared": True})
    part: Rows
    row: Rows

    def __post_init__(self) -> None:
        """Each row has a law, and a row of it."""
        laws, part, row = self.laws, self.part, self.row
        if part.ndim != 1 or part.shape != row.shape:
            raise ValueError(f"{count(part.size, 'part')} do not go with {count(row.size, 'row')}")
        if part.size and not 0 <= part.min() <= part.max() < len(laws):
            raise ValueError(f"its rows must come from its {len(laws)} laws, got {part.min()} to {part.max()}")
        own = np.asarray([law.shape[0] if law.shape else 1 for law in laws])[part]
        outside = (row < 0) | (row >= own)
        if outside.any():
            first = int(np.argmax(outside))
            raise ValueError(f"row {row[first]} is not among the {count(own[first], 'row')} of law {part[first]}")

    @classmethod
    def of(cls, laws: Sequence[Distribution], which: Sequence[int] | SupportsArray) -> Joined:
        """One of several single distributions for each row, by its number."""
        part = np.asarray(to_numpy(which), np.int64)
        laws = tuple(laws)
        if any(law.shape for law in laws):
            raise ValueError("Joined.of takes single laws: join batches with calibrant.concatenate")
        return cls(laws, part, np.zeros_like(part))

    @classmethod
    def _made(cls, pieces: Iterable[tuple[Distribution, Rows]], size: int) -> Joined:
        """The batch in which the rows of each piece are these."""
        laws: list[Distribution] = []
        part, row = np.empty((2, size), np.int64)
        for law, rows in pieces:
            part[rows], row[rows] = len(laws), np.arange(rows.size) if law.shape else 0
            laws.append(law)
        return cls(tuple(laws), part, row)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.part.shape[0],)

    @property
    def like(self) -> Array:
        return next((law.like for law in self.laws if law.like is not None), None)  # type: ignore[return-value]

    @property
    def lattice(self) -> tuple[float, float] | None:
        """That of the parts, if they share one."""
        known = {law.lattice for law in self.laws if not isinstance(law, Unknown)}
        return known.pop() if len(known) == 1 else None

    def __getitem__(self, index: RowIndex) -> Distribution:
        """An integer gives the distribution itself that the row has, which may know more than a row of a batch does."""
        if isinstance(index, (int, np.integer)) and not isinstance(index, bool) and -len(self) <= index < len(self):
            law = self.laws[int(self.part[index])]
            return law[int(self.row[index])] if law.shape else law
        return super().__getitem__(index)

    def places(self) -> list[tuple[Distribution, Rows]]:
        """Each part that has rows here, cut down to them, in order, and which rows of this batch they are."""
        counts = np.bincount(self.part, minlength=len(self.laws))
        of_part = np.split(np.argsort(self.part, kind="stable"), np.cumsum(counts)[:-1])
        found = list(zip(self.laws, of_part, strict=True))
        some = [(law, rows) for law, rows in found if rows.size] or found[:1]
        return [(take_rows(law, self.row[rows]) if law.shape else law, rows) for law, rows in some]

    def mapped(self, change: Callable[[Distribution, Rows], Distribution]) -> Joined:
        """The batch with `change(law, rows)`, one for each row, in the place of each part and the rows that are its."""
        return self._made(((change(law, rows), rows) for law, rows in self.places()), len(self))

    def _each(self, ask: Callable[[Distribution, Rows], Any]) -> Any:
        """What `ask(law, rows)` gives for each part, put together again in the order of the rows."""
        results, rows = zip(*((ask(law, rows), rows) for law, rows in self.places()), strict=True)
        back = np.argsort(np.concatenate(rows))

        def ordered(parts: Sequence[Array]) -> Array:
            xp = namespace(parts[0])
            return xp.take(concatenate(parts), xp.asarray(back, device=device(parts[0])), axis=0)

        return tuple(map(ordered, zip(*results, strict=True))) if isinstance(results[0], tuple) else ordered(results)

    def _ask(self, name: str, *arguments: Any) -> Any:
        def ask(law: Distribution, rows: Rows) -> Any:
            own = [_cut(value, rows, alone=not law.shape) if hasattr(value, "shape") else value for value in arguments]
            if name == "_logpdf" and law.lattice is not None and self.lattice is None:
                return log_density(law, own[0], None)  # rows of counts beside others have no density
            return law._in_blocks(name, *own) if law.shape else getattr(law, name)(*own)

        return self._each(ask)

    def _crps(self, y: Array) -> Any:
        return self._ask("_crps", y)

    def _moments(self) -> Moments:
        def ask(law: Distribution, rows: Rows) -> tuple[Array, ...]:
            xp, like = namespace(self.like), self.like
            found = (moved(m, like) if hasattr(m, "shape") else device_like(m, like) for m in law._all_moments())
            return tuple(xp.broadcast_to(part, (rows.size,)) for part in found)

        return Moments(*self._each(ask))

    def _clip(self, lower: Any, upper: Any) -> Distribution:
        if isinstance(lower, float):
            return Joined(tuple(law._clip(lower, upper) for law in self.laws), self.part, self.row)

        def clipped(law: Distribution, rows: Rows) -> Distribution:
            ends = rows_of(lower, rows), rows_of(upper, rows)
            if not law.shape and not isinstance(law, Unknown):
                zeros = namespace(ends[0]).zeros_like(ends[0])
                law = LocationScale(zeros, zeros + 1, law)
            return law._clip(*ends)

        return self.mapped(clipped)

    def _describe(self) -> str:
        kinds = dict.fromkeys(type(law).__name__ for law in self.laws)
        return f"{len(self.laws)} parts: {', '.join(kinds)}"


def _cut(value: Array, rows: Rows, *, alone: bool) -> Array:
    """The values of some rows; for a single distribution, which answers elementwise, a row for each."""
    if value.shape[0] != 1:
        return rows_of(value, rows)
    return namespace(value).broadcast_to(value, (rows.size, value.shape[1])) if alone else value


def join(laws: Sequence[Distribution]) -> Distribution:
    """The rows of several batches, one after the other: as one batch of their kind, or else `Joined`."""
    try:
        return join_rows(laws)
    except (OtherKind, OtherFields):
        pieces: list[tuple[Distribution, Rows]] = []
        start = 0
        for law in laws:
            own = law.places() if isinstance(law, Joined) else [(law, np.arange(len(law)))]
            pieces += [(piece.to(laws[0].like), start + rows) for piece, rows in own]
            start += len(law)
        return Joined._made(pieces, start)


@dataclass(frozen=True, eq=False, repr=False)
class Unknown(Asking):
    """Every answer is NaN: a row of which nothing is known."""

    shape = ()

    def _ask(self, name: str, *arguments: Any) -> Any:
        nothing = namespace(arguments[0]).full_like(arguments[0], np.nan)
        return (nothing, nothing) if name == "_logit" else nothing

    def _moments(self) -> Moments:
        return Moments(np.nan, np.nan, np.nan)

    def _clip(self, lower: Any, upper: Any) -> Distribution:
        return self


@dataclass(frozen=True, eq=False, repr=False)
class Row(Asking):
    """The only row of `batch`, as a single distribution: the batch is asked elementwise."""

    batch: Distribution
    shape = ()

    @property
    def lattice(self) -> tuple[float, float] | None:
        return self.batch.lattice

    def _ask(self, name: str, *arguments: Any) -> Any:
        xp, shape = namespace(arguments[0]), arguments[0].shape
        wide = [xp.reshape(each, (1, -1)) if hasattr(each, "shape") else each for each in arguments]
        result = getattr(self.batch, name)(*wide)
        return tuple(xp.reshape(r, shape) for r in result) if name == "_logit" else xp.reshape(result, shape)

    def _moments(self) -> Moments:
        return Moments(*(part[0] for part in self.batch._moments()))

    def _table(self, count: int) -> MassTable:
        return self.batch._table(count)

    def _clip(self, lower: Any, upper: Any) -> Distribution:
        return Row(self.batch._clip(lower, upper))

    def _describe(self) -> str:
        return f"of {type(self.batch).__name__}"


def row_of(batch: Distribution, index: int) -> Row:
    """Row `index` of a batch, counted from the end where it is negative."""
    if not -len(batch) <= index < len(batch):
        raise IndexError(f"row {index} is not among the {count(len(batch), 'row')} of the batch")
    start = index % len(batch)
    return Row(take_rows(batch, slice(start, start + 1)))


def among(law: Distribution, there: Any) -> Distribution:
    """The rows of `law` where `there` is true, in order, and `Unknown` where it is not."""
    mask = np.asarray(to_numpy(there))
    if not law.shape or mask.dtype != np.bool_ or mask.ndim != 1:
        raise TypeError("among takes a batch of distributions and a mask, with one True for each of its rows")
    same_length("the batch", len(law), "what is True in the mask", int(mask.sum()))
    row = np.where(mask, np.cumsum(mask) - 1, 0)
    return Joined((law, Unknown()), np.where(mask, 0, 1), row)
