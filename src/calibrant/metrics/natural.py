"""The natural order of texts: "a 2" before "a 10"."""

from __future__ import annotations

import re
from typing import Any


def natural(text: str) -> tuple[Any, ...]:
    """A key to sort by: numbers by their value, before all other texts; in these, digits by the number that they make.

    >>> sorted(["10", "b", "9", "-1", "a10", "a9"], key=natural)
    ['-1', '9', '10', 'a9', 'a10', 'b']
    """
    if re.fullmatch(r"-?\d+(\.\d+)?", text):
        return (0, float(text), text)
    parts = re.split(r"(\d+)", text)
    # digits by their length and then as texts, however many they are: int() takes only so many
    return (1, [(len(part.lstrip("0")), part.lstrip("0")) if k % 2 else part for k, part in enumerate(parts)], text)
