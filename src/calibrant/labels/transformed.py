"""Labels that are easier on another scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array, anywhere, first_and_count, namespace
from calibrant._types import Bound, Draws
from calibrant._words import in_all
from calibrant.distributions import LogNormal, Normal
from calibrant.distributions.base import Distribution
from calibrant.distributions.truncated import Truncated
from calibrant.labels.base import Labels, refuse_labels, shown
from calibrant.labels.functions import Elementwise, Formula, Function, Inverse, formula_of, mapped, through
from calibrant.predictions.base import Prediction

_MOST = 0.999  # of the mass of a distribution may lie where no label can be


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
        formula_of(self.by)  # which says what is wrong with it

    @property
    def function(self) -> Function:
        """t."""
        return Function(self.by)

    @property
    def _formula(self) -> Formula:
        return formula_of(self.by)

    def check(self, y: Array, bound: Bound = None) -> None:
        self._inside(y, "y")

    def spread(self, y: Array, prediction: Any, *, bound: Bound = None, rng: Draws = None) -> Array:
        """t(y)."""
        return self._inside(y, "y")

    def spread_prediction(self, prediction: Any, *, bound: Bound = None) -> Prediction | Distribution:
        """t of its numbers, and of a distribution that of t(Y)."""
        return mapped(prediction, self._inside, self._transformed)

    def collapse(self, law: Distribution, *, bound: Bound = None) -> Distribution:
        """The distribution of the Y with t(Y) ~ law."""
        H, t = through(self.function, law), self._formula
        return H.clip(t.lower) if t.closed else H

    def _inside(self, values: Array, name: str) -> Array:
        """t(values), all of which must be finite."""
        s, way = self.function(values), ""
        if name == "y" and self.by == "log":
            way = ": log1p takes 0 too"
        if name != "y" and self.by in ("log1p", "sqrt"):
            way = f": chained behind a bound, '0:,{self.by}', it takes forecasts below 0"
        bad = ~namespace(s).isfinite(s) | (values < self._formula.lower)
        refuse_labels(name, values, bad, f", outside the domain of {self}{way}")
        return s

    def _transformed(self, law: Distribution) -> Distribution:
        """The distribution of t(Y), Y ~ law, given that Y lies in the domain of t."""
        t = self._formula
        if self.by == "log" and isinstance(law, LogNormal):
            return Normal(law.mu, law.sigma)
        below = law.cdf_left(t.lower) if t.closed else law.cdf(t.lower)
        above = 1 - law.cdf_left(t.upper) if t.upper < math.inf else law.sf(t.upper)
        outside = below + above
        if anywhere(outside > _MOST):
            row, count = first_and_count(outside > _MOST)
            raise ValueError(
                f"{law!r} has {float(outside[row]):.4g} of its mass outside the domain of {self} in row {row}"
                f" ({in_all(count)}): hardly anything is left of it inside"
            )
        if anywhere(outside > 0):
            law = Truncated(law, below, above, (t.lower, t.upper))
        return through(Inverse(self.function), law)

    def __repr__(self) -> str:
        return f"Transformed({self.by if isinstance(self.by, str) else ', '.join(map(shown, self.by))})"
