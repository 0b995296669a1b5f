"""`python -m studies study`: the paper's empirical study, from the datasets to the tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from calibrant.cli.console import show
from calibrant.cli.exit import say
from studies.cli.console import show_written, typed
from studies.datasets import DATASETS
from studies.paper.design import PAPER, QUICK
from studies.paper.reproduction import write
from studies.progress import said
from studies.run import run
from studies.store import FILE

LONG = (
    f"{len(DATASETS)} datasets, {PAPER.splits} splits of each, whose networks are trained and calibrated: this may take"
    " hours. --quick takes about a minute. A run that is stopped goes on in the same folder."
)


def study(folder: Path, options: dict[str, Any], docs: Path | None = None) -> None:
    """Run what is missing of the study in `folder`, say how long each phase took, and write its tables.

    The options are those of `studies.run.run`.
    """
    if options.get("datasets") is None:
        say(LONG)
    summary = run(folder=folder, command=typed(), say=say, **options)
    cells = f"{summary.cells:,} cells measured" if summary.cells else "nothing was left to do"
    show(f"{cells}; all results are in {summary.path}")
    for phase, seconds in summary.seconds.items():
        show(f"{phase:12} {said(seconds):>8}")
    if summary.undefined:
        counts = ", ".join(f"{name} of {count}" for name, count in summary.undefined.items())
        show(f"not finite, and null in the results: {counts} cells")
    tables(folder, docs)


def tables(folder: Path, docs: Path | None = None) -> None:
    """Write the tables, the figure and the page of the results that `folder` has."""
    compressed = folder / f"{FILE}.xz"
    show_written(write(compressed if compressed.exists() else folder / FILE, folder, docs))


def options_of(
    *,
    datasets: Sequence[str] | None,
    splits: int | None,
    data: Path | None,
    jobs: int,
    device: str,
    seed: int,
    quick: bool,
) -> dict[str, Any]:
    """What the flags of the command ask `run` for; a quick run's choices give way to those that were made."""
    chosen = {name: value for name, value in (("datasets", datasets), ("splits", splits)) if value is not None}
    return (QUICK if quick else {}) | chosen | {"data": data, "jobs": jobs, "device": device, "seed": seed}
