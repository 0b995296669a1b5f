"""`fit`, `predict` and `evaluate` on a Dask data frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
from dask.dataframe.dispatch import make_meta
from dask.delayed import delayed

from calibrant.batches.evaluating import COVERAGES, Evaluating, TableEvaluation, evaluating
from calibrant.batches.fitting import ENOUGH, Fitting, fitting
from calibrant.batches.header import Header
from calibrant.batches.model import TableModel
from calibrant.batches.output_columns import OutputColumns
from calibrant.batches.predicting import Predicting, predicting
from calibrant.batches.rows import Batch, partition
from calibrant.calibration import Calibrator

T = TypeVar("T")

TOGETHER = 8
"""How many results merge at a time."""
FILE = "file"
"""Under which name a partition's `attrs` say what file it was read from."""
WHOLE = "the frame"


def fit(
    ddf: dd.DataFrame,
    *,
    target: str,
    point: str | None = None,
    rate: str | None = None,
    mean: str | None = None,
    std: str | None = None,
    lower: str | None = None,
    upper: str | None = None,
    quantiles: Mapping[str, float] | None = None,
    samples: str | Sequence[str] | None = None,
    by: str | Sequence[str] = (),
    weights: str | None = None,
    ids: str | Sequence[str] = (),
    calibrator: Calibrator | None = None,
    sample: int | None = ENOUGH,
    missing: str = "keep",
) -> TableModel:
    """Calibrate on the rows of all partitions; the arguments are those of `calibrant.batches.fit`.

    It computes at once, on the scheduler that is set. The model has the same bits on any scheduler, and after a worker
    was lost. With `ids` it also has the same bits for any partitions and any order of the rows; without, a row's id is
    the number of its partition and its place there.

    Args:
        ddf: A Dask frame.
        target: The column with the labels.
        point: The column with a point prediction.
        rate: The column with the mean of a Poisson count.
        mean: The column with the mean, together with `std`.
        std: The column with the standard deviation.
        lower: The column with the lower bound, together with `upper`.
        upper: The column with the upper bound.
        quantiles: The columns with quantiles and their levels, such as `{"q05": 0.05, "q95": 0.95}`.
        samples: The columns with draws, by names or patterns.
        by: The column or columns that name the group of a row.
        weights: The column with the likelihood ratios.
        ids: The column or columns that identify a row; its number by default.
        calibrator: What calibrates: a score, an interpolator and the kind of label.
        sample: How many rows to keep at most, of each group with `by`; None keeps all of them in memory.
        missing: What becomes of rows without a number: "keep" leaves them out of the fit and the evaluation, and
            predicts NaN; "error" raises.
    """
    given = {
        "point": point,
        "rate": rate,
        "mean": mean,
        "std": std,
        "lower": lower,
        "upper": upper,
        "quantiles": quantiles,
        "samples": samples,
    }
    work = fitting(_header(ddf), target, given, by, weights, ids, calibrator, sample, missing)
    return work.finish(_merged(ddf, work), WHOLE)


def evaluate(
    ddf: dd.DataFrame,
    model: TableModel,
    *,
    target: str | None = None,
    coverage: float = 0.9,
    ci: float = 0.95,
    coverages: Sequence[float] = COVERAGES,
    ids: str | Sequence[str] = (),
    seed: int | None = None,
    missing: str = "keep",
) -> TableEvaluation:
    """The metrics of the forecasts, as they are and calibrated, in one pass; see `calibrant.batches.evaluate`.

    It computes at once, and the sums are exact: the same bits on any scheduler and for any partitions.

    Args:
        ddf: A Dask frame.
        model: The model that `fit` returned, or that was read from a file.
        target: The column with the labels.
        coverage: The probability of the centred interval, between 0 and 1.
        ci: The probability of the second centred interval, whose coverage and width are measured.
        coverages: The probabilities of the centred intervals, each between 0 and 1.
        ids: The column or columns that identify a row; its number by default.
        seed: A whole number, for a randomised q: a row then has the same random number in any batch and any order.
        missing: What becomes of rows without a number: "keep" leaves them out of the fit and the evaluation, and
            predicts NaN; "error" raises.
    """
    work = evaluating(model, _header(ddf), target, coverage, ci, coverages, ids, seed, missing)
    return work.finish(_merged(ddf, work), WHOLE)


