"""A league: candidates by their out-of-fold score, and the simplest one that is as good as the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calibrant._arrays import Array
from calibrant._words import count


@dataclass(frozen=True)
class Entry:
    """A candidate of a league."""

    name: str
    score: float
    """The mean over the rows."""
    behind: float
    """How much larger it is than the best one's."""
    error: float
    """The standard error of that difference, from the differences row by row."""
    seconds: float
    """What learning and judging it took; parts that several candidates share count for the first of them."""

    @property
    def level(self) -> bool:
        """Whether it is within one standard error of the best."""
        return self.behind <= self.error


@dataclass(frozen=True)
class League:
    """Candidates from the simplest to the most elaborate, scored on rows that none of them learned from.

    The simplest within one standard error of the best is chosen. The standard error is that of the paired difference:
    rows that are hard for one candidate are hard for all, so the score itself is known far less well than the
    difference.
    """

    criterion: str
    entries: tuple[Entry, ...]
    rows: int
    """The number of rows that were scored."""

    @classmethod
    def of(
        cls,
        criterion: str,
        scores: Mapping[str, Array],
        seconds: Mapping[str, float],
        weight: Array | None = None,
        groups: Array | None = None,
    ) -> League:
        """From the score of each row, by candidate, simplest first; rows of one group count as one draw.

        Args:
            criterion: The name of the score that was compared.
            scores: The score of each row, for each candidate by name.
            seconds: How long each candidate took to learn.
            weight: The weight of each row; equal by default.
            groups: The group of each row, where rows of one group are alike.
        """
        means = {name: float(np.average(rows, weights=weight)) for name, rows in scores.items()}
        best = min(means, key=lambda name: means[name] if np.isfinite(means[name]) else np.inf)
        entries = []
        for name, rows in scores.items():
            mean, error = 0.0, 0.0
            if name != best:
                mean, error = _mean_and_error(rows, scores[best], weight, groups)
            entries.append(Entry(name, means[name], mean, error, seconds.get(name, 0.0)))
        return cls(criterion, tuple(entries), len(scores[best]))

    @property
    def chosen(self) -> str:
        """The first within one standard error of the best."""
        return next(entry.name for entry in self.entries if entry.level)

    def __str__(self) -> str:
        width = max(len("candidate"), *(len(entry.name) for entry in self.entries))
        lines = [f"{'candidate':{width}}  {self.criterion:>10}  {'behind':>10}  {'s.e.':>9}  {'seconds':>7}"]
        for entry in self.entries:
            mark = "  chosen" if entry.name == self.chosen else ""
            lines.append(
                f"{entry.name:{width}}  {entry.score:10.4g}  {entry.behind:10.2g}  {entry.error:9.2g}"
                f"  {entry.seconds:7.1f}{mark}"
            )
        lines.append(
            f"Judged on {count(self.rows, 'row')}, each by a forecast that did not see it. Chosen: the simplest, which"
        )
        lines.append("is topmost, within one standard error of the best; that of the difference, row by row.")
        return "\n".join(lines)


def _mean_and_error(rows: Array, best: Array, weight: Array | None, groups: Array | None = None) -> tuple[float, float]:
    """Of the difference; a score that is infinite in some row is infinitely behind.

    The error is sqrt(sum of e_g^2), e_g the sum of w (d - mean) over a group, or over a row where there are no groups.
    """
    if not np.all(np.isfinite(rows)):
        return np.inf, 0.0
    rows = rows - best
    mean = float(np.average(rows, weights=weight))
    w = np.full(len(rows), 1 / len(rows)) if weight is None else weight / np.sum(weight)
    away = w * (rows - mean)
    if groups is not None:
        away = np.bincount(np.unique(groups, return_inverse=True)[1], weights=away)
    return mean, float(np.sqrt(np.sum(away**2)))
