"""Quantile levels that are tracked as labels come in: a long-run statement that holds under any drift."""

from calibrant.tracking.tracker import LEVELS, Tracker

__all__ = ["LEVELS", "Tracker"]
