"""Several labels in one file: `fit`, `predict` and `evaluate` with {} for each target in a column's name."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import typer

from calibrant import Calibrator
from calibrant._words import count
from calibrant.batches.columns import Columns
from calibrant.batches.extra_columns import ExtraColumns
from calibrant.batches.header import listed
from calibrant.batches.missing import Gaps
from calibrant.batches.notes import Notes
from calibrant.batches.output_columns import OutputColumns
from calibrant.batches.predicting import IN_CACHE
from calibrant.batches.repairs import Repairs, silenced
from calibrant.batches.rows import Batch, Numbers, as_arrow
from calibrant.cli.columns import of_flags
from calibrant.cli.console import progress, show, spinner
from calibrant.cli.model import Model
from calibrant.cli.predict import warn_if_few
from calibrant.cli.tables import TableFile, refuse_overwrite, written
from calibrant.files import FileError, save
from calibrant.guarantee import too_few_for_interval
from calibrant.labels import Labels
from calibrant.several import Several, SeveralCalibrator
from calibrant.several.calibration import SeveralCalibrated
from calibrant.several.distributions import SeveralEvaluation

EACH = "{}"
"""The placeholder for the name of a target."""


def has_several(flags: Mapping[str, str | None]) -> bool:
    """Whether a flag names a column for each target."""
    return any(value is not None and EACH in value for value in flags.values())


def columns_of(flags: Mapping[str, str | None], targets: Sequence[str]) -> dict[str, Columns]:
    """The columns of the prediction of each target."""
    if len(set(targets)) < len(targets) or not targets:
        raise typer.BadParameter(
            f"expected each target once, got {', '.join(targets) or 'none'}", param_hint="--target"
        )
    plain = [f"--{flag}" for flag, value in flags.items() if value is not None and EACH not in value]
    if plain:
        raise typer.BadParameter(f"{{}} must mark the target in {plain[0]} too, as in 'mean_{{}}'")
    named = {
        target: {flag: None if value is None else value.replace(EACH, target) for flag, value in flags.items()}
        for target in targets
    }
    return {target: of_flags(each) for target, each in named.items()}


@dataclass(frozen=True)
class SeveralForecasts:
    """The predictions and labels of the rows of a file that have all of them."""

    naming: Callable[[], AbstractContextManager[None]]
    """Says which file and which row it is that the library cannot use."""
    predictions: Several
    Y: dict[str, Numbers]
    known: dict[str, Any]
    """The other arguments of calibration: bounds of the labels."""


def refuse(extra: ExtraColumns) -> None:
    """Raise for what is known of one label only."""
    for flag in ("weights", "event", "by"):
        if getattr(extra, flag):
            raise typer.BadParameter("it is for one label", param_hint=f"--{flag}")


def read(path: Path, kind: Labels | None, columns: Mapping[str, Columns], *, gaps: Gaps) -> SeveralForecasts:
    """All rows of a file that have every label and every prediction; warns of rows that were repaired or left out."""
    table, targets = TableFile(path), list(columns)
    columns = {target: each.resolve(table.header, target) for target, each in columns.items()}
    extra = ExtraColumns(labels=kind)
    needed = [name for each in columns.values() for name in each.names] + extra.names
    with progress("reading", table.count) as done:
        rows, _ = table.labelled([*targets, *needed], gaps=not gaps.refused, done=done)
    complete = gaps.complete(rows, needed, *targets)
    if not complete.any():
        raise ValueError(f"{path}: no row has all labels and predictions")
    repairs, rows = Repairs(), rows.where(complete)
    predictions = {target: each.prediction(rows, repairs) for target, each in columns.items()}
    repairs.report(path, kind)
    gaps.report(path, "they are left out")
    labels = {target: rows.numbers(target) for target in targets}
    return SeveralForecasts(rows.naming, Several.of(predictions), labels, extra.known(rows))


def fit(
    path: Path, columns: Mapping[str, Columns], calibrator: Calibrator, training: Path | None, out: Path, *, gaps: Gaps
) -> None:
    """Calibrate every target on the rows of a file and keep the result."""
    refuse_overwrite(out, path, *([] if training is None else [training]))
    several = SeveralCalibrator(calibrator)
    if training is not None:
        known = read(training, calibrator.labels, columns, gaps=Gaps(refused=gaps.refused))
        with spinner("comparing labels"), known.naming(), silenced():
            several = several.compared_on(known.predictions, known.Y, **known.known)
    rows = read(path, calibrator.labels, columns, gaps=gaps)
    with spinner("calibrating"), rows.naming(), silenced():
        calibrated = several.fit(rows.predictions, rows.Y, **rows.known, rng=np.random.default_rng(0))
    table = TableFile(path)
    notes = [Notes(each.resolve(table.header, target), target).to_json() for target, each in columns.items()]
    save(out, calibrated, notes={"several": notes})
    n = calibrated.joint.n
    if (few := too_few_for_interval(n, 0.9)) is not None:
        warnings.warn(f"{path}: {few}", stacklevel=1)
    show(f"Calibrated {listed(calibrated.names)} on {count(n, 'row')} of {path}.")
    show(str(calibrated.guarantee))
    if calibrated.references is None:
        show("For a joint box of points, give --training FILE: other rows, which the models were not fitted on either.")
    show(f"Wrote {out}.")


def targets_of(model: Model) -> list[Notes] | None:
    """What the notes of a model say of each target; None for a model of one."""
    if not isinstance(model.stored.calibrated, SeveralCalibrated):
        return None
    try:
        return [Notes.of_json(each) for each in model.stored.notes["several"]]
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration) as error:
        raise FileError(f"{model.path}: it holds several labels and does not say in which columns") from error


def one_target(model: Model, notes: Sequence[Notes], target: str | None) -> Model:
    """The model of one of several targets."""
    if target is None or target not in (names := [each.target for each in notes]):
        known = ", ".join(each.target for each in notes)
        raise typer.BadParameter(f"expected one of {known}, got {target or 'none'}", param_hint="--target")
    calibrated = Forecaster(model, {}).calibrated[target]
    return Model(model.path, replace(model.stored, calibrated=calibrated), notes[names.index(target)])


@dataclass(frozen=True)
class Forecaster:
    """What was calibrated, and the columns of each target."""

    model: Model
    columns: dict[str, Columns]

    @classmethod
    def of(cls, model: Model, notes: Sequence[Notes], flags: Mapping[str, str | None]) -> Forecaster:
        """With the columns that the flags name, or else those of the notes."""
        refuse(ExtraColumns(model.weights))
        kept = {each.target: each.columns for each in notes}
        return cls(model, columns_of(flags, list(kept)) if any(flags.values()) else kept)

    @property
    def calibrated(self) -> SeveralCalibrated:
        """Of all targets."""
        return cast(SeveralCalibrated, self.model.stored.calibrated)

    @property
    def labels(self) -> Labels | None:
        """What kind of number the labels are, which is the same for all."""
        return self.calibrated.margins[0].labels


def evaluated(path: Path, source: Forecaster, coverage: float, seed: int | None, *, gaps: Gaps) -> SeveralEvaluation:
    """The metrics of each target on the rows of a file, and of all at once."""
    rows = read(path, source.labels, source.columns, gaps=gaps)
    with spinner("evaluating"), rows.naming(), silenced():
        return source.calibrated(rows.predictions, **rows.known, seed=seed).evaluate(rows.Y, coverage=coverage)


def predict(
    path: Path,
    source: Forecaster,
    outputs: OutputColumns,
    keep: Sequence[str],
    out: Path,
    seed: int | None,
    *,
    joint: bool,
    gaps: Gaps,
) -> None:
    """Write quantiles and intervals of every target for the rows of a file, batch by batch."""
    refuse_overwrite(out, path, source.model.path)
    calibrated, table = source.calibrated, TableFile(path)
    if joint and calibrated.references is None:
        raise typer.BadParameter(f"{source.model.path} was fitted without --training FILE", param_hint="--joint")
    columns = {target: each.resolve(table.header, None) for target, each in source.columns.items()}
    kept = table.header.matching(keep)
    extra = ExtraColumns(labels=source.labels)
    needed = [name for each in columns.values() for name in each.names] + extra.names
    table.header.check([*needed, *kept])
    names = [f"{name}_{target}" for target in columns for name in outputs.names]
    clash = [name for name in names if name in kept]
    if clash:
        raise ValueError(f"{path}: column {clash[0]!r} cannot be kept: a new column has the same name")
    repairs = Repairs()

    def rows_of(batch: Batch) -> pa.RecordBatch:
        new = np.full((len(names), len(batch)), np.nan)
        for whole in batch.parts(IN_CACHE):
            offset, complete = whole.start - batch.start, gaps.complete(whole, needed)
            part = whole.where(complete)
            if not len(part):
                continue
            predictions = {target: each.prediction(part, repairs) for target, each in columns.items()}
            known = extra.known(part)
            with part.naming(), silenced():
                H = calibrated(predictions, **known, seed=seed)
                new[:, offset + np.flatnonzero(complete)] = _new_columns(H, outputs, joint=joint)
        return pa.RecordBatch.from_arrays([*map(batch.values, kept), *map(as_arrow, new)], [*kept, *names])

    rows = 0
    with progress("predicting", table.count) as done:
        results = map(rows_of, table.batches(needed, kept, done=done))
        first = next(results)
        with written(out, first.schema, names) as write:
            for result in chain([first], results):
                write(result)
                rows += result.num_rows
    repairs.report(path, source.labels)
    gaps.report(path, "what is written for them is NaN")
    if not joint:  # the box itself says so
        warn_if_few(source.model, outputs)
    show(f"Wrote {count(rows, 'row')} to {out}: {', '.join([*kept, *names])}.")


def _new_columns(H: Any, outputs: OutputColumns, *, joint: bool) -> Numbers:
    """The new columns, target by target: quantiles, then the bounds of the intervals or of the boxes."""
    if joint:
        parts = [H.quantiles(outputs.levels)] if outputs.levels else []
        parts += [np.stack(H.interval(coverage, joint=True), axis=1) for coverage in outputs.coverages]
        values: Numbers = np.concatenate(parts, axis=1)  # (rows, columns, targets)
    else:
        values = H.quantiles(outputs.all_levels)
    return values.transpose(2, 1, 0).reshape(-1, len(values))
