"""How good the distributions of several labels are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibrant._arrays import Array, to_numpy
from calibrant.distributions.base import Distribution
from calibrant.metrics import compare, evaluate
from calibrant.metrics.evaluation import OfDistribution


@dataclass(frozen=True)
class SeveralEvaluation:
    """The metrics of each label, and of all at once. It prints as a table."""

    margins: dict[str, OfDistribution]
    coverage: float
    """What the intervals and the box were asked to hold."""
    together: dict[str, float]
    """The share of rows with all labels inside: of the `separate` intervals, and of the `joint` box if there is one."""
    width: dict[str, float]
    """The mean of the side lengths, each divided by that of the separate interval: 1 for these."""

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The metrics by label, and those of all labels."""
        together = {f"{name}_coverage": share for name, share in self.together.items()}
        widths = {f"{name}_width": share for name, share in self.width.items()}
        return {name: each.to_dict() for name, each in self.margins.items()} | {"together": together | widths}

    def __str__(self) -> str:
        asked, d = f"{100 * self.coverage:.6g}%", len(self.margins)
        lines = [f"all {d} labels in their {asked} intervals at once: {100 * self.together['separate']:.1f}%"]
        if "joint" in self.together:
            lines.append(
                f"all {d} labels in the {asked} joint box: {100 * self.together['joint']:.1f}%, whose sides are"
                f" {self.width['joint']:.2f} times as long"
            )
        return "\n".join([compare(self.margins), *lines])


def evaluated(
    margins: Mapping[str, Distribution],
    columns: Sequence[Array],
    coverage: float,
    boxes: Mapping[str, tuple[Array, Array]],
) -> SeveralEvaluation:
    """Of the distributions by label, the labels, and the bounds (n, d) of intervals and box."""
    each = {
        name: replace(evaluate(distribution, y, coverage=coverage), unit=name)
        for (name, distribution), y in zip(margins.items(), columns, strict=True)
    }
    labels = np.stack([to_numpy(y) for y in columns], axis=1)
    bounds = {name: (to_numpy(lower), to_numpy(upper)) for name, (lower, upper) in boxes.items()}
    inside = {name: np.all((labels >= lower) & (labels <= upper), axis=1) for name, (lower, upper) in bounds.items()}
    together = {name: float(np.mean(flags)) for name, flags in inside.items()}
    sides = {name: np.mean(upper - lower, axis=0) for name, (lower, upper) in bounds.items()}
    width = {name: float(np.mean(side / sides["separate"])) for name, side in sides.items()}
    return SeveralEvaluation(each, coverage, together, width)
