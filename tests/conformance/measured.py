"""The same of libraries that are not installed beside ours: what they say was measured once, in another environment."""

from __future__ import annotations

import math
from fractions import Fraction

from comparisons import Measured
from scipy.special import ndtri

TORCHUQ = "22f7de0"
"""The commit of its module transform/conformal.py."""
NETCAL = "1.4.0"


def halfway() -> list[float]:
    """Quantiles between the labels -1/2 and 1/2, whose levels are 1/3 and 2/3: in fractions."""
    levels = (Fraction(2, 5), Fraction(1, 2), Fraction(3, 5))
    return [float(Fraction(-1, 2) + (3 * level - 1)) for level in levels]


CASES = (
    Measured(
        library="TorchUQ",
        of=TORCHUQ,
        title="the 5% and the 95% quantile of N(0, 1), where the model said N(0, 0.1²)",
        why="The score is the CDF of the forecast, which the inverse keeps between 10⁻⁶ and 1 − 10⁻⁶:"
        " no quantile is farther out than 4.75 of the forecast's standard deviations.",
        theirs="""
import torch
from scipy.special import ndtri
from torchuq.transform.conformal import ConformalCalibrator


def normal(rows):
    return torch.distributions.Normal(torch.zeros(rows, dtype=float), torch.full((rows,), 0.1, dtype=float))


y = torch.from_numpy(ndtri(np.arange(1, 500) / 500))
calibrator = ConformalCalibrator("distribution", "linear", score_func=1).train(normal(499), y)
calibrator(normal(1)).icdf(torch.tensor([[0.05], [0.95]], dtype=float))
""",
        said=[-0.4753424309, 0.4753424309],
        ours="""
from calibrant import Calibrator, Normal
from calibrant.scores import CDFScore
from scipy.special import ndtri

y = ndtri(np.arange(1, 500) / 500)
calibrated = Calibrator(CDFScore()).fit(Normal(np.zeros(499), 0.1), y)
calibrated(Normal([0.0], 0.1)).quantiles([0.05, 0.95])
""",
        exact=lambda: ndtri([0.05, 0.95]),
        how="the labels of ranks 25 and 475 of 499",
    ),
    Measured(
        library="TorchUQ",
        of=TORCHUQ,
        title="the 40%, 50% and 60% quantile of the labels −0.5 and 0.5, by its second score of intervals",
        why="That score jumps by 2,000 at the middle of the interval. A quantile between labels on its two sides lies"
        " in the jump, and comes back hundreds of widths away.",
        theirs="""
import torch
from torchuq.transform.conformal import ConformalCalibrator

y = torch.tensor([-0.5, 0.5]).double()
box = torch.tensor([[-1.0, 1.0]]).double()
calibrator = ConformalCalibrator("interval", "linear", score_func=1).train(box.repeat(2, 1), y)
calibrator(box).icdf(torch.tensor([[0.4], [0.5], [0.6]], dtype=float))
""",
        said=[399.7, 0.0, -399.7],
        ours="""
from calibrant import Calibrator, Interval

y = np.array([-0.5, 0.5])
calibrated = Calibrator().fit(Interval([-1.0, -1.0], [1.0, 1.0]), y)
calibrated(Interval([-1.0], [1.0])).quantiles([0.4, 0.5, 0.6])
""",
        exact=halfway,
        how="between the two labels, in fractions",
    ),
    Measured(
        library="TorchUQ",
        of=TORCHUQ,
        title="the log density at 5,000 of the labels −40,000, −30,000, ..., 40,000",
        why="It is the difference of the CDF over a step of 10⁻⁴ plus 10⁻¹⁰, whatever the unit of the labels is.",
        theirs="""
import torch
from torchuq.transform.conformal import ConformalCalibrator

y = 1e4 * torch.arange(-4.0, 5.0).double()
calibrator = ConformalCalibrator("point", "linear").train(torch.zeros(9).double(), y)
calibrator(torch.zeros(1).double()).log_prob(torch.tensor([5000.0]).double())
""",
        said=-11.4176153109,
        ours="""
from calibrant import Calibrator, Point

y = 1e4 * np.arange(-4.0, 5.0)
Calibrator().fit(Point(np.zeros(9)), y)(Point([0.0])).logpdf([5000.0])
""",
        exact=lambda: -math.log(10 * 10_000),
        how="a tenth of the probability lies between two labels, 10,000 apart",
    ),
    Measured(
        library="TorchUQ",
        of=TORCHUQ,
        title="the quantile at −0.2 of nine labels",
        why="A negative level is a negative index, and so an upper quantile.",
        theirs="""
import torch
from torchuq.transform.conformal import ConformalCalibrator

calibrator = ConformalCalibrator("point", "linear").train(torch.zeros(9), torch.arange(-4.0, 5.0))
calibrator(torch.zeros(1)).icdf(torch.tensor([-0.2]))
""",
        said=4.0,
        ours="""
from calibrant import Calibrator, Point

Calibrator().fit(Point(np.zeros(9)), np.arange(-4.0, 5.0))(Point([0.0])).ppf(-0.2)
""",
        exact=lambda: None,
        how="there is none",
    ),
    Measured(
        library="netcal",
        of=NETCAL,
        title="the least density of 300 recalibrated forecasts, where it is negative",
        why="The density is a spline through the steps of the CDF, which overshoots.",
        theirs="""
from netcal.regression import IsotonicRegression

rng = np.random.default_rng(0)
f, s = rng.normal(size=600), np.ones(600)
y = f + 2 * rng.normal(size=600)
recalibrated = IsotonicRegression().fit((f[:300], s[:300]), y[:300])
_, density, _ = recalibrated.transform((f[300:], s[300:]))
min(0.0, density.min())
""",
        said=-0.0397614138,
        ours="""
from calibrant import Calibrator, Normal
from calibrant.scores import CDFScore

rng = np.random.default_rng(0)
f, s = rng.normal(size=600), np.ones(600)
y = f + 2 * rng.normal(size=600)
H = Calibrator(CDFScore()).fit(Normal(f[:300], s[:300]), y[:300])(Normal(f[300:], s[300:]))
min(0.0, H.pdf(np.linspace(-8, 8, 512)[None, :]).min())
""",
        exact=lambda: 0.0,
        how="no density is negative",
    ),
)
