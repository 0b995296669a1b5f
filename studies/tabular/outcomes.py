"""What a run of the league has found: the measures by base model, method, dataset and split."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from studies.design import design_of
from studies.means import Mean, over_datasets, over_splits
from studies.store import StudyError, refuse_odd
from studies.tabular.bases import MODELS
from studies.tabular.design import NAME
from studies.tabular.entrants import ENTRANTS, PLAIN
from studies.tabular.job import Job
from studies.tabular.ratios import Pairs, ratio

SHARES = ("crps", "is90", "is50", "width")
"""Metrics that are shown as the mean over datasets of the share of the plain residual's."""
POOLED = ("slice_pit",)
"""Those that may be about 0 on a dataset, and are shown as the share that the means over datasets have."""
DIFFERENCES = ("nll",)
"""Those without a zero, shown as the mean over datasets of the difference from the plain residual's."""
MEANS = ("cov90", "cov50", "worst", "excess", "fit_seconds", "predict_seconds")
"""Those that are shown as they are."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The finished jobs, and what the runs that did them say of themselves."""

    starts: tuple[Mapping[str, Any], ...]
    lines: Mapping[Job, Mapping[str, Any]]

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        """The datasets that have a line, in the order of the alphabet."""
        return tuple(sorted({job.dataset for job in self.lines}))

    @cached_property
    def bases(self) -> tuple[str, ...]:
        """The base models that have a line."""
        there = {job.base for job in self.lines}
        return tuple(name for name in MODELS if name in there)

    @cached_property
    def splits(self) -> tuple[int, ...]:
        """The splits that have a line."""
        return tuple(sorted({job.split for job in self.lines}))

    def methods(self, base: str) -> tuple[str, ...]:
        """The methods that have a line with this base model."""
        there = {name for job, line in self.lines.items() if job.base == base for name in line["methods"]}
        return tuple(name for name in ENTRANTS if name in there)

    def lines_of(self, dataset: str, base: str) -> dict[int, Mapping[str, Any]]:
        """The lines of a dataset and a base model, by split."""
        lines = {job.split: line for job, line in self.lines.items() if (job.dataset, job.base) == (dataset, base)}
        return dict(sorted(lines.items()))

    def rows(self, dataset: str, base: str, part: str) -> int:
        """How many rows train, calibrate or test."""
        return max((line[f"n_{part}"] for line in self.lines_of(dataset, base).values()), default=0)

    def values(self, dataset: str, base: str, method: str, metric: str) -> dict[int, float | None]:
        """By split: None where it is not finite or the method failed; nothing where it is not measured."""
        found = {}
        for split, line in self.lines_of(dataset, base).items():
            result = line["methods"].get(method, {})
            if metric in result or "failed" in result:
                found[split] = result.get(metric)
        return found

    def mean(self, dataset: str, base: str, method: str, metric: str) -> Mean:
        """Over the splits."""
        return over_splits(self.values(dataset, base, method, metric).values())

    def pairs(self, dataset: str, base: str, methods: tuple[str, str], metric: str) -> Pairs | None:
        """The values of two methods on each split; None where one has none, or one that is not finite."""
        one, other = (self.values(dataset, base, method, metric) for method in methods)
        shared = [(one[split], other[split]) for split in one if split in other]
        pairs = [(a, b) for a, b in shared if a is not None and b is not None]
        return pairs if pairs and len(pairs) == len(shared) else None

    def share(self, dataset: str, base: str, method: str, metric: str, of: str = PLAIN) -> Mean:
        """A method's mean over another's on one dataset, with the paired standard error."""
        pairs = self.pairs(dataset, base, (method, of), metric)
        return ratio([]) if pairs is None else ratio([pairs])

    def average(self, base: str, method: str, metric: str) -> Mean:
        """Over the datasets, as `SHARES`, `POOLED`, `DIFFERENCES` and `MEANS` have it."""
        names = [dataset for dataset in self.datasets if self.values(dataset, base, method, metric)]
        if metric in SHARES:
            return over_datasets(self.share(dataset, base, method, metric) for dataset in names)
        if metric in MEANS:
            return over_datasets(self.mean(dataset, base, method, metric) for dataset in names)
        pairs = [self.pairs(dataset, base, (method, PLAIN), metric) for dataset in names]
        if metric in POOLED:
            return ratio([] if any(each is None for each in pairs) else [each for each in pairs if each is not None])
        return over_datasets(over_splits([None] if each is None else [a - b for a, b in each]) for each in pairs)

    def failures(self) -> list[str]:
        """A sentence for each method that raised, with the first of its jobs."""
        found: dict[tuple[str, str], list[tuple[Job, str]]] = {}
        for job, line in sorted(self.lines.items()):
            for method, result in line["methods"].items():
                if "failed" in result:
                    found.setdefault((method, job.base), []).append((job, result["failed"]))
        return [
            f"{method} with {base} failed {len(jobs)} times, first on {jobs[0][0].dataset}, split "
            f"{jobs[0][0].split}: {jobs[0][1]}"
            for (method, base), jobs in found.items()
        ]


def read(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> Outcomes:
    """The results of a run, or of several parts of one, each a file of its own; a torn last line is passed over."""
    several = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    starts: list[Mapping[str, Any]] = []
    lines: dict[Job, Mapping[str, Any]] = {}
    for path in map(Path, several):
        for record in _records(path):
            if "study" in record:
                _check(path, record["study"], starts)
                starts.append(record["study"])
            elif "phase" in record:
                starts.append(record["phase"])
            elif "dataset" in record:
                lines.setdefault(Job.of(record), record)
    if not lines:
        raise StudyError(f"{', '.join(map(str, several))} must hold finished jobs of the league, got none")
    return Outcomes(tuple(starts), lines)


def _check(path: Path, about: Mapping[str, Any], starts: Sequence[Mapping[str, Any]]) -> None:
    """Raise where a file is of another study, or its numbers are not to be mixed with those before."""
    if design_of(about) != NAME:
        raise StudyError(f"{path} must hold results of the design {NAME!r}, got those of {design_of(about)!r}")
    for name in ("seed", "recipe"):
        if starts and about[name] != starts[0][name]:
            raise StudyError(f"{path} must have the {name} {starts[0][name]} of the first file, got {about[name]}")


def _records(path: Path) -> list[dict[str, Any]]:
    refuse_odd(path)
    text = path.read_text(encoding="utf-8").split("\n")
    records = []
    for number, line in enumerate(text[:-1], 1):  # what stands after the last line's end is torn, or nothing
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise StudyError(f"{path} must hold a JSON object in every line, got none in line {number}")
        records.append(record)
    return records
