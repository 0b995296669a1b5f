"""What users write, on numpy, torch and tables: a strict type checker has nothing to say."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt
import polars as pl

import calibrant
from calibrant import (
    Calibrated,
    CalibratedRegressor,
    Calibrator,
    Censored,
    HorizonCalibrator,
    Interval,
    Normal,
    Point,
    Quantiles,
    Refined,
    Samples,
    Tracker,
    backtest,
    evaluate,
    judge,
    load,
    plots,
    report,
    required_n,
    tables,
)
from calibrant.backtesting import Backtest
from calibrant.distributions import Distribution
from calibrant.distributions.joined import Joined
from calibrant.guarantee import Guarantee
from calibrant.interpolators import NAF
from calibrant.labels import Counts
from calibrant.metrics import Evaluation, compare
from calibrant.predictions import Prediction
from calibrant.refine.spread import Spread
from calibrant.reports.forecast import Report
from calibrant.scores import ResidualScore
from calibrant.several import Several
from calibrant.tables import Columns, TableModel
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

# What comes out has the kind of what went in.
matrix, frame = np.zeros((100, 3)), pl.DataFrame({"x": f})
model = CalibratedRegressor(None, refine=None).fit(matrix, y)
assert_type(model.predict_interval(matrix), np.ndarray[Any, Any])
assert_type(model.predict_interval([[0.0], [1.0]], coverage=0.5), np.ndarray[Any, Any])
assert_type(model.predict_interval(frame, 0.8), pl.DataFrame)
assert_type(model.predict_quantiles(matrix, [0.1, 0.9]), np.ndarray[Any, Any])
assert_type(model.predict_quantiles(frame), pl.DataFrame)
assert_type(model.predict_samples(matrix, 10), Array)
assert_type(model.predict(matrix), np.ndarray[Any, Any])
model.save_calibration("model.safetensors")
model.score(matrix, y)
assert_type(model.track(matrix, y), Distribution)
assert_type(model.report(matrix, y, groups=[0]), Report)
assert_type(HorizonCalibrator().fit(frame).predict(frame), pl.DataFrame)
assert_type(backtest(HorizonCalibrator(), frame, target="y", least=20), Backtest)
assert_type(backtest(calibrated, Normal(f, 0.5), y, batch=10), Backtest)
assert_type(backtest(calibrated, f, y).base, Prediction | Distribution)
assert_type(Censored(y, y > 0).event, npt.NDArray[np.bool_])
Calibrator().fit(f, Censored([1.0, 2.0], [True, False]))
Calibrator(labels=Counts()).fit(f, y, rng=np.random.default_rng(0))
judge(H, [0.1, 0.2], {"x": [1.0, 2.0]})
judge(H, [0.1, 0.2], frame)
required_n(0.05, interpolator=NAF())
Joined.of([Normal(0.0, 1.0)], [0, 0])
TableModel(calibrated, Columns(mean="mu", std="sigma"))
assert_type(Several.of({"wind": f, "load": Normal(f, 1.0)}).predictions, tuple[Prediction | Distribution, ...])
plots.reliability({"one": H, "other": Normal(f, 1.0)}, y)
plots.pit_histogram({"one": f}, y)
plots.spread_skill({"one": H}, y)
plots.coverage_by_slice({"one": H}, y, f)
for refine in ("spread", Spread(), None):
    CalibratedRegressor(None, refine=refine)
    Refined(None, refine)

# Metrics are floats where the forecast is sure to determine them.
assert_type(evaluate(H, [0.1, 0.2]), Evaluation[float, float, float])
assert_type(round(evaluate(Normal(f, 1.0), y).crps, 2), float)
assert_type(round(evaluate(Point(f), y).crps + evaluate([0.0], [1.0]).crps, 2), float)
assert_type(evaluate(Samples(np.ones((100, 5))), y).crps, float)
assert_type(round(evaluate(Interval(f - 1, f + 1), y).coverage, 2), float)
assert_type(evaluate(Quantiles([0.1, 0.9], np.stack([f - 1, f + 1], axis=1)), y), Evaluation)
shares = [round(each.coverage, 2) for each in backtest(calibrated, f, y).over_time(bins=4).values()]
shares += [round(each.coverage, 2) for each in HorizonCalibrator().fit(frame).evaluate(frame).calibrated.values()]
shares += [round(backtest(calibrated, f, y).evaluate().crps, 2)]
shares += [round(tables.evaluate([], TableModel(calibrated, Columns(point="mu")), target="y").calibrated.coverage, 2)]
judged: dict[str, Evaluation] = {"before": evaluate(f, y), "after": evaluate(calibrated(f), y)}
print(compare({"before": evaluate(f, y), "after": evaluate(calibrated(f), y)}), compare(judged), shares)

# One guarantee, whatever is known of the rows; by group it is indexed by name.
by_group = Calibrator().fit(f, y, by=["north", "south"] * 50)
assert_type(calibrated, Calibrated)
assert_type(by_group.update(f, y, by=["north"] * 100).guarantee["north"].epsilon, float)
assert_type(Calibrator().fit(f, y, weights=y + 1).guarantee, Guarantee)
assert_type(Calibrator().fit(f, Censored([1.0, 2.0], [True, False])).guarantee, Guarantee)
print(round(Calibrator().fit(f, y, weights=y + 1).guarantee.effective_n), widths(by_group, f, 0.9))
report(H, [0.1, 0.2], guarantee=by_group.guarantee)


def promised(model: Calibrated) -> str:
    if model.guarantee.basis == "group":
        return str(model.guarantee["north"])
    return f"{model.guarantee.n} rows, {model.guarantee.epsilon:.3f}, {model.guarantee.kind}"


print(promised(calibrated), promised(by_group), again(f).ppf(0.9), again.guarantee)

# A model of one label, and one of several.
one, several = CalibratedRegressor(None).fit(matrix, y), CalibratedRegressor(None).fit(matrix, matrix)
print(
    round(one.evaluate(matrix, y).crps, 1), one.guarantee_.kind, one.predict_distribution(matrix).sf(2.0)[:3].round(3)
)
print(evaluate(one.predict_distribution(matrix)[:50], y[:50]).crps, one.weights_["linear"], one.guarantee_["north"].n)
distributions = several.predict_distribution(matrix)
print(
    distributions.interval(0.9, joint=True),
    distributions["wind"].ppf(0.9),
    [distribution.mean() for distribution in distributions],
    distributions.evaluate(matrix).together,
)
print(several.evaluate(matrix, matrix).margins["wind"].crps, several.guarantee_["wind"].n, several.weights_["wind"])

tracker = Tracker(calibrated, levels=[0.1, 0.9]).update(f, y)
print(np.abs(tracker.covered / 100 - tracker.levels).max(), tracker.step * 2, tracker.raw_positions + 1)
plots.coverage_by_slice(H, y, {"region": ["north", "south"] * 50, "x": f})
plots.density(H, rows=0)

# What arrays of all libraries can do.
probability = H.sf(200.0).round(2)
column = H.mean().reshape(-1, 1)
error = H.crps([0.1, 0.2]).std() / H.mean().shape[0] ** 0.5
by_level = H.quantiles([0.1, 0.9]).mean(axis=0)
print(probability, column, error, by_level, lower.ravel()[lower.argsort()], (lower < upper).all(axis=0))
print(inside, first, middle, mean_width, logs, shape, draws, one_row, some_rows, as_numpy)
