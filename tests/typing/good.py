"""What users write, on numpy, torch and tables: a strict type checker has nothing to say."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import calibrant
from calibrant import Calibrated, Calibrator, Interval, Normal, Point, Quantiles, Samples, evaluate, load
from calibrant.labels import Counts
from calibrant.scores import ResidualScore
from calibrant.typing import Array, ArrayLike, PredictionLike


def widths(model: Calibrated, prediction: PredictionLike, coverage: float) -> Array:
    lower, upper = model(prediction).interval(coverage)
    return upper - lower


def share_below(prediction: PredictionLike, y: ArrayLike) -> float:
    return float(calibrant.metrics.pit(prediction, y).mean())


f: npt.NDArray[np.float64] = np.zeros(100)
y: npt.NDArray[np.float64] = np.linspace(-1.0, 1.0, 100)
calibrated = Calibrator().fit(Normal(f, 0.5), y)
H = calibrated(Normal([0.0, 1.0], [0.5, 0.5]))
lower, upper = H.interval(0.9)

inside = (lower <= 0.0) & (upper >= 0.0)
first: float = float(lower[0])
middle = 0.5 * (lower + upper)
mean_width = np.mean(upper - lower)
logs = np.log(np.asarray(H.cdf(0.3)))
shape: tuple[int, ...] = H.quantiles([0.1, 0.5, 0.9]).shape
draws = H.sample(10, np.random.default_rng(0))
one_row = H[0]
some_rows = H[np.asarray([True, False])]
as_numpy: npt.NDArray[np.float64] = np.asarray(H.mean(), dtype=np.float64)

for prediction in (Point(f), Interval(f - 1, f + 1), Quantiles([0.1, 0.9], np.stack([f - 1, f + 1], axis=1))):
    Calibrator(ResidualScore() if isinstance(prediction, Point) else None).fit(prediction, y)
Calibrator(labels=Counts()).fit(Samples(np.ones((100, 5))), np.ones(100))
Calibrator().fit([1.0, 2.0, 3.0], [1, 2, 3], weights=[1.0, 1.0, 2.0])
calibrated.save("model.safetensors")
again = load("model.safetensors")
if isinstance(again, Calibrated):
    print(again(f).median(), again.guarantee)
print(evaluate(H, [0.1, 0.2]).crps, widths(calibrated, f, 0.9), share_below(Normal(f, 1.0), y))
print(inside, first, middle, mean_width, logs, shape, draws, one_row, some_rows, as_numpy)
