"""What is promised, as the commands print it: in short where it is plain, in full where there is a reserve."""

from __future__ import annotations

from typing import Any


def promise(guarantee: Any, coverage: float = 0.9) -> str:
    """One sentence on intervals of this coverage; a promise that is approximate, or claims nothing, in full."""
    if guarantee.kind == "no claim" or guarantee.kind.endswith("approximate"):
        return str(guarantee)
    return f"{guarantee.in_short(coverage)} Run calibrant inspect to see the assumptions."
