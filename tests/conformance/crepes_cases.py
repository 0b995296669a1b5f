"""crepes: conformal predictive systems and conformal regressors."""

from __future__ import annotations

import numpy as np
from comparisons import Agreement, Given, Pairs, heteroscedastic, on_a_grid

from calibrant import Calibrator, Normal, Point
from calibrant.interpolators import Naive, Random
from calibrant.intervals import AbsoluteResidual, ConformalInterval, NormalizedResidual

SIZES = (20, 99, 300)
M = 200
LEVELS = np.array([0.08, 0.1, 0.31, 0.5, 0.77, 0.9])
"""Not those whose product with n + 1 crepes rounds to another rank."""


def sides(normalised, mean, scale):
    """The forecast, and what crepes takes for it."""
    return (Normal(mean, scale), {"sigmas": scale}) if normalised else (Point(mean), {})


def of(known, rows):
    return {name: values[rows] for name, values in known.items()}


def smoothed(normalised: bool) -> Pairs:
    from crepes import ConformalPredictiveSystem

    for data in (heteroscedastic, on_a_grid):
        for n in SIZES:
            old, new = slice(0, n), slice(n, None)
            mean, scale, y = data(n, n + M)
            forecast, known = sides(normalised, mean, scale)
            crepes = ConformalPredictiveSystem().fit((y - mean)[old], **of(known, old))
            theirs = crepes.predict_p(mean[new], y[new], seed=7, **of(known, new))
            uniforms = Given(np.random.RandomState(7).rand(M))  # those that crepes draws for this seed
            H = Calibrator(interpolator=Random()).fit(forecast[old], y[old])(forecast[new], rng=uniforms)
            yield H.cdf(y[new]), theirs


def unsmoothed() -> Pairs:
    """Theirs is (#{s_i <= s} + 1) / (n + 1), ours #{s_i <= s} / n."""
    from crepes import ConformalPredictiveSystem

    for data in (heteroscedastic, on_a_grid):
        for n in SIZES:
            old, new = slice(0, n), slice(n, None)
            mean, _, y = data(n, n + M)
            theirs = ConformalPredictiveSystem().fit((y - mean)[old]).predict_p(mean[new], y[new], smoothing=False)
            ours = Calibrator(interpolator=Naive()).fit(mean[old], y[old])(mean[new]).cdf(y[new])
            yield (n * ours + 1) / (n + 1), theirs


def mondrian() -> Pairs:
    from crepes import ConformalPredictiveSystem

    for data in (heteroscedastic, on_a_grid):
        for n in SIZES:
            old, new = slice(0, n), slice(n, None)
            mean, scale, y = data(n, n + M)
            group = np.arange(n + M) % 3
            sizes = np.bincount(group[old])[group[new]]
            crepes = ConformalPredictiveSystem().fit((y - mean)[old], sigmas=scale[old], bins=group[old])
            theirs = crepes.predict_p(mean[new], y[new], sigmas=scale[new], bins=group[new], smoothing=False)
            forecast = Normal(mean, scale)
            calibrated = Calibrator(interpolator=Naive()).fit(forecast[old], y[old], by=group[old])
            ours = calibrated(forecast[new], by=group[new]).cdf(y[new])
            yield (sizes * ours + 1) / (sizes + 1), theirs


def percentiles(normalised: bool) -> Pairs:
    """With U near 1 the quantile at p has rank floor(p (n + 1)), crepes' lower percentile; near 0 ceil, its higher."""
    from crepes import ConformalPredictiveSystem

    for n in SIZES:
        old, new = slice(0, n), slice(n, None)
        mean, scale, y = heteroscedastic(n, n + M)
        forecast, known = sides(normalised, mean, scale)
        crepes = ConformalPredictiveSystem().fit((y - mean)[old], **of(known, old))
        calibrated = Calibrator(interpolator=Random()).fit(forecast[old], y[old])
        for side, uniform in (("lower", 1 - 1e-6), ("higher", 1e-6)):
            asked = {f"{side}_percentiles": list(100 * LEVELS)}
            theirs = crepes.predict_percentiles(mean[new], **asked, **of(known, new))
            yield calibrated(forecast[new], rng=Given(np.full(M, uniform))).quantiles(LEVELS), theirs


