"""Reports: one HTML file each, that opens from disk without a network. They need the extra: calibrant[report]."""

from importlib.util import find_spec

if find_spec("jinja2") is None:  # also where calibrant.reports is imported by its full name
    raise ModuleNotFoundError("calibrant.report needs jinja2: pip install 'calibrant[report]'", name="jinja2")

from calibrant.diagnosis.headline import Headline
from calibrant.reports.forecast import Report, report
from calibrant.reports.statement import Statement

__all__ = ["Headline", "Report", "Statement", "report"]