def predict(
    ddf: dd.DataFrame,
    model: TableModel,
    *,
    quantiles: float | Iterable[float] = (),
    interval: float | Iterable[float] = (),
    probabilities: float | Iterable[float] = (),
    keep: Sequence[str] | None = None,
    seed: int | None = None,
    missing: str = "keep",
) -> dd.DataFrame:
    """A frame with new columns, which nothing computes yet; the arguments are those of `calibrant.batches.predict`.

    `calibrant.dask.to_parquet` writes it atomically.

    Args:
        ddf: A Dask frame.
        model: The model that `fit` returned, or that was read from a file.
        quantiles: The levels of quantiles to write, as columns q0.05 and so on.
        interval: The coverage of centred intervals to write, as columns lower and upper.
        probabilities: The values y for which to write P(Y <= y), as columns cdf_100 and so on.
        keep: The columns to keep, by names and patterns; all of them by default.
        seed: A whole number, for a randomised q: a row then has the same random number in any batch and any order.
        missing: What becomes of rows without a number: "keep" leaves them out of the fit and the evaluation, and
            predicts NaN; "error" raises.
    """
    outputs = OutputColumns.of(quantiles, interval, probabilities)
    work = predicting(model, outputs, _header(ddf), keep=keep, seed=seed, missing=missing)
    numbers = dd.from_map(_number, range(ddf.npartitions), meta=_number(0).iloc[:0])
    meta = _with_new(make_meta(ddf), work, {name: pd.Series(dtype="float64") for name in outputs.names})
    shared = delayed(work.without_history())  # one object for all partitions, sent to a worker once
    new: dd.DataFrame = dd.map_partitions(_predicted, ddf, numbers, shared, align_dataframes=False, meta=meta)
    return new


def _predicted(frame: pd.DataFrame, number: pd.Series, shared: Predicting) -> pd.DataFrame:
    """One partition with its new columns."""
    work, name = shared.with_fresh_counts(), _name(frame, int(number.iloc[0]))
    needed = list(dict.fromkeys([*work.numbers, *work.extra.by]))
    batch = Batch(name, 0, _rows(frame, needed, name))
    new = work.new(batch)
    work.report(name)
    return _with_new(frame, work, dict(zip(work.outputs.names, new, strict=True)))


def _with_new(frame: pd.DataFrame, work: Predicting, new: Mapping[str, Any]) -> pd.DataFrame:
    kept = frame[list(work.kept)]
    columns = pd.DataFrame({name: getattr(each, "to_numpy", lambda each=each: each)() for name, each in new.items()})
    return pd.concat([kept, columns.set_index(kept.index)], axis=1)


def _merged(ddf: Any, work: Fitting | Evaluating) -> Any:
    """What `part` gives of each partition, merged in a tree of tasks."""
    shared = delayed(work)
    frames = ddf.to_delayed()
    parts = [delayed(_part)(shared, frame, number) for number, frame in enumerate(frames)]
    return _tree(parts, lambda some: delayed(_merge)(shared, some)).compute()


def _part(work: Fitting | Evaluating, frame: pd.DataFrame, number: int) -> Any:
    name = _name(frame, number)
    return work.part(_rows(frame, work.read, name), name, number)


def _merge(work: Fitting | Evaluating, parts: Sequence[Any]) -> Any:
    return work.merge(parts)


def _tree(parts: list[T], merge: Callable[[list[T]], T]) -> T:
    while True:
        parts = [merge(parts[start : start + TOGETHER]) for start in range(0, len(parts), TOGETHER)]
        if len(parts) == 1:
            return parts[0]


def _rows(frame: pd.DataFrame, columns: Sequence[str], name: str) -> pa.RecordBatch:
    """Some columns of a partition, for Arrow."""
    Header(name, tuple(map(str, frame.columns))).check(columns)
    try:
        return pa.RecordBatch.from_pandas(frame[list(columns)], preserve_index=False)
    except pa.ArrowException as error:
        raise ValueError(f"{name}: its columns cannot be read ({' '.join(map(str, error.args))})") from error


def _header(ddf: Any) -> Header:
    if not isinstance(ddf, dd.DataFrame):
        raise TypeError(f"expected a Dask data frame, got {type(ddf).__name__}")
    return Header(WHOLE, tuple(map(str, ddf.columns)))


def _name(frame: pd.DataFrame, number: int) -> str:
    return partition(number, frame.attrs.get(FILE))


def _number(number: int) -> pd.Series:
    return pd.Series([number])
