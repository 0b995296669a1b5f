"""Reports: one HTML file each, that opens from disk without a network. They need the extra: calibrant[report]."""

from calibrant.reports.forecast import Report, report
from calibrant.reports.verdict import Statement

__all__ = ["Report", "Statement", "report"]
