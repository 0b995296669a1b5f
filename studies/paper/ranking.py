"""The base types from best to worst, here and in the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from studies.paper import published
from studies.paper.methods import like_with_like
from studies.paper.tables import TABLE2
from studies.results import Results
from studies.writers import markdown_table


def ranking(results: Results) -> Iterator[str]:
    """The base types from best to worst by each metric, beside the paper's order."""
    rows = []
    for metric in ("crps", "nll", "std", "ci95_width"):
        here = {method.base: value for method, value in like_with_like(results, TABLE2, metric).items()}
        there = {base: metrics[metric].value for base, metrics in published.table2().items()}
        rows.append([results.design.headings[metric], ranked(here), ranked(there)])
    yield "## Base types from best to worst, linear interpolator"
    yield markdown_table(["by", "here", "in the paper"], rows)


def ranked(values: Mapping[str, float | None]) -> str:
    """Names in the order of their values, with those that agree to three digits as equals.

    >>> ranked({"a": 0.3, "b": 0.1, "c": 0.1004, "d": None})
    'b = c (0.100) < a (0.300)'
    """
    groups: dict[str, list[str]] = {}
    for name, value in sorted(values.items(), key=lambda item: item[1] or 0.0):
        if value is not None:
            groups.setdefault(f"{value:z.3f}", []).append(name)
    return " < ".join(f"{' = '.join(names)} ({value})" for value, names in groups.items())
