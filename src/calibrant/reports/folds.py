"""The mean over folds is wider than its members: that is no fault, and its guarantee is of the tails alone."""

from __future__ import annotations

from calibrant.metrics.rounding import percent
from calibrant.reports.findings import Findings


def folds_allow(found: Findings, level: float) -> str:
    """What P(H(Y) <= c) <= 2 c + epsilon, and the same above 1 - c, allows at a level, in words."""
    tail, side = min(level, 1 - level), "below" if level < 0.5 else "above"
    allowed = percent(min(1.0, 2 * tail + found.guarantee.epsilon), found.m)
    return f"The guarantee of folds is weaker: it allows {allowed} of the labels {side} this quantile."
