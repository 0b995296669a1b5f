"""`fit`, `predict` and `evaluate` on a Spark data frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from calibrant.batches.evaluating import COVERAGES, Evaluating, TableEvaluation, evaluating
from calibrant.batches.fitting import ENOUGH, Fitting, fitting
from calibrant.batches.header import Header
from calibrant.batches.model import TableModel
from calibrant.batches.output_columns import OutputColumns
from calibrant.batches.predicting import predicting
from calibrant.calibration import Calibrator
from calibrant.spark.errors import in_one_sentence, unlogged
from calibrant.spark.partitions import FOUND, NUMBER, TOGETHER, in_order, merged, part, predicted, read_by

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LEVELS = 2
"""How often 32 results become one before the driver gets what is left: one of 1,024 partitions."""
WHOLE = "the frame"


def fit(
    df: DataFrame,
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

    It runs at once. With `ids` the model has the same bits for any partitions and any order of the rows; without, a
    row's id is the number of its partition and its place there.

    Args:
        df: A Spark frame.
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
    work = fitting(_header(df), target, given, by, weights, ids, calibrator, sample, missing)
    return work.finish(_merged(df, work), WHOLE)


def evaluate(
    df: DataFrame,
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

    It runs at once, and the sums are exact: the same bits for any partitions.

    Args:
        df: A Spark frame.
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
    work = evaluating(model, _header(df), target, coverage, ci, coverages, ids, seed, missing)
    return work.finish(_merged(df, work), WHOLE)


def predict(
    df: DataFrame,
    model: TableModel,
    *,
    quantiles: float | Iterable[float] = (),
    interval: float | Iterable[float] = (),
    probabilities: float | Iterable[float] = (),
    keep: Sequence[str] | None = None,
    seed: int | None = None,
    missing: str = "keep",
) -> DataFrame:
    """A frame with new columns, which nothing computes yet; the arguments are those of `calibrant.batches.predict`.

    Rows without a prediction get NaN, and the warning that counts them is in the logs of the executors.
    `calibrant.spark.to_parquet` writes the frame atomically.

    Args:
        df: A Spark frame.
        model: The model that `fit` returned, or that was read from a file.
        quantiles: The levels of quantiles to write, as columns q0.05 and so on.
        interval: The coverage of centred intervals to write, as columns lower and upper.
        probabilities: The values y for which to write P(Y <= y), as columns cdf_100 and so on.
        keep: The columns to keep, by names and patterns; all of them by default.
        seed: A whole number, for a randomised q: a row then has the same random number in any batch and any order.
        missing: What becomes of rows without a number: "keep" leaves them out of the fit and the evaluation, and
            predicts NaN; "error" raises.
    """
    from pyspark.sql.types import DoubleType, StructField, StructType

    outputs = OutputColumns.of(quantiles, interval, probabilities)
    work = predicting(model, outputs, _header(df), keep=keep, seed=seed, missing=missing)
    new = [StructField(name, DoubleType(), nullable=False) for name in outputs.names]
    schema = StructType([*(df.schema[name] for name in work.kept), *new])
    return _with_file(df, read_by(work)).mapInArrow(partial(predicted, work.without_history()), schema)


def _merged(df: Any, work: Fitting | Evaluating) -> Any:
    """What `part` gives of each partition, merged in a tree: the driver never holds the results of all of them."""
    from pyspark.sql import functions as F

    schema = f"{NUMBER} long, {FOUND} binary"
    parts = _with_file(df, work.read).mapInArrow(partial(part, work), schema)
    for _ in range(LEVELS):
        parts = parts.repartition(F.floor(F.col(NUMBER) / TOGETHER)).mapInArrow(partial(merged, work), schema)
    with in_one_sentence():
        rows = parts.collect()
    return work.merge(in_order(rows))


def _with_file(df: Any, columns: Sequence[str]) -> Any:
    """Some columns, and behind them the file that a row was read from, "" where that is not known.

    They are named by number, since `mapInArrow` takes no name with a dot.
    """
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as F

    chosen = [F.col(_quoted(name)).alias(f"c{number}") for number, name in enumerate(columns)]
    if "_metadata" not in df.columns:
        try:
            with unlogged():
                found = df.select(*chosen, F.col("_metadata.file_path").alias("file"))
                found.schema  # noqa: B018  (over Spark Connect nothing is looked up before)
        except AnalysisException:  # rows of no file, or of who knows which
            pass
        else:
            return found
    return df.select(*chosen, F.lit("").alias("file"))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _header(df: Any) -> Header:
    kinds = [f"{kind.__module__}.{kind.__name__}" for kind in type(df).__mro__]
    if not any(kind.startswith("pyspark.sql.") and kind.endswith(".DataFrame") for kind in kinds):
        raise TypeError(f"expected a Spark data frame, got {type(df).__name__}")
    return Header(WHOLE, tuple(df.columns))
