"""Tables in files: csv, parquet, feather and folders of them, read batch by batch and written atomically."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, ipc, parquet, types

from calibrant.atomic import is_special_file, replacing
from calibrant.files import FileError
from calibrant.tables.rows import Batch, Header, Source, no_number
from calibrant.tables.stream import BATCH, LocalTable, Stream, check_schema

FORMATS = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
}
DELIMITERS = {",": "','", ";": "';'", "\t": "$'\\t'", "|": "'|'"}
"""The usual ones, as a shell takes them."""
BUFFER = 2**20
"""Bytes of a column of parquet that are read at a time, so that memory does not grow with the row groups."""
CSV_BLOCK = 2**22
LINE = 2**16
"""Bytes in which a line of names ends."""


@dataclass(frozen=True)
class Dialect:
    """How numbers and columns are written in csv files."""

    delimiter: str = ","
    decimal: str = "."

    def hint_of_names(self, line: str) -> str:
        """The flag for a line of names between other delimiters; nothing for one of this dialect."""
        if self.delimiter in line:
            return ""
        return next((f"try --delimiter {shown}" for each, shown in DELIMITERS.items() if each in line), "")

    def hint_of_number(self, text: str) -> str:
        """The flag for a text that is a number with another decimal mark; nothing for any other text."""
        mark = re.fullmatch(r"\s*[+-]?\d*([.,])\d+\s*", text)
        return f"try --decimal {mark[1]}" if mark and mark[1] != self.decimal else ""


@dataclass(frozen=True)
class TableFile(LocalTable):
    """A file of rows under names; the end of its name tells its format."""

    path: Path
    dialect: Dialect = Dialect()
    done: Callable[[int], None] = lambda rows: None
    """Hears of each batch that was worked off: how many rows it had."""
    part: int = 0

    @property
    def source(self) -> Path:  # type: ignore[override]
        """What errors call it."""
        return self.path

    @cached_property
    def format(self) -> str:
        """What the name of the file says: "csv", "parquet" or "feather"."""
        return format_of(self.path)

    @cached_property
    def count(self) -> int | None:
        """The number of rows, where the file tells without being read."""
        with self._named():
            return int(parquet.read_metadata(self.path).num_rows) if self.format == "parquet" else None

    @cached_property
    def _first_look(self) -> pa.Schema:
        _nameable(self.path)
        for what, is_it in (("a folder", os.path.isdir), ("a pipe or a device", is_special_file)):
            if is_it(self.path):
                raise ValueError(f"{self.path}: this is {what}, not a file")
        with self._named():
            if self.format == "parquet":
                schema = parquet.read_schema(self.path)
            elif self.format == "feather":
                with pa.OSFile(str(self.path)) as file:
                    schema = ipc.open_file(file).schema
            else:
                with self._csv() as reader:
                    schema = reader.schema
            schema.names  # noqa: B018  (raises where they are not UTF-8)
            return schema

    def schema(self, numbers: Sequence[str] = ()) -> pa.Schema:
        """The names and types; of csv guesses from the first block, where one that is empty there is text."""
        found = self._first_look
        if self.format != "csv":
            return found
        kinds = {name: pa.float64() for name in numbers}
        kinds |= {each.name: pa.string() for each in found if types.is_null(each.type) and each.name not in kinds}
        return pa.schema([each.with_type(kinds.get(each.name, each.type)) for each in found])

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        return list(self._first_look.names)

    @cached_property
    def header(self) -> Header:
        """The names of its columns, and what to say of one that it lacks."""
        only = self.names[0] if len(self.names) == 1 else ""
        hint = self.dialect.hint_of_names(only) if self.format == "csv" else ""
        return Header(self.path, tuple(self.names), f"the only one is {only!r}: {hint}" if hint else "")

    def batches(self, numbers: Sequence[str], others: Sequence[str] = ()) -> Iterator[Batch]:
        """These columns, at most `BATCH` rows at a time; a file without rows raises."""
        rows = 0
        for batch in self.read(numbers, others, self.schema(numbers)):
            rows += len(batch)
            yield batch
        if not rows:
            raise ValueError(f"{self.path}: there are no rows")

    def read(
        self, numbers: Sequence[str], others: Sequence[str], expected: pa.Schema, first: str = ""
    ) -> Iterator[Batch]:
        """These columns, which must be as in the first file of a folder."""
        names = list(dict.fromkeys([*numbers, *others]))
        self.header.check(names)
        wanted = pa.schema([expected.field(name) for name in names])
        if self.format != "csv":
            found = pa.schema([self._first_look.field(name) for name in names])
            check_schema(found.remove_metadata(), wanted.remove_metadata(), str(self.path), first)
        start = 0
        with self._named():
            for rows in self._record_batches(names, wanted, numbers):
                for batch in Batch(self.path, start, rows, self.part).parts(BATCH):
                    yield batch
                    start += len(batch)
                    self.done(len(batch))

    def _record_batches(self, names: list[str], wanted: pa.Schema, numbers: Sequence[str]) -> Iterator[pa.RecordBatch]:
        if self.format == "parquet":  # page by page: a data set of Arrow's would hold whole row groups
            with parquet.ParquetFile(self.path, pre_buffer=False, buffer_size=BUFFER) as file:
                yield from file.iter_batches(batch_size=BATCH, columns=names)
        elif self.format == "feather":
            with pa.OSFile(str(self.path)) as file:
                read = [place for place, name in enumerate(self.names) if name in names]
                reader = ipc.open_file(file, options=ipc.IpcReadOptions(included_fields=read))
                yield from map(reader.get_batch, range(reader.num_record_batches))
        else:
            try:
                with self._csv(include_columns=names, column_types=wanted) as rows:
                    yield from rows
            except pa.ArrowInvalid:
                if numbers:
                    self._raise_for_bad_value(list(dict.fromkeys(numbers)))
                raise

    def _csv(self, **convert: Any) -> csv.CSVStreamingReader:
        stream = pa.input_stream(str(self.path), compression="detect")
        parse = csv.ParseOptions(delimiter=self.dialect.delimiter)
        conversion = csv.ConvertOptions(decimal_point=self.dialect.decimal, **convert)
        return csv.open_csv(stream, csv.ReadOptions(block_size=CSV_BLOCK), parse, conversion)

    def _raise_for_bad_value(self, numbers: list[str]) -> None:
        """Read the columns again, as text, and raise for the first value that is no number."""
        from pyarrow import compute  # takes long to import

        mark = re.escape(self.dialect.decimal)
        number = rf"^\s*[+-]?((\d+{mark}?\d*|{mark}\d+)(e[+-]?\d+)?|inf(inity)?|nan)\s*$"
        texts, start = dict.fromkeys(numbers, pa.string()), 0
        with self._csv(include_columns=numbers, column_types=texts, strings_can_be_null=True) as rows:
            for batch in rows:
                known = [compute.match_substring_regex(batch[name], number, ignore_case=True) for name in numbers]
                bad = np.stack([np.asarray(each) == False for each in known])  # noqa: E712  (None is a gap)
                if bad.any():
                    row = int(np.argmax(bad.any(axis=0)))
                    name = numbers[int(np.argmax(bad[:, row]))]
                    text = batch[name][row].as_py()
                    raise no_number(self.path, name, repr(text), start + row, self.dialect.hint_of_number(text))
                start += batch.num_rows

    def _first_line(self) -> str:
        with suppress(OSError), pa.input_stream(str(self.path), compression="detect") as stream:
            return str(stream.read(LINE).decode(errors="replace").partition("\n")[0])
        return ""

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Say which file it is that Arrow cannot read."""
        try:
            yield
        except FileNotFoundError:
            raise FileNotFoundError(f"{self.path}: there is no such file") from None
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.path}: this is not UTF-8 ({error}): save it as UTF-8") from error
        except (pa.ArrowException, OSError) as error:
            if str(error).startswith(f"{self.path}"):
                raise
            message = f"{self.path}: this cannot be read as {self.format} ({_reason(error)})"
            line = self._first_line() if self.format == "csv" else ""
            strange = "\ufffd" in line or "invalid UTF8" in message
            hint = "save it as UTF-8" if strange else self.dialect.hint_of_names(line) if line else ""
            raise ValueError(f"{message}: {hint}" if hint else message) from error


