"""`calibrant fit`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import typer

from calibrant import Calibrator, Censored, required_n_for_interval
from calibrant.cli.columns import Columns
from calibrant.cli.console import naming, progress, show, working
from calibrant.cli.mending import Mender, counted
from calibrant.cli.model import Notes, write
from calibrant.cli.tables import Batch, Numbers, TableFile, listed, not_over
from calibrant.interpolators import Interpolator, Linear, Random
from calibrant.names import INTERPOLATORS, SCORES, TAILS, score_named
from calibrant.scores import Score

T = TypeVar("T")

TAILED: dict[str, Callable[[Any], Interpolator]] = {"linear": Linear, "random": Random}


@dataclass(frozen=True)
class Extra:
    """The columns that say more of the rows: likelihood ratios, and which labels were seen."""

    weights: str | None = None
    event: str | None = None

    def __post_init__(self) -> None:
        if self.weights is not None and self.event is not None:
            raise typer.BadParameter("censored labels take no --weights", param_hint="--event")

    @property
    def names(self) -> list[str]:
        """Those that are given."""
        return [name for name in (self.weights, self.event) if name is not None]

    def ratios(self, rows: Batch) -> Numbers | None:
        """The likelihood ratios."""
        return None if self.weights is None else rows.not_negative(self.weights)

    def labels(self, rows: Batch, y: Numbers) -> Any:
        """The labels, censored where they were not seen."""
        return y if self.event is None else Censored(y, rows.numbers(self.event))


def fit(
    path: Path,
    target: str,
    columns: Columns,
    score: Score | None,
    interpolator: Interpolator,
    out: Path,
    extra: Extra,
) -> None:
    """Calibrate on the rows of a file and keep the result."""
    not_over(out, path)
    table = TableFile(path)
    columns = columns.found_in(table, target)
    if target in columns.names:
        raise typer.BadParameter(f"{target!r} is among the columns of the prediction", param_hint="--target")
    with progress("reading", table.count) as done:
        rows = table.whole([target, *columns.names, *extra.names], done=done)
    mender = Mender()
    prediction, y = columns.prediction(rows, mender), rows.numbers(target)
    expected = getattr(score, "expects", (object,))
    if not isinstance(prediction, expected):
        names = " or ".join(kind.__name__ for kind in expected)
        raise typer.BadParameter(
            f"{type(score).__name__} takes {names}, which the {columns.kind} columns are not", param_hint="--score"
        )
    with working("calibrating"), naming(str(path)), counted():
        calibrated = Calibrator(score, interpolator).fit(prediction, extra.labels(rows, y), weights=extra.ratios(rows))
    write(out, calibrated, Notes(columns, target, weights=extra.weights, event=extra.event))
    mender.report(path)
    enough = required_n_for_interval(0.9)
    if len(y) < enough:
        warnings.warn(f"{path}: {len(y)} rows are few, a 90% interval needs {enough}", stacklevel=1)
    show(
        f"Calibrated {target} given {columns.kind} {listed(columns.names)}, on {len(y):,} rows of {path}:"
        f" {calibrated.score!r}, {calibrated.interpolator!r}."
    )
    show(str(calibrated.guarantee))
    show(f"Wrote {out}.")


def score_of(name: str | None) -> Score | None:
    """The score of a name; None leaves the choice to the kind of prediction."""
    if name is not None:
        _chosen(name.partition(":")[0], SCORES, "--score")
    try:
        return score_named(name)
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error), param_hint="--score") from None


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
        raise typer.BadParameter(f"one of {', '.join(table)} is wanted, got {name!r}", param_hint=flag)
    return table[name]
