"""Module 2: the calibration score phi(f(x), y), strictly increasing in y."""

from __future__ import annotations

from calibrant.scores.base import Score
from calibrant.scores.cdf import CDFScore
from calibrant.scores.default import default_score
from calibrant.scores.ensemble import EnsembleScore
from calibrant.scores.interval import IntervalScore
from calibrant.scores.location_scale import LocationScaleScore
from calibrant.scores.log import LogScore
from calibrant.scores.monotone import MonotoneScore
from calibrant.scores.quantile import QuantileScore
from calibrant.scores.relative import RelativeScore
from calibrant.scores.residual import ResidualScore
from calibrant.scores.samples import SamplesScore
from calibrant.scores.signed import signed
from calibrant.scores.sqrt import SqrtScore
from calibrant.scores.zscore import ZScore

__all__ = [
    "CDFScore",
    "EnsembleScore",
    "IntervalScore",
    "LocationScaleScore",
    "LogScore",
    "MonotoneScore",
    "QuantileScore",
    "RelativeScore",
    "ResidualScore",
    "SamplesScore",
    "Score",
    "SqrtScore",
    "ZScore",
    "default_score",
    "signed",
]
