"""Reports: one HTML file each, that opens from disk without a network."""

from calibrant.reports.forecast import report

__all__ = ["report"]
