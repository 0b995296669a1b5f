"""The tables of a study as data: what was measured, and beside it what another has published, where there is that.

A mean over datasets is over those that have a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from studies.columns import INTERVAL_HEADINGS
from studies.means import NOTHING, Mean, difference
from studies.names import Method
from studies.results import Results

Beside = Callable[[str, Method, str], Mean]
"""What is published of a dataset, a method and a metric."""


@dataclass(frozen=True)
class Compared:
    """A mean, the published one, and ours over what was published too, which alone is fair to compare."""

    here: Mean
    published: Mean = NOTHING
    common: Mean = NOTHING

    @property
    def difference(self) -> float | None:
        """(ours - published) / sqrt(se^2 + se_published^2)."""
        return difference(self.common, self.published)


@dataclass(frozen=True)
class Row:
    """What a row is about, and its metrics."""

    labels: tuple[str, ...]
    metrics: Mapping[str, Compared]


@dataclass(frozen=True)
class MeansTable:
    """Rows of means, with what stands above and below them."""

    title: str
    labels: tuple[str, ...]
    headings: Mapping[str, str]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    compared: tuple[str, ...] = ()
    """The metrics that stand beside published ones."""


READ = (
    "mean ± standard error (count of values behind the mean); — where there is no mean: a value was not finite or not "
    "defined."
)
OVER_DATASETS = "The standard error of a mean over datasets is sqrt(Σ se²) / count, with sd / sqrt(splits) for each."


def tables_of(results: Results) -> dict[str, tuple[MeansTable, ...]]:
    """The tables that every study has, by the name of their file."""
    return {
        "methods": (by_method(results),),
        "intervals": (intervals(results),),
        "per_dataset": by_dataset(results),
    }


def by_method(results: Results) -> MeansTable:
    """A row for every method: means over datasets."""
    design = results.design
    rows = (
        Row((m.base, m.name), {metric: Compared(results.average(m, metric)) for metric in design.metrics})
        for m in design.methods
    )
    notes = (results.extent, READ, OVER_DATASETS)
    return MeansTable("All methods: means over datasets", ("base", "method"), design.headings, tuple(rows), notes)


def by_dataset(results: Results, beside: Beside = lambda dataset, method, metric: NOTHING) -> tuple[MeansTable, ...]:
    """A table for every dataset, with all its methods, each beside what is published of it."""
    return tuple(_one_dataset(results, dataset, beside) for dataset in results.datasets)


def _one_dataset(results: Results, dataset: str, beside: Beside) -> MeansTable:
    design = results.design
    methods = [method for method in design.methods if (dataset, method) in results.cells]
    rows = []
    for method in methods:
        means = {metric: results.of(dataset, method, metric) for metric in design.metrics}
        metrics = {metric: Compared(here, beside(dataset, method, metric), here) for metric, here in means.items()}
        rows.append(Row((method.base, method.name), metrics))
    counts = sorted({len(results.cells[dataset, method]) for method in methods})
    splits = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return MeansTable(
        dataset,
        ("base", "method"),
        design.headings,
        tuple(rows),
        (f"{splits} of the {design.name}'s {design.splits} splits, {len(rows)} of {len(design.methods)} methods.",),
    )


def intervals(results: Results) -> MeansTable:
    """Intervals of the same base type and score: conformal, and credible ones of the reference interpolator."""
    design = results.design
    rows = tuple(
        Row((m.base, m.score), {metric: Compared(results.average(m, metric)) for metric in INTERVAL_HEADINGS})
        for m in design.reference_methods
    )
    title = f"{design.coverage:.0%} intervals, conformal against credible: means over datasets"
    rank = (
        f"The conformal intervals have the standard rank ceil((n + 1) {design.coverage:g}) of n calibration rows; the "
        f"paper's, floor({design.coverage:g} n) + 1, is the same or one less, and its intervals are then shorter."
    )
    notes = (results.extent, OVER_DATASETS, rank)
    return MeansTable(title, ("base", "score"), INTERVAL_HEADINGS, rows, notes)
