"""Module 2: the calibration score phi(f(x), y), strictly increasing in y."""

from __future__ import annotations

from calibrant.distributions.base import Distribution
from calibrant.predictions import Ensemble, Interval, Point, Quantiles, Samples
from calibrant.scores.base import LocationScaleScore, MonotoneScore, Score
from calibrant.scores.cdf import CDFScore
from calibrant.scores.default import default_score
from calibrant.scores.ensemble import EnsembleScore
from calibrant.scores.interval import IntervalScore
from calibrant.scores.quantile import QuantileScore, SamplesScore
from calibrant.scores.residual import ResidualScore
from calibrant.scores.signed import signed
from calibrant.scores.zscore import ZScore


default_score.register(Point, lambda prediction: ResidualScore())
default_score.register(Interval, lambda prediction: IntervalScore())
default_score.register(Quantiles, lambda prediction: QuantileScore())
default_score.register(Samples, lambda prediction: SamplesScore())
default_score.register(Ensemble, lambda prediction: EnsembleScore())
default_score.register(Distribution, lambda prediction: ZScore())

__all__ = [
    "CDFScore",
    "EnsembleScore",
    "IntervalScore",
    "LocationScaleScore",
    "MonotoneScore",
    "QuantileScore",
    "ResidualScore",
    "SamplesScore",
    "Score",
    "ZScore",
    "default_score",
    "signed",
]
