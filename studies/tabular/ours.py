"""The methods of this library: the residual as it is, the model's own spread, the refiners."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from calibrant._arrays import to_numpy
from calibrant.calibration import Calibrator
from calibrant.interpolators import NAF
from calibrant.predictions import Quantiles
from calibrant.refine.base import Refinement
from studies.tabular.bench import Bench, timed
from studies.tabular.said import COVERAGES, Said

LEVELS = tuple(k / 10 for k in range(1, 10))


def rung(name: str, bench: Bench) -> Said:
    """One refiner."""
    refinement, seconds = bench.refined(name)
    alone = bench.model_seconds if name == "constant" else bench.learning_seconds
    return _calibrated(bench, refinement, alone + seconds)


def own_spread(bench: Bench) -> Said:
    """The model's own prediction as it is: the trees of a forest as samples."""
    return _calibrated(bench, lambda X, prediction: prediction, bench.model_seconds)


def direct_quantiles(bench: Bench) -> Said:
    """Nine boosted quantile models of y on x; the base model has no part in it."""
    cut = bench.cut

    def learn() -> list[Any]:
        models = (HistGradientBoostingRegressor(loss="quantile", quantile=q, random_state=bench.seed) for q in LEVELS)
        return [model.fit(cut.X_train, cut.y_train) for model in models]

    models, seconds = timed(learn)

    def predict(X: Any, prediction: Any) -> Quantiles:
        del prediction
        values = np.sort(np.stack([model.predict(X) for model in models], axis=1), axis=1)
        return Quantiles(LEVELS, values + 1e-6 * np.arange(len(LEVELS)))  # equal quantiles a hair apart

    return _calibrated(bench, predict, seconds, own_model=True)


def _calibrated(bench: Bench, refinement: Refinement, seconds: float, *, own_model: bool = False) -> Said:
    cut = bench.cut
    calibration = refinement(cut.X_cal, bench.of_calibration)
    calibrated, more = timed(lambda: Calibrator().fit(calibration, cut.y_cal))

    def predict() -> Any:
        prediction = refinement(cut.X_test, bench.of_test)
        H = calibrated(prediction)
        return prediction, H, {c: tuple(map(to_numpy, H.interval(c))) for c in COVERAGES}

    (prediction, H, bounds), predicting = timed(predict)
    smooth = Calibrator(interpolator=NAF()).fit(calibration, cut.y_cal)(prediction)
    return Said(
        bounds=bounds,
        fit_seconds=seconds + more,
        predict_seconds=predicting + (0.0 if own_model else bench.test_seconds),
        crps=float(np.mean(to_numpy(H.crps(cut.y_test)))),
        nll=-float(np.mean(to_numpy(smooth.logpdf(cut.y_test)))),
        pit=to_numpy(H.cdf(cut.y_test)),
    )
