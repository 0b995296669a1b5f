"""Where `Calibrated.update` finds what does it: the layer above hands it in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_handed_in: list[Callable[..., Any]] = []


def hand_in(update: Callable[..., Any]) -> None:
    """Let `update(calibrated, prediction, y, ...)` do the work from now on."""
    _handed_in[:] = [update]


def update(calibrated: Any, prediction: Any, y: Any, **known: Any) -> Any:
    """What was calibrated, with more rows."""
    return _handed_in[0](calibrated, prediction, y, **known)
