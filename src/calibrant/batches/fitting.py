"""Calibration on batches: a sample of the rows of each part, which merge, and one fit on what is left at the end."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

from calibrant._row_hash import Keys
from calibrant.batches.columns import Columns
from calibrant.batches.extra_columns import ExtraColumns
from calibrant.batches.header import Header, listed
from calibrant.batches.missing import Gaps
from calibrant.batches.model import TableModel, named_columns, names_of
from calibrant.batches.notes import Notes
from calibrant.batches.repairs import Repairs, silenced
from calibrant.batches.row_ids import RowDraws, row_keys, smallest
from calibrant.batches.rows import Batch, Source, as_arrow, decode_dictionary, naming
from calibrant.batches.stream import Batches, Stream
from calibrant.calibration import Calibrator

ENOUGH = 100_000
"""Rows that are calibrated on, at most: with so many the error of one set is below 0.0043."""
KEY = "key of the row's id"
"""The column of the hashed ids; no other column may have this name."""


def fit(
    batches: Batches,
    *,
    target: str,
    point: str | None = None,
    rate: str | None = None,
    mean: str | None = None,
    std: str | None = None,
    lower: str | None = None,
    upper: str | None = None,
    quantiles: Mapping[str, float] | None = None,
    samples: str | Sequence[str] | None = None,
    by: str | Sequence[str] = (),
    weights: str | None = None,
    ids: str | Sequence[str] = (),
    calibrator: Calibrator | None = None,
    sample: int | None = ENOUGH,
    missing: str = "keep",
    name: str = "the batches",
) -> TableModel:
    """Calibrate on batches of predictions and labels; `batches` are as in `predict`.

    The columns of the prediction are one of `point`, `rate`, `mean` and `std`, `lower` and `upper`, `quantiles`, such
    as `{"q05": 0.05, "q95": 0.95}`, and `samples`, by names or patterns. `by` names the columns of the group of a row,
    `weights` that of likelihood ratios.

    What is calibrated on is a `sample` of so many rows at most, of each group with `by`; with `sample=None` it is all
    rows, which takes memory for all of them. Which rows are in it depends on the column or columns `ids` alone, so
    parts in any order and of any size give the same model. Without `ids` a row's id is its number.

    Args:
        batches: Record batches, or anything that Arrow can stream: a reader, a table, a frame, a lazy frame.
        target: The column with the labels.
        point: The column with a point prediction.
        rate: The column with the mean of a Poisson count.
        mean: The column with the mean, together with `std`.
        std: The column with the standard deviation.
        lower: The column with the lower bound, together with `upper`.
        upper: The column with the upper bound.
        quantiles: The columns with quantiles and their levels, such as `{"q05": 0.05, "q95": 0.95}`.
        samples: The columns with draws, by names or patterns.
        by: The column or columns that name the group of a row.
        weights: The column with the likelihood ratios.
        ids: The column or columns that identify a row; its number by default.
        calibrator: What calibrates: a score, an interpolator and the kind of label.
        sample: How many rows to keep at most, of each group with `by`; None keeps all of them in memory.
        missing: What becomes of rows without a number: "keep" leaves them out of the fit and the evaluation, and
            predicts NaN; "error" raises.
        name: The name of the rows in errors.

    >>> import pyarrow as pa
    >>> table = pa.table({"f": [1.0, 2.0, 3.0, 4.0], "y": [1.1, 1.8, 3.3, 4.0]})
    >>> model = fit(table.to_batches(max_chunksize=3), target="y", point="f")
    >>> model.calibrated([10.0]).interval(0.5)
    (array([9.85]), array([10.25]))
    """
    given = {
        "point": point,
        "rate": rate,
        "mean": mean,
        "std": std,
        "lower": lower,
        "upper": upper,
        "quantiles": quantiles,
        "samples": samples,
    }
    stream = Stream.of(batches, name)
    work = fitting(stream.header, target, given, by, weights, ids, calibrator, sample, missing)
    return work.finish(work.part(stream, name), name)


def fitting(
    header: Header,
    target: str,
    columns: Mapping[str, Any],
    by: str | Sequence[str] = (),
    weights: str | None = None,
    ids: str | Sequence[str] = (),
    calibrator: Calibrator | None = None,
    sample: int | None = ENOUGH,
    missing: str = "keep",
) -> Fitting:
    """How to calibrate on tables with these columns; the arguments are those of `fit`.

    Args:
        header: The names and types of the columns.
        target: The column of the labels.
        columns: Which columns hold the prediction, as in `fit`.
        by: The columns that name the group of a row.
        weights: The column of likelihood ratios.
        ids: The columns that identify a row, for the sample and what is drawn.
        calibrator: The score and the interpolator.
        sample: The most rows to calibrate on; None for all.
        missing: What becomes of rows without a label: "keep", "drop" or "error".
    """
    calibrator = Calibrator() if calibrator is None else calibrator
    if calibrator.forget is not None:
        raise TypeError(f"batches have no time order, so {calibrator.forget!r} cannot be used")
    if sample is not None and (isinstance(sample, bool) or not isinstance(sample, int) or sample < 1):
        raise ValueError(f"sample must be a whole number of rows, 1 or more, or None for all rows, got {sample!r}")
    found = named_columns(columns, target).resolve(header, target)
    extra = ExtraColumns(weights, None, calibrator.labels, names_of(by))
    work = Fitting(found, target, extra, names_of(ids), calibrator, sample, Gaps.of(missing).refused)
    header.check([*work.numbers, *extra.by, *work.ids])
    return work


@dataclass(frozen=True)
class CalibrationRows:
    """The sampled rows of one or more parts, and counts of those that were repaired or left out."""

    rows: pa.Table
    """The columns that calibration needs, and the key of each row."""
    first: Source
    """The first part with rows."""
    seen: int = 0
    """All rows that were read."""
    empty: tuple[Source, ...] = ()
    """The parts without rows."""
    gaps: Gaps = field(default_factory=lambda: Gaps(refused=False))
    repairs: Repairs = field(default_factory=Repairs)


@dataclass(frozen=True)
class Fitting:
    """The three steps of a fit in parts, each a function without state: `part`, `merge` and `finish`.

    An engine calls `part` for each partition, wherever it is, `merge` on what it gives, in any tree, and `finish` once.
    """

    columns: Columns
    target: str
    extra: ExtraColumns
    ids: tuple[str, ...]
    calibrator: Calibrator
    sample: int | None
    refused: bool
    """Whether a missing number is an error."""

    @property
    def predicted(self) -> list[str]:
        """The columns of numbers that a row must have, but for its label."""
        return list(dict.fromkeys([*self.columns.names, *self.extra.names]))

    @property
    def numbers(self) -> list[str]:
        """The columns of numbers that a row must have."""
        return list(dict.fromkeys([self.target, *self.predicted]))

    @property
    def read(self) -> list[str]:
        """All columns that are read."""
        return list(dict.fromkeys([*self.numbers, *self.extra.by, *self.ids]))

    def part(self, batches: Any, name: Source, number: int = 0) -> CalibrationRows:
        """What is kept of one part, which has a name for errors and a number for the ids of its rows.

        Args:
            name: What messages call this part.
            batches: Its Arrow batches, one after the other.
            number: Which part of the table it is, counted from 0.
        """
        stream = batches if isinstance(batches, Stream) else Stream.of(batches, name)
        stream.header.check(self.read)
        gaps, repairs = Gaps(refused=self.refused), Repairs()
        pool, limit, kept, seen = [self._empty()], None, 0, 0
        for batch in stream.batches():
            seen += len(batch)
            complete = gaps.complete(batch, self.predicted, self.target)
            if not complete.any():
                continue
            keys = row_ids(batch, self.ids, number)[complete]
            rows = batch.where(complete)
            if limit is not None:  # beyond the sample that is had already
                below = keys <= limit
                rows, keys = rows.where(below), keys[below]
            self._check(rows, repairs)
            pool.append(self._taken(rows, keys))
            size = sum(len(each) for each in pool)
            if self.sample is not None and size > 2 * max(self.sample, kept):
                pool = [self._sampled(pool, name)]
                kept = len(pool[0])
                limit = None if self.extra.by else np.max(_keys(pool[0]))
        gaps.check(name)
        if seen and not any(map(len, pool)) and not gaps.refused:
            raise ValueError(f"{name}: no row has both a label and a prediction")
        return CalibrationRows(self._sampled(pool, name), name, seen, () if seen else (name,), gaps, repairs)

    def merge(self, parts: Iterable[CalibrationRows], name: Source = "the parts") -> CalibrationRows:
        """One of several, in order; of a sample no more than one sample is left.

        Args:
            parts: What `part` gave of each part, in any order.
            name: What messages call the table.
        """
        parts = list(parts)
        self._check_groups([each for each in parts if len(each.rows)])
        gaps, repairs = Gaps(refused=self.refused), Repairs()
        for each in parts:
            gaps.merge(each.gaps)
            repairs.merge(each.repairs)
        rows = self._sampled([each.rows for each in parts], name)
        empty = tuple(source for each in parts for source in each.empty)
        first = next((each.first for each in parts if len(each.rows)), "")
        return CalibrationRows(rows, first, sum(each.seen for each in parts), empty, gaps, repairs)

    def finish(self, found: CalibrationRows, name: Source = "the parts") -> TableModel:
        """Calibrate on what was kept, in the order of the keys, so that no other order counts.

        Args:
            found: The sampled rows of all parts, merged.
            name: What messages call the table.
        """
        if not len(found.rows):
            raise ValueError(no_rows_message(name, found.empty))
        keys = _keys(found.rows)
        order = np.argsort(keys)
        (batch,) = found.rows.take(pa.array(order)).combine_chunks().to_batches()
        rows = Batch(name, 0, batch)
        drawn: Any = None if self.calibrator.labels is None else RowDraws(keys[order])
        with naming(f"{name}, the rows in the order of their keys"), silenced():
            calibrated = self.calibrator.fit(
                self.columns.prediction(rows, Repairs()),
                rows.numbers(self.target),
                **self.extra.all_known(rows),
                rng=drawn,
            )
        found.repairs.report(name, self.calibrator.labels)
        found.gaps.report(name, "they are left out")
        if found.empty:
            warnings.warn(f"{name}: {empty_parts_message(found.empty)}", stacklevel=2)
        return TableModel(calibrated, Notes(self.columns, self.target, weights=self.extra.weights, by=self.extra.by))

    def _check_groups(self, parts: Sequence[CalibrationRows]) -> None:
        """Raise where a column of the groups is of another type than in the first part: 1 and "1" are two groups."""
        for each in parts:
            for column in self.extra.by:
                kind, other = (some.rows.schema.field(column).type for some in (each, parts[0]))
                if kind != other:
                    raise ValueError(f"{each.first}: column {column!r} is {kind}, and {other} in {parts[0].first}")

    def _check(self, rows: Batch, repairs: Repairs) -> None:
        """Raise where a number makes no sense, while it is known which row of which part has it."""
        self.columns.prediction(rows, repairs)
        for column in self.extra.by:
            rows.check_complete(column)
        known, y = self.extra.all_known(rows), rows.numbers(self.target)
        if self.calibrator.labels is not None:
            with rows.naming(self.target):
                self.calibrator.labels.check(y, known.get("bound"))

    def _taken(self, rows: Batch, keys: Keys) -> pa.Table:
        numbers = [as_arrow(rows.numbers(column)) for column in self.numbers]
        groups = [_common_types(rows.values(column)) for column in self.extra.by]
        arrays = [*numbers, *groups, pa.array(keys)]
        return pa.Table.from_arrays(arrays, names=[*self.numbers, *self.extra.by, KEY])

    def _empty(self) -> pa.Table:
        numbers = {column: pa.array([], pa.float64()) for column in self.numbers}
        groups = {column: pa.array([], pa.null()) for column in self.extra.by}
        return pa.table({**numbers, **groups, KEY: pa.array([], pa.uint64())})

    def _sampled(self, pool: Sequence[pa.Table], name: Source) -> pa.Table:
        nonempty = [each for each in pool if len(each)]
        if not nonempty:
            return self._empty()
        rows = pa.concat_tables(nonempty)
        keys = _keys(rows)
        if self.sample is None or len(rows) <= self.sample:
            ordered = np.sort(keys)
            if (ordered[1:] == ordered[:-1]).any():
                raise self._twice(name)
            return rows
        by = self.extra.group({column: rows[column].to_pylist() for column in self.extra.by}).get("by")
        try:
            return rows.take(pa.array(smallest(keys, self.sample, by)))
        except ValueError as error:
            raise self._twice(name) from error

    def _twice(self, name: Source) -> ValueError:
        of = f" in {listed(self.ids)}" if self.ids else ""
        return ValueError(f"{name}: the ids{of} must be of one row each, and two rows have the same")


def row_ids(batch: Batch, ids: Sequence[str], number: int) -> Keys:
    """The key of each row: of the columns of its id, or of the numbers of its part and of its row."""
    if not ids:
        rows = np.arange(batch.start, batch.start + len(batch))
        return row_keys((np.full(len(batch), number), rows))
    found = []
    for column in ids:
        values = batch.values(column)
        if values.null_count:
            row = batch.number_of(int(np.argmax(np.asarray(values.is_null()))))
            raise ValueError(f"{batch.source}: column {column!r} of the ids is missing in row {row} (counting from 0)")
        found.append(values.to_numpy(zero_copy_only=False))
    with naming(str(batch.source)):
        return row_keys(tuple(found) if len(found) > 1 else found[0])


def empty_parts_message(empty: Sequence[Source]) -> str:
    """Which parts have no rows."""
    return f"there are no rows in {listed([str(each) for each in empty])}"


def no_rows_message(name: Source, empty: Sequence[Source]) -> str:
    """An error message: a source has no rows at all, and in which of its parts, if it has parts."""
    parts = [each for each in empty if each != name]
    return f"{name}: {empty_parts_message(parts) if parts else 'there are no rows'}"


def _keys(rows: pa.Table) -> Keys:
    return np.asarray(rows[KEY].to_numpy(), np.uint64)


def _common_types(values: pa.Array) -> pa.Array:
    """Names and whole numbers as one type each, so that parts that were written by others fit together."""
    values = decode_dictionary(values)
    kind = values.type
    if types.is_integer(kind):
        return values.cast(pa.int64())
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return values.cast(pa.string())
    return values
