"""Module 2: the calibration score phi(f(x), y), strictly increasing in y."""

from __future__ import annotations

from calibrant.scores.base import Score
from calibrant.scores.ensemble import EnsembleScore
from calibrant.scores.floors import IntervalScore, RelativeScore, ZScore
from calibrant.scores.location_scale import LocationScaleScore, ResidualScore
from calibrant.scores.monotone import CDFScore, MonotoneScore
from calibrant.scores.nonconformity import signed
from calibrant.scores.offset import LogScore, SqrtScore
from calibrant.scores.quantile import QuantileScore, SamplesScore

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
    "signed",
]
