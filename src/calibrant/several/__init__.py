"""Several labels at once: one distribution for each, a box that holds them all, and joint draws.

Each label is calibrated by itself, as in `calibrant.calibration`. Their dependence is kept separately: how unusual each
calibration row was in its worst label, and the ranks of its labels.
"""

from calibrant.several.calibration import SeveralCalibrated, SeveralCalibrator
from calibrant.several.columns import Several
from calibrant.several.distributions import SeveralDistributions
from calibrant.several.energy import energy_score
from calibrant.several.evaluation import SeveralEvaluation
from calibrant.several.joint import Joint
from calibrant.several.reference import Reference

__all__ = [
    "Joint",
    "Reference",
    "Several",
    "SeveralCalibrated",
    "SeveralCalibrator",
    "SeveralDistributions",
    "SeveralEvaluation",
    "energy_score",
]
