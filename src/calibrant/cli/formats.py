"""File formats: csv, parquet and feather, each read and written as a stream of batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
from pyarrow import csv, ipc, parquet, types

from calibrant.batches.rows import no_number
from calibrant.cli.dialect import Dialect, hint_of_number

BATCH = 2**18
"""The most rows that are in memory at a time; also the size of a parquet row group that is written."""
BUFFER = 2**20
"""Bytes of a column that are read at a time, so that memory does not grow with the size of the row groups."""
CSV_BLOCK = 2**22
LINE = 2**16
"""Bytes in which a line of names ends."""


class Format(ABC):
    """A kind of file."""

    name: ClassVar[str]

    @abstractmethod
    def schema(self, path: Path) -> pa.Schema:
        """The names and types of the columns."""

    @abstractmethod
    def count(self, path: Path) -> int | None:
        """The number of rows, if it can be had without reading them."""

    def first_line(self, path: Path) -> str:
        """The line with the names of the columns; nothing where the file is not text."""
        del path
        return ""

    @abstractmethod
    def batches(self, path: Path, columns: list[str], numbers: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """These columns, in batches of any size; a csv file reads `numbers` as float64."""

    @abstractmethod
    def writer(self, stream: Any, schema: pa.Schema, plain: Sequence[str]) -> Any:
        """A context manager with `write_batch`; the columns `plain` hold floats that hardly repeat."""


class Parquet(Format):
    """Columns in row groups."""

    name = "parquet"

    def schema(self, path: Path) -> pa.Schema:
        """From the footer."""
        return parquet.read_schema(path)

    def count(self, path: Path) -> int | None:
        """From the footer."""
        return int(parquet.read_metadata(path).num_rows)

    def batches(self, path: Path, columns: list[str], numbers: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Page by page: `pre_buffer` and an unbuffered read would hold whole row groups."""
        with parquet.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER) as file:
            yield from file.iter_batches(batch_size=BATCH, columns=columns)

    def writer(self, stream: Any, schema: pa.Schema, plain: Sequence[str]) -> Any:
        """Snappy, and no dictionaries of numbers that hardly repeat."""
        repeating = [name for name in schema.names if name not in plain]
        return parquet.ParquetWriter(stream, schema, compression="snappy", use_dictionary=repeating)


