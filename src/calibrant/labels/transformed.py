"""Labels that are easier on another scale: t(y) for an increasing function t."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from calibrant._arrays import Array, anywhere, device_like, namespace, refuse
from calibrant._batch import row_fields
from calibrant._special import log_logistic, logit, sigmoid
from calibrant._types import Bound, Draws
from calibrant.distributions import LogNormal, Normal
from calibrant.distributions.base import Distribution
from calibrant.distributions.bent import Truncated
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.pulled import ByRow, Pulled, landed
from calibrant.labels.base import Labels, refuse_labels, shown
from calibrant.predictions import Ensemble, Interval, Point, Prediction, Quantiles, Samples, WithAtom
from calibrant.scores.pull_back import pull_back
from calibrant.scores.transforms.base import Affine, Transform
from calibrant.scores.transforms.combined import Composed
from calibrant.scores.transforms.curves import Logarithm

Elementwise = Callable[[Array], Array]
_MOST = 0.999  # of the mass of a distribution may lie where no label can be


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
    xp = namespace(y)
    with np.errstate(all="ignore"):
        return xp.where(y > -shift, xp.log1p(y) if shift else xp.log(y), xp.full_like(y, -xp.inf))


def _sqrt_log_slope(y: Array) -> Array:
    """-log(2 sqrt(y)), very large at 0."""
    tiny = float(namespace(y).finfo(y.dtype).smallest_normal)
    return -math.log(2) - 0.5 * namespace(y).log(abs(y) + tiny)


FORMULAS = {
    "log": Formula(_log, lambda s: namespace(s).exp(s), lambda y: -_log(y), 0.0),
    "log1p": Formula(lambda y: _log(y, 1), lambda s: namespace(s).expm1(s), lambda y: -_log(y, 1), -1.0),
    "sqrt": Formula(
        lambda y: namespace(y).sign(y) * abs(y) ** 0.5,
        lambda s: s * abs(s),
        _sqrt_log_slope,
        0.0,
        closed=True,
    ),
    "logit": Formula(logit, sigmoid, lambda y: -log_logistic(logit(y)), 0.0, 1.0),
}


def _yeo_johnson(power: float) -> Formula:
    """((1 + y)^p - 1) / p above 0, -((1 - y)^(2 - p) - 1) / (2 - p) below; a log where the power is 0."""
    if not 0 <= power <= 2:  # beyond, t does not reach the whole line: some of a distribution would have no label
        raise ValueError(f"yeo-johnson takes a power of [0, 2], such as yeo-johnson:0.5, got {power:g}")

    def by_side(function: Callable[[Any, Array, float], Array]) -> Elementwise:
        def both(x: Array) -> Array:
            xp, zero = namespace(x), namespace(x).zeros_like(x)
            return function(xp, xp.maximum(x, zero), power) - function(xp, xp.maximum(-x, zero), 2 - power)

        return both

    return Formula(
        by_side(lambda xp, x, p: xp.expm1(p * xp.log1p(x)) / p if p else xp.log1p(x)),
        by_side(lambda xp, x, p: xp.expm1(xp.log1p(p * x) / p) if p else xp.expm1(x)),
        lambda y: (power - 1) * namespace(y).sign(y) * namespace(y).log1p(abs(y)),
    )


def _own(t: Elementwise, back: Elementwise, slope: Elementwise | None = None) -> Formula:
    """A pair of functions of the user's; where t is not a number, y lies beyond an end."""

    def forward(y: Array) -> Array:
        s, xp = t(y), namespace(y)
        end = xp.where(y < back(device_like(0.0, y)), xp.full_like(s, -xp.inf), xp.full_like(s, xp.inf))
        return xp.where(xp.isnan(s), end, s)

    def log_slope(y: Array) -> Array:
        """By differences of the inverse, to nine digits or so, where no slope was given."""
        xp = namespace(y)
        if slope is not None:
            return xp.log(slope(y))
        s = _finite(forward(y))
        h = 1e-3 * xp.maximum(abs(s), xp.ones_like(s))
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
    """0 where it is infinite: beyond the ends of the labels, where the slope does not matter."""
    xp = namespace(value)
    return xp.where(xp.isfinite(value), value, xp.zeros_like(value))


@dataclass(frozen=True)
class Function(Transform):
    """s = t(y), one t for all rows."""

    by: str | tuple[Elementwise, ...]

    shape: ClassVar[tuple[int, ...]] = ()

    @property
    def formula(self) -> Formula:
        return formula_of(self.by)

    def __call__(self, y: Array) -> Array:
        with np.errstate(all="ignore"):
            return self.formula.forward(y)

    def inverse(self, s: Array) -> Array:
        with np.errstate(all="ignore"):
            return self.formula.inverse(s)

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        with np.errstate(all="ignore"):
            return self(y), _finite(self.formula.log_slope(y))


class Inverse(Function):
    """y = t^-1(s)."""

    @property
    def formula(self) -> Formula:
        t = formula_of(self.by)
        return Formula(t.inverse, t.forward, lambda s: -_finite(t.log_slope(t.inverse(s))))


