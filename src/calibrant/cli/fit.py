"""`calibrant fit`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import typer

from calibrant import Calibrator, Censored
from calibrant._words import count
from calibrant.batches.columns import Columns
from calibrant.batches.extra_columns import ExtraColumns
from calibrant.batches.fitting import Fitting
from calibrant.batches.header import listed
from calibrant.batches.missing import Gaps
from calibrant.batches.notes import Notes
from calibrant.batches.repairs import silenced
from calibrant.batches.rows import Numbers
from calibrant.batches.stream import Stream
from calibrant.calibration import Calibrated
from calibrant.cli.console import guarantee_text, progress, show, spinner
from calibrant.cli.forecasts import read
from calibrant.cli.model import write
from calibrant.cli.tables import TableFile, refuse_overwrite
from calibrant.cli.time_order import check_order
from calibrant.guarantee import too_few_for_interval
from calibrant.interpolators import Interpolator, Linear, Random
from calibrant.interpolators.by_group import by_group
from calibrant.interpolators.history import Forgetting, HalfLife, Window
from calibrant.labels import Labels
from calibrant.labels.counts import look_like_counts
from calibrant.labels.named import labels_named
from calibrant.names import INTERPOLATORS, SCORES, TAILS, score_named
from calibrant.predictions import Rates
from calibrant.scores import Score

T = TypeVar("T")

COUNTS = (
    "the labels look like counts: --labels counts gives distributions on whole numbers, --labels real keeps this quiet"
)
TAILED: dict[str, Callable[[Any], Interpolator]] = {"linear": Linear, "random": Random}


def fit(
    path: Path,
    target: str,
    columns: Columns,
    calibrator: Calibrator,
    out: Path,
    extra: ExtraColumns,
    *,
    gaps: Gaps,
    sample: int | None = None,
    ids: tuple[str, ...] = (),
    time: str | None = None,
    labels_unspecified: bool = False,
) -> None:
    """Calibrate on the rows of a file, or on a sample of them, and keep the result.

    `labels_unspecified` is true where no flag names the kind of labels.
    """
    refuse_overwrite(out, path)
    columns = columns.resolve(TableFile(path).header, target)
    if target in columns.names:
        raise typer.BadParameter(f"{target!r} is among the columns of the prediction", param_hint="--target")
    if columns.kind == "rate":
        _check_rate(calibrator)
    if sample is None:
        calibrated, y = _of_all(path, target, columns, calibrator, extra, gaps, time)
    else:
        calibrated, y = _of_sample(path, target, columns, calibrator, extra, gaps, sample, ids)
    n = len(y)
    write(out, calibrated, Notes(columns, target, weights=extra.weights, event=extra.event, by=extra.by))
    if (few := too_few_for_interval(n, 0.9)) is not None:
        warnings.warn(f"{path}: {few}", stacklevel=1)
    if labels_unspecified and extra.event is None and look_like_counts(y):
        warnings.warn(f"{path}: {COUNTS}", stacklevel=1)
    show(
        f"Calibrated {target} given {columns.kind} {listed(columns.names)}, on {count(n, 'row')} of {path}:"
        f" {calibrated.score!r}, {calibrated.interpolator!r}"
        + ("." if calibrated.labels is None else f", labels {calibrated.labels!r}.")
    )
    show(guarantee_text(calibrated.guarantee))
    show(f"Wrote {out}.")


def _of_all(
    path: Path,
    target: str,
    columns: Columns,
    calibrator: Calibrator,
    extra: ExtraColumns,
    gaps: Gaps,
    time: str | None,
) -> tuple[Calibrated, Numbers]:
    """What was calibrated on all rows, and their labels."""
    rows = read(path, extra, columns, target, [] if time is None else [time], gaps=gaps)
    prediction, y = rows.prediction, rows.y
    if columns.kind != "rate":
        _check_score(calibrator.score, prediction, f"which the {columns.kind} columns are not")
    with spinner("calibrating"), rows.naming(), silenced():
        if time is not None:
            check_order(time, rows.groups[time])
        # labels that are spread are drawn: the same file gives the same model
        rng = None if calibrator.labels is None else np.random.default_rng(0)
        labels = y if rows.event is None else Censored(y, rows.event)
        calibrated = calibrator.fit(prediction, labels, **rows.known, rng=rng)
    rows.say()
    return calibrated, y


def _of_sample(
    path: Path,
    target: str,
    columns: Columns,
    calibrator: Calibrator,
    extra: ExtraColumns,
    gaps: Gaps,
    sample: int,
    ids: tuple[str, ...],
) -> tuple[Any, Numbers]:
    """The same of a sample, batch by batch: no more than the sample is in memory."""
    if extra.event is not None or calibrator.forget is not None:
        raise typer.BadParameter("it goes with neither --event nor --last nor --half-life", param_hint="--sample")
    table, work = TableFile(path), Fitting(columns, target, extra, ids, calibrator, sample, gaps.refused)
    with progress("reading", table.count) as done:
        read_once = (batch.rows for batch in table.batches(work.numbers, [*extra.by, *ids], done=done))
        found = work.part(Stream.of(read_once, path), path)
    with spinner("calibrating"):
        return work.finish(found, path).calibrated, found.rows[target].to_numpy()


def _check_score(score: Score | None, prediction: Any, otherwise: str) -> None:
    """Raise where the score is of other predictions."""
    expected = getattr(score, "expects", (object,))
    if not isinstance(prediction, expected):
        names = " or ".join(kind.__name__ for kind in expected)
        raise typer.BadParameter(f"{type(score).__name__} takes {names}, {otherwise}", param_hint="--score")


def _check_rate(calibrator: Calibrator) -> None:
    """The same of rates, which labels of counts make distributions of."""
    labels, rates = calibrator.labels, Rates([0.5])  # which every kind of label takes
    if labels is None:
        _check_score(calibrator.score, rates, "which the rate columns are not")
    elif not labels.by_row:
        of_points = isinstance(rates, getattr(calibrator.score, "expects", (object,)))
        way = ": to use this score, name the column by --point, with --labels counts" if of_points else ""
        used = f"and a rate is used as a Poisson distribution{way}"
        _check_score(calibrator.score, labels.spread_prediction(rates), used)


def score_of(name: str | None) -> Score | None:
    """The score of a name; None leaves the choice to the kind of prediction."""
    if name is not None:
        _chosen(name.partition(":")[0], SCORES, "--score")
    try:
        return score_named(name)
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error), param_hint="--score") from None


def labels_of(name: str | None, rate: str | None = None) -> Labels | None:
    """The kind of labels of a name; without one counts where there is a column of rates, else any real number."""
    try:
        return labels_named("counts" if name is None and rate is not None else name)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--labels") from None


def by_groups(interpolator: Interpolator, by: Sequence[str], unseen: str | None) -> Interpolator:
    """The interpolator, or what it means by group."""
    if not by:
        if unseen is not None:
            raise typer.BadParameter("it says what groups never seen get, and needs --by", param_hint="--unseen")
        return interpolator
    try:
        return by_group(interpolator, unseen=unseen or "refuse")
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--unseen") from None


def forget_of(last: int | None, half_life: float | None) -> Forgetting | None:
    """What old rows count; None is as much as new ones."""
    if last is not None and half_life is not None:
        raise typer.BadParameter("--last and --half-life do not go together", param_hint="--half-life")
    if half_life is not None and not half_life > 0:
        raise typer.BadParameter(f"expected a positive number of rows, got {half_life:g}", param_hint="--half-life")
    return HalfLife(half_life) if half_life is not None else None if last is None else Window(last)


def interpolator_of(name: str, tails: str | None) -> Interpolator:
    """The interpolator of a name, with the tails of a name if it has tails."""
    kind = _chosen(name, INTERPOLATORS, "--interpolator")
    if tails is None:
        return kind()
    beyond = _chosen(tails, TAILS, "--tails")()
    if name not in TAILED:
        raise typer.BadParameter(f"{name} has no tails to choose, {' and '.join(TAILED)} have", param_hint="--tails")
    try:
        return TAILED[name](beyond)
    except TypeError as error:
        raise typer.BadParameter(str(error), param_hint="--tails") from None


def _chosen(name: str, table: Mapping[str, T], flag: str) -> T:
    if name not in table:
        raise typer.BadParameter(f"expected one of {', '.join(table)}, got {name!r}", param_hint=flag)
    return table[name]
