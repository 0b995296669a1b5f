"""Labels that are easier on another scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array, anywhere, first_and_count, namespace
from calibrant.distributions import LogNormal, Normal
from calibrant.distributions.base import Distribution
from calibrant.labels.base import Labels
from calibrant.labels.functions import Backwards, Function, Log, function_of
from calibrant.labels.through import through
from calibrant.predictions.mapped import mapped

Elementwise = Callable[[Array], Array]


@dataclass(frozen=True)
class Transformed(Labels):
    """t(Y) = Y' with an increasing t: calibration happens on the scale of t, all that goes in or comes out is in y's.

    `by` is log, log1p, sqrt, logit, yeo-johnson:0.5 (a power of [0, 2]), or a pair (t, inverse) of increasing functions
    of an array, of which t maps the labels onto the whole line; a third one, t's slope, makes densities faster.

    The law of Y is exact: its density has the factor t'(y), its quantiles are those of Y' taken back, and mean, std and
    crps are integrals in y's own unit. A mean may be infinite: that of a log is, where the upper tail of q has a mean
    excess of 1 or more.

    >>> from calibrant import Calibrator
    >>> calibrated = Calibrator(labels=Transformed("log")).fit([100.0, 200.0, 400.0], [80.0, 200.0, 500.0])
    >>> calibrated([100.0, 1000.0]).interval(0.5)
    (array([ 80., 800.]), array([ 125., 1250.]))
    """

    by: str | tuple[Elementwise, ...]

    def __post_init__(self) -> None:
        function_of(self.by)  # which says what is wrong with it

    @property
    def function(self) -> Function:
        """t."""
        return function_of(self.by)

    def check(self, y: Array, bound: Any = None) -> None:
        """Raise where y has no t(y)."""
        del bound
        self._inside(y, "y")

    def spread(self, y: Array, prediction: Any, *, bound: Any = None, rng: Any = None) -> Array:
        """t(y)."""
        del prediction, bound, rng
        return self._inside(y, "y")

    def spread_prediction(self, prediction: Any, *, bound: Any = None) -> Any:
        """t of its numbers, and of a law the law of t(Y)."""
        del bound
        return mapped(prediction, self._inside, self._law)

    def collapse(self, law: Distribution, *, bound: Any = None) -> Distribution:
        """The law of the Y with t(Y) ~ law."""
        del bound
        t = self.function
        H = through(t, law)
        lower, upper = max(t.lower, t.least), t.upper
        # mass that q has at infinity lies on the ends of the labels
        beyond = anywhere(law.cdf(-float("inf")) > 0) or anywhere(law.sf(float("inf")) > 0)
        return H.clip(lower, upper) if t.least > t.lower or (beyond and upper - lower < float("inf")) else H

    def _inside(self, values: Array, name: str) -> Array:
        """t(values), all of which must be finite."""
        t = self.function
        s = t.forward(values)
        bad = ~namespace(s).isfinite(s) | (values < t.least)
        if anywhere(bad):
            row, count = first_and_count(bad)
            first = values[row] if values.ndim == 1 else values[row, ...][bad[row, ...]][0]
            where = f"in row {row} ({count} rows in all)"
            raise ValueError(f"{name} is {float(first):g} {where}, outside the domain of {self}")
        return s

    def _law(self, law: Distribution) -> Distribution:
        """The law of t(Y), Y ~ law."""
        t = self.function
        if isinstance(t, Log) and isinstance(law, LogNormal):
            return Normal(law.mu, law.sigma)
        lost = law.cdf(t.lower) + law.cdf_left(t.least) + law.sf(t.upper)
        if anywhere(lost > 0):
            row, count = first_and_count(lost > 0)
            raise ValueError(
                f"{law!r} has {float(lost[row]):.2g} of its mass outside the domain of {self} in row {row}"
                f" ({count} rows in all): predict a law that stays inside, or clip it"
            )
        return through(Backwards(t), law)

    def __repr__(self) -> str:
        named = self.by if isinstance(self.by, str) else ", ".join(getattr(f, "__name__", repr(f)) for f in self.by)
        return f"Transformed({named})"
