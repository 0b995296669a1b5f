"""Linear interpolation of numbers in (0, 1) that are held as logits: what the cdf score and Linear give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._arrays import Array, clip, concatenate, device_like, namespace
from calibrant._batch import shared
from calibrant._kept import kept
from calibrant._search import Finder
from calibrant._special import log_logistic, log_sigmoid, safe_log, sigmoid
from calibrant.distributions.logits import LOGIT_GRID, LOGIT_TAIL
from calibrant.distributions.tabulated import ByTable


@dataclass(frozen=True, eq=False, repr=False)
class LogisticLinear(ByTable):
    """The single law of a logit s whose CDF is linear in u = sigmoid(s) between the knots, from (0, 0) to (1, 1).

    Between the knots a < b the share (u - u_a) / (u_b - u_a) is computed from s, a and b, never from u, which rounds
    to 1 where a label lies eight standard deviations out. Mean, std and crps of s by quadrature (about 1e-10).
    """

    knots: Array = shared()
    probs: Array = shared()

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def _piece(self, s: Array, side: str) -> tuple[Array, Array, Array, Array]:
        """The ends of the piece around s and its probabilities there; infinite at either end of the line."""
        return self._ends(self._number(s, side))

    def _number(self, s: Array, side: str) -> Array:
        """The number of that piece."""
        xp = namespace(s)
        flat = xp.reshape(s, (-1,))
        return xp.reshape(self._find.up_to(flat) if side == "right" else self._find.below(flat), s.shape)

    @kept
    def _find(self) -> Finder:
        return Finder(self.knots)

    def _ends(self, j: Array) -> tuple[Array, Array, Array, Array]:
        xp = namespace(self.knots)
        flat, (knots, probs) = xp.reshape(j, (-1,)), self._padded
        tables = ((knots, flat), (knots, flat + 1), (probs, flat), (probs, flat + 1))
        a, b, Fa, Fb = (xp.reshape(xp.take(table, index), j.shape) for table, index in tables)
        return a, b, Fa, Fb

    @kept
    def _padded(self) -> tuple[Array, Array]:
        """The knots and probabilities with (-inf, 0) before and (inf, 1) after them; once, since they are n long."""
        low, high, zero, one = (device_like([end], self.knots) for end in (-np.inf, np.inf, 0.0, 1.0))
        return concatenate([low, self.knots, high]), concatenate([zero, self.probs, one])

    def _cdf(self, s: Array) -> Array:
        return self._distribution(s, "right")

    def _cdf_left(self, s: Array) -> Array:
        return self._distribution(s, "left")

    def _distribution(self, s: Array, side: str) -> Array:
        s = _finite(s)
        a, b, Fa, Fb = self._piece(s, side)
        return Fa + (Fb - Fa) * _share(a, b, s)

    def _sf(self, s: Array) -> Array:
        s = _finite(s)
        a, b, Fa, Fb = self._piece(s, "right")
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

    @kept
    def _log_sigmoids(self) -> tuple[Array, Array]:
        """log u and log(1 - u) at the knots and at either end of the line."""
        knots, _ = self._padded
        return log_sigmoid(knots), log_sigmoid(-knots)

    @kept
    def _mirrored(self) -> LogisticLinear:
        """The law of -s."""
        xp = namespace(self.knots)
        return LogisticLinear(xp.flip(-self.knots) + 0, xp.flip(1 - self.probs) + 0)

    def _ppf_logit(self, s: Array) -> Array:
        """From the nearer end, so that the upper tail reaches as far as the lower one."""
        tail = sigmoid(-namespace(s).abs(s))
        return namespace(s).where(s > 0, -self._mirrored._ppf(tail), self._ppf(tail))

    def _logpdf(self, s: Array) -> Array:
        xp = namespace(s)
        s = _finite(s)
        j = xp.reshape(self._number(s, "right"), (-1,))
        return xp.reshape(xp.take(self._log_heights, j), s.shape) + log_logistic(s)

    @kept
    def _log_heights(self) -> Array:
        """The log density of u on every piece."""
        xp, (knots, probs) = namespace(self.knots), self._padded
        a, b = knots[:-1], knots[1:]
        wide = b > a  # no label lies on a piece without width
        step = xp.where(wide, a - b, -xp.ones_like(a))
        # log(u_b - u_a) = log sigmoid(b) + log sigmoid(-a) + log(1 - exp(a - b))
        gap = log_sigmoid(b) + log_sigmoid(-a) + xp.log(-xp.expm1(step))
        return safe_log(probs[1:] - probs[:-1]) - gap

    @property
    def bends_often(self) -> bool:
        return True

    def _breaks(self) -> Array:
        """The knots and a grid; beyond the last knot the tail is that of the logistic law."""
        xp = namespace(self.knots)
        grid = device_like(LOGIT_GRID, self.knots)
        reach = device_like(LOGIT_TAIL, self.knots)
        return xp.sort(concatenate([grid, self.knots, self.knots[0] - reach, self.knots[-1] + reach]))

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
