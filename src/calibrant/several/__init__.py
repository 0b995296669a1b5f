"""Several labels at once: one distribution for each, a box that holds them all, and joint draws.

Each label is calibrated by itself, as in `calibrant.calibration`. Their dependence is kept separately: how unusual each
calibration row was in its worst label, and the ranks of its labels.
"""

from calibrant.several.calibration import SeveralCalibrator
from calibrant.several.columns import Several
from calibrant.several.distributions import energy_score

__all__ = [
    "Several",
    "SeveralCalibrator",
    "energy_score",
]