def distributions() -> Pairs:
    from crepes import ConformalPredictiveSystem

    for normalised in (False, True):
        for n in SIZES:
            old, new = slice(0, n), slice(n, None)
            mean, scale, y = heteroscedastic(n, n + M)
            forecast, known = sides(normalised, mean, scale)
            theirs = ConformalPredictiveSystem().fit((y - mean)[old], **of(known, old))
            H = Calibrator(interpolator=Naive()).fit(forecast[old], y[old])(forecast[new])
            yield H.quantiles((np.arange(n) + 0.5) / n), theirs.predict_cpds(mean[new], **of(known, new))


def crps() -> Pairs:
    from crepes import ConformalPredictiveSystem

    for n in (99, 300):  # with fewer rows it warns of its own intervals
        old, new = slice(0, n), slice(n, None)
        mean, _, y = heteroscedastic(n, n + M)
        crepes = ConformalPredictiveSystem().fit((y - mean)[old])
        theirs = crepes.evaluate(mean[new], y[new], metrics=["CRPS"], y_min=-1e9, y_max=1e9)["CRPS"]
        yield np.mean(Calibrator(interpolator=Naive()).fit(mean[old], y[old])(mean[new]).crps(y[new])), theirs


def intervals(normalised: bool) -> Pairs:
    from crepes import ConformalRegressor

    nonconformity = NormalizedResidual() if normalised else AbsoluteResidual()
    for n in (20, 101, 300):  # n + 1 times a coverage is never whole, where crepes may round to another rank
        old, new = slice(0, n), slice(n, None)
        mean, scale, y = heteroscedastic(n, n + M)
        forecast, known = sides(normalised, mean, scale)
        crepes = ConformalRegressor().fit((y - mean)[old], **of(known, old))
        for coverage in (0.5, 0.8, 0.9, 0.93):
            theirs = crepes.predict_int(mean[new], confidence=coverage, **of(known, new))
            ours = ConformalInterval(nonconformity, coverage).fit(forecast[old], y[old])(forecast[new])
            yield np.stack(ours, axis=1), theirs


SYSTEM, REGRESSOR = "ConformalPredictiveSystem", "ConformalRegressor"
CASES = (
    Agreement(
        "crepes",
        "smoothed p-values, with ties",
        f"{SYSTEM}.predict_p",
        "ResidualScore, Random",
        1e-12,
        lambda: smoothed(False),
    ),
    Agreement(
        "crepes",
        "smoothed p-values, normalised, with ties",
        f"{SYSTEM}.predict_p(sigmas=)",
        "ZScore, Random",
        1e-12,
        lambda: smoothed(True),
    ),
    Agreement(
        "crepes",
        "p-values without smoothing, with ties; ours as (n p + 1) / (n + 1)",
        f"{SYSTEM}.predict_p(smoothing=False)",
        "ResidualScore, Naive",
        1e-12,
        unsmoothed,
    ),
    Agreement(
        "crepes",
        "Mondrian p-values, normalised, three groups",
        f"{SYSTEM}.predict_p(bins=)",
        "ZScore, Naive, by=",
        1e-12,
        mondrian,
    ),
    Agreement(
        "crepes",
        "lower and higher percentiles",
        f"{SYSTEM}.predict_percentiles",
        "ResidualScore, Random",
        1e-12,
        lambda: percentiles(False),
    ),
    Agreement(
        "crepes",
        "lower and higher percentiles, normalised",
        f"{SYSTEM}.predict_percentiles(sigmas=)",
        "ZScore, Random",
        1e-12,
        lambda: percentiles(True),
    ),
    Agreement(
        "crepes",
        "whole predictive distributions, plain and normalised",
        f"{SYSTEM}.predict_cpds",
        "Naive, quantiles",
        1e-12,
        distributions,
    ),
    Agreement("crepes", "mean CRPS, not normalised", f"{SYSTEM}.evaluate", "ResidualScore, Naive, crps", 1e-12, crps),
    Agreement(
        "crepes",
        "conformal intervals",
        f"{REGRESSOR}.predict_int",
        "ConformalInterval(AbsoluteResidual())",
        1e-12,
        lambda: intervals(False),
    ),
    Agreement(
        "crepes",
        "conformal intervals, normalised",
        f"{REGRESSOR}.predict_int(sigmas=)",
        "ConformalInterval(NormalizedResidual())",
        1e-12,
        lambda: intervals(True),
    ),
)
