"""`python -m studies league`: the league of methods on tabular models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from calibrant.cli.console import show
from calibrant.cli.exit import say
from studies.cli.console import show_written, typed
from studies.datasets import DATASETS
from studies.progress import said
from studies.store import FILE
from studies.tabular import LEAGUE, QUICK, run, table_of, write

LONG = (
    f"{len(DATASETS)} datasets, {LEAGUE.splits} splits of each, with every base model: this takes about four hours on"
    " one core. --quick takes two minutes. A run that is stopped goes on in the same folder."
)


def league(folder: Path, options: dict[str, Any], docs: Path | None = None) -> None:
    """Do what is missing of the league in `folder`, and write its tables.

    The options are those of `studies.tabular.run`.
    """
    if options["design"] is LEAGUE and options["datasets"] is None and not options["tables"]:
        say(LONG)
    done = run(folder=folder, command=typed(), say=say, **options)
    work = f"jobs done: {done.jobs:,} in {said(done.seconds)}" if done.jobs else "nothing was left to do"
    show(f"{work}; all results are in {done.path}")
    tables(folder, docs)


def tables(folder: Path, docs: Path | None = None) -> None:
    """Write the tables and the page of the results that `folder` has."""
    show_written(write(folder / FILE, folder, docs))


def options_of(
    *,
    datasets: Sequence[str] | None,
    splits: range | None,
    data: Path | None,
    own: Sequence[str],
    target: str | None,
    bases: Sequence[str] | None,
    jobs: int,
    seed: int,
    quick: bool,
) -> dict[str, Any]:
    """What the flags of the command ask `run` for."""
    if own and target is None:
        raise ValueError("--table needs --target, the column of its labels")
    return {
        "datasets": datasets,
        "splits": splits,
        "design": QUICK if quick else LEAGUE,
        "data": data,
        "tables": [table_of(path, str(target)) for path in own],
        "bases": bases,
        "jobs": jobs,
        "seed": seed,
    }
