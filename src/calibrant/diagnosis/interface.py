"""Where a verdict is read: in Python or at a terminal. The next steps are in the words of that place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interface:
    """What the reader types."""

    calibrate: str
    """How to calibrate forecasts."""
    by: str
    """How to calibrate by group."""
    refine: str
    """How to let the width follow what is known of a row."""
    time: str
    """How to say when each row was."""
    counts: str
    """How to say that labels are counts."""
    guarantee: str
    """How to hand over what was calibrated; "" where that is always known."""


PYTHON = Interface(
    calibrate="Calibrator().fit(forecasts, labels)",
    by="by=",
    refine="refine= of CalibratedRegressor or a model that predicts its spread",
    time="time=",
    counts="labels=Counts()",
    guarantee="guarantee=",
)
TERMINAL = Interface(
    calibrate="calibrant fit",
    by="calibrant fit --by",
    refine="a model that predicts its spread",
    time="--time",
    counts="--labels counts",
    guarantee="--model",
)
