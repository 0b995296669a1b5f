"""What the Python workers of Spark do: each function takes the Arrow batches of one partition."""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import pyarrow as pa
from pyarrow import compute

from calibrant.batches.evaluating import Evaluating
from calibrant.batches.fitting import Fitting
from calibrant.batches.predicting import Predicting
from calibrant.batches.rows import partition
from calibrant.batches.stream import Stream

NUMBER, FOUND = "number", "found"
TOGETHER = 32
"""How many results merge at a time."""


def part(work: Fitting | Evaluating, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What `part` gives of a partition, pickled; each of its files is a part."""
    number = _number()
    found: list[Any] = []
    for stream in _files(batches, work.read, number):
        found.append(work.part(stream, stream.source, number))
        found = [work.merge(found)] if len(found) == TOGETHER else found
    if not found:
        nothing = pa.table({name: pa.array([], pa.null()) for name in work.read})
        found = [work.part(nothing, partition(number), number)]
    yield _row(number, work.merge(found))


def merged(work: Fitting | Evaluating, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The results of 32 partitions after each other, in order, as one; these get a number too, for the next time."""
    groups = defaultdict(list)
    for row in chain.from_iterable(batch.to_pylist() for batch in batches):
        groups[row[NUMBER] // TOGETHER].append(row)
    for number, rows in groups.items():
        yield _row(number, work.merge(in_order(rows)))


def predicted(shared: Predicting, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of a partition with their new columns."""
    for stream in _files(batches, read_by(shared), _number()):
        work = shared.with_fresh_counts()
        yield from map(work, stream.batches())
        work.report(stream.source)  # where it raises, the task fails, and what it wrote so far goes


def in_order(rows: Iterable[Any]) -> list[Any]:
    """What was found, by the numbers that it has."""
    return [pickle.loads(row[FOUND]) for row in sorted(rows, key=itemgetter(NUMBER))]


def read_by(work: Predicting) -> list[str]:
    """All columns that are read, and those that stay."""
    return list(dict.fromkeys([*work.others, *work.numbers]))


def _files(batches: Iterable[pa.RecordBatch], names: Sequence[str], number: int) -> Iterator[Stream]:
    """The batches of a partition as a stream for each file; rows are counted in the partition."""
    for file, pieces in groupby(_pieces(batches, names), itemgetter(0)):
        _, start, first = next(pieces)
        yield Stream(partition(number, file), first.schema, chain([first], (rows for *_, rows in pieces)), start)  # noqa: B031  (the rest)


def _pieces(batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> Iterator[tuple[str, int, pa.RecordBatch]]:
    """Rows that follow each other in one file: the file, the number of the first row, and the rows."""
    start = 0
    for batch in batches:
        *columns, files = batch.columns
        rows, begin = pa.RecordBatch.from_arrays(columns, names=list(names)), 0
        runs = compute.run_end_encode(files)
        for file, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
            yield file, start + begin, rows.slice(begin, end - begin)
            begin = end
        start += len(batch)


def _number() -> int:
    """The number of the partition that this worker has."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is None:
        raise RuntimeError("this runs in a task of Spark only")
    return int(context.partitionId())


def _row(number: int, found: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({NUMBER: [number], FOUND: [pickle.dumps(found)]})
