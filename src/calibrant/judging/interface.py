"""How the reader acts on a judgement, in Python or at a terminal: what to type."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interface:
    """What the reader types, in Python or at a terminal."""

    calibrate: str
    """How to calibrate forecasts."""
    by: str
    """How to calibrate by group."""
    refine: str
    """How to let the width depend on the features."""
    counts: str
    """How to declare that labels are counts."""


PYTHON = Interface(
    calibrate="Calibrator().fit(forecasts, labels)",
    by="by=",
    refine="refine= of CalibratedRegressor or a model that predicts its spread",
    counts="labels=Counts()",
)
TERMINAL = Interface(
    calibrate="calibrant fit",
    by="calibrant fit --by",
    refine="a model that predicts its spread",
    counts="--labels counts",
)
