"""Which calibrant this is."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version

UNKNOWN = "0+unknown"
"""That of a source tree which was never installed; it reads as a version, lower than any other."""


@cache
def library_version() -> str:
    """The version of the installed package."""
    try:
        return version("calibrant")
    except PackageNotFoundError:
        return UNKNOWN
