"""`fit`, `predict`, `evaluate` and `update` on a table, wherever it lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calibrant.calibration import Calibrator
from calibrant.tables.columns import Columns
from calibrant.tables.counts import RowCounts
from calibrant.tables.evaluating import COVERAGES, Evaluating, TableEvaluation
from calibrant.tables.files import table_of
from calibrant.tables.fitting import ENOUGH, Fitting
from calibrant.tables.in_memory import read_rows
from calibrant.tables.model import TableModel, check_model
from calibrant.tables.predicting import Outputs, Predicting, Several
from calibrant.tables.stream import Data, Engine, LocalTable

Names = str | Sequence[str]


def fit(
    data: Data,
    columns: Columns,
    calibrator: Calibrator | None = None,
    *,
    ids: Names = (),
    sample: int | None = ENOUGH,
    missing: str = "keep",
    name: str = "the table",
) -> TableModel:
    """Calibrate on a table of predictions and labels.

    `data` is a file (csv, parquet, feather), a folder or a list of files; anything that Arrow can stream: a reader, a
    table, a data frame, a polars LazyFrame, a DuckDB relation, record batches one after the other; or a frame of Dask
    or Spark. One batch is in memory at a time, in each process.

    What is calibrated on is a `sample` of so many rows at most, of each group with `by`; with `sample=None` it is all
    rows, which takes memory for all of them. Which rows are in it depends on the column or columns `ids` alone, so
    parts in any order and of any size, on any engine, give the same model to the bit. Without `ids` a row's id is the
    number of its file or partition and its place there.

    Args:
        data: The table, as above.
        columns: Which columns hold the prediction, the label, groups, weights.
        calibrator: What calibrates: a score, an interpolator and the kind of label.
        ids: The column or columns that identify a row.
        sample: How many rows to keep at most, of each group with `by`; None keeps all of them in memory.
        missing: What becomes of rows without a number: "keep" leaves them out, "error" raises.
        name: The name of the table in errors, where it is no file.

    >>> import pyarrow as pa
    >>> table = pa.table({"f": [1.0, 2.0, 3.0, 4.0], "y": [1.1, 1.8, 3.3, 4.0]})
    >>> model = fit(table.to_batches(max_chunksize=3), Columns(target="y", point="f"))
    >>> model.calibrated([10.0]).interval(0.5)
    (array([9.85]), array([10.25]))
    """
    engine = _engine_of(data, name)
    calibrator = Calibrator() if calibrator is None else calibrator
    work = Fitting(columns, _names(ids), missing, calibrator, sample).on(engine.header)
    found: TableModel = work.finish(engine.merged(work), engine.source)
    return found


def predict(
    data: Data,
    model: TableModel,
    *,
    quantiles: Several = (),
    interval: Several = (),
    probabilities: Several = (),
    exceedances: Several = (),
    keep: Sequence[str] | None = None,
    seed: int | None = None,
    missing: str = "keep",
    name: str = "the table",
) -> Any:
    """The same rows with new columns, batch by batch; nothing is read before the first batch is asked for.

    A row's numbers depend on that row and the model alone, so batches of any size and in any order give the same bits;
    a randomised q takes a `seed` for that. A column of the prediction that is missing in all rows raises after the last
    batch.

    Args:
        data: The table, as in `fit`.
        model: What `fit` returned, or `TableModel.read`.
        quantiles: The levels of quantiles, which become columns q0.05 and so on.
        interval: The coverage of centred intervals, which become columns lower and upper.
        probabilities: The values y of P(Y <= y), which become columns cdf_100 and so on.
        exceedances: The values y of P(Y > y), which become columns sf_100 and so on.
        keep: The columns to keep, by names and patterns; all of them by default.
        seed: A whole number, for a randomised q: a row then has the same random number in any batch and any order.
        missing: What becomes of rows without a prediction: "keep" makes NaN of them, "error" raises.
        name: The name of the table in errors, where it is no file.

    Returns:
        A `pyarrow.RecordBatchReader`, or for a frame of Dask or Spark such a frame.

    >>> import pyarrow as pa
    >>> table = pa.table({"f": [1.0, 2.0, 3.0, 4.0], "y": [1.1, 1.8, 3.3, 4.0]})
    >>> model = fit(table, Columns(target="y", point="f"))
    >>> predict(table.slice(0, 1), model, quantiles=0.5, probabilities=1.0, keep=["f"]).read_all().to_pylist()
    [{'f': 1.0, 'q0.5': 1.05, 'cdf_1': 0.4}]
    """
    outputs = Outputs(quantiles, interval, probabilities, exceedances)
    engine = _engine_of(data, name)
    return engine.mapped(Predicting(model, outputs, seed, missing).on(engine.header, keep))


def evaluate(
    data: Data,
    model: TableModel,
    *,
    target: str | None = None,
    coverage: float = 0.9,
    ci: float = 0.95,
    coverages: Sequence[float] = COVERAGES,
    ids: Names = (),
    seed: int | None = None,
    missing: str = "keep",
    name: str = "the table",
) -> TableEvaluation:
    """The metrics of `calibrant.evaluate` on a table of predictions and labels, in one pass.

    The sums are exact: batches and parts of any size and in any order give the same bits. Where PITs are drawn, as
    those of counts, a row's draw depends on its `ids`, or else on its number.

    Args:
        data: The table, as in `fit`.
        model: What `fit` returned, or `TableModel.read`.
        target: The column with the labels, if it is another than in `fit`.
        coverage: The probability of the centred interval, between 0 and 1.
        ci: The probability of the second centred interval, whose coverage and width are measured.
        coverages: The probabilities of more centred intervals.
        ids: The column or columns that identify a row.
        seed: A whole number, for a randomised q.
        missing: What becomes of rows without a number: "keep" leaves them out, "error" raises.
        name: The name of the table in errors, where it is no file.

    >>> import pyarrow as pa
    >>> table = pa.table({"f": [1.0, 2.0, 3.0, 4.0], "y": [1.1, 1.8, 3.3, 4.0]})
    >>> found = evaluate(table, fit(table, Columns(target="y", point="f")))
    >>> found.calibrated.coverage, round(found.mae, 3)
    (1.0, 0.15)
    """
    check_model(model)
    engine = _engine_of(data, name)
    columns = model.columns.override(target=target)
    work = Evaluating(columns, _names(ids), missing, model, coverage, ci, tuple(coverages), seed).on(engine.header)
    found: TableEvaluation = work.finish(engine.merged(work), engine.source)
    return found


def update(
    data: Data, model: TableModel, *, refit: bool = False, missing: str = "keep", name: str = "the table"
) -> TableModel:
    """The model with the rows of a table added to those that it was calibrated on.

    Args:
        data: The table, as in `fit`, in one process: all of its rows are in memory.
        model: What `fit` returned, or `TableModel.read`.
        refit: Fit an interpolator that cannot add scores, such as NAF, to all scores again.
        missing: What becomes of rows without a number: "keep" leaves them out, "error" raises.
        name: The name of the table in errors, where it is no file.
    """
    check_model(model)
    table, before = _engine_of(data, name), model.calibrated
    if not isinstance(table, LocalTable):
        raise TypeError(f"update takes a table that is read in this process, got {type(data).__name__}")
    rows = read_rows(table, model.columns, before.labels, missing=missing)
    rows.check_labels()
    # labels that are spread are drawn: others than before, and the same for the same tables
    rng = None if before.labels is None else np.random.default_rng(before.guarantee.n)
    with rows.naming(), RowCounts.silenced():
        calibrated = before.update(rows.prediction, rows.y, **rows.known, rng=rng, refit=refit)
    rows.report()
    return replace(model, calibrated=calibrated)


def _engine_of(data: Data, name: str) -> Engine:
    """What works on a table, by where it lies: Dask, Spark, one of the caller's own, or this process."""
    library = type(data).__module__.partition(".")[0]
    if library == "dask":
        from calibrant.tables.dask import DaskFrame

        return DaskFrame(data)
    if library == "pyspark":
        from calibrant.tables.spark import SparkFrame

        return SparkFrame(data)
    return data if isinstance(data, Engine) else table_of(data, name)


def _names(given: Names) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
