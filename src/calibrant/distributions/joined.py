"""Rows of different distributions in one batch; one row by itself; rows of which nothing is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from array_api_compat import device

from calibrant._arguments import same_length
from calibrant._arrays import Array, concatenate, device_like, namespace, to_numpy
from calibrant._arrays import rows as rows_of
from calibrant._batch import OtherFields, OtherKind, join_rows, take_rows
from calibrant._types import RowIndex, SupportsArray
from calibrant._words import count
from calibrant.distributions.base import Distribution, Moments, log_density
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.table import MassTable

Rows = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False, repr=False)
class Joined(Distribution):
    """Row i is row `row[i]` of the batch `laws[part[i]]`; a part that is a single law is the same for all its rows.

    Every method is that of the parts, each asked for its own rows.

    >>> from calibrant import Laplace, Normal
    >>> law = Joined.of([Normal(0.0, 1.0), Laplace(0.0, 1.0)], [0, 1, 0])
    >>> law.std()
    array([1.        , 1.41421356, 1.        ])
    """

    laws: tuple[Distribution, ...] = field(metadata={"shared": True})
    part: Rows
    row: Rows

    @classmethod
    def of(cls, laws: Sequence[Distribution], which: Sequence[int] | SupportsArray) -> Joined:
        """One of several single laws for each row, by its number."""
        part = np.asarray(to_numpy(which), dtype=np.int64) if hasattr(which, "shape") else np.asarray(which, np.int64)
        laws = tuple(laws)
        if any(law.shape for law in laws):
            raise ValueError("Joined.of takes single laws: join batches with calibrant.concatenate")
        if part.ndim != 1 or (part.size and not (part.min() >= 0 and part.max() < len(laws))):
            raise ValueError(f"which must hold the number of one of the {len(laws)} laws for each row, got {which!r}")
        return cls(laws, part, np.zeros_like(part))

    @classmethod
    def rows(cls, batch: Distribution) -> Joined:
        """Every row of a batch as a law by itself."""
        return cls.of([batch[row] for row in range(len(batch))], np.arange(len(batch)))

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.part.shape[0],)

    @property
    def like(self) -> Array:
        return next((law.like for law in self.laws if law.like is not None), None)  # type: ignore[return-value]

    def __getitem__(self, index: RowIndex) -> Distribution:
        """An integer gives the law itself that the row has, which may know more than a row of a batch does."""
        if isinstance(index, (int, np.integer)) and not isinstance(index, bool) and -len(self) <= index < len(self):
            law = self.laws[int(self.part[index])]
            return law[int(self.row[index])] if law.shape else law
        return super().__getitem__(index)

    def places(self) -> list[tuple[Distribution, Rows]]:
        """Each part that has rows here, cut down to them, in order, and which rows of this batch they are."""
        found = []
        order = np.argsort(self.part, kind="stable")
        ends = np.searchsorted(self.part[order], np.arange(len(self.laws) + 1))
        for law, start, end in zip(self.laws, ends[:-1], ends[1:], strict=True):
            where = order[start:end]
            if where.size:
                found.append((take_rows(law, self.row[where]) if law.shape else law, where))
        return found

    def mapped(self, change: Callable[[Distribution, Rows], Distribution]) -> Joined:
        """The batch with `change(law, rows)`, one law a row, in the place of each part and the rows that are its."""
        laws: list[Distribution] = []
        part, row = np.empty(len(self), np.int64), np.empty(len(self), np.int64)
        for law, rows in self.places():
            part[rows], row[rows] = len(laws), np.arange(rows.size)
            laws.append(change(law, rows))
        return Joined(tuple(laws), part, row)

    def _each(self, ask: Callable[[Distribution, Rows], Any]) -> Any:
        """What `ask(law, rows)` gives for each part, put together again in the order of the rows."""
        asked = [(ask(law, rows), rows) for law, rows in self.places()]
        if not asked:
            law, none = self.laws[0], np.zeros(0, dtype=np.int64)
            return ask(take_rows(law, none) if law.shape else law, none)
        return self._in_order(asked)

    def _in_order(self, asked: Sequence[tuple[Any, Rows]]) -> Any:
        back = np.empty(len(self), dtype=np.int64)
        back[np.concatenate([rows for _, rows in asked])] = np.arange(len(self))
        results = [result for result, _ in asked]
        if isinstance(results[0], tuple):
            return tuple(self._ordered(list(column), back) for column in zip(*results, strict=True))
        return self._ordered(results, back)

    @staticmethod
    def _ordered(results: list[Array], back: Rows) -> Array:
        xp = namespace(results[0])
        return xp.take(concatenate(results), xp.asarray(back, device=device(results[0])), axis=0)

    def _on(self, name: str, *arguments: Array, which: tuple[int, ...] = ()) -> Any:
        """A method of the parts at (n, k) or (1, k) values."""

        def ask(law: Distribution, rows: Rows) -> Any:
            own = [value if value.shape[0] == 1 else rows_of(value, rows) for value in arguments]
            if not law.shape:  # elementwise, so every row has its own values
                xp = namespace(own[0])
                own = [xp.broadcast_to(value, (rows.size, value.shape[1])) for value in own]
            return law._in_blocks(name, *own) if law.shape and not which else getattr(law, name)(*own, *which)

        return self._each(ask)

    @property
    def lattice(self) -> tuple[float, float] | None:
        """That of the parts, if they share one."""
        known = [law.lattice for law in self.laws if not isinstance(law, Unknown)]
        return known[0] if known and all(lattice == known[0] for lattice in known) else None

    def _pit(self, y: Array, u: Array) -> Any:
        return self._on("_pit", y, u)

    def _cdf(self, y: Array) -> Any:
        return self._on("_cdf", y)

    def _sf(self, y: Array) -> Any:
        return self._on("_sf", y)

    def _cdf_left(self, y: Array) -> Any:
        return self._on("_cdf_left", y)

    def _ppf(self, p: Array) -> Any:
        return self._on("_ppf", p)

    def _ppf_logit(self, s: Array) -> Any:
        return self._on("_ppf_logit", s)

    def _logpdf(self, y: Array) -> Any:
        """Rows of counts beside others have no density."""
        if self.lattice is not None or all(law.lattice is None for law in self.laws):
            return self._on("_logpdf", y)
        return self._each(lambda law, rows: log_density(_batch(law, rows, self.like), _cut(y, rows), None))

    def _logit(self, y: Array) -> tuple[Array, Array]:
        value, log_slope = self._on("_logit", y)
        return value, log_slope

    def _crps(self, y: Array) -> Any:
        return self._on("_crps", y)

    def _integrals(self, y: Array, which: int) -> Any:
        return self._on("_integrals", y, which=(which,))

    def _moments(self) -> Moments:
        xp = namespace(self.like)

        def ask(law: Distribution, rows: Rows) -> tuple[Array, ...]:
            found = law._moments_in_blocks()
            parts = (xp.asarray(part, dtype=self.like.dtype, device=device(self.like)) for part in found)
            return tuple(part if law.shape else xp.broadcast_to(part, (rows.size,)) for part in parts)

        return Moments(*self._each(ask))

    def _clip(self, lower: Any, upper: Any) -> Distribution:
        if isinstance(lower, float):
            return Joined(tuple(law._clip(lower, upper) for law in self.laws), self.part, self.row)

        def clipped(law: Distribution, rows: Rows) -> Distribution:
            return (
                law
                if isinstance(law, Unknown)
                else _batch(law, rows, self.like)._clip(rows_of(lower, rows), rows_of(upper, rows))
            )

        return self.mapped(clipped)

    def _describe(self) -> str:
        kinds = dict.fromkeys(type(law).__name__ for law in self.laws)
        return f"{len(self.laws)} parts: {', '.join(kinds)}"


def _cut(y: Array, rows: Rows) -> Array:
    return y if y.shape[0] == 1 else rows_of(y, rows)


def _batch(law: Distribution, rows: Rows, like: Array) -> Distribution:
    """A part as one law a row."""
    if law.shape:
        return law
    zeros, ones = (device_like(numbers, like) for numbers in (np.zeros(rows.size), np.ones(rows.size)))
    return LocationScale(zeros, ones, law)


def join(laws: Sequence[Distribution]) -> Distribution:
    """The rows of several batches of laws, one after the other: as one batch of their kind, or else `Joined`."""
    try:
        return join_rows(laws)
    except (OtherKind, OtherFields):
        pass
    parts: list[Distribution] = []
    which, rows = [], []
    for law in laws:
        pieces = law.places() if isinstance(law, Joined) else [(law, np.arange(len(law)))]
        part, row = np.empty(len(law), dtype=np.int64), np.empty(len(law), dtype=np.int64)
        for piece, where in pieces:
            part[where], row[where] = len(parts), np.arange(where.size)
            parts.append(piece)
        which.append(part)
        rows.append(row)
    like = laws[0].like
    return Joined(tuple(part.to(like) for part in parts), np.concatenate(which), np.concatenate(rows))


@dataclass(frozen=True, eq=False, repr=False)
class Unknown(Distribution):
    """Every answer is NaN: a row of which nothing is known."""

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def _cdf(self, y: Array) -> Array:
        return _nan(y)

    def _ppf(self, p: Array) -> Array:
        return _nan(p)

    def _ppf_logit(self, s: Array) -> Array:
        return _nan(s)

    def _logpdf(self, y: Array) -> Array:
        return _nan(y)

    def _logit(self, y: Array) -> tuple[Array, Array]:
        return _nan(y), _nan(y)

    def _moments(self) -> Any:
        return Moments(np.nan, np.nan, np.nan)

    def _integrals(self, y: Array, which: int) -> Array:
        return _nan(y)

    def _clip(self, lower: Any, upper: Any) -> Distribution:
        return self


def _nan(like: Array) -> Array:
    return namespace(like).full_like(like, np.nan)


@dataclass(frozen=True, eq=False, repr=False)
class Row(Distribution):
    """The only row of `batch`, as a single distribution."""

    batch: Distribution

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    @property
    def like(self) -> Array:
        return self.batch.like

    def _flat(self, name: str, value: Array, *others: Any) -> Any:
        """A method of the batch, applied elementwise."""
        xp = namespace(value)
        wide = (
            xp.reshape(xp.broadcast_to(each, value.shape), (1, -1)) if hasattr(each, "shape") else each
            for each in others
        )
        result = getattr(self.batch, name)(xp.reshape(value, (1, -1)), *wide)
        if isinstance(result, tuple):
            return tuple(xp.reshape(part, value.shape) for part in result)
        return xp.reshape(result, value.shape)

    def _cdf(self, y: Array) -> Any:
        return self._flat("_cdf", y)

    def _sf(self, y: Array) -> Any:
        return self._flat("_sf", y)

    def _cdf_left(self, y: Array) -> Any:
        return self._flat("_cdf_left", y)

    def _ppf(self, p: Array) -> Any:
        return self._flat("_ppf", p)

    def _ppf_logit(self, s: Array) -> Any:
        return self._flat("_ppf_logit", s)

    def _logpdf(self, y: Array) -> Any:
        return self._flat("_logpdf", y)

    def _logit(self, y: Array) -> Any:
        return self._flat("_logit", y)

    def _pit(self, y: Array, u: Array) -> Any:
        return self._flat("_pit", y, u)

    def _integrals(self, y: Array, which: int) -> Any:
        return self._flat("_integrals", y, which)

    def _moments(self) -> Moments:
        return Moments(*(part[0] for part in self.batch._moments()))

    def _table(self, count: int) -> MassTable:
        return self.batch._table(count)

    def _clip(self, lower: Any, upper: Any) -> Distribution:
        return Row(self.batch._clip(lower, upper))

    @property
    def lattice(self) -> tuple[float, float] | None:
        return self.batch.lattice

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
