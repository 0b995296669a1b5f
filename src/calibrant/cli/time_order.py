"""Rows in time order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from typing import Any


def check_order(column: str, times: Sequence[Any]) -> None:
    """Raise where time is missing, is neither a number nor a date, or runs backwards."""
    for row, value in enumerate(times):
        if value is None or value != value:
            raise ValueError(f"column {column!r} is missing in row {row} (counting from 0)")
        if isinstance(value, bool) or not isinstance(value, (int, float, date)):
            raise ValueError(f"column {column!r} must hold numbers or dates, got {value!r} in row {row}")
    for row, (before, now) in enumerate(pairwise(times), start=1):
        if now < before:
            raise ValueError(
                f"column {column!r} runs backwards in row {row} (counting from 0), from {before} to {now}: sort the"
                " rows"
            )
