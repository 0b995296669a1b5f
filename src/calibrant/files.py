"""Files: what was calibrated, as a safetensors file. Nothing in it is code, and reading it runs none but calibrant's.

The arrays are the tensors of the file; all else is JSON, in the only entry of its metadata: the versions of the format
and of the library, the notes of the writer, the tree of objects by class name (see `calibrant._codec`), and first
a digest, the SHA-256 of every other byte of the file. A class that is not one of calibrant's is made only if the caller
passes it in `classes`. The classes check that their fields make sense together: a digest finds accidents, not malice.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, get_args

import numpy as np
from safetensors import numpy as safetensors

from calibrant._codec import Arrays, Saved, decode, encode, own_classes, short, why
from calibrant._types import Loaded
from calibrant._version import __version__
from calibrant.atomic import refuse_special, write
from calibrant.calibration import Calibrated
from calibrant.cross import CrossCalibrated
from calibrant.interpolators.support import Line
from calibrant.several.calibration import SeveralCalibrated
from calibrant.tracking import Tracker

__all__ = ["FileError", "Saved", "Stored", "load", "read", "save"]

FORMAT = 2
"""What is written and read."""
MAX_HEADER, MAX_BYTES = 2**20, 2**32
_START = rb'{"__metadata__":{"calibrant":"{\"digest\":\"'
_DIGEST = 64
_CHUNK = 2**20


class FileError(ValueError):
    """A file that cannot be read, or an object that cannot be written: which, and why."""


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
    if not isinstance(calibrated, Saved):
        *names, last = (f"a {cls.__name__}" for cls in get_args(Saved))
        raise TypeError(f"save takes {', '.join(names)} or {last}, got {short(calibrated)}")
    with _naming("save", path):
        encoded = encode(calibrated)
        decode(encoded.tree, encoded.arrays, encoded.classes)  # what cannot be read back is not written
        header = {"format": FORMAT, "calibrant": __version__, "notes": _plain(dict(notes or {})), "root": encoded.tree}
        write(path, _pack(header, encoded.arrays))


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
    return _contents(path, classes)[1]


def read(path: str | os.PathLike[str], *, classes: Iterable[type] = ()) -> Stored:
    """What was saved, with the notes and a summary.

    Args:
        path: The file to read.
        classes: Your own classes of which the file may hold objects; it may hold no others.
    """
    header, root = _contents(path, classes)
    about = {"format": header["format"], "calibrant": header["calibrant"], **_summary(root)}
    return Stored(root, header["notes"], about)


def _contents(path: str | os.PathLike[str], classes: Iterable[type]) -> tuple[dict[str, Any], Saved]:
    """The header of a file, and what was saved."""
    own = own_classes(classes)
    refuse_special(path)
    with _naming("load", path), open(path, "rb") as file:
        header, arrays = _unpack(file)
        return header, decode(header["root"], arrays, own)


@contextmanager
def _naming(what: str, path: str | os.PathLike[str]) -> Iterator[None]:
    """The file in the one error of all that is wrong with its content."""
    try:
        yield
    except ValueError as error:
        raise FileError(f"cannot {what} {os.fspath(path)}: {error}") from error


def _summary(root: Saved) -> dict[str, Any]:
    """Of several folds n is that of all together; of several labels the rest is that of the first."""
    if isinstance(root, (CrossCalibrated, SeveralCalibrated)):
        first = root.members[0] if isinstance(root, CrossCalibrated) else root.margins[0]
    else:
        first = root if isinstance(root, Calibrated) else root.calibrated
    guarantee = first.guarantee if isinstance(root, Tracker) else root.guarantee
    support, tails = first.score.support, getattr(first.interpolator, "tails", None)
    return {
        "kind": type(root).__name__,
        "labels": None if first.labels is None else repr(first.labels),
        "score": repr(first.score),
        "interpolator": repr(first.interpolator),
        "tails": None if tails is None else repr(tails),
        "q": repr(first.q),
        "n": guarantee.n,
        "lambda": guarantee.accuracy if math.isfinite(guarantee.accuracy) else repr(guarantee.accuracy),
        "support": f"({support.lower:g}, {support.upper:g})" if isinstance(support, Line) else "(0, 1), held as logits",
    }


# ---- the bytes -----------------------------------------------------------------------------------------------------


def _pack(header: Mapping[str, Any], arrays: Arrays) -> bytearray:
    """The bytes of a file; the same for the same content."""
    rest = json.dumps(header, sort_keys=True, allow_nan=False, separators=(",", ":"))
    content = bytearray(safetensors.save(arrays, {"calibrant": f'{{"digest":"{"0" * _DIGEST}",{rest[1:]}'}))
    length, at = int.from_bytes(content[:8], "little"), 8 + len(_START)
    if length > MAX_HEADER or len(content) > MAX_BYTES:
        raise ValueError(
            f"it would have a header of {length} bytes, and {len(content)} bytes in all, where {MAX_HEADER} and"
            f" {MAX_BYTES} is the most"
        )
    digest = hashlib.sha256(content[:at])
    digest.update(memoryview(content)[at + _DIGEST :])
    content[at : at + _DIGEST] = digest.hexdigest().encode()
    return content


def _unpack(file: BinaryIO) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a file whose form, version and digest are right: little is read before they are."""
    size = os.fstat(file.fileno()).st_size
    start = file.read(8)
    length = int.from_bytes(start, "little")
    raw = file.read(length) if length <= MAX_HEADER else b""
    if len(start) < 8 or len(raw) < length or not raw.startswith(_START):
        raise ValueError("it is not a calibrant file, or cut off within its header")
    if size > MAX_BYTES:
        raise ValueError(f"it has {size} bytes, where {MAX_BYTES} is the most")
    header = _header(raw)
    digest = hashlib.sha256(start + _START + raw[len(_START) + _DIGEST :])
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    if digest.hexdigest() != header["digest"]:
        raise ValueError("it was cut off or altered: its content does not match its digest")
    file.seek(0)
    try:
        arrays = safetensors.load(file.read(size))
    except Exception as error:
        raise ValueError(f"safetensors cannot read it ({why(error)})") from error
    return header, {name: array.view(np.uint8) != 0 if array.dtype == bool else array for name, array in arrays.items()}


def _header(raw: bytes) -> dict[str, Any]:
    """Our entry of the metadata, if this version reads it."""
    try:
        header = json.loads(json.loads(raw)["__metadata__"]["calibrant"])
        written = header["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"its header is not as calibrant writes it ({why(error)})") from error
    if written != FORMAT:
        raise ValueError(
            f"it has format {short(written)}, written by calibrant {short(header.get('calibrant'))},"
            f" and this version reads format {FORMAT}"
        )
    kinds = {"digest": str, "format": int, "calibrant": str, "notes": dict, "root": dict}
    if {name: type(value) for name, value in header.items()} != kinds:
        raise ValueError(f"its header must have the entries {', '.join(kinds)}, got {short(header)}")
    return header  # type: ignore[no-any-return]


def _plain(notes: dict[str, Any]) -> dict[str, Any]:
    """The notes, if JSON gives them back as they are."""
    try:
        again: dict[str, Any] = json.loads(json.dumps(notes, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(f"notes must be JSON values ({why(error)})") from error
    if again != notes:
        raise ValueError(f"notes must be JSON values (lists, and dicts with names), got {short(notes)}")
    return again
