"""The metrics of forecasts in one pass over a table: sums that merge, without rounding."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import unit
from calibrant._arrays import to_numpy
from calibrant._row_hash import Keys
from calibrant.forecast import NotAvailable
from calibrant.labels import Labels
from calibrant.metrics.calibration import expected_ece, kolmogorov_pvalue, pit_by
from calibrant.metrics.evaluation import Evaluation, OfDistribution, compare
from calibrant.metrics.forecasts import comparable, paired
from calibrant.metrics.label_kinds import evaluated_as
from calibrant.metrics.scores import coverage_rows, width_rows
from calibrant.metrics.table import levels_of_forecast, metric_labels, row_metrics
from calibrant.tables.counts import RowCounts
from calibrant.tables.exact_sum import ExactSum
from calibrant.tables.model import TableModel
from calibrant.tables.predicting import IN_CACHE, drawing
from calibrant.tables.rows import Batch, Header, Numbers, Source
from calibrant.tables.sampling import RowDraws
from calibrant.tables.work import PartResult, Work

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
        """The number of calibrated PITs in each of a few bins.

        Args:
            bins: The number of bins, nearly equal in width.
        """
        edges = np.rint(np.linspace(0, BINS, bins + 1)).astype(np.int64)
        return np.add.reduceat(self.pits, edges[:-1])

    def __str__(self) -> str:
        return compare({"base": self.base, "calibrated": self.calibrated})


@dataclass(frozen=True)
class Sums:
    """The sums of some metrics over n rows, their names in a table, and the histogram of the PITs."""

    n: int
    sums: Mapping[str, ExactSum]
    labels: Mapping[str, str]
    pits: NDArray[np.int64] | None

    def __add__(self, other: Sums) -> Sums:
        sums = {name: each + other.sums[name] for name, each in self.sums.items()}
        pits = None if self.pits is None or other.pits is None else self.pits + other.pits
        return Sums(self.n + other.n, sums, self.labels, pits)

    def evaluation(self, unit: str) -> Evaluation:
        """The metrics of these rows, whose labels are called `unit`."""
        n = self.n
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


Sides = tuple[Sums, Sums]
"""Of the forecasts as they are, and calibrated."""


def _added(one: Sides, other: Sides) -> Sides:
    return one[0] + other[0], one[1] + other[1]


@dataclass(frozen=True)
class Evaluating(Work):
    """How to judge a model on tables with these columns."""

    model: TableModel
    coverage: float = 0.9
    ci: float = 0.95
    coverages: tuple[float, ...] = COVERAGES
    seed: int | None = None
    at_once: ClassVar[int] = IN_CACHE

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "coverages", tuple(unit("coverages", each) for each in self.coverages))
        unit("coverage", self.coverage)
        unit("ci", self.ci)

    def on(self, header: Header) -> Self:
        """The same for a table with these columns; where it does not say which labels were seen, all were."""
        unsaid = self.columns.event not in header.names
        work = replace(self, columns=replace(self.columns, event=None)) if unsaid else self
        return super(Evaluating, work).on(header)

    @property
    def labels(self) -> Labels | None:
        """What kind of number the labels are."""
        return self.model.calibrated.labels

    def add(self, found: Sides | None, rows: Batch, keys: Keys, counts: RowCounts) -> Sides:
        """The sums with those of these rows."""
        columns, calibrated, labels = self.columns, self.model.calibrated, self.labels
        target, known, u = columns.labels_in(), columns.known(rows, labels), RowDraws(keys).random(len(rows))
        prediction, y = columns.prediction(rows, counts), rows.numbers(target)
        rows.check_seen(columns.event)
        with rows.naming(target), counts.silenced():
            if labels is not None:
                labels.check(y, known.get("bound"))
            H = calibrated(prediction, **known, **drawing(self.seed))
            after = self._sums(H, y, u)
            more = {"absolute error": ExactSum.of(np.abs(to_numpy(y - H.median())))}
            for c in self.coverages:
                more[f"inside {c}"] = ExactSum.of(to_numpy(coverage_rows(H, y, c)))
                more[f"width {c}"] = ExactSum.of(to_numpy(width_rows(H, c)))
            base = self._sums(comparable(prediction, H), y, u)
        sides = base, replace(after, sums={**after.sums, **more})
        return sides if found is None else _added(found, sides)

    def join(self, parts: list[PartResult], name: Source) -> Sides:
        """The sums of several."""
        found: Sides = reduce(_added, (each.found for each in parts))
        return found

    def result(self, found: Sides, name: Source) -> TableEvaluation:
        """The means."""
        target, (base, after) = self.columns.labels_in(), found
        return TableEvaluation(
            base.evaluation(target),
            cast(OfDistribution, after.evaluation(target)),
            after.sums["absolute error"].mean(),
            {c: (after.sums[f"inside {c}"].mean(), after.sums[f"width {c}"].mean()) for c in self.coverages},
            cast(NDArray[np.int64], after.pits),
        )

    def _sums(self, forecast: Any, y: Any, u: Numbers) -> Sums:
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
        return Sums(len(y), sums, metric_labels(H, coverage, ci, levels), pits)


def gaps_of(pits: NDArray[np.int64]) -> tuple[float, float]:
    """sup_c |F(c) - c| at the edges of the bins, and the integral of |F(c) - c| where F is straight between them."""
    off = np.concatenate([[0], np.cumsum(pits)]) / pits.sum() - np.linspace(0, 1, len(pits) + 1)
    a, b = np.abs(off[:-1]), np.abs(off[1:])
    crosses = off[:-1] * off[1:] < 0
    with np.errstate(invalid="ignore"):
        area = np.where(crosses, (a * a + b * b) / (2 * (a + b)), (a + b) / 2)
    return float(np.max(np.abs(off))), float(np.sum(area) / len(pits))
