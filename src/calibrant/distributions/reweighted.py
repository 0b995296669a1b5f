"""q under covariate shift: one weighted distribution, and one number per row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arrays import Array, clip, device_like, first_and_count, floats, namespace, refuse, to_numpy
from calibrant._batch import shared
from calibrant._words import count, the_first, warn_user
from calibrant.distributions.base import Distribution
from calibrant.distributions.bent import Bent
from calibrant.distributions.context import Context
from calibrant.distributions.forwarding import Forwarding
from calibrant.distributions.pulled import ByRow, Pull, no_rows_yet

_LARGEST_RATIO = 1e30  # a row of a larger one has all of its mass in the tails, as has one of this


@dataclass(frozen=True, eq=False, repr=False)
class Reweighted(Forwarding, ByRow):
    """q_x = (1 - p_x) F_w + p_x tails, p_x = w(x) / (N + w(x)), for rows with likelihood ratios w(x).

    `base` is q of a row with ratio 1, and what this answers before it meets its rows. N = `total` is the sum of the
    calibration weights in the same unit. Another ratio moves mass between the scores and the tails and changes no
    shape, so that q_x is a function of the base's F:

        q_x = ((N + 1) F + (w - 1) / 2) / (N + w)    for low <= F <= high,

    and straight from there to (0, 0) and (1, 1).
    """

    base: Distribution
    unit: float = shared()
    """The ratio, as it was given, that counts as 1: sum of w^2 / sum of w of the calibration rows."""
    total: float = shared()
    low: float = shared()
    """The level at which the lower tail of `base` ends."""
    high: float = shared()
    """The level at which its upper tail starts."""

    def __post_init__(self) -> None:
        """0 < low <= high < 1, or no tails: 0 and 1."""
        if not (0 < self.low <= self.high < 1 or (self.low, self.high) == (0, 1)):
            ends = f"{self.low} and {self.high}"
            raise ValueError(f"its tails must end inside (0, 1), in order, or it has none, got {ends}")

    def for_rows(self, context: Context) -> Distribution:
        """Those of rows with these ratios; one for all where no tail takes mass from the scores."""
        w, N = ratios_of(context, self.base.like, self.unit), self.total
        if self.low == 0:
            return self.base
        if bool(namespace(w).any(w > N)):  # p_x > 1/2
            first, number = first_and_count(w > N)
            which, theirs, them = f"the weight of row {first} is", "its distribution is", "it"
            if number > 1:
                which = f"weights of {count(number, 'row')}, {the_first(number, first)}, are"
                theirs, them = "their distributions are", "them"
            warn_user(
                f"{which} larger than those of all calibration rows together: {theirs} mostly tails, since nearly no"
                f" calibration rows are like {them}"
            )
        tails = [device_like(mass, w) + 0 * w for mass in (self.low, 1 - self.high)]
        own = [clip(((N + 1) * mass + (w - 1) / 2) / (N + w), 0.0, np.inf) for mass in tails]
        return Bent(self.base, *tails, *own)

    def pulled(self, map: Any, pull: Pull) -> Distribution:
        """No H: there is one for each row, once the rows are known."""
        raise no_rows_yet("a weighted q")


def ratios_of(context: Context, like: Array, unit: float) -> Array:
    """The likelihood ratios of the rows in a unit, in the home of `like`: not negative, and given."""
    if context.by is not None:
        raise TypeError("q was weighted by likelihood ratios and takes no by=")
    if context.weights is None:
        raise TypeError("q was weighted by likelihood ratios: pass weights=, those of the new rows, too")
    ratios = floats("weights", context.weights, ndim=1)
    refuse("weights", ratios < 0, "is negative")
    with np.errstate(over="ignore"):
        return device_like(np.minimum(to_numpy(ratios) / unit, _LARGEST_RATIO), like)
