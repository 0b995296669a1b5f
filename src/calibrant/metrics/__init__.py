"""How good is a forecast H of the labels y: sharpness, accuracy and calibration.

Every metric is a mean over rows. It is a Python float for numpy input; for torch (and other arrays of the
array API standard) a 0-d array, through which gradients flow to the predictions. H is one distribution per row, or a
single distribution for all rows. A prediction that is not a distribution (a Point, an Interval, Quantiles, Samples)
works with the metrics that it determines; the others raise TypeError, and `evaluate` leaves them out.
"""

from calibrant.metrics.bands import pit_band, reliability_band
from calibrant.metrics.calibration import (
    debiased_ece,
    ece,
    pit,
    pit_uniformity_test,
    sup_calibration_error,
)
from calibrant.metrics.evaluation import Evaluation, compare
from calibrant.metrics.scores import (
    ci_width,
    coverage,
    crps,
    interval_score,
    nll,
    pinball,
    std,
)
from calibrant.metrics.table import evaluate

__all__ = [
    "Evaluation",
    "ci_width",
    "compare",
    "coverage",
    "crps",
    "debiased_ece",
    "ece",
    "evaluate",
    "interval_score",
    "nll",
    "pinball",
    "pit",
    "pit_band",
    "pit_uniformity_test",
    "reliability_band",
    "std",
    "sup_calibration_error",
]
