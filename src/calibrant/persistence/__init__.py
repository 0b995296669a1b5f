"""Files: what was calibrated, as a safetensors file. Nothing in it is code, and reading it runs none but calibrant's.

The arrays are the tensors of the file; all else is JSON in its header: the tree of objects by class name (the score,
the interpolator and its tails, the distribution q, the guarantee with n and lambda), a summary for people (`about`),
the notes of the writer, the versions of the format and of the library, and a digest over every byte. A class that is
not one of calibrant's is made only if the caller passes it in `classes`.

Only what `calibrant.persistence.classes` lists can come out of a file, and only with fields that make sense together: a
digest finds accidents, not malice.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from calibrant._types import Loaded
from calibrant._version import __version__
from calibrant.calibration import Calibrated
from calibrant.cross import CrossCalibrated
from calibrant.horizons.calibration import HorizonCalibrated
from calibrant.persistence.atomic import write
from calibrant.persistence.classes import ROOTS
from calibrant.persistence.codec import decode, encode, own_classes
from calibrant.persistence.container import FORMAT, pack, plain_notes, unpack
from calibrant.persistence.errors import FileError
from calibrant.persistence.summary import summary
from calibrant.several.calibration import SeveralCalibrated
from calibrant.tracking import Tracker

Saved = Calibrated | CrossCalibrated | SeveralCalibrated | HorizonCalibrated | Tracker
"""What a file can hold."""

__all__ = ["FileError", "load", "save"]


@dataclass(frozen=True)
class Stored:
    """What a file holds."""

    calibrated: Saved
    """A `Calibrated`, `CrossCalibrated`, `SeveralCalibrated`, `HorizonCalibrated` or `Tracker`, as it was saved."""
    notes: dict[str, Any]
    """The notes of the writer, as JSON values."""
    about: dict[str, Any]
    """For people: format, library version, score, interpolator, tails, n, lambda, support."""


def save(path: str | os.PathLike[str], calibrated: Saved, *, notes: Mapping[str, Any] | None = None) -> None:
    """Write a file that `load` reads. An older file of this name is whole until the new one is.

    `notes` are JSON values that `read` gives back. A score or an interpolator of your own is kept by its class name and
    its fields if it is a frozen dataclass, or a class without any state. A promise of `NAF` that is not the default is
    kept as what it promised for this n.

    Args:
        path: The file to write; an older one is replaced.
        calibrated: What to save: a `Calibrated`, `CrossCalibrated`, `SeveralCalibrated`, `HorizonCalibrated` or
            `Tracker`.
        notes: Values to keep in the file, such as the name of the model, as JSON has them; `read` returns them.
    """
    if type(calibrated) not in {kind.cls for kind in ROOTS}:
        *names, last = (f"a {kind.cls.__name__}" for kind in ROOTS)
        raise TypeError(f"save takes {', '.join(names)} or {last}, got {reprlib.repr(calibrated)}")
    with _naming("save", path):
        encoded = encode(calibrated)
        again = decode(encoded.tree, encoded.tensors, encoded.classes)  # what cannot be read back is not written
        header = {
            "about": summary(again),
            "calibrant": __version__,
            "format": FORMAT,
            "notes": plain_notes({} if notes is None else notes),
            "root": encoded.tree,
        }
        write(path, pack(header, encoded.tensors))


def load(path: str | os.PathLike[str], *, classes: Iterable[type] = ()) -> Loaded:
    """What was saved: a `Calibrated`, `CrossCalibrated`, `SeveralCalibrated`, `HorizonCalibrated` or `Tracker`.

    `classes` are your own classes that it may hold: it makes objects of no others.

    Args:
        path: The file to read.
        classes: Your own classes of which the file may hold objects; it may hold no others.

    >>> import os, tempfile
    >>> from calibrant import Calibrator
    >>> calibrated = Calibrator().fit([1.0, 2.0, 3.0, 4.0], [1.1, 1.8, 3.3, 4.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     calibrated.save(os.path.join(folder, "model.safetensors"))
    ...     again = load(os.path.join(folder, "model.safetensors"))
    >>> again([10.0]).interval(0.5)
    (array([9.85]), array([10.25]))
    """
    return read(path, classes=classes).calibrated


def read(path: str | os.PathLike[str], *, classes: Iterable[type] = ()) -> Stored:
    """What was saved, with the notes and a summary.

    Args:
        path: The file to read.
        classes: Your own classes of which the file may hold objects; it may hold no others.
    """
    own = own_classes(classes)
    with _naming("load", path):
        header, tensors = unpack(path)
        root = decode(header["root"], tensors, own)
        about = {"format": header["format"], "calibrant": header["calibrant"], **summary(root)}
        return Stored(root, header["notes"], about)


@contextmanager
def _naming(what: str, path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except FileError as error:
        raise FileError(f"cannot {what} {os.fspath(path)}: {error}") from error.__cause__
