"""Forecasts to draw, and every plot of them."""

import inspect

import numpy as np
from matplotlib.collections import FillBetweenPolyCollection, LineCollection

import calibrant
from calibrant import Calibrator, Normal, judge, plots
from calibrant.interpolators import NAF, Linear

LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]
SCORES = [-1.4, -1.1, -0.4, -0.2, 0.1, 0.3, 0.9, 2.1]


class Case:
    """Forecasts that are half as wide as they should be, and what calibration makes of them."""

    def __init__(self, n=300, m=600):
        rng = np.random.default_rng(0)
        f, noise = rng.normal(size=(2, n + m))
        scale = np.exp(0.4 * rng.normal(size=n + m))
        y, base = f + scale * noise, Normal(f, scale / 2)
        self.n, self.rng = n, rng
        self.calibration, self.y_calibration = base[:n], y[:n]
        self.base, self.y, self.f = base[n:], y[n:], f[n:]
        self.H = self.fit(NAF())(self.base)
        self.both = {"before": self.base, "after": self.H}
        self.region = np.array(["north", "south", "east"])[rng.integers(0, 3, m)]

    def fit(self, interpolator, score=None, rows=None):
        return Calibrator(score, interpolator).fit(self.calibration[:rows], self.y_calibration[:rows])

    def watched(self):
        """Labels that are larger from row 350 on."""
        moved = self.y + np.where(np.arange(len(self.y)) < 350, 0.0, 1.0)
        return calibrant.monitor(self.fit(Linear()), self.base, moved, rng=np.random.default_rng(0))


def every_plot(case):
    """Each public function that draws on axes, ready to be called with `ax`."""
    linear, width = case.fit(Linear(), rows=20), case.base.std()
    by = {"region": case.region, "x": case.f}
    rows = {"rows": [1, 2], "base": case.base, "y": case.y}
    scores = (linear, case.calibration[:20], case.y_calibration[:20])
    return {
        "pit_histogram": lambda ax=None: plots.pit_histogram(case.H, case.y, n=case.n, ax=ax),
        "reliability": lambda ax=None: plots.reliability(case.both, case.y, n=case.n, ax=ax),
        "coverage_by": lambda ax=None: plots.coverage_by(Normal(case.f, 1.05), case.y, width, ax=ax),
        "density": lambda ax=None: plots.density(case.fit(Linear())(case.base), **rows, ax=ax),
        "fan": lambda ax=None: plots.fan(case.H[:60], x=case.f[:60], y=case.y[:60], ax=ax),
        "intervals": lambda ax=None: plots.intervals(case.H, case.y, ax=ax),
        "parity": lambda ax=None: plots.parity(case.H, case.y, ax=ax),
        "spread_skill": lambda ax=None: plots.spread_skill(case.both, case.y, bins=6, ax=ax),
        "sharpness": lambda ax=None: plots.sharpness(case.both, case.y, n=case.n, ax=ax),
        "ridgeline": lambda ax=None: plots.ridgeline(case.H, base=case.base, y=case.y, ax=ax),
        "scores": lambda ax=None: plots.scores(*scores, ax=ax),
        "monitor": lambda ax=None: plots.monitor(case.watched(), ax=ax),
        "cdf": lambda ax=None: plots.cdf(case.H, **rows, ax=ax),
        "coverage_by_slice": lambda ax=None: plots.coverage_by_slice(case.both, case.y, by, ax=ax),
        "diagnosis": lambda ax=None: plots.diagnosis(judge(Normal(case.f, 1.05), case.y, {"w": width}), ax=ax),
        "interpolators": lambda ax=None: plots.interpolators(SCORES, ax=ax),
    }


FUNCTIONS = [name for name in plots.__all__ if inspect.isfunction(getattr(plots, name))]
NAMES = [name for name in FUNCTIONS if "ax" in inspect.signature(getattr(plots, name)).parameters]


def words_of(ax):
    """The words of the legend."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


def row_names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def dots(ax):
    """(x, y) of all round marks."""
    found = [line.get_xydata() for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata())]
    return np.concatenate(found)


def segments(ax, k=0):
    """The lines of the k-th collection of lines."""
    return np.array([c for c in ax.collections if isinstance(c, LineCollection)][k].get_segments())


def band_of(ax):
    """The lower and the upper edge of the shaded band, at the places where it is given."""
    (band,) = [c for c in ax.collections if isinstance(c, FillBetweenPolyCollection)]
    corners = band.get_paths()[0].vertices
    half = len(corners) // 2
    return corners[1:half, 1], corners[half + 1 : -1, 1][::-1]
