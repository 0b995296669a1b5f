"""Linear interpolation of numbers in (0, 1) given by their logits: what the cdf score and Linear give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from calibrant._arrays import Array, clip, concatenate, device_like, namespace, to_numpy
from calibrant._batch import shared
from calibrant._search import Finder
from calibrant._special import log_logistic, log_sigmoid, safe_log, sigmoid
from calibrant.distributions.base import Distribution, bent_places
from calibrant.distributions.own_logit import OwnLogit
from calibrant.distributions.parameters import check_bends
from calibrant.distributions.pulled import Pulled

_FAR = np.geomspace(1, 40, 10)


class _Padded(NamedTuple):
    """The knots between -inf and inf, with the probabilities, log u and log(1 - u) there."""

    find: Finder
    knots: Array
    probs: Array
    log_below: Array
    log_above: Array
    log_heights: Array
    """The log density of u on every piece."""


@dataclass(frozen=True, eq=False, repr=False)
class LogisticLinear(Distribution):
    """The single distribution of a logit s whose CDF is linear in u = sigmoid(s) between the knots.

    It runs from (0, 0) to (1, 1). Between the knots a < b the share (u - u_a) / (u_b - u_a) is computed from s, a and
    b, never from u, which rounds to 1 where a label lies eight standard deviations out.
    """

    knots: Array = shared()
    probs: Array = shared()
    shape: ClassVar[tuple[int, ...]] = ()

    def __post_init__(self) -> None:
        """Knots and probs do not fall."""
        knots, probs = to_numpy(self.knots), to_numpy(self.probs)
        if knots.ndim != 1 or knots.shape != probs.shape or knots.dtype != probs.dtype:
            raise ValueError(f"{knots.size} knots of {knots.dtype} do not go with {probs.size} probs of {probs.dtype}")
        check_bends(knots, probs)

    @property
    def _padded(self) -> _Padded:
        return self.remember("_kept_padded", self._make_padded)

    def _make_padded(self) -> _Padded:
        xp, like = namespace(self.knots), self.knots
        low, high, zero, one = (device_like([end], like) for end in (-np.inf, np.inf, 0.0, 1.0))
        knots, probs = concatenate([low, self.knots, high]), concatenate([zero, self.probs, one])
        log_below, log_above = log_sigmoid(knots), log_sigmoid(-knots)
        a, b = knots[:-1], knots[1:]
        step = xp.where(b > a, a - b, -1.0)  # no label lies on a piece without width
        # log(u_b - u_a) = log sigmoid(b) + log sigmoid(-a) + log(1 - exp(a - b))
        gap = log_below[1:] + log_above[:-1] + xp.log(-xp.expm1(step))
        heights = safe_log(probs[1:] - probs[:-1]) - gap
        return _Padded(Finder(self.knots), knots, probs, log_below, log_above, heights)

    def _cdf(self, s: Array) -> Array:
        return self._share(s)

    def _cdf_left(self, s: Array) -> Array:
        return self._share(s, left=True)

    def _sf(self, s: Array) -> Array:
        return self._share(s, above=True)

    def _share(self, s: Array, *, left: bool = False, above: bool = False) -> Array:
        """F = F_a + (F_b - F_a) (u - u_a) / (u_b - u_a), or 1 - F, of which the same holds for -s."""
        xp, p, flat = namespace(s), self._padded, namespace(s).reshape(_finite(s), (-1,))
        j = p.find.count(flat, left=left)
        a, b, Fa, Fb = (xp.take(column, k) for column in (p.knots, p.probs) for k in (j, j + 1))
        if above:
            flat, a, b, Fa, Fb = -flat, -b, -a, 1 - Fb, 1 - Fa
        wide = xp.where(b > a, xp.expm1(a - b), -1.0)
        share = xp.expm1(a - flat) / wide * xp.exp(log_sigmoid(flat) - log_sigmoid(b))
        return xp.reshape(Fa + (Fb - Fa) * share, s.shape)

    def _ppf(self, p: Array) -> Array:
        return self._quantile(p, 1 - p)

    def _ppf_logit(self, s: Array) -> Array:
        return self._quantile(sigmoid(s), sigmoid(-s))

    def _quantile(self, p: Array, rest: Array) -> Array:
        """At levels p, of which what is left above may be known with more digits."""
        xp, own, shape = namespace(p), self._padded, p.shape
        p, rest = xp.reshape(p, (-1,)), xp.reshape(rest, (-1,))
        j = xp.searchsorted(self.probs, p, side="left")
        a, b, Fa, Fb = (xp.take(column, k) for column in (own.knots, own.probs) for k in (j, j + 1))
        rise = xp.where(Fb > Fa, Fb - Fa, 1.0)
        share, left = (clip(part / rise, 0.0, 1.0) for part in (p - Fa, rest - (1 - Fb)))
        # u and 1 - u as the mixtures of those at a and b
        up, down = (
            xp.logaddexp(safe_log(left) + xp.take(log, j), safe_log(share) + xp.take(log, j + 1))
            for log in (own.log_below, own.log_above)
        )
        inside, zero = xp.isfinite(up) & xp.isfinite(down), xp.zeros_like(up)
        y = xp.where(inside, up, zero) - xp.where(inside, down, zero)
        return xp.reshape(xp.where(inside, y, xp.where(share > 0.5, b, a)), shape)

    def _logpdf(self, s: Array) -> Array:
        xp, p, s = namespace(s), self._padded, _finite(s)
        heights = xp.take(p.log_heights, p.find.count(xp.reshape(s, (-1,))))
        return xp.reshape(heights, s.shape) + log_logistic(s)

    def _places(self, s: Array) -> Array:
        """Also the knots, and in wide gaps places ever farther from either end."""
        xp, knots, far = namespace(self.knots), self._padded.knots, device_like(_FAR, self.knots)
        wide = knots[1:] - knots[:-1] > 1.0
        a, b = knots[:-1][wide][:, None], knots[1:][wide][:, None]
        more = concatenate([xp.minimum(a + far, b), xp.maximum(b - far, a)])
        return bent_places(self, s, concatenate([self.knots, xp.reshape(more, (-1,))]))


@dataclass(frozen=True, eq=False, repr=False)
class Guarded(Pulled):
    """The CDF of a single distribution, bent by a broken line from (0, 0) to (1, 1).

    Below the first bend F is a multiple of the distribution's own, above the last 1 - F is.
    """

    map: OwnLogit
    q: LogisticLinear

    def _cdf_left(self, y: Array) -> Array:
        """Where scores are tied, the line jumps; the distribution itself does not."""
        return self.q._cdf_left(self.map(y))

    def _places(self, s: Array) -> Array:
        """Also those of the distribution itself, and the bends."""
        own = self.map.distribution._own_table.places[0, :]
        return bent_places(self, s, concatenate([own, self.map.inverse(self.q.knots)]))

    _table = Distribution._table


def _finite(s: Array) -> Array:
    limit = float(namespace(s).finfo(s.dtype).max) / 4
    return clip(s, -limit, limit)