class Feather(Format):
    """The Arrow IPC file format, which is Feather version 2."""

    name = "feather"

    def schema(self, path: Path) -> pa.Schema:
        """From the footer."""
        with pa.OSFile(str(path)) as file:
            return ipc.open_file(file).schema

    def count(self, path: Path) -> int | None:
        """Unknown until all is read: the footer does not say."""
        return None

    def batches(self, path: Path, columns: list[str], numbers: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """One record batch of the file after the other."""
        with pa.OSFile(str(path)) as file:
            names = ipc.open_file(file).schema.names
            expected = [k for k, name in enumerate(names) if name in columns]
            reader = ipc.open_file(file, options=ipc.IpcReadOptions(included_fields=expected))
            for k in range(reader.num_record_batches):
                yield reader.get_batch(k)

    def writer(self, stream: Any, schema: pa.Schema, plain: Sequence[str]) -> Any:
        """LZ4, as other writers of Feather do by default."""
        return ipc.new_file(stream, schema, options=ipc.IpcWriteOptions(compression="lz4"))


@dataclass(frozen=True)
class CSV(Format):
    """Comma-separated values below a line of names."""

    name: ClassVar[str] = "csv"
    compression: str | None = None

    def schema(self, path: Path) -> pa.Schema:
        """The names of the first line; the types are guesses from the first block."""
        with self._reader(path) as reader:
            return reader.schema

    def count(self, path: Path) -> int | None:
        """Unknown until all is read."""
        return None

    def first_line(self, path: Path) -> str:
        """As far as it can be read."""
        with suppress(OSError), pa.input_stream(str(path), compression=self.compression) as stream:
            return str(stream.read(LINE).decode(errors="replace").partition("\n")[0])
        return ""

    def batches(self, path: Path, columns: list[str], numbers: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Block by block; a column of which the first block says nothing is text."""
        unknown = [field.name for field in self.schema(path) if types.is_null(field.type)]
        kinds = {**dict.fromkeys(unknown, pa.string()), **dict.fromkeys(numbers, pa.float64())}
        try:
            with self._reader(path, include_columns=columns, column_types=kinds) as reader:
                yield from reader
        except pa.ArrowInvalid:
            self._raise_for_bad_value(path, list(numbers))
            raise

    def _raise_for_bad_value(self, path: Path, numbers: list[str]) -> None:
        """Read the columns again, as text, and raise for the first value that is no number."""
        start = 0
        kinds = dict.fromkeys(numbers, pa.string())
        with self._reader(path, include_columns=numbers, column_types=kinds, strings_can_be_null=True) as reader:
            for batch in reader:
                row, name = min((_first_text(batch[name]), name) for name in numbers)
                if row < batch.num_rows:
                    text = batch[name][row].as_py()
                    raise no_number(path, name, repr(text), start + row, hint_of_number(text))
                start += batch.num_rows

    def _reader(self, path: Path, **convert: Any) -> csv.CSVStreamingReader:
        options = csv.ReadOptions(block_size=CSV_BLOCK)
        stream = pa.input_stream(str(path), compression=self.compression)
        parse = csv.ParseOptions(delimiter=Dialect.delimiter)
        conversion = csv.ConvertOptions(decimal_point=Dialect.decimal, **convert)
        return csv.open_csv(stream, read_options=options, parse_options=parse, convert_options=conversion)

    @contextmanager
    def writer(self, stream: Any, schema: pa.Schema, plain: Sequence[str]) -> Iterator[Any]:
        """As many digits as it takes to read the same numbers back."""
        with ExitStack() as stack:
            if self.compression is not None:
                stream = stack.enter_context(pa.CompressedOutputStream(stream, self.compression))
            options = csv.WriteOptions(delimiter=Dialect.delimiter, quoting_style=_quoting(schema))
            kinds = schema if Dialect.decimal == "." else text_schema(schema)
            writer = stack.enter_context(csv.CSVWriter(stream, kinds, write_options=options))
            yield writer if kinds is schema else DecimalWriter(writer, kinds)


@dataclass(frozen=True)
class DecimalWriter:
    """A writer of numbers with another decimal mark, which Arrow can read but not write: they are texts to it."""

    writer: Any
    schema: pa.Schema

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """The columns of floats as texts."""
        from pyarrow import compute  # takes long to import

        def format_names(column: pa.Array) -> pa.Array:
            return compute.replace_substring(column.cast(pa.string()), ".", Dialect.decimal)

        columns = [format_names(column) if types.is_floating(column.type) else column for column in batch.columns]
        self.writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self.schema))


def _quoting(schema: pa.Schema) -> str:
    """Quotes where texts may need them; numbers that are spelt need none, unless their mark is the delimiter."""
    bare = all(types.is_primitive(kind) for kind in schema.types) and Dialect.decimal != Dialect.delimiter
    return "none" if bare else "needed"


def text_schema(schema: pa.Schema) -> pa.Schema:
    """The same columns, with texts for floats."""
    return pa.schema([field.with_type(pa.string()) if types.is_floating(field.type) else field for field in schema])


def _first_text(column: pa.StringArray) -> int:
    """The first row that is no number, or the number of rows."""
    from pyarrow import compute  # takes long to import

    texts = compute.utf8_trim_whitespace(column)
    if Dialect.decimal != ".":
        texts = compute.replace_substring(compute.replace_substring(texts, ".", "?"), Dialect.decimal, ".")

    def has_text(count: int) -> bool:
        try:
            texts.slice(0, count).cast(pa.float64())
        except pa.ArrowInvalid:
            return True
        return False

    return bisect_left(range(1, len(texts) + 1), 1, key=has_text)


_PARQUET, _FEATHER = Parquet(), Feather()
FORMATS: dict[str, Format] = {
    ".csv": CSV(),
    ".csv.gz": CSV("gzip"),
    ".parquet": _PARQUET,
    ".pq": _PARQUET,
    ".feather": _FEATHER,
    ".arrow": _FEATHER,
    ".ipc": _FEATHER,
}


def format_of(path: Path) -> Format:
    """The format that the end of a file's name tells."""
    for suffix, kind in FORMATS.items():
        if path.name.lower().endswith(suffix):
            return kind
    raise ValueError(f"{path}: the name must end in one of {', '.join(FORMATS)}")
