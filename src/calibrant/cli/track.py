"""`calibrant track`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import typer

from calibrant.batches.columns import Columns
from calibrant.batches.mending import Mender, counted
from calibrant.batches.missing import Gaps
from calibrant.batches.rows import Batch, as_arrow, naming
from calibrant.batches.wanted import ColumnsWanted
from calibrant.cli.console import progress, show
from calibrant.cli.in_time import check_order
from calibrant.cli.model import Model, write
from calibrant.cli.tables import TableFile, not_over, written
from calibrant.persistence import FileError
from calibrant.tracking import LEVELS, Tracker


def started(model: Model, levels: tuple[float, ...], step: float | None) -> Tracker:
    """The tracker that a model file holds, or one that starts from what was calibrated."""
    found = model.calibrated
    if not isinstance(found, Tracker):
        with naming(str(model.path)):
            return Tracker(found, levels or LEVELS, step)
    if levels or step is not None:
        raise typer.BadParameter(f"{model.path} tracks already, and goes on as it began", param_hint="--levels, --step")
    return found


def track(
    path: Path,
    model: Model,
    columns: Columns,
    target: str,
    tracker: Tracker,
    wanted: ColumnsWanted,
    keep: Sequence[str],
    out: Path,
    after: Path | None,
    time: str | None,
    *,
    gaps: Gaps,
) -> None:
    """Write quantiles and intervals for the rows of a file, each made before its label is used."""
    not_over(out, path, model.path)
    if after is not None:
        not_over(after, path)
        if os.path.realpath(after) == os.path.realpath(out):
            raise typer.BadParameter(f"{after} is what --output writes: name another file", param_hint="--after")
    if after is not None and model.notes is None:
        raise FileError(f"{model.path}: it does not say which columns it was fitted on: track it in Python")
    table, beside = TableFile(path), replace(model.beside, event=None)
    columns = columns.found_in(table.header, target)
    kept, needed = table.header.matching(keep), [*columns.names, *beside.names]
    table.header.check([target, *needed, *kept, *([] if time is None else [time])])
    clash = [name for name in wanted.names if name in kept]
    if clash:
        raise ValueError(f"{path}: column {clash[0]!r} cannot be kept beside the new column of the same name")
    if time is not None:
        with naming(str(path)):
            check_order(time, table.labelled([target], [time], gaps=True)[1][time])
    mender, unlabelled, began = Mender(), Gaps(refused=False), tracker.rows

    def rows_of(batch: Batch) -> pa.RecordBatch:
        nonlocal tracker
        there, new = gaps.there(batch, needed), np.full((len(wanted.names), len(batch)), np.nan)
        part = batch.those(there)
        if len(part):
            unlabelled.there(part, [], target)
            prediction = columns.prediction(part, mender)
            y, known = part.numbers(target, gaps=True), beside.known(part)
            with part.naming(target), counted():
                # labels that are spread are drawn: others than before, and the same for the same files
                rng = None if tracker.labels is None else np.random.default_rng(tracker.rows)
                H, tracker = tracker.run(prediction, y, **known, rng=rng)
                new[:, np.flatnonzero(there)] = H.quantiles(wanted.all_levels).T
        arrays = [*map(batch.values, kept), *map(as_arrow, new)]
        return pa.RecordBatch.from_arrays(arrays, [*kept, *wanted.names])

    with progress("tracking", table.count) as done:
        results = map(rows_of, table.batches([target, *needed], kept, done=done))
        first = next(results)
        with written(out, first.schema, wanted.names) as put:
            for result in chain([first], results):
                put(result)
    mender.report(path, tracker.labels)
    gaps.report(path, "what is written for them is NaN, and they are no steps")
    unlabelled.report(path, "they have a forecast and are no steps")
    show(f"Tracked {tracker.rows - began:,} labels of {path}. Wrote {out}: {', '.join([*kept, *wanted.names])}.")
    show(str(tracker.guarantee))
    if after is not None and model.notes is not None:
        write(after, tracker, model.notes)
        show(f"Wrote {after}: it goes on from here.")
