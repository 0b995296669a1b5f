"""The one exception, and what it quotes."""

from __future__ import annotations

import reprlib
from typing import Any


class FileError(ValueError):
    """A file that cannot be read, or an object that cannot be written: which, and why."""


def short(value: Any) -> str:
    """The repr of something that may be long."""
    return _REPR.repr(value)


_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 80
_REPR.maxlevel = 3


def why(error: Exception) -> str:
    """What an error says, which may be long too."""
    describe = str(error)
    return describe if len(describe) <= 300 else f"{describe[:300]} ..."
