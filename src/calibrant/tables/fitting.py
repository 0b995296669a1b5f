"""Calibration on a table: a sample of the rows of each part, which merge, and one fit on what is left at the end."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

from calibrant._row_hash import Keys
from calibrant.calibration import Calibrator
from calibrant.censored import Censored
from calibrant.labels import Labels
from calibrant.tables.counts import Counts
from calibrant.tables.model import TableModel
from calibrant.tables.rows import Batch, Header, Source, as_arrow, listed, naming
from calibrant.tables.sampling import RowDraws, smallest
from calibrant.tables.work import Part, Work

ENOUGH = 100_000
"""Rows that are calibrated on, at most: with so many the error of one set is below 0.0043."""
KEY = "key of the row's id"
"""The column of the hashed ids; no other column may have this name."""


@dataclass(frozen=True)
class Pool:
    """Rows that may be in the sample, with their keys."""

    tables: tuple[pa.Table, ...] = ()
    sampled: int = 0
    """How many rows the last sample had."""
    limit: Any = None
    """The largest key of the last sample, where it is one for all groups."""

    def __len__(self) -> int:
        return sum(map(len, self.tables))


@dataclass(frozen=True)
class Fitting(Work):
    """How to calibrate on tables with these columns."""

    calibrator: Calibrator = field(default_factory=Calibrator)
    sample: int | None = ENOUGH

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.calibrator.forget is not None:
            raise TypeError(f"a table has no time order, so {self.calibrator.forget!r} cannot be used")
        sample = self.sample
        if sample is not None and (isinstance(sample, bool) or not isinstance(sample, int) or sample < 1):
            raise ValueError(f"sample must be a whole number of rows, 1 or more, or None for all rows, got {sample!r}")

    def on(self, header: Header) -> Fitting:
        """The same for a table with these columns.

        Args:
            header: The names of its columns.
        """
        work = replace(self, columns=self.columns.resolve(header))
        header.check(work.read)
        return work

    @property
    def labels(self) -> Labels | None:
        """What kind of number the labels are."""
        return self.calibrator.labels

    def add(self, found: Pool | None, rows: Batch, keys: Keys, counts: Counts) -> Pool:
        """The pool with these rows, but for those beyond the sample that is had already."""
        pool = Pool() if found is None else found
        if pool.limit is not None:
            below = keys <= pool.limit
            rows, keys = rows.where(below), keys[below]
        pool = replace(pool, tables=(*pool.tables, self._checked(rows, keys, counts)))
        if self.sample is None or len(pool) <= 2 * max(self.sample, pool.sampled):
            return pool
        sampled = self._sampled(pool.tables, rows.source)
        limit = None if self.columns.by else np.max(_keys(sampled))
        return Pool((sampled,), len(sampled), limit)

    def join(self, found: list[Pool], name: Source) -> Pool:
        """A sample of the rows of several pools."""
        return Pool((self._sampled([table for pool in found for table in pool.tables], name),))

    def result(self, found: Pool, name: Source) -> TableModel:
        """Calibrated on what was kept, in the order of the keys, so that no other order counts."""
        (table,) = found.tables
        keys = _keys(table)
        order = np.argsort(keys)
        (batch,) = table.take(pa.array(order)).combine_chunks().to_batches()
        rows, columns, labels = Batch(name, 0, batch), self.columns, self.labels
        y: Any = rows.numbers(self.target)
        with naming(f"{name}, the rows in the order of their keys"), Counts.silenced():
            calibrated = self.calibrator.fit(
                columns.prediction(rows, Counts()),
                y if columns.event is None else Censored(y, rows.numbers(columns.event)),
                **columns.known(rows, labels),
                rng=None if labels is None else RowDraws(keys[order]),
            )
        return TableModel(calibrated, columns)

    def check_alike(self, parts: list[Part]) -> None:
        """Raise where a column of the groups is of another type than in the first part: 1 and "1" are two groups."""
        for each in parts:
            for column in self.columns.by:
                kind, other = (some.found.tables[0].schema.field(column).type for some in (each, parts[0]))
                if kind != other:
                    raise ValueError(f"{each.first}: column {column!r} is {kind}, and {other} in {parts[0].first}")

    def _checked(self, rows: Batch, keys: Keys, counts: Counts) -> pa.Table:
        """What calibration needs of these rows. Raises where a number makes no sense, while its row is known."""
        self.columns.prediction(rows, counts)
        rows.check_complete(self.columns.by)
        known, y = self.columns.known(rows, self.labels), rows.numbers(self.target)
        if self.labels is not None:
            with rows.naming(self.target):
                self.labels.check(y, known.get("bound"))
        numbers = [as_arrow(rows.numbers(column)) for column in self.numbers]
        groups = [_common_type(rows.values(column)) for column in self.columns.by]
        return pa.Table.from_arrays([*numbers, *groups, pa.array(keys)], [*self.numbers, *self.columns.by, KEY])

    def _sampled(self, tables: Any, name: Source) -> pa.Table:
        rows = pa.concat_tables(tables)
        keys = _keys(rows)
        try:
            if self.sample is None or len(rows) <= self.sample:
                smallest(keys, len(rows))
                return rows
            by = self.columns.known(Batch(name, 0, rows), None).get("by") if self.columns.by else None
            return rows.take(pa.array(smallest(keys, self.sample, by)))
        except ValueError as error:
            of = f" in {listed(self.ids)}" if self.ids else ""
            raise ValueError(f"{name}: the ids{of} must be of one row each, and two rows have the same") from error


def _keys(rows: pa.Table) -> Keys:
    return np.asarray(rows[KEY].to_numpy(), np.uint64)


def _common_type(values: pa.Array) -> pa.Array:
    """Names and whole numbers as one type each, so that parts that were written by others fit together."""
    kind = values.type
    if types.is_integer(kind):
        return values.cast(pa.int64())
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return values.cast(pa.string())
    return values
