"""The exit of the program: its exit code, and a sentence where a signal or closed output stops it."""

from __future__ import annotations

import codecs
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TextIO

INTERRUPTED, TERMINATED = 130, 143  # 128 + the number of the signal, as shells have it
PLAIN = str.maketrans({"−": "-", "–": "-", "—": "-", "≤": "<=", "≥": ">=", "±": "+/-", "×": "x", "…": ".", "²": "^2"})
"""Replacements for characters that the terminal lacks; "?" for any other, but a number must not lose its sign.

"…" is one character again: rich ends a column with it that is too narrow, and the border stays in its place."""


class Terminated(BaseException):
    """SIGTERM, as an exception: what is half-written is then cleaned up on the way out."""


@contextmanager
def clean_exit() -> Iterator[None]:
    """Flush all output before the exit; signals give an exit code and no traceback."""
    _prepare_streams()
    _unwind_on_sigterm()
    try:
        try:
            yield
        finally:
            with guarded_stderr():
                sys.stderr.flush()
            with guarded_stdout():
                sys.stdout.flush()
    except KeyboardInterrupt:
        say("error: interrupted")
        sys.exit(INTERRUPTED)
    except Terminated:
        sys.exit(TERMINATED)
    except BrokenPipeError:  # nobody reads on
        sys.exit(1)
    except OSError as error:
        say(f"error: {error.filename or 'standard output'}: {str(error.strerror).lower()}")
        sys.exit(1)


@contextmanager
def guarded_stdout() -> Iterator[None]:
    """Name standard output in the error where it cannot be written, and write no more there."""
    try:
        yield
    except OSError as error:
        _write_no_more(sys.stdout)
        raise type(error)(error.errno, error.strerror, "standard output") from error


@contextmanager
def guarded_stderr() -> Iterator[None]:
    """Write no more to standard error once it cannot be written: the exit code has to do, and stays what it is."""
    try:
        yield
    except OSError:
        _write_no_more(sys.stderr)


def _write_no_more(stream: TextIO) -> None:
    """Send what is still in its buffer nowhere, or Python would try again at its end, and exit with 120."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def say(text: str) -> None:
    """One line on stderr."""
    with guarded_stderr():
        print(" ".join(text.split()), file=sys.stderr)


def _prepare_streams() -> None:
    """Print what the terminal can; a stream that was closed swallows all."""
    codecs.register_error("calibrant", _printable)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - it lives as long as we do
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="calibrant")


def _printable(error: UnicodeError) -> tuple[str, int]:
    """For characters that cannot be printed: others that can."""
    if not isinstance(error, UnicodeEncodeError):  # bytes that cannot be read, which nobody prints
        raise error
    plain = error.object[error.start : error.end].translate(PLAIN)
    return plain.encode("ascii", "replace").decode(), error.end


def _unwind_on_sigterm() -> None:
    """Let SIGTERM unwind the stack instead of ending the process on the spot."""

    def unwind(number: int, frame: FrameType | None) -> None:
        raise Terminated

    signal.signal(signal.SIGTERM, unwind)
