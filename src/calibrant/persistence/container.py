"""A safetensors file with a header of ours: 8 bytes of length, JSON, tensors. Checked before anything is allocated.

The header holds one entry of metadata, "calibrant", which is JSON again and begins with the digest: the SHA-256 of the
whole file with zeros in the digest's place. So every byte counts, and a crooked file is found by reading it in chunks.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
from safetensors import numpy as safetensors

from calibrant.persistence.atomic import is_special_file
from calibrant.persistence.errors import FileError, short, why

FORMAT = 1
"""What is written and read."""
KEY = "calibrant"
DTYPES = {"F64": 8, "F32": 4, "I64": 8, "BOOL": 1}
"""The bytes of an entry."""
MAX_HEADER, MAX_BYTES, MAX_TENSORS, MAX_DIMENSIONS = 2**20, 2**32, 2**12, 8
_CHUNK = 2**20
_DIGEST = re.compile(rb'\{\\"digest\\":\\"([0-9a-f]{64})\\"')
_BLANK = "0" * 64

Tensors = dict[str, np.ndarray[Any, Any]]


def pack(header: Mapping[str, Any], tensors: Tensors) -> bytearray:
    """The bytes of a file; the same for the same content."""
    rest = json.dumps(header, sort_keys=True, allow_nan=False, separators=(",", ":"))
    # a single entry of metadata: the library writes several in no fixed order
    content = bytearray(safetensors.save(tensors, {KEY: f'{{"digest":"{_BLANK}",{rest[1:]}'}))
    length = int.from_bytes(content[:8], "little")
    if length > MAX_HEADER or len(content) > MAX_BYTES or len(tensors) > MAX_TENSORS:
        raise FileError(
            f"it would have a header of {length} bytes, {len(tensors)} arrays and {len(content)} bytes in all,"
            f" where {MAX_HEADER}, {MAX_TENSORS} and {MAX_BYTES} is the most"
        )
    found = _DIGEST.search(content, 8, 8 + length)
    assert found is not None  # written four lines above
    content[found.start(1) : found.end(1)] = hashlib.sha256(content).hexdigest().encode()
    return content


def unpack(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Tensors]:
    """Our header, without the digest, and the tensors of a file whose form, version and digest are right."""
    if is_special_file(path):
        raise FileError("it is a device or a pipe, not a file")
    if os.path.isdir(path):  # Windows would say that it may not be read
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        raw = _raw_header(file, size)
        outer = strict_json(raw)
        header = _our_header(outer)
        _check_layout({name: entry for name, entry in outer.items() if name != "__metadata__"}, size - 8 - len(raw))
        _check_digest(file, raw)
        file.seek(0)
        content = file.read(size)
    try:
        tensors: Tensors = safetensors.load(content)
    except Exception as error:
        raise FileError(f"safetensors cannot read it ({why(error)})") from error
    for name, array in tensors.items():
        if array.dtype == bool and bool((array.view(np.uint8) > 1).any()):
            raise FileError(f"the array {short(name)} must hold 0 and 1 only, as it is declared boolean")
    return header, tensors


def _raw_header(file: BinaryIO, size: int) -> bytes:
    if size > MAX_BYTES:
        raise FileError(f"it has {size} bytes, where {MAX_BYTES} is the most")
    start = file.read(8)
    length = int.from_bytes(start, "little")
    if len(start) < 8 or not 2 <= length <= MAX_HEADER:
        raise FileError("it is not a calibrant file, or cut off within its first bytes")
    raw = file.read(length)
    if len(raw) < length:
        raise FileError(f"it is not a calibrant file, or cut off: a header of {length} bytes has only {len(raw)}")
    return raw


def _our_header(outer: Any) -> dict[str, Any]:
    metadata = outer.get("__metadata__") if isinstance(outer, dict) else None
    if not isinstance(metadata, dict) or set(metadata) != {KEY} or not isinstance(metadata[KEY], str):
        raise FileError("it is not a calibrant file: its header has no entry of ours")
    header = strict_json(metadata[KEY])
    if not isinstance(header, dict) or "format" not in header:
        raise FileError("its header names no format version")
    written = header["format"]
    if type(written) is not int or not 1 <= written <= FORMAT:
        by = short(header.get("calibrant"))
        raise FileError(
            f"it has format {short(written)}, written by calibrant {by},"
            f" and the newest that this version reads is {FORMAT}"
        )
    wanted = {"about", "calibrant", "digest", "format", "notes", "root"}
    if set(header) != wanted:
        raise FileError(f"its header must have the entries {sorted(wanted)}, got {short(sorted(header))}")
    kinds = {"about": dict, "calibrant": str, "digest": str, "notes": dict}
    for name, kind in kinds.items():
        if not isinstance(header[name], kind):
            raise FileError(f"the header's {name} must be a {kind.__name__}, got {short(header[name])}")
    return {name: value for name, value in header.items() if name != "digest"}


def _check_layout(entries: dict[str, Any], size: int) -> None:
    """Raise unless the arrays lie one after the other and fill the rest of the file."""
    if len(entries) > MAX_TENSORS:
        raise FileError(f"it has {len(entries)} arrays, where {MAX_TENSORS} is the most")
    spans = []
    for name, entry in entries.items():
        match entry:
            case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [int(start), int(end)]} if len(entry) == 3:
                spans.append((start, end))
                whole = all(type(side) is int and 0 <= side <= MAX_BYTES for side in shape)
                if not whole or len(shape) > MAX_DIMENSIONS or dtype not in DTYPES:
                    raise FileError(f"the array {short(name)} is {short(dtype)} of shape {short(shape)}")
                if end - start != DTYPES[dtype] * math.prod(shape):
                    raise FileError(
                        f"the array {short(name)} does not fill its place, bytes {short(start)} to {short(end)}"
                    )
            case _:
                raise FileError(f"the array {short(name)} has no proper entry in the header")
    spans.sort()
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), size]
    if starts != ends:
        raise FileError(f"it is cut off or has bytes to spare: its arrays do not fill the {size} bytes that are there")


def _check_digest(file: BinaryIO, raw: bytes) -> None:
    found = _DIGEST.search(raw)
    if found is None:
        raise FileError("its header does not begin with a digest")
    file.seek(0)
    digest = hashlib.sha256(file.read(8))
    digest.update(raw[: found.start(1)] + _BLANK.encode() + raw[found.end(1) :])
    file.seek(8 + len(raw))
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    if digest.hexdigest().encode() != found[1]:
        raise FileError("it was altered: its content does not match its digest")


def strict_json(text: str | bytes) -> Any:
    """JSON without NaN, numbers beyond the floats, or a name given twice."""
    try:
        if isinstance(text, bytes):
            text = text.decode()
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise FileError(f"its header is not proper JSON ({why(error)})") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is given twice")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number


def plain_notes(notes: Mapping[str, Any]) -> dict[str, Any]:
    """The notes, if JSON gives them back as they are."""
    try:
        again = json.loads(json.dumps(dict(notes), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise FileError(f"notes must be JSON values ({why(error)})") from error
    if again != dict(notes):
        raise FileError(f"notes must be JSON values (lists, and dicts with names), got {short(dict(notes))}")
    return dict(again)
