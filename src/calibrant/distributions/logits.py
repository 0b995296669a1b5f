"""Probabilities as logits, log F - log(1 - F): a scale on which neither tail of a law saturates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibrant._arrays import Array, clip, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.solved import Solved

LOGIT_TAIL = np.concatenate([np.arange(1, 40) / 2, np.arange(20, 120, 2), [120, 150, 200, 300, 500, 700.0]])
LOGIT_GRID = np.concatenate([-LOGIT_TAIL[::-1], [0.0], LOGIT_TAIL])
"""Logits of levels that reach as far into both tails as floats do, half a unit apart in the bulk."""


def logit_of(F: Array, S: Array, slowly: Callable[[], Array]) -> Array:
    """log F - log S, from probabilities that are no rounding; where one is, in a slower way."""
    xp = namespace(F)
    tiny = 1e3 * float(xp.finfo(F.dtype).smallest_normal)
    far = (tiny > F) | (tiny > S)
    if not bool(xp.any(far)):
        return xp.log(F) - xp.log(S)
    safe = (xp.where(far, xp.ones_like(p), p) for p in (F, S))
    F, S = safe
    return xp.where(far, slowly(), xp.log(F) - xp.log(S))


@dataclass(frozen=True, eq=False)
class OwnCDF:
    """The map y -> F(y) of each of the laws."""

    law: Distribution

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the laws."""
        return self.law.shape

    def __call__(self, y: Array) -> Array:
        """F(y)."""
        return self.law._cdf(y)

    def inverse(self, s: Array) -> Array:
        """The quantile; the ends of the law for what no probability is."""
        return self.law._ppf(clip(s, 0.0, 1.0))

    def log_slope(self, y: Array) -> Array:
        """log f."""
        return self.law._logpdf(y)


@dataclass(frozen=True, eq=False)
class OwnLogit:
    """The map y -> logit F(y) of each of the laws: what makes of any law the standard logistic one."""

    law: Distribution

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the laws."""
        return self.law.shape

    @property
    def like(self) -> Array:
        """One of their arrays."""
        return self.law.like

    @property
    def solved(self) -> bool:
        """Whether their quantiles are."""
        return isinstance(self.law, Solved)

    @property
    def steep(self) -> bool:
        """It levels off."""
        return False

    def __call__(self, y: Array) -> Array:
        """log F(y) - log(1 - F(y))."""
        return self.law._logit(y)

    def inverse(self, s: Array) -> Array:
        """The quantile at sigmoid(s)."""
        return self.law._ppf_logit(s)

    def inverse_at(self, s: Array) -> Array:
        """The quantiles of all rows at the same levels."""
        return self.law._quantiles_logit(s)

    def log_slope(self, y: Array) -> Array:
        """log f - log F - log(1 - F)."""
        return self.law._logit_and_log_slope(y)[1]

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        """Both at once."""
        return self.law._logit_and_log_slope(y)

    def breaks(self) -> Array:
        """Where a single law bends."""
        return self.law._breaks()

    def places(self, s: Array) -> Array:
        """Those of the law."""
        return self.law._places(s)

    def widest(self, s: Array) -> Array:
        """A unit or so in the bulk, more in the tails, where quantiles grow steadily."""
        xp = namespace(s)
        return xp.maximum(xp.full_like(s, 1.2), xp.abs(s) / 5)
