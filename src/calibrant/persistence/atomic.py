"""All of a file, or the file that was there before."""

from __future__ import annotations

import errno
import os
import platform
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b

from calibrant.persistence.errors import FileError


def write(path: str | os.PathLike[str], content: bytes | bytearray) -> None:
    """Write `content` as `replacing` has it."""
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(content)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[str]:
    """A new file beside the old one, to be written; it then gets the old one's name, which is one step.

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
    _remove_leftovers(folder, f".calibrant-{own}-")
    temporary = os.path.join(folder, f".calibrant-{own}-{os.getpid()}-{secrets.token_hex(4)}.tmp")
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
    if os.name == "posix":
        with suppress(OSError):  # some network file systems cannot: the file itself is whole
            _synchronise(folder, os.O_RDONLY)


def _remove_leftovers(folder: str, start: str) -> None:
    """Files of runs that were killed while they wrote the same file."""
    try:
        names = os.listdir(folder)
    except OSError:  # one may write into some folders and not look
        return
    for name in names:
        if name.startswith(start) and name.endswith(".tmp"):
            number = name[len(start) :].split("-")[0]
            if number.isdigit() and int(number) != os.getpid() and not _runs(int(number)):
                with suppress(OSError):
                    os.unlink(os.path.join(folder, name))


def _runs(process: int) -> bool:
    """Whether there is such a process; where one cannot know, there is."""
    if os.name != "posix":  # there, signal 0 is Ctrl-C
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _umask() -> int:
    """What new files must not have; it can only be asked for by setting it."""
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
