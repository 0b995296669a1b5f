"""Student's t distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arrays import Array, clip, detached, floats, namespace, refuse, single_precision
from calibrant._search import newton_step
from calibrant._special import betaln, gammaln, sigmoid, stdtr, stdtrit
from calibrant._types import ArrayLike
from calibrant.distributions.base import ByLogit, Moments
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.parameters import parameters, widths
from calibrant.distributions.table import ONCE, SQUARE

_LARGEST = 1e150  # of a quantile: its square is a float too


@dataclass(frozen=True, eq=False, repr=False)
class StandardT(ByLogit):
    """f(t) = (1 + t^2 / df)^-((df + 1) / 2) / (sqrt(df) B(df / 2, 1/2)); `df` is one number, or one per row.

    The mean is nan for df <= 1; the standard deviation is nan for df <= 1 and inf for 1 < df <= 2; the crps is inf for
    df <= 1/2.
    """

    df: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.df.shape)

    @property
    def _df(self) -> Array:
        return self._lift(self.df)

    def _cdf(self, t: Array) -> Array:
        return _cdf(self._df, t)

    def _sf(self, t: Array) -> Array:
        return _cdf(self._df, -t)

    def _logpdf(self, t: Array) -> Array:
        return _log_density(self._df, t)

    def _logit(self, t: Array) -> tuple[Array, Array]:
        """log(1 - F) - log F at -|t|, with the sign of t; a tail too small for floats is f (df + t^2) / (df |t|)."""
        xp, df = namespace(t), self._df
        far = xp.isinf(t)
        size = xp.where(far, 0.0, xp.where(t < 0, -t, t))  # whose gradient at 0 is 1
        density, tail = _log_density(df, size), _cdf(df, -size)
        tiny = tail < 1e3 * float(xp.finfo(tail.dtype).smallest_normal)
        beyond = xp.where(tiny, size, 1.0)
        log_tail = xp.where(tiny, density + xp.log(beyond / df + 1 / beyond), xp.log(xp.where(tiny, 1.0, tail)))
        rest = xp.log1p(-tail)
        value, slope = rest - log_tail, density - log_tail - rest
        value, slope = (xp.where(far, xp.inf, part) for part in (value, slope))
        return xp.where(t < 0, -value, value), slope

    def _ppf_logit(self, s: Array) -> Array:
        """By scipy, as far out as it goes, and from there by the power of the tail; a Newton step carries gradients."""
        xp, df, known = namespace(s), self._df, detached(self._df)
        if single_precision(s):
            return self._at_home(self._in_double._ppf_logit(xp.astype(s, xp.float64)))
        finite = xp.where(xp.isinf(s), 0.0, s) + 0 * df
        size = xp.abs(detached(finite))
        near = xp.minimum(size, xp.where(known < 50, 300 * clip(known, 0.0, 1.0), 700.0))
        t = -stdtrit(known, sigmoid(-near)) * xp.exp(clip((size - near) / known, 0.0, 300.0))
        t = clip(t, 0.0, _LARGEST)
        t = newton_step(self._logit, finite, xp.where(finite < 0, -t, t), xp.ones_like(t))
        return xp.where(xp.isinf(s), s, t)

    # ---- integrals -------------------------------------------------------------------------------------------------

    def _moments(self) -> Moments:
        """0, sqrt(df / (df - 2)), -E |T - T'| / 2 = -2 k b / (df - 1); or crps(0) = 2 k (1 - b) / (df - 1).

        The latter where integrals start at 0. k = sqrt(df) / B(df / 2, 1/2), b = B(df - 1/2, 1/2) / B(df / 2, 1/2).
        """
        xp = namespace(self.df)
        df = xp.astype(self.df, xp.float64)
        none, infinite = xp.full_like(df, xp.nan), xp.full_like(df, xp.inf)
        some, finite = df > 1, df > 2
        std = xp.where(finite, xp.sqrt(df / xp.where(finite, df - 2, 1.0)), infinite)
        shift = -_half_gap(_beside(xp.where(df > 0.5, df, 1.0), 1))
        mean, std = (xp.where(some, part, none) for part in (0 * df, std))
        return Moments(*map(self._at_home, (mean, std, xp.where(df > 0.5, shift, infinite))))

    def _integrals(self, t: Array, which: int) -> Array:
        """t F + m, m = f (df + t^2) / (df - 1); (t^2 F + 2 t m + v) / 2, v = (df F - (df - 1) t m) / (df - 2);

        and t F^2 + 2 m F - g U, g = E |T - T'| / 2, U the CDF for 2 df - 1 degrees of freedom. Where the first two do
        not exist from -inf, they start at 0: with m less its value there, and F - 1/2 in v; the third is the table's.
        """
        xp, df = namespace(t), _beside(_beside(self._df, 1), 2)
        F, power = _cdf(df, t), (1 - df) / 2 * xp.log1p(t**2 / df)
        m = _slope(df) * xp.where(_light(df), xp.exp(power), xp.expm1(power)) / (df - 1)
        if which == ONCE:
            return t * F + m
        if which == SQUARE:
            light = _light(df)
            df = xp.where(light, df, 2.0)
            square = t * F**2 + 2 * m * F - _half_gap(df) * _cdf(2 * df - 1, t * xp.sqrt((2 * df - 1) / df))
            return square if bool(xp.all(light)) else xp.where(light, square, super()._integrals(t, which))
        above = F - xp.where(df > 2, 0.0, 0.5 + 0 * df)
        v = (df * above - t * _slope(df) * xp.exp(power)) / (df - 2)
        return (t**2 * F + 2 * t * m + v) / 2

    def _family(self) -> str:
        return "Student's t"


def _cdf(df: Array, t: Array) -> Array:
    """F(t), by scipy; its gradient is f in t, and the quotient of a small difference in df."""
    xp, known, at = namespace(t), detached(df), detached(t)
    F = stdtr(known, at)
    if getattr(t, "requires_grad", False):
        F = F + xp.exp(_log_density(known, at)) * xp.where(xp.isfinite(at), t - at, 0.0)
    if getattr(df, "requires_grad", False):
        step = 1e-5 * known
        F = F + (stdtr(known + step, at) - stdtr(known - step, at)) / (2 * step) * (df - known)
    return F


def _light(df: Array) -> Array:
    """Whether the integral of F is taken from -inf."""
    return df > 1.0001


def _beside(df: Array, whole: int) -> Array:
    """df, moved a little away from a whole number at which formulas divide by 0."""
    xp = namespace(df)
    step = float(xp.finfo(df.dtype).eps) ** 0.5
    return df + detached(xp.where(xp.abs(df - whole) < step, whole + step - df, 0.0))


def _slope(df: Array) -> Array:
    """sqrt(df) / B(df / 2, 1/2), which is df f(0)."""
    xp = namespace(df)
    return xp.sqrt(df / math.pi) * xp.exp(_log_gamma_ratio(df / 2))


def _half_gap(df: Array) -> Array:
    """E |T - T'| / 2; -crps(0) where integrals start at 0."""
    xp, log_b = namespace(df), _log_gamma_ratio(df / 2) - _log_gamma_ratio(df - 0.5)
    return 2 * _slope(df) * xp.where(_light(df), xp.exp(log_b), xp.expm1(log_b)) / (df - 1)


