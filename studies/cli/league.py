"""`python -m studies league`: who forecasts tables most sharply, and keeps the word of its intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from calibrant.cli.exit import say
from studies.cli.console import show_written
from studies.datasets import DATASETS
from studies.league import run, table_of, write
from studies.league.running import FILE, QUICK, SPLITS, beside_autogluon

LONG = (
    f"{len(DATASETS)} datasets, {len(SPLITS)} splits of each: this takes about three hours on one core. --quick takes"
    " two minutes. A run that is stopped goes on in the same folder."
)


def league(
    folder: Path,
    options: dict[str, Any],
    *,
    own: list[str],
    target: str | None,
    quick: bool,
    autogluon: bool,
    docs: Path | None,
) -> None:
    """Measure what is missing in `folder`, and write the page.

    Args:
        folder: Where the results go.
        options: Those of `studies.league.run` that were asked for.
        own: Files of tables of one's own.
        target: Their column of labels.
        quick: Whether to take a few small tables only.
        autogluon: Whether to take AutoGluon's splits.
        docs: Where the page goes; None is `folder`.
    """
    if own and target is None:
        raise ValueError("--table needs --target, the column of its labels")
    chosen: dict[str, Any] = (QUICK if quick and not own else {}) | options
    if autogluon:
        beside_autogluon(folder, say=say, **chosen)
    else:
        if not (quick or own or "names" in options):
            say(LONG)
        run(folder, tables=[table_of(path, str(target)) for path in own], say=say, **chosen)
    tables(folder, docs)


def tables(folder: Path, docs: Path | None) -> None:
    """Write the page and the chart of the results that `folder` has."""
    show_written(write(folder / FILE, folder if docs is None else docs))
