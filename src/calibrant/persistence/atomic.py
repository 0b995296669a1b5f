"""All of a file, or the file that was there before."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from calibrant.persistence.errors import FileError


def write(path: str | os.PathLike[str], content: bytes | bytearray) -> None:
    """Write `content` to a new file beside the old one, then give it the old one's name, which is one step.

    A symbolic link stays one: what it leads to is replaced. A new file has the permissions that any new file has, a
    replaced one those of the old.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)
    mode = _mode_of(target)
    temporary = os.path.join(folder, f".calibrant-{secrets.token_hex(8)}.tmp")
    try:
        with _naming(target), open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _settle(folder)


@contextmanager
def _naming(target: str) -> Iterator[None]:
    """The file that was asked for, in the error of one that nobody knows of."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(error.errno, os.strerror(error.errno), target) from error


def _mode_of(target: str) -> int | None:
    """The permissions of a file that is there; None if there is none."""
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
    if not stat.S_ISREG(mode):
        raise FileError("it is a device or a pipe, not a file")
    return stat.S_IMODE(mode)


def _settle(folder: str) -> None:
    """Have the new name on disk too, where folders can be synchronised."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems cannot: the file itself is whole
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
