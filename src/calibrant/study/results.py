"""What a run of the study has written, read for its tables: one mean for each dataset, method and metric.

In the file the authors' estimator of the NLL is `nll_authors` and the exact one `nll`. In the tables, as in the
paper's, `nll` is the authors'; the exact one is `nll_exact`.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from calibrant.study import published
from calibrant.study.design import INTERPOLATORS, PAIRS, SPLITS
from calibrant.study.means import Mean, over_datasets, over_splits

_SCORED = {
    "std": "std",
    "ci95_width": "ci95_width",
    "nll": "nll_authors",
    "crps": "crps",
    "ece": "ece",
    "nll_exact": "nll",
    "n_calibration": "n_calibration",
    "n_test": "n_test",
}
_OPTIONAL = ("nll_infinite_rows", "conformal_width", "conformal_coverage", "credible_width", "credible_coverage")


class Method(NamedTuple):
    """One way to a calibrated law: what the model predicts, its score, the interpolator."""

    base: str
    score: str
    interpolator: str

    @property
    def name(self) -> str:
        """As in the paper's tables: zscore-naf."""
        return f"{self.score}-{self.interpolator}"


METHODS = tuple(Method(base, score, interpolator) for base, score in PAIRS for interpolator in INTERPOLATORS)
Cell = Mapping[str, float | None]


@dataclass(frozen=True, eq=False)
class Results:
    """The finished cells of a run, what it says of itself, and the seconds of its phases."""

    about: Mapping[str, Any]
    resumed: tuple[Mapping[str, Any], ...]
    """What it says of itself each time that it was started again."""
    cells: Mapping[tuple[str, Method], Mapping[int, Cell]]
    """(dataset, method) -> split -> metric -> value, None where it is not finite."""
    seconds: Mapping[str, float]

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        """The datasets with at least one cell, in the order of the alphabet."""
        return tuple(sorted({dataset for dataset, _ in self.cells}))

    @cached_property
    def splits(self) -> frozenset[int]:
        """The splits with at least one cell."""
        return frozenset(split for cells in self.cells.values() for split in cells)

    @cached_property
    def missing(self) -> int:
        """How many cells are not there, of the datasets and splits that are."""
        wanted = len(self.datasets) * len(self.splits) * len(METHODS)
        return wanted - sum(len(self.cells.get((dataset, m), ())) for dataset in self.datasets for m in METHODS)

    def of(self, dataset: str, method: Method, metric: str) -> Mean:
        """The mean over the splits of a dataset."""
        return over_splits(cell.get(metric) for cell in self.cells.get((dataset, method), {}).values())

    def average(self, method: Method, metric: str, among: Iterable[str] | None = None) -> Mean:
        """The mean over the datasets that have a value, among some or all."""
        return over_datasets(self.of(dataset, method, metric) for dataset in self._among(among))

    def paired(self, one: tuple[Method, str], other: tuple[Method, str], among: Iterable[str] | None = None) -> Mean:
        """The mean of one column minus another, taken split by split, so that what the splits share falls out."""
        return over_datasets(self._differences(dataset, one, other) for dataset in self._among(among))

    def _differences(self, dataset: str, one: tuple[Method, str], other: tuple[Method, str]) -> Mean:
        ours, theirs = (self.cells.get((dataset, method), {}) for method, _ in (one, other))
        shared = [(ours[split].get(one[1]), theirs[split].get(other[1])) for split in ours if split in theirs]
        return over_splits(None if a is None or b is None else a - b for a, b in shared)

    def _among(self, datasets: Iterable[str] | None) -> Iterable[str]:
        return self.datasets if datasets is None else datasets

    @property
    def extent(self) -> str:
        """How much of the study there is, in a sentence."""
        known = published.datasets()
        said = [
            f"{len(self.datasets)} of the paper's {len(known)} datasets",
            f"{len(self.splits)} of its {SPLITS} splits",
            "every cell" if not self.missing else f"{self.missing:,} cells missing",
        ]
        absent = [name for name in known if name not in self.datasets]
        return ", ".join(said) + (f"; without {', '.join(absent)}" if absent else "") + "."


def read(path: str | os.PathLike[str]) -> Results:
    """The results of a run; a torn last line, as a killed run leaves one, is passed over."""
    about: Mapping[str, Any] | None = None
    resumed: list[Mapping[str, Any]] = []
    cells: dict[tuple[str, Method], dict[int, Cell]] = {}
    seconds: dict[str, float] = {}
    for where, line in _lines(path):
        if "study" in line:
            about = line["study"]
        elif "training" in line:
            _add(seconds, "training", line["training"].get("seconds"))
        elif "phase" in line:
            phase = line["phase"]
            _add(seconds, str(phase.get("name")), phase.get("seconds"))
            if phase.get("name") == "resumed":
                resumed.append(phase)
        else:
            dataset, split, method, cell = _cell(line, where)
            cells.setdefault((dataset, method), {})[split] = cell
            _add(seconds, f"cells, {method.interpolator}", line.get("seconds"))
    if about is None:
        raise ValueError(f"{os.fspath(path)}: a study's results begin with a line that holds 'study', and none does")
    if not cells:
        raise ValueError(f"{os.fspath(path)}: a table needs at least one finished cell, and there is none")
    ordered = {key: dict(sorted(splits.items())) for key, splits in cells.items()}
    return Results(about, tuple(resumed), ordered, dict(sorted(seconds.items())))


def _lines(path: str | os.PathLike[str]) -> Iterable[tuple[str, dict[str, Any]]]:
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [(number, text) for number, text in enumerate(file, start=1) if text.strip()]
    for number, text in lines:
        where = f"{os.fspath(path)}, line {number}"
        try:
            line = json.loads(text, parse_constant=_no_number)
        except ValueError as error:
            if number == lines[-1][0]:
                return
            raise ValueError(f"{where}: one JSON object was wanted, got {text.strip()[:60]!r}") from error
        if not isinstance(line, dict):
            raise ValueError(f"{where}: one JSON object was wanted, got {text.strip()[:60]!r}")
        yield where, line


def _no_number(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _cell(line: dict[str, Any], where: str) -> tuple[str, int, Method, Cell]:
    names = ("dataset", "split", "base", "score", "interpolator")
    absent = [name for name in (*names, *_SCORED.values()) if name not in line]
    if absent:
        raise ValueError(f"{where}: a cell needs {absent[0]!r}, which it lacks")
    dataset, split, *method = (line[name] for name in names)
    if Method(*method) not in METHODS:
        raise ValueError(f"{where}: base, score and interpolator must be those of the study, got {', '.join(method)}")
    columns = {**_SCORED, **{name: name for name in _OPTIONAL}}
    return (
        dataset,
        split,
        Method(*method),
        {ours: _number(line.get(name), where, name) for ours, name in columns.items()},
    )


def _number(value: Any, where: str, name: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{where}: {name!r} must be a number or null, got {value!r}")
    return float(value) if math.isfinite(value) else None


def _add(seconds: dict[str, float], phase: str, more: Any) -> None:
    if isinstance(more, (int, float)):
        seconds[phase] = seconds.get(phase, 0.0) + more
