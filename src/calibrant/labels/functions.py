"""Increasing functions t of a label, and what a prediction or a distribution of Y says of t(Y)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from calibrant._arrays import Array, anywhere, device_like, namespace
from calibrant._special import log_sigmoid, sigmoid
from calibrant.distributions.base import Distribution
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.pulled import Pulled, landed
from calibrant.predictions import Ensemble, Interval, Point, Quantiles, Samples, WithAtom
from calibrant.predictions.base import Prediction
from calibrant.scores.charts import Chart, LogLine
from calibrant.scores.pull_back import pull_back

Elementwise = Callable[[Array], Array]


class Formula(NamedTuple):
    """t, its inverse and log t', with t(lower) = -inf and t(upper) = inf."""

    forward: Elementwise
    inverse: Elementwise
    log_slope: Elementwise
    lower: float = -math.inf
    upper: float = math.inf
    closed: bool = False
    """Whether `lower` itself is a label; then t goes on below it, and distributions are clipped there."""


def _log(y: Array, shift: int = 0) -> Array:
    """log(y + shift), -inf up to -shift."""
    xp, inside = namespace(y), y > -shift
    safe = xp.where(inside, y, xp.full_like(y, 1 - shift))
    return xp.where(inside, xp.log1p(safe) if shift else xp.log(safe), xp.full_like(y, -xp.inf))


def _logit(y: Array) -> Array:
    return _log(y) - _log(1 - y)


def _logit_log_slope(y: Array) -> Array:
    """-log(y (1 - y))."""
    s = _logit(y)
    return -log_sigmoid(s) - log_sigmoid(-s)


def _sqrt_log_slope(y: Array) -> Array:
    """-log(2 sqrt(y)), very large at 0."""
    xp = namespace(y)
    tiny = float(xp.finfo(y.dtype).smallest_normal)
    return -math.log(2) - 0.5 * xp.log(xp.maximum(xp.abs(y), xp.full_like(y, tiny)))


FORMULAS = {
    "log": Formula(_log, lambda s: namespace(s).exp(s), lambda y: -_log(y), 0.0),
    "log1p": Formula(lambda y: _log(y, 1), lambda s: namespace(s).expm1(s), lambda y: -_log(y, 1), -1.0),
    "sqrt": Formula(
        lambda y: namespace(y).sign(y) * namespace(y).sqrt(namespace(y).abs(y)),
        lambda s: s * namespace(s).abs(s),
        _sqrt_log_slope,
        0.0,
        closed=True,
    ),
    "logit": Formula(_logit, sigmoid, _logit_log_slope, 0.0, 1.0),
}


def _yeo_johnson(power: float) -> Formula:
    """((1 + y)^p - 1) / p above 0, -((1 - y)^(2 - p) - 1) / (2 - p) below; a log where the power is 0."""
    if not 0 <= power <= 2:  # beyond, t does not reach the whole line: some of a distribution would have no label
        raise ValueError(f"yeo-johnson takes a power of [0, 2], such as yeo-johnson:0.5, got {power:g}")

    def by_side(function: Callable[[Any, Array, float], Array]) -> Elementwise:
        def both(x: Array) -> Array:
            xp, zero = namespace(x), namespace(x).zeros_like(x)
            above, below = xp.maximum(x, zero), xp.maximum(-x, zero)
            return function(xp, above, power) - function(xp, below, 2 - power)

        return both

    return Formula(
        by_side(lambda xp, x, p: xp.expm1(p * xp.log1p(x)) / p if p else xp.log1p(x)),
        by_side(lambda xp, x, p: xp.expm1(xp.log1p(p * x) / p) if p else xp.expm1(x)),
        lambda y: (power - 1) * namespace(y).sign(y) * namespace(y).log1p(namespace(y).abs(y)),
    )


def _own(t: Elementwise, back: Elementwise, slope: Elementwise | None = None) -> Formula:
    """A pair of functions of the user's; where t is not a number, y lies beyond an end."""

    def forward(y: Array) -> Array:
        s, middle = t(y), back(device_like(0.0, y))
        xp = namespace(s)
        end = xp.where(y < middle, xp.full_like(s, -xp.inf), xp.full_like(s, xp.inf))
        return xp.where(xp.isnan(s), end, s)

    def log_slope(y: Array) -> Array:
        """By differences of the inverse, to nine digits or so, where no slope was given."""
        xp = namespace(y)
        if slope is not None:
            return xp.log(slope(y))
        s = _finite(forward(y))
        h = 1e-3 * xp.maximum(xp.abs(s), xp.ones_like(s))
        near, far = (back(s + k * h) - back(s - k * h) for k in (1, 2))
        return xp.log(12 * h) - xp.log(8 * near - far)

    return Formula(forward, back, log_slope)


