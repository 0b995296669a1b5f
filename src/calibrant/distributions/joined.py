"""Rows of different laws in one batch."""

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
from calibrant.distributions.base import Distribution, handed_in
from calibrant.distributions.integrals import PartialMoments, Squares
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.outline import Outline
from calibrant.distributions.unknown import Unknown

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
            columns = (self._ordered(list(column), back) for column in zip(*results, strict=True))
            return type(results[0])(*columns)
        return self._ordered(results, back)

    @staticmethod
    def _ordered(results: list[Array], back: Rows) -> Array:
        xp = namespace(results[0])
        return xp.take(concatenate(results), xp.asarray(back, device=device(results[0])), axis=0)

    def _on(self, name: str, *arguments: Array) -> Any:
        """A method of the parts at (n, k) or (1, k) values."""

        def ask(law: Distribution, rows: Rows) -> Any:
            own = [value if value.shape[0] == 1 else rows_of(value, rows) for value in arguments]
            if not law.shape:  # elementwise, so every row has its own values
                xp = namespace(own[0])
                own = [xp.broadcast_to(value, (rows.size, value.shape[1])) for value in own]
            return getattr(law, name)(*own)

        return self._each(ask)

    @property
    def lattice(self) -> tuple[float, float] | None:
        """That of the parts, if they share one."""
        known = [law.lattice for law in self.laws if not isinstance(law, Unknown)]
        return known[0] if known and all(lattice == known[0] for lattice in known) else None

    def _logpmf(self, y: Array) -> Any:
        return self._on("_logpmf", y)

    def _pit(self, y: Array, u: Array) -> Any:
        return self._on("_pit", y, u)

    def _number(self, name: str) -> Any:
        """A method of the parts that takes no values."""

        def ask(law: Distribution, rows: Rows) -> Array:
            xp = namespace(self.like)
            value = xp.asarray(getattr(law, name)(), dtype=self.like.dtype, device=device(self.like))
            return value if law.shape else xp.broadcast_to(value, (rows.size,))

        return self._each(ask)

    def _cdf(self, y: Array) -> Any:
        return self._on("_cdf", y)

    def _sf(self, y: Array) -> Any:
        return self._on("_sf", y)

    def _cdf_left(self, y: Array) -> Any:
        return self._on("_cdf_left", y)

    def _logcdf(self, y: Array) -> Any:
        return self._on("_logcdf", y)

    def _logsf(self, y: Array) -> Any:
        return self._on("_logsf", y)

    def _logit_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        value = self._on("_logcdf", y) - self._on("_logsf", y)
        return value, super()._logit_and_log_slope(y)[1]

    def _ppf(self, p: Array) -> Any:
        return self._on("_ppf", p)

    def _ppf_logit(self, s: Array) -> Any:
        return self._on("_ppf_logit", s)

    def _quantiles(self, p: Array) -> Any:
        def ask(law: Distribution, rows: Rows) -> Array:
            value = law._quantiles(p)
            return value if law.shape else namespace(value).broadcast_to(value, (rows.size, *value.shape))

        return self._each(ask)

    def _quantiles_logit(self, s: Array) -> Any:
        return self._on("_quantiles_logit", s)

    def _logpdf(self, y: Array) -> Any:
        return self._on("_logpdf", y)

    def _mean(self) -> Any:
        return self._number("_mean")

    def _std(self) -> Any:
        return self._number("_std")

    def _crps(self, y: Array) -> Any:
        return self._on("_crps", y)

    def _partial_moments(self, y: Array) -> PartialMoments:
        return PartialMoments(*self._on("_partial_moments", y))

    def _squares(self, y: Array) -> Squares:
        return Squares(*self._on("_squares", y))

    def _moments_within(self, y: Array, lower: Array, upper: Array) -> PartialMoments:
        return PartialMoments(*self._on("_moments_within", y, lower, upper))

    def _squares_within(self, y: Array, lower: Array, upper: Array) -> Squares:
        return Squares(*self._on("_squares_within", y, lower, upper))

    def _infinite_mass(self) -> tuple[Any, Any]:
        xp, like = namespace(self.like), self.like

        def ask(law: Distribution, rows: Rows) -> tuple[Array, Array]:
            below, above = (
                xp.broadcast_to(xp.asarray(mass, dtype=like.dtype, device=device(like)), (rows.size,))
                for mass in law._infinite_mass()
            )
            return _Pair(below, above)

        below, above = self._each(ask)
        return below, above

    def _outline(self) -> Outline | None:
        """Those of the parts; a row with fewer points than another ends in its last one several times."""
        found = [(law._outline(), rows) for law, rows in self.places()]
        known = [(outline, rows) for outline, rows in found if outline is not None]
        if not known or len(known) < len(found):
            return None
        most = max(outline.y.shape[-1] for outline, _ in known)
        return Outline(*self._in_order([(outline.of_rows(rows.size, most), rows) for outline, rows in known]))

    def _clipped(self, lower: Any, upper: Any) -> Distribution:
        if isinstance(lower, float):
            return Joined(tuple(law.clip(lower, upper) for law in self.laws), self.part, self.row)

        def clipped(law: Distribution, rows: Rows) -> Distribution:
            if isinstance(law, Unknown):
                return law
            return _batch(law, rows, self.like).clip(rows_of(lower, rows), rows_of(upper, rows))

        return self.mapped(clipped)

    def _describe(self) -> str:
        kinds = dict.fromkeys(type(law).__name__ for law in self.laws)
        return f"{len(self.laws)} parts: {', '.join(kinds)}"


def _batch(law: Distribution, rows: Rows, like: Array) -> Distribution:
    """A part as one law a row."""
    if law.shape:
        return law
    zeros, ones = (device_like(numbers, like) for numbers in (np.zeros(rows.size), np.ones(rows.size)))
    return LocationScale(zeros, ones, law)


class _Pair(tuple[Array, Array]):
    def __new__(cls, *pair: Array) -> _Pair:
        return super().__new__(cls, pair)


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


def among(law: Distribution, there: Any) -> Distribution:
    """The rows of `law` where `there` is true, in order, and `Unknown` where it is not."""
    mask = np.asarray(to_numpy(there))
    if not law.shape or mask.dtype != np.bool_ or mask.ndim != 1:
        raise TypeError("among takes a batch of laws and a mask, with one True for each of its rows")
    same_length("the batch", len(law), "what is True in the mask", int(mask.sum()))
    row = np.where(mask, np.cumsum(mask) - 1, 0)
    return Joined((law, Unknown()), np.where(mask, 0, 1), row)


handed_in["among"] = among
