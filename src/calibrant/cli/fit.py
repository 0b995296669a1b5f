"""`calibrant fit`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
import typer

from calibrant import Calibrator
from calibrant._words import count, warn_user
from calibrant.cli import several
from calibrant.cli.commands import command
from calibrant.cli.console import guarantee_text, show, spinner
from calibrant.cli.options import (
    Csv,
    Input,
    Missing,
    Output,
    PredictionColumns,
    Text,
    Texts,
    Time,
    checked,
    labels_of,
    names_of,
    option,
    refuse,
    wrong,
)
from calibrant.cli.reading import check_order, opened, refuse_overwrite
from calibrant.cli.several import SeveralColumns
from calibrant.guarantee import too_few_for_interval
from calibrant.interpolators import Interpolator
from calibrant.interpolators.by_group import by_group
from calibrant.interpolators.history import Forgetting, HalfLife, Window
from calibrant.labels.counts import look_like_counts
from calibrant.names import INTERPOLATORS, TAILS, InterpolatorName, score_named
from calibrant.predictions import Rates
from calibrant.scores import Score
from calibrant.tables import Columns, TableModel
from calibrant.tables.counts import RowCounts
from calibrant.tables.fitting import Fitting
from calibrant.tables.in_memory import read_rows
from calibrant.tables.rows import Numbers, listed

COUNTS = (
    "the labels look like counts: --labels counts gives distributions on whole numbers, --labels real keeps this quiet"
)


@dataclass(frozen=True)
class Method:
    """How to calibrate."""

    score: Annotated[
        Text,
        option(
            "residual, relative, sqrt, log, interval, quantile, samples, zscore or cdf; the prediction decides if not"
            " given. log:1 and sqrt:1 set c, zscore:0.01 and the like a floor."
        ),
    ] = None
    interpolator: Annotated[InterpolatorName, typer.Option(help="What makes a distribution of the scores.")] = "linear"
    tails: Annotated[
        Literal["exponential", "bounded", "infinite"] | None,
        option("What is beyond the scores; of linear and random.", metavar=None),
    ] = None
    unseen: Annotated[
        Literal["refuse", "pooled"] | None,
        option(
            "With --by: rows of unknown groups are an error, or calibrated with all groups, without a guarantee.",
            metavar=None,
        ),
    ] = None
    labels: Annotated[
        Text,
        option(
            "What kind of number a label is: log, log1p, sqrt, logit, yeo-johnson:0.5; 0: is from 0 on, 0:1 from 0 to"
            " 1, 0:NAME up to that column; 0:,log1p is both. counts are 0, 1, 2, ..., counts:0.05 steps of 0.05,"
            " integers of both signs; atom:0:NAME has many zeros, with their probability in that column. real is any"
            " number. With --rate the default is counts, else real.",
            metavar="KIND",
        ),
    ] = None
    last: Annotated[int | None, option("Only the last rows count; rows are in time order.", metavar="ROWS", min=1)] = (
        None
    )
    half_life: Annotated[float | None, option("A row weighs half as much after so many more rows.", metavar="ROWS")] = (
        None
    )

    def calibrator(self, by: tuple[str, ...], rate: str | None) -> Calibrator:
        """What the options make."""
        with checked("score"):
            score = score_named(self.score)
        return Calibrator(score, self._interpolator(by), labels_of(self.labels, rate), forget=self._forget())

    def _interpolator(self, by: tuple[str, ...]) -> Interpolator:
        made: Any = INTERPOLATORS[self.interpolator]()
        if self.tails is not None:
            if not hasattr(made, "tails"):
                raise wrong(f"{self.interpolator} has no tails to choose, linear and random have", "tails")
            with checked("tails"):
                made = replace(made, tails=TAILS[self.tails]())
        if not by:
            refuse("it says what groups never seen get, and needs --by", unseen=self.unseen)
            return made  # type: ignore[no-any-return]
        with checked("by"):
            return by_group(made, unseen=self.unseen or "refuse")

    def _forget(self) -> Forgetting | None:
        if self.half_life is None:
            return None if self.last is None else Window(self.last)
        refuse("--last and --half-life do not go together", last=self.last)
        with checked("half_life"):
            return HalfLife(self.half_life)


@dataclass(frozen=True)
class Sample:
    """Which rows to calibrate on."""

    sample: Annotated[
        int | None,
        option("Calibrate on a random sample of so many rows; the file may exceed memory.", metavar="ROWS", min=1),
    ] = None
    ids: Annotated[
        Texts,
        option(
            "For --sample: columns that identify rows, by which they are sampled; row numbers if not given.",
            metavar="NAME,...",
        ),
    ] = None


@command(
    "calibrant fit cal.parquet --target y --mean mu --std sigma -o m.safetensors",
    "calibrant fit cal.csv --target y --point f --interpolator naf -o m.safetensors",
    "calibrant fit cal.csv --target y --quantiles lo:0.1,hi:0.9 -o m.safetensors",
    "calibrant fit cal.feather --target y --samples 's*' -o m.safetensors",
    "calibrant fit cal.csv --target y --point f --labels 0: -o m.safetensors",
    "calibrant fit cal.csv --target a,b --point 'f_{}' -o m.safetensors",
)
def fit(
    file: Input,
    *,
    target: Annotated[
        str, option("The column of the labels; a,b for several, where {} in a prediction's column is each.")
    ],
    output: Output,
    prediction: PredictionColumns,
    method: Method,
    weights: Annotated[
        Text, option("A column of likelihood ratios p_new(x) / p(x), where x of new rows is distributed differently.")
    ] = None,
    event: Annotated[
        Text, option("A column of 1 where the label was seen and 0 where it is only known to be larger.")
    ] = None,
    by: Annotated[
        Texts,
        option(
            "Columns that name the group of a row: each group is calibrated, and small ones borrow from all.",
            metavar="NAME,...",
        ),
    ] = None,
    training: Annotated[
        Path | None,
        option(
            "For several labels: other rows, which make the labels comparable for a joint box. Points need it.",
            metavar="FILE",
        ),
    ] = None,
    time: Time = None,
    sample: Sample,
    missing: Missing = "keep",
    csv: Csv,
) -> None:
    """Calibrate on predictions and labels of rows that the model was not trained on."""
    groups = names_of(by)
    calibrator = method.calibrator(groups, prediction.rate)
    if prediction.several:
        refuse("it is for one label", sample=sample.sample, time=time, weights=weights, event=event, by=by)
        each = SeveralColumns.of(prediction, names_of([target]), calibrator.labels)
        several.fit(file, csv, each, calibrator, training, output, missing)
        return
    refuse("it is for several labels, with {} in the prediction's columns", training=training)
    refuse_overwrite(output, file)
    columns = prediction.columns(target=target, weights=weights, event=event, by=groups)
    if columns.kind == "rate":
        _check_rate(calibrator)
    if sample.sample is None:
        refuse("it is for --sample", ids=sample.ids)
        model, y = _of_all(file, csv, columns, calibrator, time, missing)
    else:
        refuse("a sample has no order", time=time)
        refuse("it goes with neither --last nor --half-life", sample=calibrator.forget)
        model, y = _of_sample(file, csv, columns, calibrator, sample, missing)
    model.save(output)
    calibrated, columns = model.calibrated, model.columns
    if (few := too_few_for_interval(len(y), 0.9)) is not None:
        warn_user(f"{file}: {few}")
    if method.labels is None and prediction.rate is None and event is None and look_like_counts(y):
        warn_user(f"{file}: {COUNTS}")
    show(
        f"Calibrated {target} given {columns.kind} {listed(columns.names)}, on {count(len(y), 'row')} of {file}:"
        f" {calibrated.score!r}, {calibrated.interpolator!r}"
        + ("." if calibrated.labels is None else f", labels {calibrated.labels!r}.")
    )
    show(guarantee_text(calibrated.guarantee))
    show(f"Wrote {output}.")


def _of_all(
    path: Path, csv: Csv, columns: Columns, calibrator: Calibrator, time: str | None, missing: str
) -> tuple[TableModel, Numbers]:
    """What was calibrated on all rows, and their labels."""
    with opened(path, csv) as table:
        rows = read_rows(table, columns, calibrator.labels, [] if time is None else [time], missing=missing)
    if columns.kind != "rate":
        _check_score(calibrator.score, rows.prediction, f"which the {columns.kind} columns are not")
    with spinner("calibrating"), rows.naming(), RowCounts.silenced():
        if time is not None:
            check_order(time, rows.others[time])
        # labels that are spread are drawn: the same file gives the same model
        rng = None if calibrator.labels is None else np.random.default_rng(0)
        calibrated = calibrator.fit(rows.prediction, rows.labels, **rows.known, rng=rng)
    rows.report()
    return TableModel(calibrated, rows.columns), rows.y


def _of_sample(
    path: Path, csv: Csv, columns: Columns, calibrator: Calibrator, sample: Sample, missing: str
) -> tuple[TableModel, Numbers]:
    """The same of a sample, batch by batch: no more than the sample is in memory."""
    with opened(path, csv) as table:
        work = Fitting(columns, names_of(sample.ids), missing, calibrator, sample.sample).on(table.header)
        part = work.part(table, path)
    with spinner("calibrating"):
        model: TableModel = work.finish(part, path)
    return model, pa.concat_tables(part.found)[columns.labels_in()].to_numpy()


def _check_score(score: Score | None, prediction: Any, otherwise: str) -> None:
    """Raise where the score is of other predictions."""
    expected = getattr(score, "expects", (object,))
    if not isinstance(prediction, expected):
        names = " or ".join(kind.__name__ for kind in expected)
        raise wrong(f"{type(score).__name__} takes {names}, {otherwise}", "score")


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
