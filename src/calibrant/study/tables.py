"""The study's tables as data: what was measured here beside what was published, and how far apart they are.

Table 1 compares scores and interpolators, Table 2 base types; the third has a row for every dataset and method. A mean
over datasets is over those that have a value. Beside a published mean stands ours over the datasets that both have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from calibrant.study import published
from calibrant.study.design import PAIRS, SPLITS
from calibrant.study.means import NOTHING, Mean, difference
from calibrant.study.results import METHODS, Method, Results

HEADINGS = {
    "std": "STD",
    "ci95_width": "95% width",
    "nll": "NLL (authors')",
    "crps": "CRPS",
    "ece": "ECE",
    "nll_exact": "NLL (exact)",
}
INTERVAL_HEADINGS = {
    "conformal_width": "conformal width",
    "credible_width": "credible width",
    "conformal_coverage": "conformal coverage",
    "credible_coverage": "credible coverage",
}
TABLE1 = tuple(Method("distribution", *name.rsplit("-", 1)) for name in published.methods())
# The paper's Table 2 has the cdf score for the distribution predictor.
TABLE2 = tuple(Method(base, score, "linear") for base, score in PAIRS if score != "zscore")
INTERVALS = tuple(Method(base, score, "linear") for base, score in PAIRS)


@dataclass(frozen=True)
class Comparison:
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
    metrics: Mapping[str, Comparison]


@dataclass(frozen=True)
class MeansTable:
    """Rows, with what stands above and below them."""

    title: str
    labels: tuple[str, ...]
    headings: Mapping[str, str]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]


_READ = (
    "mean ± standard error (count of values behind the mean); — where there is no mean: a value was not finite or not "
    "defined. A difference is (here - published) / sqrt(se² + published se²), in standard errors."
)
_RANK = (
    "The conformal intervals have the standard rank ceil((n + 1) 0.9) of n calibration rows; the paper's, "
    "floor(0.9 n) + 1, is the same or one less, and its intervals are then shorter."
)
_OVER_DATASETS = "The standard error of a mean over datasets is sqrt(Σ se²) / count, with sd / sqrt(splits) for each."


def table1(results: Results) -> MeansTable:
    """Scores and interpolators on the distribution predictor; the published means are over the same datasets."""
    return MeansTable(
        "Scores and interpolators (the paper's Table 1): means over datasets",
        ("method",),
        HEADINGS,
        tuple(Row((m.name,), {metric: versus(results, m, metric) for metric in HEADINGS}) for m in TABLE1),
        (
            results.extent,
            _READ,
            _OVER_DATASETS,
            "Published means are recomputed over the same datasets from the paper's appendix.",
        ),
    )


def versus(results: Results, method: Method, metric: str) -> Comparison:
    """Our mean over datasets, and both means over the datasets that have a value here and in the appendix."""
    listed = [dataset for dataset in results.datasets if published.of(dataset, method.name, metric).of]
    both = [
        dataset
        for dataset in listed
        if results.of(dataset, method, metric).value is not None
        and published.of(dataset, method.name, metric).value is not None
    ]
    return Comparison(
        results.average(method, metric),
        replace(published.average(method.name, metric, both), of=len(listed)),
        replace(results.average(method, metric, both), of=len(listed)),
    )


def table2(results: Results) -> MeansTable:
    """Base types under the linear interpolator; the published means are over 17 datasets, whatever is at hand."""
    rows = []
    for method in TABLE2:
        printed = published.table2()[method.base]
        ours = {metric: results.average(method, metric) for metric in HEADINGS}
        metrics = {metric: Comparison(mean, printed.get(metric, NOTHING), mean) for metric, mean in ours.items()}
        rows.append(Row((method.base,), metrics))
    notes = [results.extent, _READ, _OVER_DATASETS]
    if set(results.datasets) != set(published.datasets()):
        notes.append(_unlike(results))
    title = "Base types, linear interpolator (the paper's Table 2): means over datasets"
    return MeansTable(title, ("base",), HEADINGS, tuple(rows), tuple(notes))


def _unlike(results: Results) -> str:
    """How much of a difference to the printed Table 2 is only the choice of datasets."""
    note = (
        f"The published means are over {len(published.datasets())} datasets, ours over {len(results.datasets)}: not "
        "like with like, since the paper has no base types by dataset."
    )
    known = [dataset for dataset in results.datasets if dataset in published.datasets()]
    here, there = published.average("cdf-linear", "crps", known), published.table2()["distribution"]["crps"]
    if here.value is None:
        return note
    return f"{note} By this alone the CRPS of its row distribution goes from {there.value:.3f} to {here.value:.3f}."


def per_dataset(results: Results) -> tuple[MeansTable, ...]:
    """A table for every dataset, with all its methods, each beside the paper's appendix where that has it."""
    return tuple(_one_dataset(results, dataset) for dataset in results.datasets)


def _one_dataset(results: Results, dataset: str) -> MeansTable:
    rows = []
    for method in (m for m in METHODS if (dataset, m) in results.cells):
        metrics = {}
        for metric in HEADINGS:
            here = results.of(dataset, method, metric)
            there = published.of(dataset, method.name, metric) if method in TABLE1 else NOTHING
            metrics[metric] = Comparison(here, there, here)
        rows.append(Row((method.base, method.name), metrics))
    counts = sorted({len(results.cells[dataset, m]) for m in METHODS if (dataset, m) in results.cells})
    splits = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return MeansTable(
        dataset,
        ("base", "method"),
        HEADINGS,
        tuple(rows),
        (f"{splits} of the paper's {SPLITS} splits, {len(rows)} of {len(METHODS)} methods.",),
    )


def intervals(results: Results) -> MeansTable:
    """90% intervals of the same base type and score: conformal, and credible intervals of the linear law."""
    rows = tuple(
        Row((m.base, m.score), {metric: Comparison(results.average(m, metric)) for metric in INTERVAL_HEADINGS})
        for m in INTERVALS
    )
    title = "90% intervals, conformal against credible: means over datasets"
    return MeansTable(title, ("base", "score"), INTERVAL_HEADINGS, rows, (results.extent, _OVER_DATASETS, _RANK))
