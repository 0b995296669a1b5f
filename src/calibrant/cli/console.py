"""Output to the terminal: results on stdout; errors, warnings and progress on stderr."""

from __future__ import annotations

import json
import math
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from calibrant.cli.exit import INTERRUPTED, TERMINATED, Terminated, guarded, say

FLAGS = {
    "score": "--score NAME:NUMBER",
    "unseen": "calibrant fit --unseen pooled",
    "training": "calibrant fit --training FILE",
    "forget": "--last, --half-life",
}
"""The options of arguments that have another name here."""
LARGE = 100 * 2**20
"""Bytes of a file that is read under a progress bar."""


@contextmanager
def reported(*, debug: bool) -> Iterator[None]:
    """Turn exceptions into one sentence and an exit code, and library warnings into one line each."""
    seen = set[str]()

    def show_once(message: Any, *_: Any, **__: Any) -> None:
        if str(message) not in seen:
            seen.add(str(message))
            say(f"warning: {with_flag(str(message), message)}")

    with warnings.catch_warnings():
        for category in (UserWarning, RuntimeWarning):
            warnings.filterwarnings("always", category=category)
        warnings.showwarning = show_once
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
            say(f"error: {with_flag(sentence_of(error), error)}")
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


def with_flag(sentence: str, error: BaseException | None) -> str:
    """The sentence, with the option of the argument that the error is about."""
    while error is not None:
        if argument := getattr(error, "argument", None):
            return f"{sentence} ({FLAGS.get(argument, f'--{argument}')})"
        error = error.__cause__
    return sentence


def show(thing: Any) -> None:
    """Print a text or a rich table on stdout; a terminal has its texts wrapped at words."""
    if isinstance(thing, str) and not sys.stdout.isatty():
        put(thing)
        return
    from rich.console import Console

    console = Console(markup=False, highlight=False, emoji=False)
    least = console.measure(thing, options=console.options.update(max_width=1000)).minimum
    console.width = max(console.width, least)  # a table loses no digit where that is narrow
    with guarded("stdout"):
        console.print(thing)


def put(text: Any) -> None:
    """Print a text on stdout as it is."""
    with guarded("stdout"):
        print(text)


def put_json(value: Any) -> None:
    """Print one object on stdout, as strict JSON."""
    put(json.dumps(spelled(value), indent=2, allow_nan=False))


def spelled(value: Any) -> Any:
    """With numbers that JSON can spell; others as the text that both Python and JavaScript read as that number."""
    if isinstance(value, dict):
        return {key: spelled(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [spelled(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def table(head: Sequence[str], blocks: Sequence[Sequence[Sequence[str]]], texts: Sequence[int] = (0,)) -> Any:
    """A rich table of blocks of lines: columns of texts may be folded, numbers stay whole."""
    from rich import box
    from rich.table import Table

    made = Table(*head, box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for block in blocks:
        for line in block:
            made.add_row(*line)
        made.add_section()
    for k, column in enumerate(made.columns):
        lines = [str(head[k]), *(line[k] for block in blocks for line in block)]
        if k in texts:
            column.min_width = max(len(word) for line in lines for word in line.split() or [""])
        else:
            column.justify, column.no_wrap, column.min_width = "right", True, max(map(len, lines))
    return made


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
def progress(text: str, total: int | None, *, show: bool) -> Iterator[Callable[[int], None]]:
    """A bar of rows on stderr for a large file, where that is a terminal; gives what takes the number of new rows."""
    if not show or not sys.stderr.isatty():
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