def _log_density(df: Array, t: Array) -> Array:
    xp = namespace(t)
    return _log_gamma_ratio(df / 2) - 0.5 * xp.log(math.pi * df) - (df + 1) / 2 * xp.log1p(t**2 / df)


def _log_gamma_ratio(a: Array) -> Array:
    """log(Gamma(a + 1/2) / Gamma(a)) = log(pi) / 2 - log B(a, 1/2), of which torch has no gradient."""
    if getattr(a, "requires_grad", False):
        return gammaln(a + 0.5) - gammaln(a)
    return 0.5 * math.log(math.pi) - betaln(a, 0.5 + 0 * a)


def StudentT(df: ArrayLike, loc: ArrayLike, scale: ArrayLike) -> LocationScale:
    """The distributions of loc + scale * T, T with `df` degrees of freedom: one number for all rows, or one per row.

    The mean is nan for df <= 1; the standard deviation is nan for df <= 1 and inf for 1 < df <= 2; the crps is inf for
    df <= 1/2. A zero scale is replaced by the smallest one that floats near `loc` can resolve.

    Args:
        df: The degrees of freedom: one number, or one per row.
        loc: The centre: one number, or one per row.
        scale: The scale, above zero: one number, or one per row.

    >>> StudentT(4, [0.0, 1.0], [1.0, 2.0]).interval(0.9)
    (array([-2.13184679, -3.26369357]), array([2.13184679, 5.26369357]))
    """
    given: Any = df
    locs, scales, dfs = parameters("StudentT", loc=loc, scale=scale, df=given)
    dfs = dfs if np.ndim(given) else floats("StudentT.df", given, like=locs)
    refuse("StudentT.df", dfs <= 0, "is not positive")
    return LocationScale(locs, widths("StudentT.scale", scales, locs), StandardT(dfs))
