"""Calibration on a table: a sample of the rows of each part, which merge, and one fit on what is left at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

from calibrant._row_hash import Keys
from calibrant.calibration import Calibrator
from calibrant.censored import Censored
from calibrant.labels import Labels
from calibrant.tables.counts import RowCounts
from calibrant.tables.model import TableModel
from calibrant.tables.rows import Batch, Source, as_arrow, listed, naming
from calibrant.tables.sampling import RowDraws, smallest
from calibrant.tables.work import PartResult, Work

ENOUGH = 100_000
"""Rows that are calibrated on, at most: with so many the error of one set is below 0.0043."""
KEY = "key of the row's id"
"""The column of the hashed ids; no other column may have this name."""


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

    @property
    def labels(self) -> Labels | None:
        """What kind of number the labels are."""
        return self.calibrator.labels

    def add(self, found: list[pa.Table] | None, rows: Batch, keys: Keys, counts: RowCounts) -> list[pa.Table]:
        """The tables with these rows, but for those that are beyond the sample of the first table already."""
        if found and self.sample is not None and len(found[0]) >= self.sample and not self.columns.by:
            below = keys <= np.max(_keys(found[0]))
            rows, keys = rows.where(below), keys[below]
        tables = [*(found or []), self._checked(rows, keys, counts)]
        if self.sample is None or (found and sum(map(len, tables)) <= 2 * max(self.sample, len(tables[0]))):
            return tables
        return [self._sampled(tables, rows.source)]

    def join(self, parts: list[PartResult], name: Source) -> list[pa.Table]:
        """A sample of the rows of several parts, whose groups must be of one type: 1 and "1" are two groups."""
        first = parts[0]
        for each in parts:
            for column in self.columns.by:
                kind, other = (some.found[0].schema.field(column).type for some in (each, first))
                if kind != other:
                    raise ValueError(f"{each.first}: column {column!r} is {kind}, and {other} in {first.first}")
        return [self._sampled([table for each in parts for table in each.found], name)]

    def result(self, found: list[pa.Table], name: Source) -> TableModel:
        """Calibrated on what was kept, in the order of the keys, so that no other order counts."""
        keys = _keys(found[0])
        order = np.argsort(keys)
        (batch,) = found[0].take(pa.array(order)).combine_chunks().to_batches()
        rows, columns, labels = Batch(name, 0, batch), self.columns, self.labels
        y: Any = rows.numbers(columns.labels_in())
        with naming(f"{name}, the rows in the order of their keys"), RowCounts.silenced():
            calibrated = self.calibrator.fit(
                columns.prediction(rows, RowCounts()),
                y if columns.event is None else Censored(y, rows.numbers(columns.event)),
                **columns.known(rows, labels),
                rng=None if labels is None else RowDraws(keys[order]),
            )
        return TableModel(calibrated, columns)

    def _checked(self, rows: Batch, keys: Keys, counts: RowCounts) -> pa.Table:
        """What calibration needs of these rows. Raises where a number makes no sense, while its row is known."""
        self.columns.prediction(rows, counts)
        rows.check_complete(self.columns.by)
        known = self.columns.known(rows, self.labels)
        if self.labels is not None:
            with rows.naming(target := self.columns.labels_in()):
                self.labels.check(rows.numbers(target), known.get("bound"))
        numbers = [as_arrow(rows.numbers(column)) for column in self.numbers]
        groups = [_common_type(rows.values(column)) for column in self.columns.by]
        return pa.Table.from_arrays([*numbers, *groups, pa.array(keys)], [*self.numbers, *self.columns.by, KEY])

    def _sampled(self, tables: list[pa.Table], name: Source) -> pa.Table:
        """The rows with the smallest keys; raises where two rows have one."""
        rows = pa.concat_tables(tables)
        keys = _keys(rows)
        ordered = np.sort(keys)
        if (ordered[1:] == ordered[:-1]).any():
            of = f" in {listed(self.ids)}" if self.ids else ""
            raise ValueError(f"{name}: the ids{of} must be of one row each, and two rows have the same")
        if self.sample is None or len(rows) <= self.sample:
            return rows
        return rows.take(pa.array(smallest(keys, self.sample, self.columns.group(Batch(name, 0, rows)))))


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
