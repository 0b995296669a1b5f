"""The methods of MAPIE and crepes, in their own packages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import cross_val_predict

from studies.league.table import Floats, Split

Make = Callable[[int], Any]
Says = Callable[[Floats], Floats]

COVERAGE = 0.9
LEVELS = np.arange(1, 100) / 100
_LEAST = 1e-3
"""Added before the logarithm, in standard deviations of the labels: a residual of 0 is no -inf."""
_BINS, _IN_A_BIN = 5, 25
"""At most so many bins, of so many calibration rows at least: with fewer than 19 a 90% interval has no end."""


def split(make: Make, rows: Split) -> Says:
    """f(x) -+ the rank ceil((n + 1) c) of the calibration rows' |y - f(x)|."""
    from mapie.regression import SplitConformalRegressor

    model = make(rows.seed).fit(*_training(rows))
    return _conformalised(SplitConformalRegressor(model, confidence_level=COVERAGE, prefit=True), rows)


def normalised(make: Make, rows: Split) -> Says:
    """f(x) -+ s(x) times that rank of |y - f(x)| / s(x); log s boosted on out-of-fold residuals of training rows."""
    from mapie.conformity_scores import ResidualNormalisedScore
    from mapie.regression import SplitConformalRegressor

    X, y = _training(rows)
    boosting = HistGradientBoostingRegressor(random_state=rows.seed)
    scale = TransformedTargetRegressor(boosting, func=_log, inverse_func=np.exp, check_inverse=False)
    scale.fit(X, np.abs(y - cross_val_predict(make(rows.seed), X, y)))  # MAPIE's own way would take calibration rows
    score = ResidualNormalisedScore(residual_estimator=scale, prefit=True)
    model = make(rows.seed).fit(X, y)
    return _conformalised(
        SplitConformalRegressor(model, confidence_level=COVERAGE, conformity_score=score, prefit=True), rows
    )


def quantile(rows: Split) -> Says:
    """[l(x) - d, u(x) + d], d the rank of max(l(x) - y, y - u(x)): boosted quantiles l, u of y."""
    from mapie.regression import ConformalizedQuantileRegressor

    X, y = _training(rows)
    levels = ((1 - COVERAGE) / 2, (1 + COVERAGE) / 2, 0.5)
    models = [
        HistGradientBoostingRegressor(loss="quantile", quantile=level, random_state=rows.seed).fit(X, y)
        for level in levels
    ]
    method = ConformalizedQuantileRegressor(models, confidence_level=COVERAGE, prefit=True)
    method.conformalize(rows.X[rows.train :], rows.y[rows.train :])
    return lambda new: method.predict_interval(new, symmetric_correction=True)[1][:, :, 0]


def cv_plus(make: Make, rows: Split) -> Says:
    """CV+ (Barber et al. 2021) with 5 folds, of all rows."""
    from mapie.regression import CrossConformalRegressor

    method = CrossConformalRegressor(
        make(rows.seed), confidence_level=COVERAGE, method="plus", cv=5, random_state=rows.seed
    )
    method.fit_conformalize(rows.X, rows.y)
    return lambda new: method.predict_interval(new)[1][:, :, 0]


def nearest(make: Make, rows: Split) -> Says:
    """(y - f(x)) / s(x), s the mean |residual| of the 25 nearest training rows, out of fold."""
    from crepes.extras import DifficultyEstimator

    X, y = _training(rows)
    residuals = y - cross_val_predict(make(rows.seed), X, y)
    difficulty = DifficultyEstimator().fit(X=X, residuals=residuals, k=min(25, len(y) - 1), scaler=True)
    return _system(make(rows.seed).fit(X, y), rows, lambda X, _: {"sigmas": difficulty.apply(X)})


def mondrian(make: Make, rows: Split) -> Says:
    """y - f(x) by bins of f(x): at most five, each with 25 calibration rows or more."""
    from crepes.extras import binning

    model = make(rows.seed).fit(*_training(rows))
    count = max(1, min(_BINS, (len(rows.y) - rows.train) // _IN_A_BIN))
    _, edges = binning(model.predict(rows.X[rows.train :]), bins=count, seed=rows.seed)
    return _system(model, rows, lambda _, f: {"bins": binning(f, bins=edges, seed=rows.seed)})


def _training(rows: Split) -> tuple[Floats, Floats]:
    return rows.X[: rows.train], rows.y[: rows.train]


def _log(residuals: Floats) -> Floats:
    return np.asarray(np.log(residuals + _LEAST))


def _conformalised(method: Any, rows: Split) -> Says:
    method.conformalize(rows.X[rows.train :], rows.y[rows.train :])
    return lambda new: method.predict_interval(new)[1][:, :, 0]


def _system(model: Any, rows: Split, about: Callable[[Floats, Floats], dict[str, Any]]) -> Says:
    """crepes' distributions, as the quantiles of their steps."""
    from crepes import ConformalPredictiveSystem

    X, y = rows.X[rows.train :], rows.y[rows.train :]
    f = model.predict(X)
    system = ConformalPredictiveSystem().fit(y - f, seed=rows.seed, **about(X, f))

    def says(new: Floats) -> Floats:
        point = model.predict(new)
        steps = system.predict_cpds(point, **about(new, point))
        return np.stack([np.quantile(each, LEVELS, method="inverted_cdf") for each in steps])

    return says
