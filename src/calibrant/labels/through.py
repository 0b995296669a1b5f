"""A law of t(Y) as one of Y, and the other way round: the exact change of variables."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from calibrant._arrays import Array, anywhere, device_like, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.clipped import Clipped
from calibrant.distributions.joined import Joined
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.mixture import Mixture
from calibrant.distributions.pulled import Pulled
from calibrant.distributions.pulled_broken import PulledBroken
from calibrant.distributions.randomised import Randomised
from calibrant.labels.functions import Function, Log, Log1p
from calibrant.scores.pull_back import pull_back
from calibrant.scores.transforms import Affine, Logarithm, Transform


@dataclass(frozen=True, eq=False)
class Through(Transform):
    """s = chart(t(y)), with one t for all rows."""

    function: Function = field(metadata={"shared": True})
    chart: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.chart.shape)

    def __call__(self, y: Array) -> Array:
        return self.chart(self.function.forward(y))  # type: ignore[no-any-return]

    def inverse(self, s: Array) -> Array:
        return self.function.inverse(self.chart.inverse(s))

    def inverse_with_width(self, s: Array) -> tuple[Array, Array]:
        """dy/ds is that of the chart over the slope of t."""
        t, width = self.chart.inverse_with_width(s)
        y = self.function.inverse(t)
        return y, width * namespace(y).exp(-self.function.log_slope(y))

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        s, log_slope = self.chart.with_slope(self.function.forward(y))
        return s, log_slope + self.function.log_slope(y)

    @property
    def standard(self) -> tuple[Array, Array, Transform] | None:
        """log(y + c) - f = log z, z = (y + c) / exp(f): one map for all rows."""
        one_unit = isinstance(self.chart, Affine) and self.shape and not anywhere(self.chart.scale != 1)
        if not one_unit or not isinstance(self.function, (Log, Log1p)):
            return None
        loc = self.chart.loc
        return namespace(loc).full_like(loc, self.function.lower), Log().inverse(loc), Logarithm()

    @property
    def bends(self) -> Array | None:
        return self.chart.bends  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Alone(Transform):
    """s = t(y), the same for all rows."""

    function: Function

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def __call__(self, y: Array) -> Array:
        return self.function.forward(y)

    def inverse(self, s: Array) -> Array:
        return self.function.inverse(s)

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        return self(y), self.function.log_slope(y)


def through(function: Function, law: Distribution) -> Distribution:
    """The law of the Y with t(Y) ~ law, for a batch: q itself is pulled back, wherever a law has one."""

    def again(part: Distribution) -> Distribution:
        return through(function, part)

    match law:
        case Mixture():
            return Mixture(tuple(map(again, law.components)), law.weights)
        case Joined():
            return law.mapped(lambda part, rows: again(part))
        case Clipped():
            lower, upper = (_image(function, bound, law.like) for bound in (law.lower, law.upper))
            return again(law.base).clip(lower, upper)
        case Randomised():
            lower, upper = (function.inverse(end) for end in (law.lower, law.upper))
            return replace(law, atoms=again(law.atoms), lower=lower, upper=upper)
        case LocationScale() if not law.base.shape:
            return pull_back(law.base, Through(function, Affine(law.loc, law.scale)))
        case Pulled() | PulledBroken() if not law.q.shape and law.map.shape:
            return pull_back(law.q, Through(function, law.map))
    return Pulled(Alone(function), law)


def _image(function: Function, bound: Any, like: Array) -> Any:
    """The label at a bound of t(Y): a number for a number, an array for an array."""
    if isinstance(bound, float):
        return float(function.inverse(device_like(bound, like)))
    return function.inverse(bound)
