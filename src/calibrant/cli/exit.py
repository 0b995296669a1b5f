"""The end of the program: its exit code, and a sentence where a signal or closed output stops it."""

from __future__ import annotations

import codecs
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

INTERRUPTED, TERMINATED = 130, 143  # 128 + the number of the signal, as shells have it
PLAIN = str.maketrans({"−": "-", "–": "-", "—": "-", "≤": "<=", "≥": ">=", "±": "+/-", "×": "x", "…": ".", "²": "^2"})
"""Replacements for characters that the terminal lacks; "?" for any other, but a number must not lose its sign.

"…" is one character again: rich ends a column with it that is too narrow, and the border stays in its place."""


class Terminated(BaseException):
    """SIGTERM, as an exception: what is half-written is then cleaned up on the way out."""


@contextmanager
def clean_exit() -> Iterator[None]:
    """Flush all output before the exit; signals give an exit code and no traceback."""
    codecs.register_error("calibrant", _printable)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # it was closed: all is swallowed
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - it lives as long as we do
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="calibrant")
    signal.signal(signal.SIGTERM, _terminated)
    try:
        try:
            yield
        finally:
            for name in ("stderr", "stdout"):
                with guarded(name):
                    getattr(sys, name).flush()
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


def _terminated(*_: Any) -> None:
    """Let SIGTERM unwind the stack instead of ending the process on the spot."""
    raise Terminated


@contextmanager
def guarded(name: str) -> Iterator[None]:
    """Write no more to a stream that cannot be written; of standard output it is an error, which names it.

    Of standard error the exit code has to do, and stays what it is.
    """
    try:
        yield
    except OSError as error:
        with suppress(OSError):  # else Python would try again at its end, and exit with 120
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, getattr(sys, name).fileno())
            os.close(nowhere)
        if name == "stdout":
            raise type(error)(error.errno, error.strerror, "standard output") from error


def say(text: str) -> None:
    """One line on stderr."""
    with guarded("stderr"):
        print(" ".join(text.split()), file=sys.stderr)


def _printable(error: UnicodeError) -> tuple[str, int]:
    """For characters that cannot be printed: others that can."""
    if not isinstance(error, UnicodeEncodeError):  # bytes that cannot be read, which nobody prints
        raise error
    plain = error.object[error.start : error.end].translate(PLAIN)
    return plain.encode("ascii", "replace").decode(), error.end
