"""How much a calibration set knows."""

from __future__ import annotations

from typing import Any


def calibration_rows(guarantee: Any) -> int | None:
    """How many equal calibration rows stand behind a guarantee; None where no calibration set does."""
    worth = None if guarantee is None else getattr(guarantee, "worth", guarantee.n)
    return None if worth is None else int(worth)
