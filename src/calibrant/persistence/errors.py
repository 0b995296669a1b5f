"""The one exception."""

from __future__ import annotations


class FileError(ValueError):
    """A file that cannot be read, or an object that cannot be written: which, and why."""