@dataclass(frozen=True)
class Files(LocalTable):
    """Several files of one kind as one table, each a part of it; all have the columns of the first."""

    source: Path | str
    files: tuple[TableFile, ...]

    @classmethod
    def of(cls, path: Any, dialect: Dialect = Dialect()) -> Files:
        """Of a folder, or of the files of a list."""
        if isinstance(path, (str, os.PathLike)):
            found = sorted((each for each in Path(path).iterdir() if _format(each)), key=_by_number)
            if not found:
                raise ValueError(f"{path}: there is no file in this folder that ends in one of {', '.join(FORMATS)}")
            if len(formats := {format_of(each) for each in found}) > 1:
                raise ValueError(
                    f"{path}: there are {' and '.join(sorted(formats))} files in this folder: keep one kind"
                )
        else:
            found = [Path(each) for each in path]
            path = "the files"
        return cls(path, tuple(TableFile(each, dialect, part=number) for number, each in enumerate(found)))

    def schema(self, numbers: Sequence[str] = ()) -> pa.Schema:
        """That of the first file."""
        return self.files[0].schema(numbers)

    @property
    def header(self) -> Header:
        """The names of its columns."""
        return self.files[0].header

    def batches(self, numbers: Sequence[str], others: Sequence[str] = ()) -> Iterator[Batch]:
        """The rows of one file after the other; a file without rows gives a batch of none."""
        expected = self.schema(numbers)
        for file in self.files:
            batch = None
            for batch in file.read(numbers, others, expected, str(self.files[0].path)):
                yield batch
            if batch is None:
                yield Batch(file.path, 0, pa.RecordBatch.from_pylist([], expected), file.part)


