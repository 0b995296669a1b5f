"""The lambda guard: a learned law bent until it is as accurate as it promised to be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from calibrant._arrays import Array, clip, concatenate, device_like, namespace
from calibrant._batch import shared
from calibrant.distributions.base import Distribution, Integrated, PartialMoments, Squares, safe_log
from calibrant.distributions.mixture import Mixture
from calibrant.distributions.piecewise import PiecewiseLinear
from calibrant.distributions.quadrature import Table
from calibrant.interpolators.support import REAL_LINE, ranks


@dataclass(frozen=True, eq=False, repr=False)
class Guarded(Integrated):
    """F(s) = bend(law.cdf(s)), with `bend` an increasing broken line from (0, 0) to (1, 1).

    Mean, std and crps by quadrature between the bends (relative error about 1e-9).
    """

    law: Distribution = shared()
    bend: PiecewiseLinear = shared()

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def _cdf(self, s: Array) -> Array:
        return self.bend._cdf(self.law._cdf(s))

    def _sf(self, s: Array) -> Array:
        """Above the last bend the line runs straight to (1, 1), so 1 - F is a multiple of the law's own."""
        xp = namespace(s)
        above = self.law._sf(s)
        last, slope = 1 - self.bend.knots[-2], self.bend._tables.slope[-2]
        return xp.where(above < last, slope * above, 1 - self._cdf(s))

    def _logcdf(self, s: Array) -> Array:
        """Below the first bend the line runs straight from (0, 0), so F is a multiple of the law's own."""
        xp = namespace(s)
        below = self.law._logcdf(s)
        first, slope = safe_log(self.bend.knots[1]), safe_log(self.bend._tables.slope[1])
        return xp.where(below < first, slope + below, safe_log(self._cdf(s)))

    def _logsf(self, s: Array) -> Array:
        xp = namespace(s)
        above = self.law._logsf(s)
        last, slope = safe_log(1 - self.bend.knots[-2]), safe_log(self.bend._tables.slope[-2])
        return xp.where(above < last, slope + above, safe_log(self._sf(s)))

    def _ppf(self, p: Array) -> Array:
        return self.law._ppf(self.bend._ppf(p))

    def _logpdf(self, s: Array) -> Array:
        return self.law._logpdf(s) + self.bend._logpdf(self._inside(self.law._cdf(s)))

    def _inside(self, p: Array) -> Array:
        # the density of the bend at 1 is that just below 1
        xp = namespace(p)
        return clip(p, 0.0, 1 - float(xp.finfo(p.dtype).eps))

    @cached_property
    def _table(self) -> Table:
        return Table.of(self)

    def _partial_moments(self, s: Array) -> PartialMoments:
        return self._table.partial_moments(s)

    def _squares(self, s: Array) -> Squares:
        return self._table.squares(s)

    def _breaks(self) -> Array:
        xp = namespace(self.bend.knots)
        bends = self.law._ppf(self.bend.knots[1:-1])
        return xp.sort(concatenate([self.law._breaks(), bends[xp.isfinite(bends)]]))

    def _describe(self) -> str:
        return f"{self.law!r}, {self.bend.knots.shape[0] - 2} bends"


def guard(law: Distribution, scores: Array, accuracy: float) -> Distribution:
    """The law with q(u_(i)) clipped into (i +- lambda) / (n + 1) at the sorted scores; itself if it is so already.

    Where the law rounds distinct scores to the same probability, a thousandth of the linear law is mixed in first,
    which tells them apart.
    """
    from calibrant.interpolators.tails import ExponentialTails

    xp = namespace(scores)
    n = scores.shape[0]
    at = law._cdf(scores)
    apart = scores[1:] > scores[:-1]
    tied = apart & ~(at[1:] > at[:-1])
    if bool(xp.any(tied)) or bool(at[0] <= 0) or bool(at[-1] >= 1):
        law = Mixture((law, REAL_LINE.linear(scores, ExponentialTails())), (0.999, 0.001))
        at = law._cdf(scores)
    low, high = (ranks(scores) - accuracy) / (n + 1), (ranks(scores) + accuracy) / (n + 1)
    clipped = xp.minimum(xp.maximum(at, low), high)
    if bool(xp.all(clipped == at)):
        return law
    # a knot stays only where the line bends: at a clipped score and at its neighbours
    moved = clipped != at
    edge = moved[:1] & False
    near = moved | concatenate([moved[1:], edge]) | concatenate([edge, moved[:-1]])
    ends = [device_like([end], scores) for end in (0.0, 1.0)]
    knots = concatenate([ends[0], at[near], ends[1]])
    probs = concatenate([ends[0], clipped[near], ends[1]])
    return Guarded(law, PiecewiseLinear(knots, probs))