def formula_of(by: Any) -> Formula:
    """That of a name, such as log or yeo-johnson:0.5, or of a pair (t, inverse) or a triple with t's slope."""
    if isinstance(by, tuple) and len(by) in (2, 3) and all(map(callable, by)):
        return _own(*by)
    if not isinstance(by, str):
        raise TypeError(f"Transformed takes a name, or a pair (function, inverse), got {by!r}")
    if re.fullmatch(r"yeo-johnson:\d*\.?\d+", by):
        return _yeo_johnson(float(by.partition(":")[2]))
    if by not in FORMULAS:
        known = ", ".join([*FORMULAS, "yeo-johnson:0.5"])
        raise ValueError(f"Transformed takes one of {known}, or a pair of functions, got {by!r}")
    return FORMULAS[by]


def _finite(value: Array) -> Array:
    """0 where it is infinite: beyond the ends of the labels, where nobody asks for a slope."""
    xp = namespace(value)
    return xp.where(xp.isfinite(value), value, xp.zeros_like(value))


@dataclass(frozen=True)
class Function(Chart):
    """s = t(y), one t for all rows."""

    by: str | tuple[Elementwise, ...]

    @property
    def formula(self) -> Formula:
        return formula_of(self.by)

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def __call__(self, y: Array) -> Array:
        with np.errstate(all="ignore"):
            return self.formula.forward(y)

    def inverse(self, s: Array) -> Array:
        with np.errstate(all="ignore"):
            return self.formula.inverse(s)

    def log_slope(self, y: Array) -> Array:
        with np.errstate(all="ignore"):
            return _finite(self.formula.log_slope(y))


@dataclass(frozen=True)
class Inverse(Chart):
    """y = t^-1(s), one t for all rows."""

    function: Function

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def __call__(self, y: Array) -> Array:
        return self.function.inverse(y)

    def inverse(self, s: Array) -> Array:
        return self.function(s)

    def log_slope(self, y: Array) -> Array:
        return -self.function.log_slope(self.function.inverse(y))


def through(function: Function | Inverse, law: Distribution) -> Distribution:
    """The distribution of the Y with t(Y) ~ law, for a batch.

    log(Y + c) = f + S has Y = exp(f) exp(S) - c: one q of exp(S) for all rows, and one table.
    """
    logs = function in (Function("log"), Function("log1p"))
    if logs and isinstance(law, LocationScale) and not law.base.shape and not anywhere(law.scale != 1):
        xp, c = namespace(law.loc), -cast(Function, function).formula.lower
        H = pull_back(law.base, LogLine(xp.full_like(law.loc, -c), xp.exp(law.loc)))
        return H.clip(-c) if anywhere(law.base.cdf(-math.inf) > 0) else H
    return landed(Pulled(function, law))


def mapped(
    prediction: Any, function: Callable[[Array, str], Array], of_law: Callable[[Distribution], Distribution]
) -> Prediction | Distribution:
    """What a prediction of Y says of t(Y): numbers by `function(values, name)`, distributions by `of_law`.

    A point becomes t of the point, which is a median where the point is one, and no mean.
    """
    match prediction:
        case Distribution():
            return of_law(prediction)
        case Point():
            return Point(function(prediction.values, "Point.values"))
        case Interval():
            ends = (function(getattr(prediction, name), f"Interval.{name}") for name in ("lower", "upper"))
            return Interval(*ends)
        case Quantiles():
            return Quantiles(prediction.levels, function(prediction.values, "Quantiles.values"))
        case Samples():
            return Samples(function(prediction.values, "Samples.values"))
        case WithAtom():
            return WithAtom(mapped(prediction.prediction, function, of_law), prediction.share)
        case Ensemble():
            return Ensemble([mapped(member, function, of_law) for member in prediction.members], prediction.weights)
    raise TypeError(f"it is not known what {prediction!r} says of a function of the label: transform it yourself")