def table_of(data: Any, name: Source = "the table", part: int = 0) -> LocalTable:
    """A table that is read in this process: of a file, a folder, several files, or what Arrow can stream.

    Args:
        data: The table.
        name: What errors call it, where it is no file.
        part: Its number, where it is a part of a larger table.
    """
    if isinstance(data, LocalTable):
        return data
    if isinstance(data, (str, os.PathLike)):
        return Files.of(data) if os.path.isdir(data) else TableFile(Path(data), part=part)
    if isinstance(data, (list, tuple)) and data and all(isinstance(each, (str, os.PathLike)) for each in data):
        return Files.of(data)
    return Stream.of(data, name, part)


def _format(path: Path) -> str | None:
    return next((kind for suffix, kind in FORMATS.items() if path.name.lower().endswith(suffix)), None)


def format_of(path: Path) -> str:
    """The format that the end of a file's name tells."""
    if (kind := _format(path)) is None:
        raise ValueError(f"{path}: the name must end in one of {', '.join(FORMATS)}")
    return kind


def _by_number(path: Path) -> list[tuple[int, str]]:
    """part.10 behind part.9."""
    return [(int(each), "") if each.isdigit() else (-1, each) for each in re.split(r"(\d+)", path.name)]


@contextmanager
def written(
    path: Path, schema: pa.Schema, plain: Sequence[str] = (), dialect: Dialect = Dialect()
) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """A file that appears under its name only when all is written; gives the function that takes the batches.

    Args:
        path: The file to write.
        schema: The columns.
        plain: Those of them that hold floats which hardly repeat.
        dialect: How a csv file is to be written.
    """
    _nameable(path)
    kind = format_of(path)
    if path.is_dir():
        raise ValueError(f"{path}: this is a folder")
    if not os.path.isdir(os.path.dirname(os.path.realpath(path))):
        raise ValueError(f"{path}: there is no folder {path.parent}")
    try:
        with (
            replacing(path) as temporary,
            pa.OSFile(temporary, "wb") as stream,
            _writer(kind, stream, schema, plain, dialect, packed=path.name.lower().endswith(".gz")) as write_batch,
            ThreadPoolExecutor(1) as behind,  # one batch is written while the next is made
        ):
            writing = behind.submit(lambda: None)

            def write(batch: pa.RecordBatch) -> None:
                nonlocal writing
                writing.result()
                writing = behind.submit(write_batch, batch)

            yield write
            writing.result()
    except (pa.ArrowException, OSError, FileError) as error:
        raise ValueError(f"{path}: this cannot be written ({_reason(error)})") from error


@contextmanager
def _writer(
    kind: str, stream: Any, schema: pa.Schema, plain: Sequence[str], dialect: Dialect, *, packed: bool
) -> Iterator[Callable[[pa.RecordBatch], None]]:
    with ExitStack() as stack:
        if kind == "parquet":
            repeating = [name for name in schema.names if name not in plain]
            writer: Any = parquet.ParquetWriter(stream, schema, compression="snappy", use_dictionary=repeating)
        elif kind == "feather":
            writer = ipc.new_file(stream, schema, options=ipc.IpcWriteOptions(compression="lz4"))
        else:
            if packed:
                stream = stack.enter_context(pa.CompressedOutputStream(stream, "gzip"))
            # Arrow reads other decimal marks and does not write them: such numbers are texts to it
            texts = dialect.decimal != "."
            kinds = [pa.string() if texts and types.is_floating(each) else each for each in schema.types]
            bare = all(map(types.is_primitive, schema.types)) and dialect.decimal != dialect.delimiter
            options = csv.WriteOptions(delimiter=dialect.delimiter, quoting_style="none" if bare else "needed")
            shown = pa.schema([each.with_type(kind) for each, kind in zip(schema, kinds, strict=True)])
            writer = csv.CSVWriter(stream, shown, write_options=options)
            if texts:
                with writer:
                    yield lambda batch: writer.write_batch(_as_texts(batch, shown, dialect.decimal))
                return
        with writer:
            yield writer.write_batch


def _as_texts(batch: pa.RecordBatch, schema: pa.Schema, decimal: str) -> pa.RecordBatch:
    from pyarrow import compute  # takes long to import

    columns = [
        compute.replace_substring(column.cast(pa.string()), ".", decimal) if types.is_floating(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _nameable(path: Path) -> None:
    """Raise where Arrow could not open a file of this name."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise ValueError(f"{str(path)!a}: the name of a file must be UTF-8") from None


def _reason(error: Exception) -> str:
    number = getattr(error, "errno", None)
    return str(error).splitlines()[0].rstrip(".") if number is None else os.strerror(number).lower()
