"""How csv files are read and written: one way for all files of a command."""

from __future__ import annotations

from typing import ClassVar


class Dialect:
    """What `--delimiter` says."""

    delimiter: ClassVar[str] = ","
