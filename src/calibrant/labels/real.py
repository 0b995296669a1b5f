"""Labels on the real line, or on a part of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from calibrant._arguments import one_number
from calibrant._arrays import Array, anywhere, clip, first_and_count, refuse
from calibrant._types import Bound as RowBounds
from calibrant.distributions.base import Distribution
from calibrant.labels.base import Labels, column_of, refuse_labels, shown
from calibrant.labels.transformed import mapped
from calibrant.predictions.base import Prediction

Bound = float | str | Callable[[Any], Any] | None
"""One number, the name of a column of `bound`, a function of `bound`; None is no bound."""


@dataclass(frozen=True)
class Real(Labels):
    """Y = min(max(Y', lower), upper): what the distribution has beyond a bound piles up on the bound.

    Labels are inside the bounds, so Y' = Y and calibration is what it was: an interval contains every label that it
    contained without the bounds, and is never longer.

    A bound that differs from row to row is given at every call: `fit(prediction, y, bound=...)` and
    `calibrated(prediction, bound=...)`. Here it is the name of its column in `bound`, or a function of `bound`; an
    array in place of a table will do where there is one such bound. `CalibratedRegressor` passes its X.

    >>> from calibrant import Calibrator
    >>> calibrated = Calibrator(labels=Real(0, upper="capacity")).fit([2.0, 5.0, 6.0], [1.0, 6.0, 6.0], bound=[6, 6, 9])
    >>> calibrated([5.0, 5.0], bound=[8.0, 5.5]).interval(0.5)
    (array([4., 4.]), array([6. , 5.5]))
    """

    lower: Bound = None
    upper: Bound = None

    def __post_init__(self) -> None:
        for name, bound, none in (("lower", self.lower, -math.inf), ("upper", self.upper, math.inf)):
            if not (isinstance(bound, str) or callable(bound)):
                number = none if bound is None else one_number(f"Real.{name}", bound)
                if math.isnan(number) or number == -none:
                    raise ValueError(f"Real.{name} must be a number, got {bound!r}")
                object.__setattr__(self, name, None if number == none else number)
        if isinstance(self.lower, float) and isinstance(self.upper, float) and not self.lower < self.upper:
            raise ValueError(f"Real needs lower < upper, got {self.lower:g} and {self.upper:g}")

    @property
    def by_row(self) -> bool:
        return not all(bound is None or isinstance(bound, float) for bound in (self.lower, self.upper))

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(bound for bound in (self.lower, self.upper) if isinstance(bound, str)))

    def check(self, y: Array, bound: RowBounds = None) -> None:
        """Raise where y lies outside."""
        lower, upper = self._bounds(y, bound)
        for bad, side, limit in ((y < lower, "below", lower), (y > upper, "above", upper)):
            if anywhere(bad):
                at = float(limit[first_and_count(bad)[0]] if getattr(limit, "ndim", 0) else limit)
                refuse_labels("y", y, bad, f", {side} the bound {at:g} of {self}")

    def collapse(self, distribution: Distribution, *, bound: RowBounds = None) -> Distribution:
        """The distribution clipped."""
        return distribution if self == Real() else distribution.clip(*self._bounds(distribution, bound))

    def clip_prediction(self, prediction: Any, *, bound: RowBounds = None) -> Prediction | Distribution:
        """The prediction clipped to the bounds, beyond which a transform that follows may not be defined."""
        lower, upper = self._bounds(prediction, bound)

        def clipped(values: Array, name: str) -> Array:
            ends = [end[:, None] if getattr(end, "ndim", 0) and values.ndim == 2 else end for end in (lower, upper)]
            return clip(values, *ends)

        return mapped(prediction, clipped, lambda distribution: distribution.clip(lower, upper))

    def _bounds(self, rows: Any, bound: RowBounds) -> tuple[Any, Any]:
        """Both bounds: numbers, or one number for each of these rows."""
        lower: Any = -math.inf if self.lower is None else self.lower
        upper: Any = math.inf if self.upper is None else self.upper
        if not isinstance(lower, float):
            lower = column_of(self, lower, bound, f"the lower bound of {self}", rows)
        if not isinstance(upper, float):
            upper = column_of(self, upper, bound, f"the upper bound of {self}", rows)
        if self.by_row:
            refuse(f"the lower bound of {self}", lower > upper, "is above the upper one")
        return lower, upper

    def __repr__(self) -> str:
        return f"Real({shown(self.lower)}, {shown(self.upper)})"
