"""Batches of rows from whatever holds them, one at a time, all of one schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import pyarrow as pa

from calibrant.batches.header import Header
from calibrant.batches.rows import Batch, Source

BATCH = 2**18
"""The most rows that are worked on at a time."""


class ArrowStream(Protocol):
    """What Arrow can stream: a table, a reader, a data frame, a DuckDB relation."""

    def __arrow_c_stream__(self, requested_schema: Any = None, /) -> Any: ...


class Lazy(Protocol):
    """A LazyFrame of polars."""

    def collect_batches(self) -> Iterable[Any]:
        """Its rows, in batches."""


Batches = ArrowStream | Lazy | Iterable[object]
"""Record batches, one after the other, or what Arrow can stream."""


@dataclass(frozen=True)
class Stream:
    """Record batches that can be read once, and their schema."""

    source: Source
    schema: pa.Schema
    rows: Iterable[pa.RecordBatch]
    start: int = 0
    """Which row of the source the first one is."""

    @classmethod
    def of(cls, given: Any, source: Source) -> Stream:
        """From a reader, a table or a frame, from what Arrow can stream, or from batches one after the other."""
        if isinstance(given, pa.RecordBatch):
            return cls(source, given.schema, [given])
        if hasattr(given, "collect_batches"):  # a LazyFrame of polars
            given = given.collect_batches()
        elif not isinstance(given, pa.RecordBatchReader) and hasattr(given, "__arrow_c_stream__"):
            given = pa.RecordBatchReader.from_stream(given)
        if isinstance(given, pa.RecordBatchReader):
            return cls(source, given.schema, given)
        if not isinstance(given, Iterable):
            raise TypeError(f"{source} must be record batches or what Arrow can stream, got {type(given).__name__}")
        rows = chain.from_iterable(_batches(each, source) for each in given)
        first = next(rows, None)
        if first is None:
            raise ValueError(f"{source}: there is no batch, so the columns are not known")
        return cls(source, first.schema, chain([first], rows))

    @property
    def header(self) -> Header:
        """The names of the columns."""
        return Header(self.source, tuple(self.schema.names))

    def batches(self) -> Iterator[Batch]:
        """At most `BATCH` rows at a time; one of another schema raises."""
        start = self.start
        for number, rows in enumerate(self.rows):
            if rows.schema is not self.schema:
                check_schema(rows.schema, self.schema, f"{self.source}: batch {number}", "the first")
            yield from Batch(self.source, start, rows).parts(BATCH)
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
