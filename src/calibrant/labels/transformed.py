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
from calibrant.labels.base import Labels
from calibrant.labels.functions import Elementwise, Formula, Function, Inverse, formula_of, through
from calibrant.predictions.base import Prediction
from calibrant.predictions.mapped import mapped

_MOST = 0.999  # of the mass of a law may lie where no label can be


@dataclass(frozen=True)
class Transformed(Labels):
    """t(Y) = Y' with an increasing t: calibration happens on the scale of t, all that goes in or comes out is in y's.

    `by` is log, log1p, sqrt, logit, yeo-johnson:0.5 (a power of [0, 2]), or a pair (t, inverse) of increasing functions
    of an array, of which t maps the labels onto the whole line; a third one, t's slope, makes densities faster.

    The law of Y is exact: its density has the factor t'(y), its quantiles are those of Y' taken back, and mean, std and
    crps are integrals in y's own unit. A predicted law that has mass where t is not defined, as a normal law has below
    0, is taken given that the label lies inside. A mean may be infinite: that of a log is, where the upper tail of q
    has a mean excess of 1 or more.

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
        """Raise where y has no t(y)."""
        del bound
        self._inside(y, "y")

    def spread(self, y: Array, prediction: Any, *, bound: Bound = None, rng: Draws = None) -> Array:
        """t(y)."""
        del prediction, bound, rng
        return self._inside(y, "y")

    def spread_prediction(self, prediction: Any, *, bound: Bound = None) -> Prediction | Distribution:
        """t of its numbers, and of a law the law of t(Y)."""
        del bound
        return mapped(prediction, self._inside, self._law)

    def collapse(self, law: Distribution, *, bound: Bound = None) -> Distribution:
        """The law of the Y with t(Y) ~ law."""
        del bound
        H, t = through(self.function, law), self._formula
        return H.clip(t.lower) if t.closed else H

    def _inside(self, values: Array, name: str) -> Array:
        """t(values), all of which must be finite."""
        s = self.function(values)
        bad = ~namespace(s).isfinite(s) | (values < self._formula.lower)
        if anywhere(bad):
            row, count = first_and_count(bad)
            first = values[row] if values.ndim == 1 else values[row, ...][bad[row, ...]][0]
            where = f"in row {row} ({in_all(count)})"
            raise ValueError(f"{name} is {float(first):g} {where}, outside the domain of {self}{self._way_out(name)}")
        return s

    def _way_out(self, name: str) -> str:
        """What helps where labels may well be at the end of the domain."""
        if name == "y" and self.by == "log":
            return ": log1p takes 0 too"
        if name != "y" and self.by in ("log1p", "sqrt"):
            return f": chained behind a bound, '0:,{self.by}', it takes forecasts below 0"
        return ""

    def _law(self, law: Distribution) -> Distribution:
        """The law of t(Y), Y ~ law."""
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
        named = self.by if isinstance(self.by, str) else ", ".join(getattr(f, "__name__", repr(f)) for f in self.by)
        return f"Transformed({named})"
