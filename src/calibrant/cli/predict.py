"""`calibrant predict`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import typer

from calibrant._words import count
from calibrant.batches.columns import Columns
from calibrant.batches.missing import Gaps
from calibrant.batches.output_columns import OutputColumns
from calibrant.batches.predicting import Predicting
from calibrant.cli.console import progress, show
from calibrant.cli.model import Model
from calibrant.cli.tables import TableFile, refuse_overwrite, written
from calibrant.guarantee import too_few_for_interval


def outputs_of(
    levels: tuple[float, ...],
    coverages: tuple[float, ...],
    *,
    below: tuple[float, ...] | None = None,
    above: tuple[float, ...] | None = None,
) -> OutputColumns:
    """The new columns that the flags ask for; None is where probabilities are no choice."""
    given = {"--quantiles": levels, "--interval": coverages, "--probabilities": below, "--exceedances": above}
    *first, last = (flag for flag, values in given.items() if values is not None)
    if not any(given.values()):
        raise typer.BadParameter(f"say what to write, with {', '.join(first)} or {last}")
    for flag, values in given.items():
        if values is not None and len(set(values)) < len(values):
            raise typer.BadParameter("give each number once", param_hint=flag)
    return OutputColumns(levels, coverages, below or (), above or ())


def predict(
    path: Path,
    model: Model,
    columns: Columns,
    outputs: OutputColumns,
    keep: Sequence[str],
    out: Path,
    seed: int | None,
    *,
    gaps: Gaps,
) -> None:
    """Write quantiles and intervals for the rows of a file, batch by batch."""
    refuse_overwrite(out, path, model.path)
    table = TableFile(path)
    work = Predicting(model.calibrated, columns, replace(model.extra, event=None), outputs, seed, gaps)
    work = work.for_table(table.header, keep)
    rows = 0
    with progress("predicting", table.count) as done:
        results = map(work, table.batches(work.numbers, work.others, done=done))
        first = next(results)
        with written(out, first.schema, outputs.names) as write:
            for result in chain([first], results):
                write(result)
                rows += result.num_rows
            work.report(path)  # where it raises, nothing is written
    warn_if_few(model, outputs)
    show(f"Wrote {count(rows, 'row')} to {out}: {', '.join([*work.kept, *outputs.names])}.")


def warn_if_few(model: Model, outputs: OutputColumns) -> None:
    """Warn where the calibration rows do not reach as far out as the widest interval."""
    if not outputs.coverages:
        return
    few = too_few_for_interval(model.stored.about["n"], max(outputs.coverages))
    if few is not None:
        warnings.warn(f"{model.path}: {few}", stacklevel=2)
