"""What a method says of the test rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from studies.tabular.cut import Floats

COVERAGES = (0.5, 0.9)


@dataclass(frozen=True, kw_only=True, eq=False)
class Said:
    """Intervals of every method; CRPS and PITs of those with a distribution, a likelihood of those with a density."""

    bounds: Mapping[float, tuple[Floats, Floats]]
    """The lower and upper bounds, by coverage."""
    fit_seconds: float
    """What the method would have taken by itself, the model included."""
    predict_seconds: float
    """Of the test rows."""
    crps: float | None = None
    nll: float | None = None
    pit: Floats | None = None
