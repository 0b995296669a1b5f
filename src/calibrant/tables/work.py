"""What an engine does: the steps of a fit or an evaluation in parts, and where the parts come from."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from calibrant._row_hash import Keys
from calibrant.labels import Labels
from calibrant.tables.columns import Columns
from calibrant.tables.counts import Counts
from calibrant.tables.files import Files, open_table
from calibrant.tables.rows import Batch, Header, Source
from calibrant.tables.sampling import keys_of
from calibrant.tables.stream import BATCH, Stream, Table


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


Data = str | os.PathLike[str] | ArrowStream | Lazy | OfSpark | Table | Iterable[object]
"""A table: in files, in memory, or on an engine; frames of Dask are Iterable."""


def table_of(data: Data, name: Source = "the table", part: int = 0) -> Table:
    """A table that is read batch by batch: of a path, of several, or of what Arrow can stream.

    Args:
        data: A file, a folder, a list of files; a reader, a table, a frame, a lazy frame; record batches.
        name: What errors call it, where it is no file.
        part: Its number, where it is a part of a larger table.
    """
    if isinstance(data, Table):
        return data
    if isinstance(data, (str, os.PathLike)):
        return open_table(data)
    if isinstance(data, (list, tuple)) and data and all(isinstance(each, (str, os.PathLike)) for each in data):
        return Files.of(data)
    return Stream.of(data, name, part)


@dataclass(frozen=True)
class Part:
    """What was found in one or more parts of a table."""

    found: Any
    """None where there was no row."""
    counts: Counts
    first: Source
    """The first part with rows."""


@dataclass(frozen=True)
class Work(ABC):
    """A fit or an evaluation in three steps, each a function without state: `part`, `merge` and `finish`.

    An engine calls `part` for each partition, wherever it is, `merge` on what it gives, in any tree, and `finish` once.
    """

    columns: Columns
    ids: tuple[str, ...]
    missing: str
    at_once: ClassVar[int] = BATCH
    """The most rows that are worked on at a time."""

    def __post_init__(self) -> None:
        Counts(self.missing)  # raises for another word
        self.columns.labels_in()

    @property
    @abstractmethod
    def labels(self) -> Labels | None:
        """What kind of number the labels are."""

    @property
    def target(self) -> str:
        """The column of the labels."""
        return self.columns.labels_in()

    @property
    def numbers(self) -> list[str]:
        """The columns of numbers that a row must have, the label first."""
        return list(dict.fromkeys([self.target, *self.columns.needed(self.labels)]))

    @property
    def read(self) -> list[str]:
        """All columns that are read."""
        return list(dict.fromkeys([*self.numbers, *self.columns.by, *self.ids]))

    def part(self, data: Any, name: Source = "the table", number: int = 0) -> Part:
        """What is kept of one part.

        Args:
            data: Its rows: a table, a frame, Arrow batches.
            name: What messages call this part.
            number: Which part of the table it is, counted from 0: the ids of its rows, where no column says them.
        """
        table = table_of(data, name, number)
        table.header.check(self.read)
        counts, found = Counts(self.missing), None
        for batch in table.batches(self.numbers, [*self.columns.by, *self.ids]):
            for rows in batch.parts(self.at_once) if len(batch) else [batch]:
                complete = counts.complete(rows, self.columns.needed(self.labels), self.target)
                if complete.any():
                    found = self.add(found, rows.where(complete), keys_of(rows, self.ids)[complete], counts)
        counts.close(table.source)
        if counts.rows and found is None and not counts.refused:
            raise ValueError(f"{table.source}: no row has both a label and a prediction")
        return Part(None if found is None else self.join([found], table.source), counts, table.source)

    def merge(self, parts: Iterable[Part], name: Source = "the table") -> Part:
        """One of several, in order.

        Args:
            parts: What `part` gave of each part.
            name: What messages call the table.
        """
        parts, counts = list(parts), Counts(self.missing)
        for each in parts:
            counts.merge(each.counts)
        nonempty = [each for each in parts if each.found is not None]
        if not nonempty:
            return Part(None, counts, name)
        self.check_alike(nonempty)
        return Part(self.join([each.found for each in nonempty], name), counts, nonempty[0].first)

    def finish(self, part: Part, name: Source = "the table") -> Any:
        """The result, and warnings of rows that were repaired or left out.

        Args:
            part: What was found in all parts, merged.
            name: What messages call the table.
        """
        if part.found is None:
            raise ValueError(f"{name}: {part.counts.no_rows(name)}")
        result = self.result(part.found, name)
        part.counts.report(name, "they are left out", self.labels)
        return result

    @abstractmethod
    def add(self, found: Any, rows: Batch, keys: Keys, counts: Counts) -> Any:
        """What was found so far, and now in these rows."""

    @abstractmethod
    def join(self, found: list[Any], name: Source) -> Any:
        """What was found in several parts."""

    @abstractmethod
    def result(self, found: Any, name: Source) -> Any:
        """What the rows come to."""

    @abstractmethod
    def check_alike(self, parts: list[Part]) -> None:
        """Raise where parts do not fit together."""


class Engine(ABC):
    """Where a table lies: it runs the steps of a work on its parts. Give one to `fit`, `predict` and `evaluate`."""

    source: Source
    """What errors call the table."""

    @property
    @abstractmethod
    def header(self) -> Header:
        """The names of its columns."""

    @abstractmethod
    def merged(self, work: Work) -> Part:
        """What `work.part` gives of each part, merged by `work.merge`.

        Args:
            work: A fit or an evaluation.
        """

    @abstractmethod
    def mapped(self, work: Any) -> Any:
        """The table that `work`, a `Predicting`, makes of each batch; nothing is computed yet.

        Args:
            work: What makes a new batch of a batch.
        """
