"""Files that are replaced whole or not at all, whatever stops the writing."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_DAY = 86_400.0


def write(path: str | os.PathLike[str], content: bytes | bytearray) -> None:
    """Write `content` as `replacing` has it."""
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(content)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[str]:
    """The name of a new file beside the old one, to be written; it then takes the old one's name, in one step.

    A symbolic link stays one: what it leads to is replaced. The new file has the permissions of the one that it
    replaces, or those of any new file. While it is written, nobody else can read it.
    """
    refuse_special(path)
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        typed = os.path.dirname(path) if folder == os.path.realpath(os.path.dirname(path)) else folder
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), typed)
    _remove_leftovers(folder)
    temporary = os.path.join(folder, f".calibrant-{secrets.token_hex(8)}.tmp")
    try:
        # not by `tempfile`: its files do not show which permissions are the usual ones
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        mode = stat.S_IMODE(os.stat(target if os.path.lexists(target) else temporary).st_mode)
        os.chmod(temporary, 0o600)
        yield temporary
        _synchronise(temporary, os.O_RDWR)  # Windows flushes only what may be written
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.errno is not None and error.filename in (None, temporary):
            raise type(error)(error.errno, os.strerror(error.errno), os.fspath(path)) from error  # not the new one's
        raise
    if os.name == "posix":
        with suppress(OSError):  # some network file systems cannot: the file itself is whole
            _synchronise(folder, os.O_RDONLY)


def is_special_file(path: str | os.PathLike[str]) -> bool:
    """Whether it is a pipe, a device or a socket: opening one may wait for ever. A missing path is not."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def refuse_special(path: str | os.PathLike[str]) -> None:
    """Raise for a folder, of which Windows says something else, and for what is no file."""
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if is_special_file(path):
        raise OSError(f"{os.fspath(path)} is a device or a pipe, not a file")


def _remove_leftovers(folder: str) -> None:
    """Files of runs that were killed while they wrote, a day ago or more."""
    with suppress(OSError):  # one may write into some folders and not look
        for left in Path(folder).glob(".calibrant-*.tmp"):
            with suppress(OSError):
                if time.time() - left.lstat().st_mtime > _DAY:
                    left.unlink()


def _synchronise(path: str, access: int) -> None:
    """Have a file, or the new name in a folder, on disk too."""
    descriptor = os.open(path, access)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
