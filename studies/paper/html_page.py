"""The paper's study, run again, as a page: tables to sort, two methods side by side, published beside ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from calibrant.reports.page import page
from studies.columns import INTERVAL_HEADINGS
from studies.means import Mean
from studies.names import Method
from studies.paper import published
from studies.paper.claims import claims
from studies.paper.goals import goals
from studies.paper.tables import TABLE1, TABLE2, appendix, table1, table2
from studies.paper.verdict import Verdict
from studies.results import Results
from studies.tables import intervals

ASSETS = Path(__file__).parents[1] / "assets"
_ANSWERS = {True: ("good", "Yes"), False: ("bad", "No"), None: ("info", "Open")}


def study_page(results: Results) -> str:
    """The page as HTML."""
    return page(
        "study.html",
        ("study_means.js", "study_charts.js", "study.js"),
        study_data(results),
        styles=("page.css", "charts.css", "study.css"),
        own=ASSETS,
        title="Modular conformal calibration: the paper's study, run again",
        extent=results.extent,
        goals=[_answered(verdict) for verdict in goals(results)],
        claims=[_answered(verdict) for verdict in claims(results)],
        tables=(tables := [table1(results), table2(results), intervals(results)]),
        notes=[*dict.fromkeys(note for table in tables for note in table.notes[1:]), *_origin(results)],
    )


def study_data(results: Results) -> dict[str, Any]:
    """What the page's tables are made of, for the script.

    - `coverage` of the intervals; `datasets`, by name; `metrics`, each with `key` and `heading`; `methods`, each with
      `base`, `score`, `interpolator` and `tables`, those of the paper that have it;
    - `values[metric][method][dataset][split]`: null where it is not finite, false where there is no such cell;
    - `published[metric][method][dataset]`, the paper's appendix, and `printed[metric][method]`, its Table 2: a mean and
      its standard error, null where there is none.
    """
    design, headings = results.design, {**results.design.headings, **INTERVAL_HEADINGS}
    methods = [m for m in design.methods if any((dataset, m) in results.cells for dataset in results.datasets)]

    def each(value: Callable[[Method, str], Any]) -> dict[str, list[Any]]:
        return {key: [value(method, key) for method in methods] for key in headings}

    return {
        "coverage": design.coverage,
        "datasets": list(results.datasets),
        "metrics": [{"key": key, "heading": heading} for key, heading in headings.items()],
        "methods": [
            {**method._asdict(), "tables": [name for name, rows in _TABLES.items() if method in rows]}
            for method in methods
        ],
        "values": each(lambda method, key: [_splits(results, name, method, key) for name in results.datasets]),
        "published": each(lambda method, key: [_pair(appendix(name, method, key)) for name in results.datasets]),
        "printed": each(_printed),
    }


_TABLES = {"1": TABLE1, "2": TABLE2}


def _splits(results: Results, dataset: str, method: Method, metric: str) -> list[float | bool | None]:
    """A value for each split; False where there is no such cell, or no such metric, as the conformal width of NAF."""
    cells = results.cells.get((dataset, method), {})
    if metric in INTERVAL_HEADINGS and all(cell.get(metric) is None for cell in cells.values()):
        cells = {}
    return [_rounded(cells[split].get(metric)) if split in cells else False for split in sorted(results.splits)]


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def _printed(method: Method, metric: str) -> list[float | None] | None:
    mean = published.table2()[method.base].get(metric) if method in TABLE2 else None
    return None if mean is None else _pair(mean)


def _pair(mean: Mean) -> list[float | None] | None:
    return None if mean.value is None else [mean.value, mean.se]


def _answered(verdict: Verdict) -> dict[str, str]:
    kind, word = _ANSWERS[verdict.holds]
    return {"kind": kind, "word": word, "text": verdict.statement, "numbers": verdict.numbers}


def _origin(results: Results) -> list[str]:
    """What made the results."""
    about = results.about
    facts = {"by": about.get("command"), "seed": about.get("seed"), "on": about.get("device")}
    said = ", ".join(f"{name} {fact}" for name, fact in facts.items() if fact is not None)
    return [f"The results were made {said}."] if said else []
