"""Pictures of forecasts, before and after calibration, with matplotlib.

Every function takes `ax`, draws on it alone and returns it; without one it makes a figure for a column of 80 mm.
Nothing is shown or saved, and no global setting changes: `plots.reliability(H, y).figure.savefig("reliability.pdf")`.
The forecast before calibration is vermilion and dashed, the calibrated one blue, labels are black. On axes that are
given, ink, paper and sizes are those of the axes; `theme()` gives figures of yours the sizes of ours. `summary` is a
whole figure of four panels.
"""

from calibrant._arguments import needs

needs("calibrant.plots", "plots", "matplotlib")

from calibrant.plots.calibration import pit_histogram, reliability
from calibrant.plots.coverage import coverage_by, coverage_by_slice, diagnosis
from calibrant.plots.distributions import cdf, density, ridgeline
from calibrant.plots.intervals import fan, intervals, parity
from calibrant.plots.modules import interpolators, scores
from calibrant.plots.monitoring import monitor
from calibrant.plots.sharpness import sharpness, spread_skill
from calibrant.plots.style import AFTER, BEFORE, COLOURS, theme
from calibrant.plots.summary import summary

__all__ = [
    "AFTER",
    "BEFORE",
    "COLOURS",
    "cdf",
    "coverage_by",
    "coverage_by_slice",
    "density",
    "diagnosis",
    "fan",
    "interpolators",
    "intervals",
    "monitor",
    "parity",
    "pit_histogram",
    "reliability",
    "ridgeline",
    "scores",
    "sharpness",
    "spread_skill",
    "summary",
    "theme",
]
