"""Combinations of a score and an interpolator that are known under names of their own."""

from __future__ import annotations

from calibrant.calibration import Calibrator
from calibrant.interpolators import Linear, Random
from calibrant.scores import CDFScore


def isotonic() -> Calibrator:
    """Isotonic calibration (Kuleshov et al. 2018), with i/(n + 1) in place of their i/n: cdf score, linear q."""
    return Calibrator(CDFScore(), Linear())


def conformal() -> Calibrator:
    """Conformal calibration (Vovk et al. 2020): cdf score, random q."""
    return Calibrator(CDFScore(), Random())
