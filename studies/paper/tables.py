"""The tables of the paper's study: what was measured here beside what was published, and how far apart they are.

Table 1 compares scores and interpolators, Table 2 base types; the third has a row for every dataset and method. Beside
a published mean stands ours over the datasets that both have.
"""

from __future__ import annotations

from dataclasses import replace

from studies.means import NOTHING, Mean
from studies.names import Method
from studies.paper import published
from studies.paper.design import PAPER
from studies.results import Results
from studies.tables import OVER_DATASETS, READ, Compared, MeansTable, Row, by_dataset

TABLE1 = tuple(Method("distribution", *name.rsplit("-", 1)) for name in published.methods())
# The paper's Table 2 has the cdf score for the distribution predictor.
TABLE2 = tuple(method for method in PAPER.reference_methods if method.score != "zscore")

_READ = f"{READ} A difference is (here - published) / sqrt(se² + published se²), in standard errors."


def table1(results: Results) -> MeansTable:
    """Scores and interpolators on the distribution predictor; the published means are over the same datasets."""
    metrics = results.design.metrics
    return MeansTable(
        "Scores and interpolators (the paper's Table 1): means over datasets",
        ("method",),
        results.design.headings,
        tuple(Row((m.name,), {metric: versus(results, m, metric) for metric in metrics}) for m in TABLE1),
        (
            results.extent,
            _READ,
            OVER_DATASETS,
            "Published means are recomputed over the same datasets from the paper's appendix.",
        ),
        published.METRICS,
    )


def versus(results: Results, method: Method, metric: str) -> Compared:
    """Our mean over datasets, and both means over the datasets that have a value here and in the appendix."""
    listed = [dataset for dataset in results.datasets if published.of(dataset, method.name, metric).of]
    both = [
        dataset
        for dataset in listed
        if results.of(dataset, method, metric).value is not None
        and published.of(dataset, method.name, metric).value is not None
    ]
    return Compared(
        results.average(method, metric),
        replace(published.average(method.name, metric, both), of=len(listed)),
        replace(results.average(method, metric, both), of=len(listed)),
    )


def table2(results: Results) -> MeansTable:
    """Base types under the linear interpolator; the published means are over 17 datasets, whatever is at hand."""
    rows = []
    for method in TABLE2:
        printed = published.table2()[method.base]
        ours = {metric: results.average(method, metric) for metric in results.design.metrics}
        metrics = {metric: Compared(mean, printed.get(metric, NOTHING), mean) for metric, mean in ours.items()}
        rows.append(Row((method.base,), metrics))
    notes = [results.extent, _READ, OVER_DATASETS]
    if set(results.datasets) != set(published.datasets()):
        notes.append(_unlike(results))
    title = "Base types, linear interpolator (the paper's Table 2): means over datasets"
    return MeansTable(title, ("base",), results.design.headings, tuple(rows), tuple(notes), published.METRICS)


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
    return by_dataset(results, appendix)


def appendix(dataset: str, method: Method, metric: str) -> Mean:
    """What the paper's appendix says, which has the methods of Table 1."""
    return published.of(dataset, method.name, metric) if method in TABLE1 else NOTHING
