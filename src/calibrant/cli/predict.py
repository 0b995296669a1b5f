"""`calibrant predict`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import typer

from calibrant.cli.columns import Columns
from calibrant.cli.console import naming, progress, show
from calibrant.cli.mending import Mender, counted
from calibrant.cli.missing import Gaps, where
from calibrant.cli.model import Model
from calibrant.cli.tables import Batch, TableFile, as_arrow, not_over, written
from calibrant.guarantee.required import too_few_for_interval

IN_CACHE = 2**15
"""Rows that are worked on at a time: three times as fast as on a whole batch."""


@dataclass(frozen=True)
class ColumnsWanted:
    """What is to be said of each row: quantiles at some levels, and the bounds of centred intervals."""

    levels: tuple[float, ...]
    coverages: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.levels and not self.coverages:
            raise typer.BadParameter("--quantiles or --interval is wanted, got neither")
        if len(set(self.coverages)) < len(self.coverages):
            raise typer.BadParameter("the same coverage is wanted twice", param_hint="--interval")

    @property
    def names(self) -> list[str]:
        """The names of the new columns; the bounds of one interval need no coverage in theirs."""
        several = len(self.coverages) > 1
        ends = [f"_{coverage:g}" if several else "" for coverage in self.coverages]
        return [f"q{level}" for level in self.levels] + [f"{side}{end}" for end in ends for side in ("lower", "upper")]

    @property
    def all_levels(self) -> list[float]:
        """The level of each new column: the bounds of intervals are quantiles too."""
        return [*self.levels, *(level for c in self.coverages for level in ((1 - c) / 2, (1 + c) / 2))]


def predict(
    path: Path,
    model: Model,
    columns: Columns,
    wanted: ColumnsWanted,
    keep: Sequence[str],
    out: Path,
    seed: int | None,
    *,
    gaps: Gaps,
) -> None:
    """Write quantiles and intervals for the rows of a file, batch by batch."""
    not_over(out, path, model.path)
    calibrated, beside = model.calibrated, replace(model.beside, event=None)
    table = TableFile(path)
    columns = columns.found_in(table, None)
    kept = table.matching(keep)
    needed = [*columns.names, *beside.names]
    table.check([*needed, *beside.by, *kept])
    clash = [name for name in wanted.names if name in kept]
    if clash:
        raise ValueError(f"{path}: column {clash[0]!r} cannot be kept beside the new column of the same name")
    mender = Mender()

    def rows_of(batch: Batch) -> pa.RecordBatch:
        new = np.full((len(wanted.names), len(batch)), np.nan)
        for whole in batch.parts(IN_CACHE):
            offset, there = whole.start - batch.start, gaps.there(whole, needed)
            part = whole.those(there)
            if not len(part):
                continue
            prediction = columns.prediction(part, mender)
            with naming(str(path)):
                prediction.check_form(calibrated.form)
            with naming(where(path, there, part.start)), counted():
                known = beside.known(part) | beside.group({name: part.values(name).to_pylist() for name in beside.by})
                H = calibrated(prediction, **known, seed=seed)
                new[:, offset + np.flatnonzero(there)] = H.quantiles(wanted.all_levels).T
        arrays = [*map(batch.values, kept), *map(as_arrow, new)]
        return pa.RecordBatch.from_arrays(arrays, [*kept, *wanted.names])

    rows = 0
    with progress("predicting", table.count) as done:
        results = map(rows_of, table.batches(needed, [*kept, *beside.by], done=done))
        first = next(results)
        with written(out, first.schema, wanted.names) as write:
            for result in chain([first], results):
                write(result)
                rows += result.num_rows
    mender.report(path)
    gaps.report(path, "what is written for them is NaN")
    warn_if_few(model, wanted)
    show(f"Wrote {rows:,} rows to {out}: {', '.join([*kept, *wanted.names])}.")


def warn_if_few(model: Model, wanted: ColumnsWanted) -> None:
    """Warn where the calibration rows do not reach as far out as the widest interval."""
    if not wanted.coverages:
        return
    few = too_few_for_interval(model.stored.about["n"], max(wanted.coverages))
    if few is not None:
        warnings.warn(f"{model.path}: {few}", stacklevel=2)
