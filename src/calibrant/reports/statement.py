"""One of the sentences of a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FAIR_GAP = 0.05
"""A gap of this size or less is fair, where the calibration rows explain it."""


@dataclass(frozen=True)
class Statement:
    """A sentence or two, and what they are: good, warn, bad or info."""

    kind: Literal["good", "warn", "bad", "info"]
    text: str
