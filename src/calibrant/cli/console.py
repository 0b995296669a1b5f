"""Output to the terminal: results on stdout; errors, warnings and progress on stderr."""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from calibrant.cli.dialect import Dialect
from calibrant.cli.exit import INTERRUPTED, TERMINATED, Terminated, guarded_stdout, say
from calibrant.cli.wording import in_flags


@contextmanager
def report_errors(*, debug: bool, delimiter: str = ",", decimal: str = ".") -> Iterator[None]:
    """Turn exceptions into one sentence and an exit code, and library warnings into one line each."""
    Dialect.use(delimiter, decimal)
    with warnings.catch_warnings():
        for category in (UserWarning, RuntimeWarning):
            warnings.filterwarnings("always", category=category)
        warnings.showwarning = _show_once()
        try:
            yield
        except (typer.BadParameter, typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            say("error: interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except Terminated:
            raise typer.Exit(TERMINATED) from None
        except Exception as error:
            if debug:
                traceback.print_exc()
            say(f"error: {in_flags(sentence_of(error))}")
            raise typer.Exit(1) from None


def sentence_of(error: Exception) -> str:
    """What went wrong, in one sentence; an exception that nobody foresaw says where to learn more."""
    from pyarrow import ArrowException

    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return f"{error.filename}: {error.strerror.lower()}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    if isinstance(error, (ValueError, TypeError, OSError, ImportError, ArrowException)):
        return str(error).splitlines()[0] if str(error) else type(error).__name__
    return f"unexpected {type(error).__name__}: {error} (run with --debug to see where)"


def _show_once() -> Callable[..., None]:
    seen = set()

    def show(message: Any, *arguments: Any, **options: Any) -> None:
        if str(message) not in seen:
            seen.add(str(message))
            say(f"warning: {in_flags(str(message))}")

    return show


def show(thing: Any) -> None:
    """Print a text or a rich table on stdout; a terminal has its texts wrapped at words."""
    if isinstance(thing, str) and not sys.stdout.isatty():
        put(thing)
        return
    from rich.console import Console

    with guarded_stdout():
        Console(markup=False, highlight=False, emoji=False).print(thing)


def put(text: Any) -> None:
    """Print a text on stdout as it is."""
    with guarded_stdout():
        print(text)


STYLES = {"good": "green", "warn": "yellow", "bad": "red", "info": "blue"}


def show_statement(statement: Any) -> None:
    """Print a statement with its tag, as [good] or [problem], which is coloured where stdout is a terminal."""
    tag = f"[{statement.word.lower()}]"
    if not sys.stdout.isatty():
        put(f"{tag} {statement}")
        return
    from rich.text import Text

    show(Text.assemble((tag, f"bold {STYLES[statement.kind]}"), f" {statement}"))


@contextmanager
def progress(text: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A bar of rows on stderr, where that is a terminal; gives a function that takes the number of new rows."""
    if not sys.stderr.isatty():  # rich would be silent too, but takes a while to import
        yield lambda rows: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(text, total=total)
        yield lambda rows: bar.advance(task, rows)


@contextmanager
def spinner(text: str) -> Iterator[None]:
    """A spinner on stderr, where that is a terminal, for work that cannot tell how far it is."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


def guarantee_text(guarantee: Any, coverage: float = 0.9) -> str:
    """One sentence on intervals of this coverage; an approximate guarantee, or none, in full."""
    if guarantee.kind == "no claim" or guarantee.kind.endswith("approximate"):
        return str(guarantee)
    return f"{guarantee.in_short(coverage)} Run calibrant inspect to see the assumptions."
