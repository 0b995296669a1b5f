"""Words of messages: rows counted and named, names that may be misspelt, warnings that point at the user's line."""

from __future__ import annotations

import functools
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from difflib import get_close_matches
from typing import Any, TypeVar, cast


def in_all(number: int) -> str:
    """How many rows there are of a kind of which the first was named."""
    return "the only such row" if number == 1 else f"{number} rows in all"


def count(number: int, one: str, more: str | None = None) -> str:
    """So many things, in words.

    >>> count(1, "row"), count(5000, "row")
    ('1 row', '5,000 rows')
    """
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def in_rows(number: int, first: int) -> str:
    """Where rows of a kind are.

    >>> in_rows(1, 7), in_rows(3, 7)
    ('in row 7', 'in 3 rows, the first is row 7')
    """
    return f"in row {first}" if number == 1 else f"in {number:,} rows, {the_first(number, first)}"


def the_first(number: int, first: int) -> str:
    """Which is the first of so many rows, or the only one."""
    return f"row {first}" if number == 1 else f"the first is row {first}"


def singular_if_one(number: int, plural: str) -> str:
    """Words about several rows, in the singular if there is one.

    >>> singular_if_one(3, "they are left out"), singular_if_one(1, "have no width of their own: they are left out")
    ('they are left out', 'has no width of its own: it is left out')
    """
    words = rf"\b({'|'.join(_SINGULAR)})\b"
    return re.sub(words, lambda word: _SINGULAR[word[0]], plural) if number == 1 else plural


def spelling(name: str, known: Iterable[str]) -> str:
    """A hint for a name that is not known, and may be misspelt.

    >>> spelling("count", ["counts", "log"]), spelling("prices", ["counts", "log"])
    (": did you mean 'counts'?", '')
    """
    close = get_close_matches(name, known, n=1)
    return f": did you mean {close[0]!r}?" if close else ""


_SINGULAR = {"have": "has", "are": "is", "they": "it", "them": "it", "their": "its", " each": "", "steps": "step"}


E = TypeVar("E", bound=Exception)


def about(argument: str, error: E) -> E:
    """The error with the name of its argument: the command line adds the option of that name to the sentence."""
    cast(Any, error).argument = argument
    return error


NAMED: ContextVar[Callable[[str], str]] = ContextVar("named", default=str)
"""What a message becomes where rows come from a source that counts them otherwise; "" where it need not be said."""


def warn_user(message: str, category: type[Warning] = UserWarning, argument: str = "") -> None:
    """A warning that points at the first line outside this library, about an argument or none."""
    frame, depth = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_NOT_THE_USERS):
        frame, depth = frame.f_back, depth + 1
    if named := NAMED.get()(message):
        warnings.warn(about(argument, category(named)), stacklevel=depth)


_NOT_THE_USERS = (os.path.dirname(__file__) + os.sep, "<string>", functools.__file__)
"""Beside this library the constructors that `dataclass` writes, and what `singledispatch` puts around a function."""
