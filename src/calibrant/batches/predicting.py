"""From batches of predictions to batches with quantiles, intervals and probabilities."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

from calibrant.batches.columns import Columns
from calibrant.batches.extra_columns import ExtraColumns
from calibrant.batches.header import Header
from calibrant.batches.missing import Gaps
from calibrant.batches.model import TableModel
from calibrant.batches.output_columns import OutputColumns
from calibrant.batches.repairs import Repairs, silenced
from calibrant.batches.rows import Batch, Source, as_arrow, naming
from calibrant.batches.stream import Batches, Stream
from calibrant.calibration import Calibrated
from calibrant.guarantee import too_few_for_interval

IN_CACHE = 2**15
"""Rows that are worked on at a time: three times as fast as on a whole batch."""


def predict(
    batches: Batches,
    model: TableModel,
    *,
    quantiles: float | Iterable[float] = (),
    interval: float | Iterable[float] = (),
    probabilities: float | Iterable[float] = (),
    keep: Sequence[str] | None = None,
    seed: int | None = None,
    missing: str = "keep",
    name: str = "the batches",
) -> pa.RecordBatchReader:
    """The same rows with new columns, batch by batch; nothing is read before the first batch is asked for.

    `batches` are record batches, one after the other, or anything that Arrow can stream: a reader, a table, a data
    frame, a polars LazyFrame, a DuckDB relation. The new columns are q0.05 and so on for `quantiles`, lower and upper
    for an `interval`, cdf_100 for P(Y <= 100), one of the `probabilities`. `keep` says which columns stay, by names
    and patterns; all of them without it. Rows without a prediction get NaN, or with `missing="error"` raise. A column
    of the prediction that is missing in all rows raises after the last batch.

    A row's numbers depend on that row and the model alone, so batches of any size and in any order give the same bits;
    a randomised q takes a `seed` for that. `name` is the name of the batches in errors.

    Args:
        batches: Record batches, or anything that Arrow can stream: a reader, a table, a frame, a lazy frame.
        model: The model that `fit` returned, or that was read from a file.
        quantiles: The levels of quantiles to write, as columns q0.05 and so on.
        interval: The coverage of centred intervals to write, as columns lower and upper.
        probabilities: The values y for which to write P(Y <= y), as columns cdf_100 and so on.
        keep: The columns to keep, by names and patterns; all of them by default.
        seed: A whole number, for a randomised q: a row then has the same random number in any batch and any order.
        missing: What becomes of rows without a number: "keep" leaves them out of the fit and the evaluation, and
            predicts NaN; "error" raises.
        name: The name of the rows in errors.

    >>> import pyarrow as pa
    >>> from calibrant.batches import fit
    >>> table = pa.table({"f": [1.0, 2.0, 3.0, 4.0], "y": [1.1, 1.8, 3.3, 4.0]})
    >>> model = fit(table, target="y", point="f")
    >>> predict(table.slice(0, 1), model, quantiles=0.5, probabilities=1.0, keep=["f"]).read_all().to_pylist()
    [{'f': 1.0, 'q0.5': 1.05, 'cdf_1': 0.4}]
    """
    outputs = OutputColumns.of(quantiles, interval, probabilities)
    stream = Stream.of(batches, name)
    work = predicting(model, outputs, stream.header, keep=keep, seed=seed, missing=missing)

    def results() -> Iterator[pa.RecordBatch]:
        for batch in stream.batches():
            yield work(batch)
        work.report(name)

    return pa.RecordBatchReader.from_batches(work.schema(stream.schema), results())


def predicting(
    model: TableModel,
    outputs: OutputColumns,
    header: Header,
    *,
    keep: Sequence[str] | None = None,
    seed: int | None = None,
    missing: str = "keep",
) -> Predicting:
    """What makes a new batch of each batch, for a table with these columns.

    Args:
        model: What `fit` gives, or `TableModel.of`.
        outputs: The columns to add.
        header: The names and types of the columns.
        keep: The columns to keep; None for all.
        seed: A whole number that decides what is drawn.
        missing: What becomes of rows without a prediction: "keep", "drop" or "error".
    """
    if not isinstance(model, TableModel):
        raise TypeError(
            f"model must say which columns it was fitted on, as what calibrant.batches.fit gives, got"
            f" {type(model).__name__}: TableModel.of(calibrated, mean=..., std=...) names them"
        )
    extra, rng = (
        replace(model.extra, event=None),
        NoRandomness() if isinstance(model.calibrated, Calibrated) else None,
    )
    n = model.calibrated.guarantee.calibration_rows
    if n is not None and outputs.coverages and (few := too_few_for_interval(n, max(outputs.coverages))) is not None:
        warnings.warn(few, stacklevel=3)
    work = Predicting(model.calibrated, model.columns, extra, outputs, seed, Gaps.of(missing), rng=rng)
    return work.for_table(header, ["*"] if keep is None else keep)


class NoRandomness:
    """A generator that refuses: what it would draw is another number for each batch and each retry."""

    def random(self, count: int) -> Any:
        """Raise."""
        del count
        raise ValueError("the model is randomised and needs a seed, seed=0, for a row to be the same in any batch")


@dataclass(frozen=True)
class Predicting:
    """A function of batches, which counts the rows that it repairs or leaves out."""

    calibrated: Calibrated
    columns: Columns
    extra: ExtraColumns
    outputs: OutputColumns
    seed: int | None
    gaps: Gaps
    kept: tuple[str, ...] = ()
    """The columns that stay."""
    repairs: Repairs = field(default_factory=Repairs)
    rng: Any = None
    """What draws for a randomised q where there is no seed."""

    def for_table(self, header: Header, keep: Sequence[str]) -> Predicting:
        """The same for a table with these columns, some of which stay.

        Args:
            header: The names and types of the columns.
            keep: The columns to keep; None for all.
        """
        columns, kept = self.columns.resolve(header, None), tuple(header.matching(keep))
        work = replace(self, columns=columns, kept=kept)
        header.check([*work.numbers, *self.extra.by, *kept])
        clash = [name for name in self.outputs.names if name in kept]
        if clash:
            raise ValueError(f"{header.source}: column {clash[0]!r} cannot be kept: a new column has the same name")
        return work

    def with_fresh_counts(self) -> Predicting:
        """The same, with nothing counted: for another part, in another thread."""
        return replace(self, gaps=Gaps(refused=self.gaps.refused), repairs=Repairs())

    def without_history(self) -> Predicting:
        """The same without the scores that only an update needs: half as much to send."""
        if not isinstance(self.calibrated, Calibrated):
            return self
        given = self.calibrated
        return replace(
            self,
            calibrated=Calibrated(given.score, given.q, given.guarantee, given.interpolator, given.form, given.labels),
        )

    @property
    def numbers(self) -> list[str]:
        """The columns of numbers that a row must have."""
        return [*self.columns.names, *self.extra.names]

    @property
    def others(self) -> list[str]:
        """The columns of any kind that are read."""
        return [*self.kept, *self.extra.by]

    @property
    def drawing(self) -> dict[str, Any]:
        """Where a randomised q has its numbers from."""
        return {"seed": self.seed} if self.seed is not None or self.rng is None else {"rng": self.rng}

    def schema(self, given: pa.Schema) -> pa.Schema:
        """The columns of a result, from those of a batch.

        Args:
            given: The Arrow schema of the table.
        """
        kept = [given.field(name) for name in self.kept]
        format_names = [
            each.with_type(each.type.value_type) if types.is_dictionary(each.type) else each for each in kept
        ]
        return pa.schema([*format_names, *(pa.field(name, pa.float64()) for name in self.outputs.names)])

    def __call__(self, batch: Batch) -> pa.RecordBatch:
        """The columns of a batch that stay, and the new ones.

        Args:
            batch: Some rows of the table.
        """
        arrays = [*map(batch.values, self.kept), *map(as_arrow, self.new(batch))]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema(batch.rows.schema))

    def new(self, batch: Batch) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The new columns of a batch, one after the other; NaN for rows without a prediction.

        Args:
            batch: Some rows of the table.
        """
        new = np.full((len(self.outputs.names), len(batch)), np.nan)
        for whole in batch.parts(IN_CACHE):
            offset, complete = whole.start - batch.start, self.gaps.complete(whole, self.numbers)
            part = whole.where(complete)
            if not len(part):
                continue
            prediction = self.columns.prediction(part, self.repairs)
            with naming(str(batch.source)):
                prediction.check_form(self.calibrated.form)
            known = self.extra.all_known(part)
            with part.naming(), silenced():
                H = self.calibrated(prediction, **known, **self.drawing)
                new[:, offset + np.flatnonzero(complete)] = self.outputs.of_rows(H)
        return new

    def report(self, source: Source) -> None:
        """Warn of rows that were repaired or left out; a column without a single number raises.

        Args:
            source: What messages call the table.
        """
        self.gaps.check(source)
        self.repairs.report(source, self.calibrated.labels)
        self.gaps.report(source, "what is written for them is NaN")
