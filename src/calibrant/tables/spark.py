"""Spark data frames: partition by partition, by `mapInArrow`. It needs pyspark when it is given a frame."""

from __future__ import annotations

import os
import pickle
import re
import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import compute

from calibrant.tables.predicting import Predicting
from calibrant.tables.rows import Batch, Header, partition
from calibrant.tables.stream import Engine, LocalTable
from calibrant.tables.work import PartResult, Work

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["to_parquet"]

NUMBER, FOUND = "number", "found"
TOGETHER = 32
"""How many results merge at a time."""
LEVELS = 2
"""How often 32 results become one before the driver gets what is left: one of 1,024 partitions."""
_UNREADABLE = re.compile(r"\[FAILED_READ_FILE[^\]]*\] Encountered error while reading file (\S+)\.\s*(.*?)\s*SQLSTATE")
_OURS = re.compile(r"^(ValueError|TypeError): (.*?)(?:\n\s*\n|\n\s+at |\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class SparkFrame(Engine):
    """The partitions of a Spark frame."""

    frame: Any
    source: str = "the frame"

    @property
    def header(self) -> Header:
        """The names of its columns."""
        return Header(self.source, tuple(self.frame.columns))

    def merged(self, work: Work) -> PartResult:
        """What is found in each partition, merged in a tree: the driver never holds the results of all of them."""
        from pyspark.sql import functions as F

        schema = f"{NUMBER} long, {FOUND} binary"
        parts = self._with_file(work.read).mapInArrow(partial(_part, work), schema)
        for _ in range(LEVELS):
            parts = parts.repartition(F.floor(F.col(NUMBER) / TOGETHER)).mapInArrow(partial(_merged, work), schema)
        with in_one_sentence():
            rows = parts.collect()
        return work.merge(_in_order(rows))

    def mapped(self, work: Predicting) -> DataFrame:
        """A frame with the new columns; the warning that counts rows without a prediction is in the executors' logs."""
        from pyspark.sql.types import DoubleType, StructField, StructType

        new = [StructField(name, DoubleType(), nullable=False) for name in work.outputs.names]
        schema = StructType([*(self.frame.schema[name] for name in work.kept), *new])
        found: DataFrame = self._with_file(work.read).mapInArrow(partial(_predicted, work), schema)
        return found

    def _with_file(self, columns: Sequence[str]) -> Any:
        """Some columns, and behind them the file that a row was read from, "" where that is not known.

        They are named by number, since `mapInArrow` takes no name with a dot.
        """
        from pyspark.errors import AnalysisException
        from pyspark.sql import functions as F

        quoted = ("`" + name.replace("`", "``") + "`" for name in columns)
        chosen = [F.col(name).alias(f"c{number}") for number, name in enumerate(quoted)]
        if "_metadata" not in self.frame.columns:
            try:
                with _unlogged():
                    found = self.frame.select(*chosen, F.col("_metadata.file_path").alias("file"))
                    found.schema  # noqa: B018  (over Spark Connect nothing is looked up before)
            except AnalysisException:  # rows of no file, or of who knows which
                pass
            else:
                return found
        return self.frame.select(*chosen, F.lit("").alias("file"))


@dataclass(frozen=True)
class Partition(LocalTable):
    """The Arrow batches of a partition, named by the files that they are from; rows are counted in the partition."""

    source: str
    names: Sequence[str]
    rows: Iterable[pa.RecordBatch]
    part: int

    def schema(self, numbers: Sequence[str] = ()) -> pa.Schema:
        """The names alone: the types are known when the first batch is."""
        return pa.schema([(name, pa.null()) for name in self.names])

    def batches(self, numbers: Sequence[str] = (), others: Sequence[str] = ()) -> Iterator[Batch]:
        """Rows that follow each other in one file."""
        start = 0
        for batch in self.rows:
            *columns, files = batch.columns
            rows, begin = pa.RecordBatch.from_arrays(columns, names=list(self.names)), 0
            runs = compute.run_end_encode(files)
            for file, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
                piece = rows.slice(begin, end - begin)
                yield Batch(partition(self.part, file), start + begin, piece, self.part)
                begin = end
            start += len(batch)


def _part(work: Work, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What `part` gives of a partition, pickled."""
    number = _number()
    yield _row(number, work.part(Partition(partition(number), work.read, batches, number)))


def _merged(work: Work, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The results of 32 partitions after each other, in order, as one; these get a number too, for the next time."""
    groups = defaultdict(list)
    for row in chain.from_iterable(batch.to_pylist() for batch in batches):
        groups[row[NUMBER] // TOGETHER].append(row)
    for number, rows in groups.items():
        yield _row(number, work.merge(_in_order(rows)))


def _predicted(shared: Predicting, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of a partition with their new columns."""
    work, number = shared.afresh(), _number()
    yield from map(work, Partition(partition(number), work.read, batches, number).batches())
    work.report(partition(number))  # where it raises, the task fails, and what it wrote so far goes


def _in_order(rows: Iterable[Any]) -> list[PartResult]:
    """What was found, by the numbers that it has."""
    return [pickle.loads(row[FOUND]) for row in sorted(rows, key=itemgetter(NUMBER))]


def _number() -> int:
    """The number of the partition that this worker has."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is None:
        raise RuntimeError("this runs in a task of Spark only")
    return int(context.partitionId())


def _row(number: int, found: PartResult) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({NUMBER: [number], FOUND: [pickle.dumps(found)]})


def to_parquet(df: DataFrame, folder: str | os.PathLike[str]) -> None:
    """Write a Spark frame as a folder of parquet files, which gets its name when all of them are written.

    Until then it has a name that begins with a dot and ends in "unfinished". A run that fails removes it; one that is
    killed leaves it under that name. The folder is on any file system of Hadoop's that renames in one step, as local
    disks and HDFS do. Object stores copy instead: write there by `df.write`, and take a folder without `_SUCCESS` for
    unfinished. Spark Connect has no access to file systems: use `df.write` there too.

    Args:
        df: A Spark frame.
        folder: The folder to write, which must not exist.
    """
    context = df.sparkSession.sparkContext
    Path = context._jvm.org.apache.hadoop.fs.Path
    target = Path(os.fspath(folder))
    files = target.getFileSystem(context._jsc.hadoopConfiguration())
    target = files.makeQualified(target)
    if files.exists(target):
        raise FileExistsError(f"{target} is there already: name a new folder, or remove it first")
    if not files.exists(target.getParent()):
        raise FileNotFoundError(f"there is no folder {target.getParent()}")
    recursive = True
    unfinished = Path(target.getParent(), f".{target.getName()}-{secrets.token_hex(4)}-unfinished")
    try:
        with in_one_sentence():
            df.write.parquet(unfinished.toString())
        if files.exists(target) or not files.rename(unfinished, target):
            raise OSError(f"{target} could not be named: it is there already, or the file system refused")
    except BaseException:
        files.delete(unfinished, recursive)
        raise


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """Raise the error that a worker raised, and name a file that Spark could not read; leave any other as it is."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        message = sentence(str(error))
        if message is None:
            raise
        raise ValueError(message) from error


def sentence(trace: str) -> str | None:
    """What a trace says of the table, or None if it is about something else."""
    unreadable = _UNREADABLE.search(trace)
    if unreadable:
        file, why = unreadable.groups()
        return f"{file}: this cannot be read" + (f" ({why.rstrip('.')})" if why else "")
    raised = _OURS.findall(trace)
    return raised[-1][1].strip() if raised else None


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep Spark from printing an error that is caught."""
    from pyspark.logger import PySparkLogger

    logger = PySparkLogger.getLogger("DataFrameQueryContextLogger")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before
