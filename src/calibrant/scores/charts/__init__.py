"""Charts: the increasing map y -> s that a score lays over the real line for each row of a prediction.

A score is a rule that makes a chart of a prediction. Charts know their own shape and nothing of q:
`calibrant.scores.pull_back` says what pulling q back through each of them gives.
"""

from calibrant.scores.charts.affine import Affine
from calibrant.scores.charts.base import Chart
from calibrant.scores.charts.bent import bent
from calibrant.scores.charts.broken_line import BrokenLine
from calibrant.scores.charts.combine import combine
from calibrant.scores.charts.log_line import LogLine
from calibrant.scores.charts.logit_cdf import CDF, LogitCDF
from calibrant.scores.charts.monotone import Monotone
from calibrant.scores.charts.shifted import shifted
from calibrant.scores.charts.signed import SignedChart
from calibrant.scores.charts.sum import SumChart

__all__ = [
    "CDF",
    "Affine",
    "BrokenLine",
    "Chart",
    "LogLine",
    "LogitCDF",
    "Monotone",
    "SignedChart",
    "SumChart",
    "bent",
    "combine",
    "shifted",
]
