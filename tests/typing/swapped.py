"""Calls that are wrong: a strict type checker must name every line that is marked, and no other."""

from __future__ import annotations

from typing import cast

import numpy as np
from dask.dataframe import DataFrame

from calibrant import (
    Calibrated,
    CalibratedRegressor,
    Calibrator,
    Censored,
    HorizonCalibrator,
    Interval,
    Linear,
    Normal,
    Point,
    Quantiles,
    backtest,
    evaluate,
    judge,
    load,
    report,
    required_n,
    tables,
)
from calibrant.intervals import CQR
from calibrant.metrics import crps
from calibrant.plots import fan, reliability
from calibrant.scores import IntervalScore, ResidualScore
from calibrant.tables import Columns, TableModel
from calibrant.typing import Array

prediction = Normal(np.zeros(3), 1.0)
y = np.zeros(3)
calibrated = Calibrator().fit(prediction, y)
H = calibrated(prediction)
frame = cast("DataFrame", None)

Calibrator().fit(y, prediction)  # wrong
Calibrator(Linear(), ResidualScore())  # wrong
Calibrator(score="residual")  # wrong
Calibrator().fit(prediction, "y")  # wrong
Calibrator().fit(prediction, y, rng=0)  # wrong
calibrated("prediction.csv")  # wrong
calibrated(prediction, bound="capacity")  # wrong
H.interval("0.9")  # wrong
H.interval([0.5, 0.9])  # wrong
H.cdf("0.3")  # wrong
H.cdf(prediction)  # wrong
H.quantiles("0.1")  # wrong
H.sample(np.random.default_rng(0), 10)  # wrong
H["first"]  # wrong
Normal("0.0", 1.0)  # wrong
Point(prediction)  # wrong
Quantiles(y, "levels")  # wrong
crps(y, prediction)  # wrong
evaluate(y, prediction)  # wrong
fan(y, prediction)  # wrong
load(3)  # wrong
calibrated.save(3)  # wrong
width: float = H.interval(0.9)  # wrong
model: Calibrated = load("model.safetensors")  # wrong
Censored(y, "event")  # wrong
Calibrator().fit(prediction, y, rng=y)  # wrong
required_n(0.05, interpolator="naf")  # wrong
evaluate(prediction, y, labels=1)  # wrong
report(prediction, y, guarantee="marginal")  # wrong
judge(prediction, y, 3)  # wrong
backtest(calibrated, y, prediction)  # wrong
backtest(calibrated, prediction)  # wrong
backtest(HorizonCalibrator(), prediction)  # wrong
HorizonCalibrator().fit("forecasts.csv")  # wrong
Columns(mean=3, std="s")  # wrong
tables.predict(TableModel(calibrated, Columns(point="f")), [])  # wrong
CalibratedRegressor(None, refine=3)  # wrong
CalibratedRegressor(None, refine=[3])  # wrong
reliability({"one": 3}, y)  # wrong
reliability(y, {"one": prediction})  # wrong
tables.predict(TableModel(calibrated, Columns(point="f")), frame)  # wrong
tables.fit(frame, target="y")  # wrong
regressor = CalibratedRegressor(None).fit(y, y)
regressor.predict_interval(y, [0.5, 0.9])  # wrong
regressor.predict_quantiles(y, 0.5)  # wrong
regressor.report(y, prediction)  # wrong
middle: float = regressor.predict_interval(y)  # wrong
evaluate(y, regressor.predict_distribution(y))  # wrong
regressor.predict_distribution(y).intervals(0.9)  # wrong
regressor.predict_distribution(y).interval("0.9")  # wrong
print(regressor.evaluate(y, y).cprs)  # wrong
regressor.guarantee_.conditional("0.95")  # wrong
round(evaluate(Interval(y, y), y).crps, 2)  # wrong
round(evaluate(Point(y), y).coverage, 2)  # wrong
print(evaluate(prediction, y).crsp)  # wrong
calibrated.guarantee.of("north")  # wrong
print(Calibrator().fit(prediction, y, by=["north"] * 3).guarantee.effective)  # wrong
array: Array = [0.0, 1.0]  # wrong
number: Array = 3.0  # wrong
CQR().value(y, Interval(y, y))  # wrong
IntervalScore().loc_scale(Point(y))  # wrong
