"""q under covariate shift: one weighted law, and one number a row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from calibrant._arrays import Array, anywhere, clip, device_like, first_and_count, namespace
from calibrant._batch import shared
from calibrant._special import logit, safe_log, sigmoid
from calibrant._words import count, the_first, warn_user
from calibrant.distributions.base import Distribution
from calibrant.distributions.by_row import ByRow, Pull, no_rows_yet
from calibrant.distributions.context import Context
from calibrant.distributions.integrals import PartialMoments, Squares, arm
from calibrant.distributions.integrated import Integrated
from calibrant.distributions.maps import Increasing
from calibrant.distributions.outline import Outline
from calibrant.distributions.ratios import ratios_of
from calibrant.distributions.single import OnlyRow


@dataclass(frozen=True, eq=False, repr=False)
class ReweightedRows(Integrated, ByRow):
    """q_x = (1 - p_x) F_w + p_x tails, p_x = w(x) / (N + w(x)), for rows with likelihood ratios w(x).

    `law` is q of a row with ratio 1, and N = `total` is the sum of the calibration weights in the same unit. Another
    ratio moves mass between the scores and the tails and changes no shape, so that q_x is a function of `law`'s CDF F:

        q_x = s F + d                with s = (N + 1) / (N + w), d = (w - 1) / 2 / (N + w), for low <= F <= high,

    and straight from there to (0, 0) and (1, 1). Hence all about it is as exact as `law`.
    """

    law: Distribution
    ratio: Array
    total: float = shared()
    low: float = shared()
    """The level at which the lower tail of `law` ends."""
    high: float = shared()
    """The level at which its upper tail starts."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.ratio.shape)

    @property
    def like(self) -> Array:
        return self.ratio

    @property
    def _line(self) -> tuple[Array, Array, Array, Array]:
        """s and d, and the slopes of the lower and the upper tail, as columns."""
        w, N = self._lift(self.ratio), self.total
        s, d = (N + 1) / (N + w), (w - 1) / 2 / (N + w)
        tails = ((s * mass + d) / mass for mass in (self.low, 1 - self.high))
        first, last = (namespace(w).maximum(slope, namespace(w).zeros_like(w)) for slope in tails)  # 0 may round
        return s, d, first, last

    # ---- levels ----------------------------------------------------------------------------------------------------

    def _cdf(self, y: Array) -> Array:
        s, d, first, last = self._line
        return _bent(self.law._cdf(y), s, d, (self.low, first), (1 - self.high, last))

    def _cdf_left(self, y: Array) -> Array:
        s, d, first, last = self._line
        return _bent(self.law._cdf_left(y), s, d, (self.low, first), (1 - self.high, last))

    def _sf(self, y: Array) -> Array:
        """1 - q_x = s (1 - F) + d: the line is its own mirror image."""
        s, d, first, last = self._line
        return _bent(self.law._sf(y), s, d, (1 - self.high, last), (self.low, first))

    def _logcdf(self, y: Array) -> Array:
        first, below = self._line[2], self.law._logcdf(y)
        tail = below < safe_log(device_like(self.low, self.ratio))
        return namespace(y).where(tail, safe_log(first) + below, safe_log(self._cdf(y)))

    def _logsf(self, y: Array) -> Array:
        last, above = self._line[3], self.law._logsf(y)
        tail = above < safe_log(device_like(1 - self.high, self.ratio))
        return namespace(y).where(tail, safe_log(last) + above, safe_log(self._sf(y)))

    def _ppf(self, p: Array) -> Array:
        s, d, first, last = self._line
        xp = namespace(p)
        level = (p - d) / s
        level = xp.where(p < first * self.low, _divided(p, first, self.low), level)
        level = xp.where(1 - p < last * (1 - self.high), 1 - _divided(1 - p, last, 1 - self.high), level)
        return self.law._ppf(clip(level, 0.0, 1.0))

    def _ppf_logit(self, s: Array) -> Array:
        """In the upper tail from the mass beyond, sigmoid(-s), which does not round to 0."""
        xp, last = namespace(s), self._line[3]
        rest, y = sigmoid(-s), self._ppf(sigmoid(s))
        tail = rest < last * (1 - self.high)
        return xp.where(tail, self.law._ppf_logit(-logit(_divided(rest, last, 1 - self.high))), y)

    def _logpdf(self, y: Array) -> Array:
        xp, F = namespace(y), self.law._cdf(y)
        s, _, first, last = self._line
        slope = xp.where(self.low > F, first, xp.where(self.high <= F, last, s))
        return self.law._logpdf(y) + safe_log(slope)

    # ---- integrals: over the tails and between them ----------------------------------------------------------------

    def _ends(self, y: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Where the tails meet the rest, y as (n, k), and y kept in the lower tail, between the tails, in the upper."""
        xp, one = namespace(y), xp_ones(self)
        A, Z = (self.law._ppf(device_like([[level]], self.ratio)) * one for level in (self.low, self.high))
        y = y + xp.zeros_like(A)
        return A, Z, xp.minimum(y, A), xp.minimum(xp.maximum(y, A), Z), xp.maximum(y, Z)

    def _partial_moments(self, y: Array) -> PartialMoments:
        s, d, first, last = self._line
        A, Z, a, m, c = self._ends(y)
        low, high = self.law._partial_moments(a), self.law._partial_moments(c)
        at_A = self.law._partial_moments(A) if anywhere(a < A) else low  # else a is A everywhere
        at_Z = self.law._partial_moments(Z) if anywhere(c > Z) else high
        inner = self.law._moments_within(m, A + 0 * m, Z + 0 * m)
        below = _up_to(first, low[:2], s, d, inner[:2], m - A, last, at_Z[2:], high[2:], c - Z)
        above = _up_to(last, high[2:], s, d, inner[2:], Z - m, first, at_A[:2], low[:2], A - a)
        return PartialMoments(*below, *above)

    def _squares(self, y: Array) -> Squares:
        s, d, first, last = self._line
        A, Z, a, m, c = self._ends(y)
        low, high = self.law._squares(a), self.law._squares(c)
        square, once = (part(m, A + 0 * m, Z + 0 * m) for part in (self.law._squares_within, self.law._moments_within))
        lower = first**2 * low.lower + s**2 * square.lower + 2 * s * d * once.lower + d**2 * (m - A)
        upper = last**2 * high.upper + s**2 * square.upper + 2 * s * d * once.upper + d**2 * (Z - m)
        # beyond the far end q_x is one less the tail, and its square 1 - 2 tail + tail^2
        moments, squares = self.law._moments_within, self.law._squares_within
        if anywhere(c > Z):
            at = Z + 0 * c
            lower = lower + _square_beyond(last, c - Z, moments(at, at, c).upper, squares(at, at, c).upper)
        if anywhere(a < A):
            at = A + 0 * a
            upper = upper + _square_beyond(first, A - a, moments(at, a, at).lower, squares(at, a, at).lower)
        return Squares(lower, upper)

    # ---- what it takes over ----------------------------------------------------------------------------------------

    def _infinite_mass(self) -> tuple[Any, Any]:
        _, _, first, last = self._line
        below, above = self.law._infinite_mass()
        return below * first[:, 0], above * last[:, 0]

    def _outline(self) -> Outline | None:
        """That of `law`, whose tails start at points of it, bent."""
        outline = self.law._outline()
        if outline is None:
            return None
        xp, (s, d, first, last) = namespace(self.ratio), self._line
        left, right = (_bent(F, s, d, (self.low, first), (1 - self.high, last)) for F in (outline.left, outline.right))
        rest = _bent(outline.rest, s, d, (1 - self.high, last), (self.low, first))
        middle = (outline.right[..., :-1] + outline.left[..., 1:]) / 2
        slope = xp.where(middle < self.low, first, xp.where(middle > self.high, last, s))
        return Outline(outline.y + xp.zeros_like(s), left, right, rest, outline.bend * slope)

    @property
    def is_discrete(self) -> bool:
        return self.law.is_discrete

    def _clipped(self, lower: Any, upper: Any) -> Distribution:
        """The levels 0 and 1 stay what they are, so that clipping is the law's own."""
        return replace(self, law=self.law.clip(lower, upper))

    def pulled(self, map: Increasing, pull: Pull) -> Distribution:
        """H: `law` pulled back."""
        return replace(self, law=pull(self.law, map))

    def _describe(self) -> str:
        return f"{self.law!r}, worth {self.total:.4g} equal rows"


@dataclass(frozen=True, eq=False, repr=False)
class Reweighted(OnlyRow, ByRow):
    """A weighted q before it meets its rows, which say their likelihood ratios. On its own it answers for ratio 1."""

    law: Distribution
    unit: float = shared()
    """The ratio, as it was given, that counts as 1: sum of w^2 / sum of w of the calibration rows."""
    total: float = shared()
    low: float = shared()
    high: float = shared()

    def for_rows(self, context: Context) -> Distribution:
        """The laws of rows with these ratios; one law where no tail takes mass from the scores."""
        ratio = ratios_of(context, self.law.like, self.unit)
        if self.low == 0:
            return self.law
        alone = ratio > self.total  # p_x > 1/2
        if bool(namespace(ratio).any(alone)):
            first, number = first_and_count(alone)
            which = f"weights of {count(number, 'row')}, {the_first(number, first)}, are"
            said = ("their laws are", "them")
            if number == 1:
                which, said = f"the weight of row {first} is", ("its law is", "it")
            warn_user(
                f"{which} larger than those of all calibration rows together: {said[0]} mostly tails, since nearly no"
                f" calibration rows are like {said[1]}"
            )
        return ReweightedRows(self.law, ratio, self.total, self.low, self.high)

    def pulled(self, map: Increasing, pull: Pull) -> Distribution:
        """No H: there is one law for each row, once the rows are known."""
        raise no_rows_yet("a weighted q")

    @property
    def _row(self) -> Distribution:
        """The row of ratio 1."""
        low, high = (self.low, self.high) if self.low else (0.25, 0.75)  # at ratio 1 nothing is bent anywhere
        return ReweightedRows(self.law, device_like([1.0], self.law.like), self.total, low, high)

    def _clipped(self, lower: Any, upper: Any) -> Distribution:
        return replace(self, law=self.law.clip(lower, upper))

    def _describe(self) -> str:
        return f"{self.law!r}, worth {self.total:.4g} equal rows"


def xp_ones(rows: ReweightedRows) -> Array:
    """A column of ones, one a row."""
    return namespace(rows.ratio).ones_like(rows.ratio)[:, None]


def _bent(F: Array, s: Array, d: Array, near: tuple[float, Array], far: tuple[float, Array]) -> Array:
    """s F + d; below the level `near` and above 1 - `far` straight to (0, 0) and (1, 1), with these slopes."""
    xp = namespace(F)
    return xp.where(near[0] > F, near[1] * F, xp.where(far[0] > 1 - F, 1 - far[1] * (1 - F), s * F + d))


def _divided(p: Array, slope: Array, most: float) -> Array:
    """p / slope, at most `most`: a tail without mass, of slope 0, is passed at once."""
    xp = namespace(slope)
    flat = slope <= 0
    level = xp.where(flat, xp.full_like(p / xp.ones_like(slope), most), p / xp.where(flat, xp.ones_like(slope), slope))
    return xp.minimum(level, xp.full_like(level, most))


def _up_to(
    near: Array,
    tail: tuple[Array, Array],
    s: Array,
    d: Array,
    inner: tuple[Array, Array],
    way: Array,
    far: Array,
    at_far: tuple[Array, Array],
    past: tuple[Array, Array],
    over: Array,
) -> tuple[Array, Array]:
    """The integral of q_x from one end of the line, and the integral of that.

    First the tail, of slope `near`; then `way` between the tails, where F has the integrals `inner`; then `over` in the
    other tail, where q_x is one less `far` times what the law has beyond: `at_far` at its start and `past` here.
    """
    once, twice = near * tail[0], near * tail[1]
    twice = twice + arm(way, once) + s * inner[1] + d * way**2 / 2
    once = once + s * inner[0] + d * way
    gone = _less(over, at_far[0], past[0])
    twice = twice + arm(over, once) + over**2 / 2 - far * (arm(over, at_far[0]) - _less(over, at_far[1], past[1]))
    return once + over - far * gone, twice


def _less(over: Array, at_far: Array, past: Array) -> Array:
    """The difference of two integrals, 0 where there is no way between them, also where both are infinite."""
    xp = namespace(over)
    zero = xp.zeros_like(over)
    return xp.where(over > 0, at_far + zero, zero) - xp.where(over > 0, past, zero)


def _square_beyond(slope: Array, over: Array, once: Array, square: Array) -> Array:
    """The integral of (1 - slope * tail)^2 over a stretch of the tail, from those of the tail and of its square."""
    xp, zero = namespace(over), namespace(over).zeros_like(over)
    return over + xp.where(over > 0, slope**2 * square - 2 * slope * once, zero)
