"""The steps of a fit or an evaluation of a table in parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from calibrant._row_hash import Keys
from calibrant.labels import Labels
from calibrant.tables.columns import Columns
from calibrant.tables.counts import RowCounts
from calibrant.tables.files import table_of
from calibrant.tables.rows import Batch, Header, Source
from calibrant.tables.sampling import keys_of
from calibrant.tables.stream import BATCH


@dataclass(frozen=True)
class PartResult:
    """What was found in one or more parts of a table."""

    found: Any
    """None where there was no row."""
    counts: RowCounts
    first: Source
    """The first part with rows."""


@dataclass(frozen=True)
class Work(ABC):
    """A fit or an evaluation in three steps, each a function without state: `part`, `merge` and `finish`.

    An engine calls `part` for each partition, wherever it is, and `merge` on what it gives, in any tree; `finish` is
    called once.
    """

    columns: Columns
    ids: tuple[str, ...]
    missing: str
    at_once: ClassVar[int] = BATCH
    """The most rows that are worked on at a time."""

    def __post_init__(self) -> None:
        RowCounts(self.missing)  # raises for another word
        self.columns.labels_in()

    @property
    @abstractmethod
    def labels(self) -> Labels | None:
        """What kind of number the labels are."""

    @property
    def numbers(self) -> list[str]:
        """The columns of numbers that a row must have, the label first."""
        return list(dict.fromkeys([self.columns.labels_in(), *self.columns.needed(self.labels)]))

    @property
    def read(self) -> list[str]:
        """All columns that are read."""
        return list(dict.fromkeys([*self.numbers, *self.columns.by, *self.ids]))

    def on(self, header: Header) -> Self:
        """The same for a table with these columns.

        Args:
            header: The names of the table's columns.
        """
        work = replace(self, columns=self.columns.resolve(header))
        header.check(work.read)
        return work

    def part(self, data: Any, name: Source = "the table", number: int = 0) -> PartResult:
        """What is kept of one part.

        Args:
            data: Its rows: a file, a frame, Arrow batches.
            name: What messages call this part, if it is no file.
            number: Which part of the table it is, counted from 0: part of the ids of its rows, where no column says
                them.
        """
        table, needed = table_of(data, name, number), self.columns.needed(self.labels)
        table.header.check(self.read)
        counts, found = RowCounts(self.missing), None
        for batch in table.batches(self.numbers, [*self.columns.by, *self.ids]):
            for rows in batch.parts(self.at_once):
                complete = counts.complete(rows, needed, self.columns.labels_in())
                if complete.any():
                    found = self.add(found, rows.where(complete), keys_of(rows, self.ids)[complete], counts)
        counts.close(table.source)
        if counts.rows and found is None and not counts.refused:
            raise ValueError(f"{table.source}: no row has both a label and a prediction")
        return self.merge([PartResult(found, counts, table.source)], table.source)

    def merge(self, parts: Iterable[PartResult], name: Source = "the table") -> PartResult:
        """One of several.

        Args:
            parts: What `part` gave of each part, in order.
            name: What messages call the table.
        """
        parts, counts = list(parts), RowCounts(self.missing)
        for each in parts:
            counts.merge(each.counts)
        nonempty = [each for each in parts if each.found is not None]
        if not nonempty:
            return PartResult(None, counts, name)
        return PartResult(self.join(nonempty, name), counts, nonempty[0].first)

    def finish(self, part: PartResult, name: Source = "the table") -> Any:
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
    def add(self, found: Any, rows: Batch, keys: Keys, counts: RowCounts) -> Any:
        """What was found so far (None before the first rows), and now in these rows.

        Args:
            found: What was found before.
            rows: A batch of rows.
            keys: The number of each row, for what is drawn.
            counts: Counts rows that are left out.
        """

    @abstractmethod
    def join(self, parts: list[PartResult], name: Source) -> Any:
        """What was found in several parts, or in one.

        Args:
            parts: What was found in each.
            name: The name of the table.
        """

    @abstractmethod
    def result(self, found: Any, name: Source) -> Any:
        """What the rows come to.

        Args:
            found: What was found in all of them.
            name: The name of the table.
        """
