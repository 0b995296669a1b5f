"""What stands in a folder and is no file."""

from __future__ import annotations

import os
import stat


def is_odd(path: str | os.PathLike[str]) -> bool:
    """Whether it is a pipe, a device or a socket: to open one may wait for ever. What is not there is not odd."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