def through(function: Function, distribution: Distribution) -> Distribution:
    """The distribution of the Y with t(Y) ~ distribution, for a batch.

    log(Y + c) = f + S has Y = exp(f) exp(S) - c: one q of exp(S) for all rows, and one table.
    """
    if isinstance(distribution, ByRow):
        return distribution.pulled(function, lambda part, _: through(function, part))
    if isinstance(distribution, LocationScale) and not isinstance(function, Inverse) and not distribution.base.shape:
        loc, q = distribution.loc, distribution.base
        if function.by in ("log", "log1p") and not anywhere(distribution.scale != 1):
            xp, least = namespace(loc), function.formula.lower
            H = pull_back(q, Composed(Affine(xp.full_like(loc, least), xp.exp(loc)), Logarithm()))
            return H.clip(least) if anywhere(q.cdf(-math.inf) > 0) else H
    return landed(Pulled(function, distribution))


def mapped(
    prediction: Any, function: Callable[[Array, str], Array], of_distribution: Callable[[Distribution], Distribution]
) -> Prediction | Distribution:
    """The prediction of t(Y), from that of Y: numbers by `function(values, name)`, distributions by `of_distribution`.

    A point becomes t of the point, which is a median where the point is one, and no mean.
    """
    match prediction:
        case Distribution():
            return of_distribution(prediction)
        case Point():
            return Point(function(prediction.values, "Point.values"))
        case Interval() | Quantiles() | Samples():
            kind = type(prediction).__name__
            changed: Any = {name: function(values, f"{kind}.{name}") for name, values in row_fields(prediction)}
            return replace(prediction, **changed)
        case WithAtom():
            return WithAtom(mapped(prediction.prediction, function, of_distribution), prediction.share)
        case Ensemble():
            members = [mapped(member, function, of_distribution) for member in prediction.members]
            return Ensemble(members, prediction.weights)
    raise TypeError(f"{prediction!r} cannot be transformed with the labels: transform it yourself")


@dataclass(frozen=True)
class Transformed(Labels):
    """t(Y) = Y' with an increasing t: calibration happens on the scale of t, all that goes in or comes out is in y's.

    `by` is log, log1p, sqrt, logit, yeo-johnson:0.5 (a power of [0, 2]), or a pair (t, inverse) of increasing functions
    of an array, of which t maps the labels onto the whole line; a third one, t's slope, makes densities faster.

    The distribution of Y is exact: its density has the factor t'(y), its quantiles are those of Y' taken back, and
    mean, std and crps are integrals in y's own unit. A predicted distribution that has mass where t is not defined, as
    a normal one has below 0, is taken given that the label lies inside. A mean may be infinite: that of a log is, where
    the upper tail of q has a mean excess of 1 or more.

    >>> from calibrant import Calibrator
    >>> calibrated = Calibrator(labels=Transformed("log")).fit([100.0, 200.0, 400.0], [80.0, 200.0, 500.0])
    >>> calibrated([100.0, 1000.0]).interval(0.5)
    (array([ 80., 800.]), array([ 125., 1250.]))
    """

    by: str | tuple[Elementwise, ...]

    def __post_init__(self) -> None:
        formula_of(self.by)  # which checks it

    @property
    def function(self) -> Function:
        """t."""
        return Function(self.by)

    def check(self, y: Array, bound: Bound = None) -> None:
        self._inside(y, "y")

    def spread(self, y: Array, prediction: Any, *, bound: Bound = None, rng: Draws = None) -> Array:
        """t(y)."""
        return self._inside(y, "y")

    def spread_prediction(self, prediction: Any, *, bound: Bound = None) -> Prediction | Distribution:
        """t of its numbers, and of a distribution that of t(Y)."""
        return mapped(prediction, self._inside, self._transformed)

    def collapse(self, distribution: Distribution, *, bound: Bound = None) -> Distribution:
        """The distribution of the Y with t(Y) ~ distribution."""
        H, t = through(self.function, distribution), self.function.formula
        return H.clip(t.lower) if t.closed else H

    def _inside(self, values: Array, name: str) -> Array:
        """t(values), all of which must be finite."""
        s, way = self.function(values), ""
        if name == "y" and self.by == "log":
            way = ": log1p takes 0 too"
        if name != "y" and self.by in ("log1p", "sqrt"):
            way = f": chained behind a bound, '0:,{self.by}', it takes forecasts below 0"
        bad = ~namespace(s).isfinite(s) | (values < self.function.formula.lower)
        refuse_labels(name, values, bad, f", outside the domain of {self}{way}")
        return s

    def _transformed(self, distribution: Distribution) -> Distribution:
        """The distribution of t(Y), Y ~ distribution, given that Y lies in the domain of t."""
        t = self.function.formula
        if self.by == "log" and isinstance(distribution, LogNormal):
            return Normal(distribution.mu, distribution.sigma)
        below = distribution.cdf_left(t.lower) if t.closed else distribution.cdf(t.lower)
        above = 1 - distribution.cdf_left(t.upper) if t.upper < math.inf else distribution.sf(t.upper)
        refuse(repr(distribution), below + above > _MOST, f"has hardly any of its mass inside the domain of {self}")
        if anywhere(below + above > 0):
            distribution = Truncated(distribution, below, above, 0 * below, 0 * above).clip(t.lower, t.upper)
        return through(Inverse(self.by), distribution)

    def __repr__(self) -> str:
        return f"Transformed({self.by if isinstance(self.by, str) else ', '.join(map(shown, self.by))})"
