"""Reports: one HTML file each, that opens from disk without a network."""

from calibrant.diagnosis.headline import Headline
from calibrant.reports.forecast import Report, report
from calibrant.reports.statement import Statement

__all__ = ["Headline", "Report", "Statement", "report"]
