"""MAPIE's methods, in their own package; all have intervals only."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor

from studies.tabular.bench import Bench, timed
from studies.tabular.cut import Floats
from studies.tabular.said import COVERAGES, Said

_LEAST = 1e-3
"""Added before the logarithm, in standard deviations of the labels: a residual of 0 is no -inf."""


def split(bench: Bench) -> Said:
    """f(x) -+ the rank ceil((n + 1) c) of the calibration rows' |y - f(x)|."""
    from mapie.regression import SplitConformalRegressor

    intervals = SplitConformalRegressor(bench.model, confidence_level=list(COVERAGES), prefit=True)
    return _conformalised(bench, intervals, bench.model_seconds)


def normalised(bench: Bench) -> Said:
    """f(x) -+ s(x) times that rank of |y - f(x)| / s(x); log s boosted on the out-of-fold residuals."""
    from mapie.conformity_scores import ResidualNormalisedScore
    from mapie.regression import SplitConformalRegressor

    boosting = HistGradientBoostingRegressor(random_state=bench.seed)
    # from training rows: MAPIE's own way would take part of the calibration rows for it
    scale, seconds = timed(
        lambda: TransformedTargetRegressor(boosting, func=_log, inverse_func=np.exp, check_inverse=False).fit(
            bench.cut.X_train, np.abs(bench.residuals)
        )
    )
    intervals = SplitConformalRegressor(
        bench.model,
        confidence_level=list(COVERAGES),
        conformity_score=ResidualNormalisedScore(residual_estimator=scale, prefit=True),
        prefit=True,
    )
    return _conformalised(bench, intervals, bench.learning_seconds + seconds)


def _log(residuals: Floats) -> Floats:
    return np.asarray(np.log(residuals + _LEAST))


def quantile(bench: Bench) -> Said:
    """[l(x) - d, u(x) + d], d the rank of max(l(x) - y, y - u(x)): boosted quantiles l, u of y, whatever the model."""
    from mapie.regression import ConformalizedQuantileRegressor

    cut = bench.cut

    def learn(level: float) -> Any:
        model = HistGradientBoostingRegressor(loss="quantile", quantile=level, random_state=bench.seed)
        return model.fit(cut.X_train, cut.y_train)

    bounds, fitting, predicting = {}, 0.0, 0.0
    median, seconds = timed(lambda: learn(0.5))
    fitting += seconds
    for coverage in COVERAGES:
        models, seconds = timed(lambda c=coverage: [learn((1 - c) / 2), learn((1 + c) / 2), median])  # type: ignore[misc]
        intervals = ConformalizedQuantileRegressor(models, confidence_level=coverage, prefit=True)
        _, more = timed(lambda i=intervals: i.conformalize(cut.X_cal, cut.y_cal))  # type: ignore[misc]
        (_, both), last = timed(lambda i=intervals: i.predict_interval(cut.X_test, symmetric_correction=True))  # type: ignore[misc]
        bounds[coverage] = (both[:, 0, 0], both[:, 1, 0])
        fitting, predicting = fitting + seconds + more, predicting + last
    return Said(bounds=bounds, fit_seconds=fitting, predict_seconds=predicting)


def cv_plus(bench: Bench) -> Said:
    """CV+ (Barber et al. 2021) with 5 folds, of the training and calibration rows together."""
    from mapie.regression import CrossConformalRegressor

    cut = bench.cut
    X, y = np.concatenate([cut.X_train, cut.X_cal]), np.concatenate([cut.y_train, cut.y_cal])
    intervals = CrossConformalRegressor(
        bench.make(bench.seed), confidence_level=list(COVERAGES), method="plus", cv=5, random_state=bench.seed
    )
    _, seconds = timed(lambda: intervals.fit_conformalize(X, y))
    return _predicted(bench, intervals, seconds)


def _conformalised(bench: Bench, intervals: Any, seconds: float) -> Said:
    _, more = timed(lambda: intervals.conformalize(bench.cut.X_cal, bench.cut.y_cal))
    return _predicted(bench, intervals, seconds + more)


def _predicted(bench: Bench, intervals: Any, seconds: float) -> Said:
    (_, both), predicting = timed(lambda: intervals.predict_interval(bench.cut.X_test))
    bounds = {coverage: (both[:, 0, k], both[:, 1, k]) for k, coverage in enumerate(COVERAGES)}
    return Said(bounds=bounds, fit_seconds=seconds, predict_seconds=predicting)
