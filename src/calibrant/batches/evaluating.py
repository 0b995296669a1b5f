"""The metrics of forecasts in one pass over batches: sums that merge, without rounding."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import unit
from calibrant._arrays import to_numpy
from calibrant.batches.exact_sum import ExactSum
from calibrant.batches.fitting import empty_parts_message, no_rows_message, row_ids
from calibrant.batches.header import Header
from calibrant.batches.missing import Gaps
from calibrant.batches.model import TableModel, names_of
from calibrant.batches.predicting import IN_CACHE, NoRandomness
from calibrant.batches.repairs import Repairs, silenced
from calibrant.batches.row_ids import RowDraws
from calibrant.batches.rows import Batch, Source
from calibrant.batches.stream import Batches, Stream
from calibrant.calibration import Calibrated
from calibrant.forecast import NotAvailable
from calibrant.metrics.calibration import expected_ece, kolmogorov_pvalue, pit_by
from calibrant.metrics.evaluation import Evaluation, OfDistribution, compare
from calibrant.metrics.forecasts import comparable, paired
from calibrant.metrics.label_kinds import evaluated_as
from calibrant.metrics.scores import coverage_rows, width_rows
from calibrant.metrics.table import levels_of_forecast, metric_labels, row_metrics

BINS = 2**16
"""Bins of the histogram of PITs: their distribution is off by at most 1/65,536."""
COVERAGES = (0.5, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class TableEvaluation:
    """The forecasts of a table as they are, and calibrated. It prints as a table.

    Means over rows are exact sums, rounded once; the calibration errors and their p-value are taken from a histogram of
    the PITs with 65,536 bins.
    """

    base: Evaluation
    calibrated: OfDistribution
    mae: float
    """The mean of |y - median|, calibrated."""
    intervals: Mapping[float, tuple[float, float]]
    """Of calibrated centred intervals: the share of labels inside, and the mean width."""
    pits: NDArray[np.int64]
    """The number of calibrated PITs in each of 65,536 bins of equal width."""

    def histogram(self, bins: int = 20) -> NDArray[np.int64]:
        """The number of calibrated PITs in each of a few bins, a divisor of 65,536 or nearly equal in width.

        Args:
            bins: The number of bins, nearly equal in width.
        """
        edges = np.rint(np.linspace(0, BINS, bins + 1)).astype(np.int64)
        return np.add.reduceat(self.pits, edges[:-1])

    def __str__(self) -> str:
        return compare({"base": self.base, "calibrated": self.calibrated})


def evaluate(
    batches: Batches,
    model: TableModel,
    *,
    target: str | None = None,
    coverage: float = 0.9,
    ci: float = 0.95,
    coverages: Sequence[float] = COVERAGES,
    ids: str | Sequence[str] = (),
    seed: int | None = None,
    missing: str = "keep",
    name: str = "the batches",
) -> TableEvaluation:
    """The metrics of `calibrant.evaluate` on batches of predictions and labels, in one pass.

    `batches` are as in `predict`. Where PITs are drawn, as those of counts, `ids` names the columns of the id of a row,
    by which it is drawn; without it the number of the row is taken.

    Args:
        batches: Record batches, or anything that Arrow can stream: a reader, a table, a frame, a lazy frame.
        model: The model that `fit` returned, or that was read from a file.
        target: The column with the labels.
        coverage: The probability of the centred interval, between 0 and 1.
        ci: The probability of the second centred interval, whose coverage and width are measured.
        coverages: The probabilities of the centred intervals, each between 0 and 1.
        ids: The column or columns that identify a row; its number by default.
        seed: A whole number, for a randomised q: a row then has the same random number in any batch and any order.
        missing: What becomes of rows without a number: "keep" leaves them out of the fit and the evaluation, and
            predicts NaN; "error" raises.
        name: The name of the rows in errors.

    >>> import pyarrow as pa
    >>> from calibrant.batches import fit
    >>> table = pa.table({"f": [1.0, 2.0, 3.0, 4.0], "y": [1.1, 1.8, 3.3, 4.0]})
    >>> found = evaluate(table, fit(table, target="y", point="f"))
    >>> found.calibrated.coverage, round(found.mae, 3)
    (1.0, 0.15)
    """
    stream = Stream.of(batches, name)
    work = evaluating(model, stream.header, target, coverage, ci, coverages, ids, seed, missing)
    return work.finish(work.part(stream, name), name)


def evaluating(
    model: TableModel,
    header: Header,
    target: str | None = None,
    coverage: float = 0.9,
    ci: float = 0.95,
    coverages: Sequence[float] = COVERAGES,
    ids: str | Sequence[str] = (),
    seed: int | None = None,
    missing: str = "keep",
) -> Evaluating:
    """How to judge tables with these columns; the arguments are those of `evaluate`.

    Args:
        model: What `fit` gives, or `TableModel.of`.
        header: The names and types of the columns.
        target: The column of the labels; by default that of the fit.
        coverage: The coverage of the intervals that are scored.
        ci: The coverage of the intervals whose width is measured.
        coverages: The coverages that are checked.
        ids: The columns that identify a row, for what is drawn.
        seed: A whole number that decides what is drawn.
        missing: What becomes of rows without a label: "keep", "drop" or "error".
    """
    if not isinstance(model, TableModel) or not isinstance(model.calibrated, Calibrated):
        what = type(model.calibrated if isinstance(model, TableModel) else model).__name__
        raise TypeError(f"evaluate takes what calibrant.batches.fit gives, got {what}")
    levels = tuple(unit("coverages", each) for each in coverages)
    asked = unit("coverage", coverage), unit("ci", ci)
    target = model.notes.target if target is None else target
    columns = model.columns.resolve(header, target)
    known = TableModel(model.calibrated, replace(model.notes, columns=columns, event=None))
    work = Evaluating(known, target, *asked, levels, names_of(ids), seed, Gaps.of(missing).refused)
    header.check(work.read)
    return work


@dataclass(frozen=True)
class Sums:
    """The sums of some metrics over rows, and their names in a table."""

    sums: Mapping[str, ExactSum]
    labels: Mapping[str, str]
    pits: NDArray[np.int64] | None

    def __add__(self, other: Sums) -> Sums:
        sums = {name: each + other.sums[name] for name, each in self.sums.items()}
        pits = None if self.pits is None or other.pits is None else self.pits + other.pits
        return Sums(sums, self.labels, pits)

    def evaluation(self, n: int, unit: str) -> Evaluation:
        """The metrics of n rows, whose labels are called `unit`."""
        values: dict[str, Any] = dict.fromkeys(name for name in self.labels if name != "n")
        values |= {name: each.mean() for name, each in self.sums.items() if name in values}
        if self.pits is not None:
            gap, distance = gaps_of(self.pits)
            values |= {
                "ece": distance,
                "debiased_ece": distance - expected_ece(n),
                "sup_calibration_error": gap,
                "pit_pvalue": kolmogorov_pvalue(gap, n),
            }
        return Evaluation(**values, n=n, labels=self.labels, unit=unit)


@dataclass(frozen=True)
class ScoredRows:
    """What is known of the rows of one or more parts."""

    n: int = 0
    base: Sums | None = None
    calibrated: Sums | None = None
    empty: tuple[Source, ...] = ()
    gaps: Gaps = field(default_factory=lambda: Gaps(refused=False))
    repairs: Repairs = field(default_factory=Repairs)


@dataclass(frozen=True)
class Evaluating:
    """The three steps of an evaluation in parts, as those of `Fitting`: `part`, `merge` and `finish`."""

    model: TableModel
    target: str
    coverage: float
    ci: float
    coverages: tuple[float, ...]
    ids: tuple[str, ...]
    seed: int | None
    refused: bool

    @property
    def predicted(self) -> list[str]:
        """The columns of numbers that a row must have, but for its label."""
        return list(dict.fromkeys([*self.model.columns.names, *self.model.extra.names]))

    @property
    def read(self) -> list[str]:
        """All columns that are read."""
        return list(dict.fromkeys([self.target, *self.predicted, *self.model.extra.by, *self.ids]))

    def part(self, batches: Any, name: Source, number: int = 0) -> ScoredRows:
        """The sums of one part, which has a name for errors and a number for the ids of its rows.

        Args:
            name: What messages call this part.
            batches: Its Arrow batches, one after the other.
            number: Which part of the table it is, counted from 0.
        """
        stream = batches if isinstance(batches, Stream) else Stream.of(batches, name)
        stream.header.check(self.read)
        gaps, repairs = Gaps(refused=self.refused), Repairs()
        seen = 0
        found: list[ScoredRows] = []
        for batch in stream.batches():
            for whole in batch.parts(IN_CACHE):
                seen += len(whole)
                complete = gaps.complete(whole, self.predicted, self.target)
                if not complete.any():
                    continue
                u = RowDraws(row_ids(whole, self.ids, number)[complete]).random(int(complete.sum()))
                rows = whole.where(complete)
                found = [_joined([*found, self._scored(rows, repairs, u)])]
        gaps.check(name)
        if seen and not found:
            raise ValueError(f"{name}: no row has both a label and a prediction")
        scored = found[0] if found else ScoredRows()
        return replace(scored, empty=() if seen else (name,), gaps=gaps, repairs=repairs)

    def merge(self, parts: Iterable[ScoredRows]) -> ScoredRows:
        """One of several, in order.

        Args:
            parts: What `part` gave of each part, in any order.
        """
        parts = list(parts)
        gaps, repairs = Gaps(refused=self.refused), Repairs()
        for each in parts:
            gaps.merge(each.gaps)
            repairs.merge(each.repairs)
        empty = tuple(source for each in parts for source in each.empty)
        return replace(_joined(parts), empty=empty, gaps=gaps, repairs=repairs)

    def finish(self, found: ScoredRows, name: Source = "the parts") -> TableEvaluation:
        """The means.

        Args:
            found: The scored rows of all parts, merged.
            name: What messages call the table.
        """
        if found.base is None or found.calibrated is None or found.calibrated.pits is None:
            raise ValueError(no_rows_message(name, found.empty))
        found.repairs.report(name, self.model.calibrated.labels)
        found.gaps.report(name, "they are left out")
        if found.empty:
            warnings.warn(f"{name}: {empty_parts_message(found.empty)}", stacklevel=2)
        after = found.calibrated
        intervals = {c: (after.sums[f"inside {c}"].mean(), after.sums[f"width {c}"].mean()) for c in self.coverages}
        return TableEvaluation(
            found.base.evaluation(found.n, self.target),
            cast(OfDistribution, after.evaluation(found.n, self.target)),
            after.sums["absolute error"].mean(),
            intervals,
            found.calibrated.pits,
        )

    def _scored(self, rows: Batch, repairs: Repairs, u: NDArray[np.float64]) -> ScoredRows:
        calibrated, known = self.model.calibrated, self.model.extra.all_known(rows)
        prediction, y = self.model.columns.prediction(rows, repairs), rows.numbers(self.target)
        drawing = {"rng": NoRandomness()} if self.seed is None else {"seed": self.seed}
        with rows.naming(self.target), silenced():
            if calibrated.labels is not None:
                calibrated.labels.check(y, known.get("bound"))
            H = calibrated(prediction, **known, **drawing)
            after = self._sums(H, y, u)
            more = {"absolute error": ExactSum.of(np.abs(to_numpy(y - H.median())))}
            for c in self.coverages:
                more |= {
                    f"inside {c}": ExactSum.of(to_numpy(coverage_rows(H, y, c))),
                    f"width {c}": ExactSum.of(to_numpy(width_rows(H, c))),
                }
            base = self._sums(comparable(prediction, H), y, u)
        return ScoredRows(len(rows), base, replace(after, sums={**after.sums, **more}))

    def _sums(self, forecast: Any, y: Any, u: NDArray[np.float64]) -> Sums:
        H, y = paired(forecast, y)
        coverage, ci, levels = levels_of_forecast(H, self.coverage, self.ci, None)
        H, _ = evaluated_as(H, y)
        sums = {}
        for name, rows in row_metrics(H, y, coverage, ci, levels).items():
            with suppress(NotAvailable):
                sums[name] = ExactSum.of(np.broadcast_to(to_numpy(rows()), y.shape))
        pits = None
        with suppress(NotAvailable):
            # bin k holds the PITs in (k, k + 1] / BINS, so that counts at the edges are exact
            place = np.ceil(to_numpy(pit_by(H, y, u)) * BINS).astype(np.int64) - 1
            pits = np.bincount(np.clip(place, 0, BINS - 1), minlength=BINS).astype(np.int64)
        return Sums(sums, metric_labels(H, coverage, ci, levels), pits)


def gaps_of(pits: NDArray[np.int64]) -> tuple[float, float]:
    """sup_c |F(c) - c| at the edges of the bins, and the integral of |F(c) - c| where F is straight between them."""
    off = np.concatenate([[0], np.cumsum(pits)]) / pits.sum() - np.linspace(0, 1, len(pits) + 1)
    a, b = np.abs(off[:-1]), np.abs(off[1:])
    crosses = off[:-1] * off[1:] < 0
    with np.errstate(invalid="ignore"):
        area = np.where(crosses, (a * a + b * b) / (2 * (a + b)), (a + b) / 2)
    return float(np.max(np.abs(off))), float(np.sum(area) / len(pits))


def _joined(parts: Sequence[ScoredRows]) -> ScoredRows:
    nonempty = [each for each in parts if each.n]
    if len(nonempty) < 2:
        return nonempty[0] if nonempty else ScoredRows()
    base, calibrated = (
        reduce(lambda a, b: a + b, (side for each in nonempty if (side := getattr(each, name)) is not None))
        for name in ("base", "calibrated")
    )
    return ScoredRows(sum(each.n for each in nonempty), base, calibrated)
