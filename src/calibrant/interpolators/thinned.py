"""A linear q with fewer knots, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from calibrant._arrays import Array, device_like, to_numpy
from calibrant.distributions.base import Distribution
from calibrant.distributions.logistic_linear import LogisticLinear
from calibrant.distributions.piecewise import PiecewiseLinear
from calibrant.interpolators.linear import Linear
from calibrant.interpolators.support import REAL_LINE, Support


@dataclass(frozen=True)
class Thinned:
    """`Linear` on at most so many of its knots, of which the outer ones lie closer: lambda is what was measured.

    `calibrant.thinned` makes it of what was calibrated.
    """

    knots: int
    measured: float
    """sup |q - q of all knots| (n + 1)."""
    linear: Linear = field(default_factory=Linear)

    def fit(
        self, scores: Array, *, support: Support = REAL_LINE, rng: np.random.Generator | None = None
    ) -> Distribution:
        """The law of these scores, thinned; how far it is off is in what `calibrant.thinned` gives, not here."""
        return fewer(self.linear.fit(scores, support=support, rng=rng), self.knots)[0]

    def accuracy(self, n: int) -> float:
        """What was measured."""
        del n
        return self.measured


def fewer(q: Distribution, most: int) -> tuple[Distribution, float]:
    """A law through some of the knots of a linear q, and sup |law - q|, which is measured at all of them.

    The kept ranks are n sin^2(t), t evenly spaced: every one of them at the ends, where scores lie far apart, and the
    fewest in the middle. Both sides of the largest jumps are kept.
    """
    if not isinstance(q, (PiecewiseLinear, LogisticLinear)):
        raise TypeError(f"a linear q of one law for all rows can be thinned, got {q!r}")
    knots, probs = to_numpy(q.knots), to_numpy(q.probs)
    count = knots.size
    if count <= most:
        return q, 0.0
    jumps = np.flatnonzero(np.diff(knots) == 0)
    tied = _largest_jumps(knots, probs, jumps, most // 4)
    spaced = np.rint((count - 1) * np.sin(np.linspace(0, np.pi / 2, most - tied.size)) ** 2).astype(np.int64)
    kept = np.unique(np.concatenate([spaced, tied]))
    thin = replace(q, knots=device_like(knots[kept], q.knots), probs=device_like(probs[kept], q.probs))
    off = max(
        float(np.max(np.abs(to_numpy(getattr(thin, side)(q.knots)) - to_numpy(getattr(q, side)(q.knots)))))
        for side in ("cdf", "cdf_left")
    )
    return thin, off


def _largest_jumps(knots: Any, probs: Any, jumps: Any, most: int) -> Any:
    """The first and the last knot of the largest jumps."""
    if not jumps.size or most < 2:
        return np.zeros(0, np.int64)
    starts = jumps[np.concatenate([[True], np.diff(jumps) > 1])]
    ends = np.searchsorted(knots, knots[starts], side="right") - 1
    large = np.argsort(probs[starts] - probs[ends], kind="stable")[: most // 2]
    return np.concatenate([starts[large], ends[large]])
