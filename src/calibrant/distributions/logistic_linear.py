"""Linear interpolation of numbers in (0, 1) that are held as logits: what the cdf score and Linear give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibrant._arrays import Array, clip, concatenate, device_like, namespace
from calibrant._batch import shared
from calibrant._search import Finder
from calibrant._special import log_logistic, log_sigmoid, safe_log, sigmoid
from calibrant.distributions.knotted import Knotted

_BESIDE = np.geomspace(0.1, 40, 24)


@dataclass(frozen=True, eq=False, repr=False)
class LogisticLinear(Knotted):
    """The single distribution of a logit s whose CDF is linear in u = sigmoid(s) between the knots.

    It runs from (0, 0) to (1, 1). Between the knots a < b the share (u - u_a) / (u_b - u_a) is computed from s, a and
    b, never from u, which rounds to 1 where a label lies eight standard deviations out.
    """

    knots: Array = shared()
    probs: Array = shared()

    @property
    def _find(self) -> Finder:
        return self.remember("_kept_find", lambda: Finder(self.knots))

    @property
    def _padded(self) -> tuple[Array, Array]:
        """The knots and probabilities with (-inf, 0) before and (inf, 1) after them."""
        return self.remember("_kept_padded", self._make_padded)

    def _make_padded(self) -> tuple[Array, Array]:
        low, high, zero, one = (device_like([end], self.knots) for end in (-np.inf, np.inf, 0.0, 1.0))
        return concatenate([low, self.knots, high]), concatenate([zero, self.probs, one])

    def _piece(self, s: Array, find: Callable[[Array], Array]) -> tuple[Array, Array, Array, Array]:
        """The ends of the piece around s and its probabilities there; infinite at either end of the line."""
        xp = namespace(s)
        found = self._ends(find(xp.reshape(s, (-1,))))
        a, b, Fa, Fb = (xp.reshape(part, s.shape) for part in found)
        return a, b, Fa, Fb

    def _ends(self, j: Array) -> tuple[Array, Array, Array, Array]:
        xp, (knots, probs) = namespace(self.knots), self._padded
        return xp.take(knots, j), xp.take(knots, j + 1), xp.take(probs, j), xp.take(probs, j + 1)

    def _cdf(self, s: Array) -> Array:
        return self._distribution(s, self._find.up_to)

    def _cdf_left(self, s: Array) -> Array:
        return self._distribution(s, self._find.below)

    def _distribution(self, s: Array, find: Callable[[Array], Array]) -> Array:
        s = _finite(s)
        a, b, Fa, Fb = self._piece(s, find)
        return Fa + (Fb - Fa) * _share(a, b, s)

    def _sf(self, s: Array) -> Array:
        s = _finite(s)
        a, b, Fa, Fb = self._piece(s, self._find.up_to)
        return (1 - Fb) + (Fb - Fa) * _share(-b, -a, -s)

    def _ppf(self, p: Array) -> Array:
        xp, shape = namespace(p), p.shape
        p = xp.reshape(p, (-1,))
        j = xp.searchsorted(self.probs, p, side="left")
        a, b, Fa, Fb = self._ends(j)
        rise = xp.where(Fb > Fa, Fb - Fa, xp.ones_like(Fb))
        share = clip((p - Fa) / rise, 0.0, 1.0)
        rest, log_share = safe_log(clip((Fb - p) / rise, 0.0, 1.0)), safe_log(share)
        # u and 1 - u as the mixtures of those at a and b
        up, down = (xp.logaddexp(rest + xp.take(log, j), log_share + xp.take(log, j + 1)) for log in self._log_sigmoids)
        inside = xp.isfinite(up) & xp.isfinite(down)
        ends = xp.where(share > 0.5, b, a)
        y = xp.where(inside, xp.where(inside, up, xp.zeros_like(up)) - xp.where(inside, down, xp.zeros_like(up)), ends)
        return xp.reshape(y, shape)

    @property
    def _log_sigmoids(self) -> tuple[Array, Array]:
        """log u and log(1 - u) at the knots and at either end of the line."""
        knots, _ = self._padded
        return self.remember("_kept_log_sigmoids", lambda: (log_sigmoid(knots), log_sigmoid(-knots)))

    @property
    def _mirrored(self) -> LogisticLinear:
        """The distribution of -s."""
        xp, knots, probs = namespace(self.knots), self.knots, self.probs
        return self.remember("_kept_mirrored", lambda: LogisticLinear(xp.flip(-knots) + 0, xp.flip(1 - probs) + 0))

    def _ppf_logit(self, s: Array) -> Array:
        """From the nearer end, so that the upper tail reaches as far as the lower one."""
        tail = sigmoid(-namespace(s).abs(s))
        return namespace(s).where(s > 0, -self._mirrored._ppf(tail), self._ppf(tail))

    def _logpdf(self, s: Array) -> Array:
        xp = namespace(s)
        s = _finite(s)
        heights = xp.take(self._log_heights, self._find.up_to(xp.reshape(s, (-1,))))
        return xp.reshape(heights, s.shape) + log_logistic(s)

    @property
    def _log_heights(self) -> Array:
        """The log density of u on every piece."""
        return self.remember("_kept_log_heights", self._make_log_heights)

    def _make_log_heights(self) -> Array:
        xp, (knots, probs) = namespace(self.knots), self._padded
        a, b = knots[:-1], knots[1:]
        wide = b > a  # no label lies on a piece without width
        step = xp.where(wide, a - b, -xp.ones_like(a))
        # log(u_b - u_a) = log sigmoid(b) + log sigmoid(-a) + log(1 - exp(a - b))
        gap = log_sigmoid(b) + log_sigmoid(-a) + xp.log(-xp.expm1(step))
        return safe_log(probs[1:] - probs[:-1]) - gap

    def _bends(self) -> Array:
        """The knots, and in wide gaps places ever farther from the end nearer to 0, beside which u changes most."""
        xp, knots, far = namespace(self.knots), self.knots, device_like(_BESIDE, self.knots)
        first, zero, last = knots[:1], xp.zeros_like(knots[:1]), knots[-1:]
        outer = xp.minimum(first, zero) - far[-1:], xp.maximum(last, zero) + far[-1:]
        points = xp.sort(concatenate([knots, zero, *outer]))
        wide = points[1:] - points[:-1] > far[0]
        a, b = points[:-1][wide][:, None], points[1:][wide][:, None]
        beside = xp.where(a >= 0, xp.minimum(a + far, b), xp.maximum(b - far, a))
        return concatenate([knots, xp.reshape(beside, (-1,))])

    def _describe(self) -> str:
        return f"{self.knots.shape[0]} knots, support (0, 1)"


def _share(a: Array, b: Array, s: Array) -> Array:
    """(sigmoid(s) - sigmoid(a)) / (sigmoid(b) - sigmoid(a)), for a <= s <= b, ends possibly infinite."""
    xp = namespace(s)
    wide = xp.where(b > a, xp.expm1(a - b), -xp.ones_like(b))
    return xp.expm1(a - s) / wide * xp.exp(log_sigmoid(s) - log_sigmoid(b))


def _finite(s: Array) -> Array:
    xp = namespace(s)
    limit = float(xp.finfo(s.dtype).max) / 4
    return clip(s, -limit, limit)
