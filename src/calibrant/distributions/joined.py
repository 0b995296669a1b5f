"""Rows of different distributions in one batch; one row by itself; rows of which nothing is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from array_api_compat import device

from calibrant._arguments import same_length
from calibrant._arrays import Array, concatenate, device_like, moved, namespace, to_numpy
from calibrant._arrays import rows as rows_of
from calibrant._batch import NoSingleBatch, join_rows, take_rows
from calibrant._types import SupportsArray
from calibrant._words import count
from calibrant.distributions.base import Distribution, Moments, log_density
from calibrant.distributions.forwarding import Asking
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.table import MassTable

Rows = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False, repr=False)
class Joined(Asking):
    """Row i is row `row[i]` of `distributions[part[i]]`; a part that is a single one is the same for all its rows.

    Every method is that of the parts, each asked for its own rows.

    >>> from calibrant import Laplace, Normal
    >>> distribution = Joined.of([Normal(0.0, 1.0), Laplace(0.0, 1.0)], [0, 1, 0])
    >>> distribution.std()
    array([1.        , 1.41421356, 1.        ])
    """

    distributions: tuple[Distribution, ...] = field(metadata={"shared": True})
    part: Rows
    row: Rows

    def __post_init__(self) -> None:
        """Each row has a distribution, and a row of it."""
        distributions, part, row = self.distributions, self.part, self.row
        if part.ndim != 1 or part.shape != row.shape:
            raise ValueError(f"{count(part.size, 'part')} do not go with {count(row.size, 'row')}")
        if part.size and not 0 <= part.min() <= part.max() < len(distributions):
            raise ValueError(
                f"its rows must come from its {len(distributions)} distributions, got {part.min()} to {part.max()}"
            )
        own = np.asarray([distribution.shape[0] if distribution.shape else 1 for distribution in distributions])[part]
        outside = (row < 0) | (row >= own)
        if outside.any():
            first = int(np.argmax(outside))
            raise ValueError(
                f"row {row[first]} is not among the {count(own[first], 'row')} of distribution {part[first]}"
            )

    @classmethod
    def of(cls, distributions: Sequence[Distribution], which: Sequence[int] | SupportsArray) -> Joined:
        """One of several single distributions for each row, by its number.

        Args:
            distributions: The single distributions.
            which: The number of the distribution of each row.
        """
        part = np.asarray(to_numpy(which), np.int64)
        distributions = tuple(distributions)
        if any(distribution.shape for distribution in distributions):
            raise ValueError("Joined.of takes single distributions: join batches with calibrant.concatenate")
        return cls(distributions, part, np.zeros_like(part))

    @classmethod
    def _made(cls, pieces: Iterable[tuple[Distribution, Rows]], size: int) -> Joined:
        """The batch in which the rows of each piece are these."""
        distributions: list[Distribution] = []
        part, row = np.empty((2, size), np.int64)
        for distribution, rows in pieces:
            part[rows], row[rows] = len(distributions), np.arange(rows.size) if distribution.shape else 0
            distributions.append(distribution)
        return cls(tuple(distributions), part, row)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.part.shape[0],)

    @property
    def like(self) -> Array:
        return next((distribution.like for distribution in self.distributions if distribution.like is not None), None)  # type: ignore[return-value]

    @property
    def lattice(self) -> tuple[float, float] | None:
        """That of the parts, if they share one."""
        known = {distribution.lattice for distribution in self.distributions if not isinstance(distribution, Unknown)}
        return known.pop() if len(known) == 1 else None

    def places(self) -> list[tuple[Distribution, Rows]]:
        """Each part that has rows here, cut down to them, in order, and which rows of this batch they are."""
        counts = np.bincount(self.part, minlength=len(self.distributions))
        of_part = np.split(np.argsort(self.part, kind="stable"), np.cumsum(counts)[:-1])
        found = list(zip(self.distributions, of_part, strict=True))
        some = [(distribution, rows) for distribution, rows in found if rows.size] or found[:1]
        return [
            (take_rows(distribution, self.row[rows]) if distribution.shape else distribution, rows)
            for distribution, rows in some
        ]

    def mapped(self, change: Callable[[Distribution, Rows], Distribution]) -> Joined:
        """The batch with each part changed.

        Args:
            change: Takes a part and the numbers of its rows here, and gives what takes its place.
        """
        return self._made(((change(distribution, rows), rows) for distribution, rows in self.places()), len(self))

    def _each(self, ask: Callable[[Distribution, Rows], Any]) -> Any:
        """What `ask(distribution, rows)` gives for each part, put together again in the order of the rows."""
        results, rows = zip(*((ask(distribution, rows), rows) for distribution, rows in self.places()), strict=True)
        back = np.argsort(np.concatenate(rows))

        def ordered(parts: Sequence[Array]) -> Array:
            xp = namespace(parts[0])
            return xp.take(concatenate(parts), xp.asarray(back, device=device(parts[0])), axis=0)

        return tuple(map(ordered, zip(*results, strict=True))) if isinstance(results[0], tuple) else ordered(results)

    def _ask(self, name: str, *arguments: Any) -> Any:
        def ask(distribution: Distribution, rows: Rows) -> Any:
            own = [
                _cut(value, rows, alone=not distribution.shape) if hasattr(value, "shape") else value
                for value in arguments
            ]
            if name == "_logpdf" and distribution.lattice is not None and self.lattice is None:
                return log_density(distribution, own[0], None)  # rows of counts among others have no density
            return getattr(distribution, name)(*own)

        return self._each(ask)

    def _moments(self) -> Moments:
        def ask(distribution: Distribution, rows: Rows) -> tuple[Array, ...]:
            xp, like = namespace(self.like), self.like
            found = (moved(m, like) if hasattr(m, "shape") else device_like(m, like) for m in distribution._all_moments)
            return tuple(xp.broadcast_to(part, (rows.size,)) for part in found)

        return Moments(*self._each(ask))

    def _clip(self, lower: Any, upper: Any) -> Distribution:
        if isinstance(lower, float):
            return Joined(
                tuple(distribution._clip(lower, upper) for distribution in self.distributions), self.part, self.row
            )

        def clipped(distribution: Distribution, rows: Rows) -> Distribution:
            ends = rows_of(lower, rows), rows_of(upper, rows)
            if not distribution.shape and not isinstance(distribution, Unknown):
                zeros = namespace(ends[0]).zeros_like(ends[0])
                distribution = LocationScale(zeros, zeros + 1, distribution)
            return distribution._clip(*ends)

        return self.mapped(clipped)


def _cut(value: Array, rows: Rows, *, alone: bool) -> Array:
    """The values of some rows; for a single distribution, which answers elementwise, a row for each."""
    if value.shape[0] != 1:
        return rows_of(value, rows)
    return namespace(value).broadcast_to(value, (rows.size, value.shape[1])) if alone else value


def join(distributions: Sequence[Distribution]) -> Distribution:
    """The rows of several batches, one after the other: as one batch of their kind, or else `Joined`.

    Args:
        distributions: The batches, in order.
    """
    try:
        return join_rows(distributions)
    except NoSingleBatch:
        pieces: list[tuple[Distribution, Rows]] = []
        start = 0
        for distribution in distributions:
            own = (
                distribution.places()
                if isinstance(distribution, Joined)
                else [(distribution, np.arange(len(distribution)))]
            )
            pieces += [(piece.to(distributions[0].like), start + rows) for piece, rows in own]
            start += len(distribution)
        return Joined._made(pieces, start)


@dataclass(frozen=True, eq=False, repr=False)
class Unknown(Asking):
    """Every answer is NaN: a row of which nothing is known."""

    shape: ClassVar[tuple[int, ...]] = ()

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
    shape: ClassVar[tuple[int, ...]] = ()

    def __post_init__(self) -> None:
        if self.batch.shape != (1,):
            raise ValueError(f"a row by itself is a batch of one, got the shape {self.batch.shape}")

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


def row_of(batch: Distribution, index: int) -> Row:
    """Row `index` of a batch, counted from the end where it is negative."""
    if not -len(batch) <= index < len(batch):
        raise IndexError(f"row {index} is not among the {count(len(batch), 'row')} of the batch")
    start = index % len(batch)
    return Row(take_rows(batch, slice(start, start + 1)))


def among(distribution: Distribution, there: Any) -> Distribution:
    """The rows of `distribution` where `there` is true, in order, and `Unknown` where it is not."""
    mask = np.asarray(to_numpy(there))
    if not distribution.shape or mask.dtype != np.bool_ or mask.ndim != 1:
        raise TypeError("among takes a batch of distributions and a mask, with one True for each of its rows")
    same_length("the batch", len(distribution), "what is True in the mask", int(mask.sum()))
    row = np.where(mask, np.cumsum(mask) - 1, 0)
    return Joined((distribution, Unknown()), np.where(mask, 0, 1), row)
