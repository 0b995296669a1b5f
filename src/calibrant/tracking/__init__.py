"""Quantile levels that are tracked as labels arrive: a long-run guarantee that holds under any drift."""

from calibrant.tracking.tracker import Tracker

__all__ = ["Tracker"]
