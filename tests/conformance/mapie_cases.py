"""MAPIE: split, normalised and relative intervals, conformalised quantile regression, CV+."""

from __future__ import annotations

import math
import warnings

import numpy as np
from comparisons import Agreement, Pairs, heteroscedastic

from calibrant import Calibrator, CrossCalibrated, Interval, Normal, Point
from calibrant.interpolators import Naive
from calibrant.intervals import CQR, AbsoluteResidual, Centred, ConformalInterval, NormalizedResidual
from calibrant.scores import RelativeScore

SIZES = (31, 100, 300)
COVERAGES = (0.5, 0.8, 0.9, 0.95)
M = 100


def column(k: int):
    """A fitted model that predicts column k of X."""
    from sklearn.base import BaseEstimator, RegressorMixin

    class Column(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            self.fitted_ = True
            return self

        def predict(self, X):
            return X[:, k]

    return Column().fit(None, None)


def bounds_of(model, X, coverage, conformity_score, old, y, new):
    from mapie.regression import SplitConformalRegressor

    split = SplitConformalRegressor(
        model, confidence_level=coverage, conformity_score=conformity_score, prefit=True
    ).conformalize(X[old], y[old])
    return split.predict_interval(X[new])[1][:, :, 0]


def cases():
    for n in SIZES:
        for coverage in COVERAGES:
            yield n, coverage, slice(0, n), slice(n, None), *heteroscedastic(n, n + M)


def split() -> Pairs:
    from mapie.conformity_scores import AbsoluteConformityScore

    for _, coverage, old, new, mean, _, y in cases():
        theirs = bounds_of(column(0), mean[:, None], coverage, AbsoluteConformityScore(), old, y, new)
        ours = ConformalInterval(AbsoluteResidual(), coverage).fit(mean[old], y[old])(mean[new])
        yield np.stack(ours, axis=1), theirs


def normalised() -> Pairs:
    from mapie.conformity_scores import ResidualNormalisedScore

    for _, coverage, old, new, mean, scale, y in cases():
        X, score = np.stack([mean, scale], axis=1), ResidualNormalisedScore(residual_estimator=column(1), prefit=True)
        theirs = bounds_of(column(0), X, coverage, score, old, y, new)
        forecast = Normal(mean, scale)
        ours = ConformalInterval(NormalizedResidual(), coverage).fit(forecast[old], y[old])(forecast[new])
        yield np.stack(ours, axis=1), theirs


def relative() -> Pairs:
    """|y - f| / f, of positive predictions and labels."""
    from mapie.conformity_scores import GammaConformityScore

    for _, coverage, old, new, mean, scale, _ in cases():
        f, y = np.exp(mean), np.exp(mean) * scale
        theirs = bounds_of(column(0), f[:, None], coverage, GammaConformityScore(sym=True), old, y, new)
        ours = ConformalInterval(Centred(RelativeScore()), coverage).fit(f[old], y[old])(f[new])
        yield np.stack(ours, axis=1), theirs


def quantile() -> Pairs:
    from mapie.regression import ConformalizedQuantileRegressor

    for _, coverage, old, new, mean, scale, y in cases():
        X = np.stack([mean - scale, mean + scale, mean], axis=1)
        peer = ConformalizedQuantileRegressor(
            [column(k) for k in range(3)], confidence_level=coverage, prefit=True
        ).conformalize(X[old], y[old])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # MAPIE on crossing bounds, and ours on the same rows
            theirs = peer.predict_interval(X[new], symmetric_correction=True)[1][:, :, 0]
            forecast = Interval(X[:, 0], X[:, 1])
            ours = np.stack(ConformalInterval(CQR(), coverage).fit(forecast[old], y[old])(forecast[new]), axis=1)
        kept = theirs[:, 0] <= theirs[:, 1]  # an interval that crosses is empty, and ours says NaN
        if not np.all(np.isnan(ours[~kept])):
            raise ValueError("an empty interval has ends")
        yield ours[kept], theirs[kept]


def cross() -> Pairs:
    """Both ends are order statistics of f_k(x) -+ |r_i|: quantiles of the distributions of the folds, averaged."""
    from mapie.regression import CrossConformalRegressor
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import KFold

    for n, coverage, old, new, mean, _, y in cases():
        X, folds = mean[:, None], KFold(5)
        peer = CrossConformalRegressor(LinearRegression(), confidence_level=coverage, method="plus", cv=folds)
        theirs = peer.fit_conformalize(X[old], y[old]).predict_interval(X[new])[1][:, :, 0]
        below, above, predicted = [], [], []
        for train, rest in folds.split(X[old]):
            model = LinearRegression().fit(X[train], y[train])
            f = model.predict(X[rest])
            for side, sign in ((below, -1.0), (above, 1.0)):
                side.append(Calibrator(interpolator=Naive()).fit(f, f + sign * np.abs(y[rest] - f)))
            predicted.append(Point(model.predict(X[new])))
        rank = math.ceil((n + 1) * coverage)
        lower = CrossCalibrated(tuple(below))(predicted).ppf((n - rank + 0.5) / n)
        upper = CrossCalibrated(tuple(above))(predicted).ppf((rank - 0.5) / n)
        yield np.stack([lower, upper], axis=1), theirs


SPLIT = "SplitConformalRegressor"
CASES = (
    Agreement("mapie", "split conformal intervals", SPLIT, "ConformalInterval(AbsoluteResidual())", 1e-12, split),
    Agreement(
        "mapie",
        "normalised intervals",
        f"{SPLIT}, ResidualNormalisedScore",
        "ConformalInterval(NormalizedResidual())",
        1e-12,
        normalised,
    ),
    Agreement(
        "mapie",
        "relative intervals",
        f"{SPLIT}, GammaConformityScore(sym=True)",
        "ConformalInterval(Centred(RelativeScore()))",
        1e-12,
        relative,
    ),
    Agreement(
        "mapie",
        "conformalised quantile regression",
        "ConformalizedQuantileRegressor",
        "ConformalInterval(CQR())",
        1e-12,
        quantile,
    ),
    Agreement(
        "mapie",
        "CV+ intervals, five folds",
        'CrossConformalRegressor(method="plus")',
        "CrossCalibrated of Naive, quantiles",
        1e-12,
        cross,
    ),
)
