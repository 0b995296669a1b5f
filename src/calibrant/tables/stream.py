"""Tables that are read a batch of rows at a time, from whatever Arrow can stream; and the engines that hold others."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import pyarrow as pa

from calibrant.tables.rows import Batch, Header, Source

BATCH = 2**18
"""The most rows that are worked on at a time."""


class Engine(ABC):
    """Where a table lies. `fit`, `evaluate` and `predict` take one of your own in place of a table."""

    source: Source
    """What errors call the table."""

    @property
    @abstractmethod
    def header(self) -> Header:
        """The names of its columns."""

    @abstractmethod
    def merged(self, work: Any) -> Any:
        """What `work.part` gives of each part, merged by `work.merge`.

        Args:
            work: A fit or an evaluation: a `Work`.
        """

    @abstractmethod
    def mapped(self, work: Any) -> Any:
        """The table with the new columns that `work` makes of each batch; nothing is computed yet.

        Args:
            work: A `Predicting`, which makes new columns.
        """


class LocalTable(Engine):
    """Rows under names that are read in this process, batch by batch."""

    @abstractmethod
    def schema(self, numbers: Sequence[str] = ()) -> pa.Schema:
        """The names and types of its columns; `numbers` are read as numbers where the file does not say."""

    @abstractmethod
    def batches(self, numbers: Sequence[str], others: Sequence[str] = ()) -> Iterator[Batch]:
        """Its rows, at most `BATCH` at a time: these columns of numbers, and others of any kind."""

    @property
    def header(self) -> Header:
        """The names of its columns."""
        return Header(self.source, tuple(self.schema().names))

    def merged(self, work: Any) -> Any:
        """What is found in the whole table."""
        return work.part(self)

    def mapped(self, work: Any) -> pa.RecordBatchReader:
        """The new batches, as a reader.

        Args:
            work: A `Predicting`, which makes new columns.
        """

        def results() -> Iterator[pa.RecordBatch]:
            yield from map(work, self.batches(work.numbers, work.read))
            work.report(self.source)

        return pa.RecordBatchReader.from_batches(work.schema(self.schema(work.numbers)), results())


class ArrowStream(Protocol):
    """What Arrow can stream: a table, a reader, a data frame, a DuckDB relation."""

    def __arrow_c_stream__(self, requested_schema: Any = None, /) -> Any: ...


class Lazy(Protocol):
    """A LazyFrame of polars."""

    def collect_batches(self) -> Iterable[Any]:
        """Its rows, in batches."""


class OfSpark(Protocol):
    """A data frame of Spark."""

    mapInArrow: Any


Data = str | os.PathLike[str] | ArrowStream | Lazy | OfSpark | Engine | Iterable[object]
"""A table: in files, in memory, or on an engine; frames of Dask are iterable."""


@dataclass(frozen=True)
class Stream(LocalTable):
    """Record batches that can be read once, and their schema."""

    source: Source
    given: pa.Schema
    rows: Iterable[pa.RecordBatch]
    part: int = 0

    @classmethod
    def of(cls, given: Any, source: Source, part: int = 0) -> Stream:
        """From a reader, a table or a frame, from what Arrow can stream, or from batches one after the other."""
        if isinstance(given, pa.RecordBatch):
            return cls(source, given.schema, [given], part)
        if hasattr(given, "collect_batches"):  # a LazyFrame of polars
            given = given.collect_batches()
        elif not isinstance(given, pa.RecordBatchReader) and hasattr(given, "__arrow_c_stream__"):
            given = pa.RecordBatchReader.from_stream(given)
        if isinstance(given, pa.RecordBatchReader):
            return cls(source, given.schema, given, part)
        if not isinstance(given, Iterable):
            raise TypeError(f"{source} must be record batches or what Arrow can stream, got {type(given).__name__}")
        rows = chain.from_iterable(_batches(each, source) for each in given)
        first = next(rows, None)
        if first is None:
            raise ValueError(f"{source}: there is no batch, so the columns are not known")
        return cls(source, first.schema, chain([first], rows), part)

    def schema(self, numbers: Sequence[str] = ()) -> pa.Schema:
        """The names and types of its columns."""
        return self.given

    def batches(self, numbers: Sequence[str] = (), others: Sequence[str] = ()) -> Iterator[Batch]:
        """All columns; a batch of another schema raises."""
        start = 0
        for number, rows in enumerate(self.rows):
            if rows.schema is not self.given:
                check_schema(rows.schema, self.given, f"{self.source}: batch {number}", "the first")
            yield from Batch(self.source, start, rows, self.part).parts(BATCH)
            start += rows.num_rows


def _batches(each: Any, source: Source) -> Iterable[pa.RecordBatch]:
    if isinstance(each, pa.RecordBatch):
        return [each]
    if hasattr(each, "__arrow_c_stream__"):  # a frame
        reader: Iterable[pa.RecordBatch] = pa.RecordBatchReader.from_stream(each)
        return reader
    raise TypeError(f"{source} must be record batches or what Arrow can stream, got {type(each).__name__} among them")


def check_schema(got: pa.Schema, expected: pa.Schema, what: str, other: str) -> None:
    """Raise for the first column in which two schemas differ."""
    if got.equals(expected):
        return
    for name in dict.fromkeys([*expected.names, *got.names]):
        here, there = (_kind(schema, name) for schema in (got, expected))
        if here != there:
            raise ValueError(f"{what} has another schema than {other}: column {name!r} is {here}, not {there}")
    if got.names != expected.names:
        raise ValueError(f"{what} has its columns in another order than {other}: {got.names}, not {expected.names}")


def _kind(schema: pa.Schema, name: str) -> str:
    places = schema.get_all_field_indices(name)
    return " and ".join(str(schema.field(place).type) for place in places) or "not there"
