"""Atomic writes: the whole new file, or the old one."""

from __future__ import annotations

import errno
import os
import platform
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b

from calibrant.persistence.errors import FileError

_TEMPORARY = re.compile(r"\.calibrant-([0-9a-f]{12})-([0-9]{1,10})-[0-9a-f]{8}\.tmp")
"""Of which file and host, by which process."""
_DAY = 86_400.0
_WRITING: set[str] = set()
"""What this process is writing now. No lock is needed to add, find and discard, and none can stay held after a fork."""


def write(path: str | os.PathLike[str], content: bytes | bytearray) -> None:
    """Write `content` as `replacing` has it."""
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(content)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[str]:
    """A new file next to the old one, to be written; then it is renamed to the old one's name, in one step.

    A symbolic link stays one: what it leads to is replaced. While it is written, nobody else can read it. Then it has
    the permissions of the file that it replaces, or those of any new file. What a killed run left there is removed.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    if not os.path.isdir(folder):
        typed = os.path.dirname(path) if folder == os.path.realpath(os.path.dirname(path)) else folder
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), typed)
    with _naming(os.fspath(path)):
        mode = _mode_of(target)
    own = blake2b(f"{name}@{platform.node()}".encode(errors="surrogateescape"), digest_size=6).hexdigest()
    _remove_leftovers(folder, own)
    temporary = os.path.join(folder, f".calibrant-{own}-{os.getpid()}-{secrets.token_hex(4)}.tmp")
    _WRITING.add(temporary)
    try:
        with _naming(os.fspath(path)):
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            yield temporary
            _synchronise(temporary, os.O_RDWR)  # Windows flushes only what may be written
            os.chmod(temporary, 0o666 & ~_umask() if mode is None else mode)
            os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    finally:
        _WRITING.discard(temporary)
    if os.name == "posix":
        with suppress(OSError):  # some network file systems cannot: the file itself is whole
            _synchronise(folder, os.O_RDONLY)


def _remove_leftovers(folder: str, own: str) -> None:
    """Files of runs that were killed while they wrote: the same file on this host, or any file, a day ago."""
    try:
        names = os.listdir(folder)
    except OSError:  # one may write into some folders and not look
        return
    for name in names:
        if found := _TEMPORARY.fullmatch(name):
            path, process = os.path.join(folder, name), int(found[2]) if found[1] == own else None
            with suppress(OSError):
                if path not in _WRITING and _is_left(path, process):
                    os.unlink(path)


def _is_left(path: str, process: int | None) -> bool:
    """Whether its process has ended; where one cannot know, whether nobody has written to it for a day."""
    if process == os.getpid():  # an earlier one of the same number: in a container, each is 1
        return True
    runs = None if process is None else _runs(process)
    return time.time() - os.lstat(path).st_mtime > _DAY if runs is None else not runs


def _runs(process: int) -> bool | None:
    """Whether there is such a process; None where one cannot know."""
    if os.name != "posix":  # there, signal 0 is Ctrl-C
        return None
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return None
    return True


def _umask() -> int:
    """What new files must not have. Only Linux tells it; elsewhere one sets it to learn what it was, as if alone."""
    with suppress(OSError, StopIteration, ValueError), open("/proc/self/status", encoding="utf-8") as status:
        return int(next(line for line in status if line.startswith("Umask:")).split()[1], 8)
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


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


def _synchronise(path: str, access: int) -> None:
    """Have a file, or the new name in a folder, on disk too."""
    descriptor = os.open(path, access)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_special_file(path: str | os.PathLike[str]) -> bool:
    """Whether it is a pipe, a device or a socket: opening one may wait for ever. A missing path is not."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
