"""How csv files are read and written: one way for all files of a command."""

from __future__ import annotations

import re
from typing import ClassVar

import typer

DELIMITERS = {",": "','", ";": "';'", "\t": "$'\\t'", "|": "'|'"}
"""The usual ones, as a shell takes them."""


class Dialect:
    """What `--delimiter` and `--decimal` say."""

    delimiter: ClassVar[str] = ","
    decimal: ClassVar[str] = "."

    @classmethod
    def use(cls, delimiter: str, decimal: str) -> None:
        """Take these for all files from now on."""
        for flag, character in (("--delimiter", delimiter), ("--decimal", decimal)):
            if len(character) != 1:
                raise typer.BadParameter(f"expected one character, got {character!r}", param_hint=flag)
        cls.delimiter, cls.decimal = delimiter, decimal


def hint_of_names(line: str) -> str:
    """The flag for a line of names between delimiters of another kind; nothing for one of this dialect."""
    if Dialect.delimiter in line:
        return ""
    return next((f"try --delimiter {format_names}" for each, format_names in DELIMITERS.items() if each in line), "")


def hint_of_number(text: str) -> str:
    """The flag for a text that is a number with another decimal mark; nothing for any other text."""
    mark = re.fullmatch(r"\s*[+-]?\d*([.,])\d+\s*", text)
    return f"try --decimal {mark[1]}" if mark and mark[1] != Dialect.decimal else ""
