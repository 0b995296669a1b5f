"""How forecasts do at each horizon, before and after calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant.metrics import Evaluation, evaluate
from calibrant.metrics.evaluation import OfDistribution


@dataclass(frozen=True, repr=False)
class HorizonEvaluation:
    """The metrics of each horizon. It prints as a table, one line per horizon."""

    base: dict[int, Evaluation]
    """The forecasts as they are."""
    calibrated: dict[int, OfDistribution]
    interval: float
    """The probability of the intervals whose coverage is shown."""

    def to_dict(self) -> dict[int, dict[str, dict[str, float]]]:
        """The metrics by horizon, side and name."""
        return {
            h: {"base": self.base[h].to_dict(), "calibrated": self.calibrated[h].to_dict()} for h in self.calibrated
        }

    def __str__(self) -> str:
        share = f"{100 * self.interval:g}%"
        head = ["horizon", "rows", f"in {share}", "before", "CRPS", "before"]
        lines = [
            [
                str(h),
                str(after.n),
                _percent(after.coverage),
                _percent(self.base[h].coverage),
                _number(after.crps),
                _number(self.base[h].crps),
            ]
            for h, after in self.calibrated.items()
        ]
        widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in [head, *lines]
        )

    def __repr__(self) -> str:
        return f"HorizonEvaluation({len(self.calibrated)} horizons)"


def evaluate_horizons(base: Any, H: Any, y: Any, horizon: Any, coverage: float) -> HorizonEvaluation:
    """The metrics of the rows of each horizon."""
    before: dict[int, Evaluation] = {}
    after: dict[int, OfDistribution] = {}
    for h in np.unique(horizon).tolist():
        mine = np.flatnonzero(horizon == h)
        before[h] = evaluate(base[mine], y[mine], coverage=coverage)
        after[h] = evaluate(H[mine], y[mine], coverage=coverage)
    return HorizonEvaluation(before, after, coverage)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}%"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
