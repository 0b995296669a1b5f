"""Tables as text: Markdown for people, CSV for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from studies.means import Mean
from studies.names import Method
from studies.results import Results
from studies.tables import Compared, MeansTable, Row

_ABSENT = "—"


def shown(mean: Mean) -> str:
    """A mean as in the tables.

    >>> shown(Mean(0.2241, 0.0018, 14, 14)), shown(Mean(None, None, 13, 16)), shown(Mean(None, None, 0, 0))
    ('0.224 ± 0.002 (14)', '— (13 of 16)', '')
    """
    if mean.value is None:
        return f"{_ABSENT} ({mean.count} of {mean.of})" if mean.of else ""
    error = "" if mean.se is None else f" ± {mean.se:.3f}"
    return f"{mean.value:z.3f}{error} ({mean.count})"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""A table of texts, as Markdown.

    >>> print(markdown_table(["a"], [["x|y"]]))
    | a |
    | --- |
    | x\|y |
    """
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(text.replace("|", "\\|") for text in line) + " |" for line in lines)


def markdown(table: MeansTable) -> str:
    """A title, a table of three lines a row, its notes."""
    lines = [line for row in table.rows for line in _lines(table, row)]
    return "\n\n".join([f"## {table.title}", markdown_table(_header(table), lines), *table.notes]) + "\n"


def averages_csv(table: MeansTable) -> str:
    """Means over datasets: the paper's columns first, then the counts, then what is compared with the paper."""
    return _csv({**dict(zip(table.labels, row.labels, strict=True)), **_averages(table, row)} for row in table.rows)


def per_dataset_csv(results: Results) -> str:
    """A line for every dataset and method, over all its splits; a metric that some split lacks is left empty."""
    every = ((dataset, method) for dataset in results.datasets for method in results.design.methods)
    return _csv(_record(results, dataset, method) for dataset, method in every if (dataset, method) in results.cells)


def _record(results: Results, dataset: str, method: Method) -> dict[str, object]:
    """The columns of the paper's appendix, then those that it lacks."""
    metrics = {metric: _pair(metric, results.of(dataset, method, metric)) for metric in results.design.metrics}
    exact = metrics.pop("nll_exact", {})
    record: dict[str, object] = {"dataset": dataset, "method": method.name}
    for pair in metrics.values():
        record |= pair
    return record | {"base": method.base, "n_splits": len(results.cells[dataset, method])} | exact


def _header(table: MeansTable) -> list[str]:
    return [*table.labels, "", *table.headings.values()]


def _lines(table: MeansTable, row: Row) -> Iterator[list[str]]:
    """Ours, and where there is a published value that value and the difference."""
    blank = [""] * len(row.labels)
    metrics = [row.metrics[metric] for metric in table.headings]
    yield [*row.labels, "here", *(shown(metric.here) for metric in metrics)]
    if all(metric.published.of == 0 for metric in metrics):
        return
    if any(metric.common.count != metric.here.count for metric in metrics if metric.published.of):
        yield [*blank, "here, where published", *(_if_compared(metric, shown(metric.common)) for metric in metrics)]
    yield [*blank, "published", *(shown(metric.published) for metric in metrics)]
    yield [*blank, "difference", *(_signed(metric.difference) for metric in metrics)]


def _if_compared(metric: Compared, text: str) -> str:
    return text if metric.published.of else ""


def _signed(difference: float | None) -> str:
    return "" if difference is None else f"{difference:+z.1f}"


def _pair(metric: str, mean: Mean) -> dict[str, object]:
    return {f"{metric}_mean": mean.value, f"{metric}_se": mean.se}


def _averages(table: MeansTable, row: Row) -> dict[str, object]:
    columns: dict[str, object] = {}
    for metric, comparison in row.metrics.items():
        columns |= _pair(metric, comparison.here)
    columns |= {f"{metric}_n": comparison.here.count for metric, comparison in row.metrics.items()}
    for metric, comparison in row.metrics.items():
        if metric in table.compared:
            columns |= _pair(f"{metric}_common", comparison.common)
            columns |= _pair(f"{metric}_published", comparison.published)
            columns |= {f"{metric}_published_n": comparison.published.count}
            columns |= {f"{metric}_difference": comparison.difference}
    return columns


def _csv(records: Iterable[dict[str, object]]) -> str:
    rows = list(records)
    columns = dict.fromkeys(column for row in rows for column in row)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _text(value) for name, value in row.items()} for row in rows)
    return stream.getvalue()


def _text(value: object) -> object:
    """Six digits: more than the splits can tell, few enough to read."""
    return f"{value:.6g}" if isinstance(value, float) else value
