"""Several labels in one file: `fit`, `predict` and `evaluate` with {} for each target in a column's name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa

from calibrant import Calibrator
from calibrant._words import count, warn_user
from calibrant.cli.console import show, spinner
from calibrant.cli.model import Model
from calibrant.cli.options import Csv, PredictionColumns, wrong
from calibrant.cli.reading import opened, refuse_overwrite
from calibrant.files import save
from calibrant.guarantee import too_few_for_interval
from calibrant.labels import Labels
from calibrant.several import Several, SeveralCalibrator
from calibrant.several.calibration import SeveralCalibrated
from calibrant.several.distributions import SeveralEvaluation
from calibrant.tables import Columns
from calibrant.tables.counts import RowCounts
from calibrant.tables.predicting import IN_CACHE, Outputs
from calibrant.tables.rows import Batch, Header, Numbers, Source, as_arrow, listed


@dataclass(frozen=True)
class SeveralColumns:
    """The columns of the prediction of each target, and what kind of number the labels are."""

    columns: dict[str, Columns]
    labels: Labels | None

    @classmethod
    def of(cls, prediction: PredictionColumns, targets: Sequence[str], labels: Labels | None) -> SeveralColumns:
        """Of names in which {} stands for each target."""
        if not targets:
            raise wrong("expected the names of the labels", "target")
        return cls({each: prediction.of_target(each).columns(target=each) for each in targets}, labels)

    def resolve(self, header: Header) -> SeveralColumns:
        """The same with patterns replaced by the names that they match."""
        return SeveralColumns({target: each.resolve(header) for target, each in self.columns.items()}, self.labels)

    @property
    def targets(self) -> list[str]:
        """The names of the labels."""
        return list(self.columns)

    @property
    def needed(self) -> list[str]:
        """The columns of numbers that a row must have besides its labels."""
        return list(dict.fromkeys(name for each in self.columns.values() for name in each.needed(self.labels)))

    def predictions(self, rows: Batch, counts: RowCounts) -> Several:
        """Those of some rows."""
        return Several.of({target: each.prediction(rows, counts) for target, each in self.columns.items()})

    def known(self, rows: Batch) -> dict[str, Any]:
        """What calibration takes besides: the bounds of the labels."""
        return next(iter(self.columns.values())).known(rows, self.labels)


@dataclass(frozen=True)
class SeveralRows:
    """The predictions and labels of the rows of a file that have all of them."""

    rows: Batch
    predictions: Several
    Y: dict[str, Numbers]
    known: dict[str, Any]

    def naming(self) -> AbstractContextManager[None]:
        """Say which file and which row it is that the library cannot use."""
        return self.rows.naming()


def read(path: Path, csv: Csv, columns: SeveralColumns, missing: str) -> SeveralRows:
    """All rows of a file that have every label and every prediction; warns of rows that were repaired or left out."""
    counts, kept, parts, start = RowCounts(missing), [], [], 0
    with opened(path, csv) as table:
        columns = columns.resolve(table.header)
        numbers = list(dict.fromkeys([*columns.targets, *columns.needed]))
        table.header.check(numbers)
        for batch in table.batches(numbers):
            complete = counts.complete(batch, columns.needed, *columns.targets)
            whole = batch.where(complete)
            arrays = [as_arrow(np.ascontiguousarray(whole.numbers(name))) for name in numbers]
            parts.append(pa.RecordBatch.from_arrays(arrays, numbers))
            kept.append(start + np.flatnonzero(complete))
            start += len(batch)
    counts.close(path)
    if not any(map(len, parts)):
        raise ValueError(f"{path}: no row has all labels and predictions")
    (joined,) = pa.Table.from_batches(parts).combine_chunks().to_batches()
    rows = Batch(path, 0, joined, kept=np.concatenate(kept))
    predictions = columns.predictions(rows, counts)
    counts.report(path, "they are left out", columns.labels)
    return SeveralRows(rows, predictions, {each: rows.numbers(each) for each in columns.targets}, columns.known(rows))


def fit(
    path: Path,
    csv: Csv,
    columns: SeveralColumns,
    calibrator: Calibrator,
    training: Path | None,
    out: Path,
    missing: str,
) -> None:
    """Calibrate every target on the rows of a file and keep the result."""
    refuse_overwrite(out, path, *([] if training is None else [training]))
    several = SeveralCalibrator(calibrator)
    if training is not None:
        known = read(training, csv, columns, missing)
        with spinner("comparing labels"), known.naming(), RowCounts.silenced():
            several = several.compared_on(known.predictions, known.Y, **known.known)
    rows = read(path, csv, columns, missing)
    with spinner("calibrating"), rows.naming(), RowCounts.silenced():
        calibrated = several.fit(rows.predictions, rows.Y, **rows.known, rng=np.random.default_rng(0))
    with opened(path, csv) as table:
        notes = [each.to_json() for each in columns.resolve(table.header).columns.values()]
    save(out, calibrated, notes={"several": notes})
    n = calibrated.joint.n
    if (few := too_few_for_interval(n, 0.9)) is not None:
        warn_user(f"{path}: {few}")
    show(f"Calibrated {listed(calibrated.names)} on {count(n, 'row')} of {path}.")
    show(str(calibrated.guarantee))
    if calibrated.references is None:
        show("For a joint box of points, give --training FILE: other rows, which the models were not fitted on either.")
    show(f"Wrote {out}.")


@dataclass(frozen=True)
class Forecaster:
    """What was calibrated of several labels, and the columns of each."""

    model: Model
    columns: SeveralColumns

    @classmethod
    def of(cls, model: Model, named: PredictionColumns, weights: str | None) -> Forecaster:
        """Of a model file, with the columns that are named, or else those of the fit."""
        if weights is not None:
            raise wrong("it is for one label", "weights")
        kept: Mapping[str, Columns] = {each.labels_in(): each for each in model.several}
        labels = cast(SeveralCalibrated, model.stored.calibrated).margins[0].labels
        usual = SeveralColumns(dict(kept), labels)
        return cls(model, usual if named == type(named)() else SeveralColumns.of(named, list(kept), labels))

    @property
    def calibrated(self) -> SeveralCalibrated:
        """Of all targets."""
        return cast(SeveralCalibrated, self.model.stored.calibrated)

    def evaluated(self, path: Path, csv: Csv, coverage: float, seed: int, missing: str) -> SeveralEvaluation:
        """The metrics of each target on the rows of a file, and of all at once."""
        rows = read(path, csv, self.columns, missing)
        with spinner("evaluating"), rows.naming(), RowCounts.silenced():
            return self.calibrated(rows.predictions, **rows.known, seed=seed).evaluate(rows.Y, coverage=coverage)


@dataclass(frozen=True)
class SeveralPredicting:
    """What `calibrant.tables.predicting.Predicting` is for one label: a function of batches."""

    source: Forecaster
    outputs: Outputs
    seed: int
    joint: bool
    counts: RowCounts
    columns: SeveralColumns
    kept: list[str]

    @classmethod
    def on(
        cls,
        header: Header,
        source: Forecaster,
        outputs: Outputs,
        keep: Sequence[str],
        seed: int,
        missing: str,
        *,
        joint: bool,
    ) -> SeveralPredicting:
        """Of a table with these columns, some of which stay."""
        if joint and source.calibrated.references is None:
            raise wrong(f"{source.model.path} was fitted without --training FILE", "joint")
        columns, kept = source.columns.resolve(header), header.matching(keep)
        work = cls(source, outputs, seed, joint, RowCounts(missing), columns, kept)
        header.check(work.read)
        if clash := [name for name in work.names if name in kept]:
            raise ValueError(f"{header.source}: column {clash[0]!r} cannot be kept: a new column has the same name")
        n, widest = source.calibrated.joint.n, max(outputs.interval, default=None)
        if widest is not None and not joint and (few := too_few_for_interval(n, widest)) is not None:
            warn_user(few)  # a box says so itself
        return work

    @property
    def numbers(self) -> list[str]:
        """The columns of numbers that a row must have."""
        return self.columns.needed

    @property
    def read(self) -> list[str]:
        """All columns that are read."""
        return list(dict.fromkeys([*self.kept, *self.numbers]))

    @property
    def names(self) -> list[str]:
        """The new columns, target by target."""
        return [f"{name}_{target}" for target in self.columns.targets for name in self.outputs.names]

    def schema(self, given: pa.Schema) -> pa.Schema:
        """The columns of a result, from those of a batch."""
        kept = [given.field(name) for name in self.kept]
        plain = [each.with_type(getattr(each.type, "value_type", each.type)) for each in kept]
        return pa.schema([*plain, *(pa.field(name, pa.float64()) for name in self.names)])

    def __call__(self, batch: Batch) -> pa.RecordBatch:
        """The columns of a batch that stay, and the new ones; NaN for rows without a prediction."""
        new = np.full((len(self.names), len(batch)), np.nan)
        for whole in batch.parts(IN_CACHE):
            complete = self.counts.complete(whole, self.numbers)
            if not complete.any():
                continue
            rows, place = whole.where(complete), whole.start - batch.start + np.flatnonzero(complete)
            predictions, known = self.columns.predictions(rows, self.counts), self.columns.known(rows)
            with rows.naming(), RowCounts.silenced():
                H = self.source.calibrated(predictions, **known, seed=self.seed)
                new[:, place] = self._new(H)
        arrays = [*map(batch.values, self.kept), *map(as_arrow, new)]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema(batch.rows.schema))

    def _new(self, H: Any) -> Numbers:
        """The new columns: of each target quantiles, then the bounds of the intervals or of the boxes."""
        if self.joint:
            parts = [H.quantiles(self.outputs.quantiles)] if self.outputs.quantiles else []
            parts += [np.stack(H.interval(coverage, joint=True), axis=1) for coverage in self.outputs.interval]
            values: Numbers = np.concatenate(parts, axis=1)  # (rows, columns, targets)
        else:
            values = H.quantiles(self.outputs.levels)
        return values.transpose(2, 1, 0).reshape(-1, len(values))

    def report(self, source: Source) -> None:
        """Warn of rows that were repaired or left out."""
        self.counts.close(source)
        self.counts.report(source, "what is written for them is NaN", self.columns.labels)
