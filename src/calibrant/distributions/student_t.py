"""Student's t distribution, in the coordinate in which its tails are straight.

With t = sqrt(df) sinh(w) the density is proportional to cosh(w)^-(df + 1), and log F falls like df * w: no power of t
overflows, and the logit of F lies between two straight lines in w, which brackets its inverse. The incomplete beta
function that F is comes as a power series in tanh(w)^2 near the centre, and as Gauss's continued fraction with positive
terms in the tails, in plain array operations, so that torch's gradients reach both t and df.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calibrant._arguments import same_length
from calibrant._arrays import Array, clip, complain, detached, floats, namespace
from calibrant._special import logit, ndtri_logit
from calibrant._types import ArrayLike
from calibrant.distributions.base import Distribution, Moments, drawn_in
from calibrant.distributions.location_scale import LocationScale, located
from calibrant.distributions.table import ONCE, TWICE

_SERIES, _FRACTION = 60, 90  # terms that leave errors below 1e-15 where each is used, for any df
_NEWTON = 3  # steps that take the first guess to the resolution of floats


@dataclass(frozen=True, eq=False, repr=False)
class StandardT(Distribution):
    """f(t) = (1 + t^2 / df)^-((df + 1) / 2) / (sqrt(df) B(df / 2, 1/2)); `df` is one number, or one per row.

    The mean is nan for df <= 1; the standard deviation is nan for df <= 1 and inf for 1 < df <= 2; the crps is inf for
    df <= 1/2. Relative errors are a few 1e-14, as far out as floats reach.
    """

    df: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.df.shape)

    @property
    def _df(self) -> Array:
        return self._lift(self.df)

    def _w(self, t: Array) -> Array:
        xp = namespace(self.df)
        return xp.asinh(t / xp.sqrt(self._df))

    def _cdf(self, t: Array) -> Array:
        return _Incomplete(self._df, self._w(t)).cdf()

    def _sf(self, t: Array) -> Array:
        return self._cdf(-t)

    def _logpdf(self, t: Array) -> Array:
        return _log_density(self._df, self._w(t))

    def _logit(self, t: Array) -> tuple[Array, Array]:
        """Those of |t|, the value with the sign of t."""
        xp, far = namespace(t), namespace(t).isinf(t)
        w = self._w(xp.where(far, xp.zeros_like(t), xp.abs(t)))
        value, log_slope = _Incomplete(self._df, w).logit()
        log_slope = log_slope - _log_cosh(w) - 0.5 * xp.log(self._df)
        value, log_slope = (xp.where(far, xp.full_like(part, xp.inf), part) for part in (value, log_slope))
        return xp.where(t < 0, -value, value), log_slope

    # ---- quantiles -------------------------------------------------------------------------------------------------

    def _ppf(self, p: Array) -> Array:
        return self._ppf_logit(logit(p))

    def _ppf_logit(self, s: Array) -> Array:
        """sqrt(df) sinh(w), logit F(w) = s, by Newton steps."""
        xp, df = namespace(self.df), self._df
        target = xp.where(xp.isfinite(s), xp.abs(s), xp.ones_like(s)) + xp.zeros_like(df)
        w, low, high = self._guess(target)
        for _ in range(_NEWTON):
            value, log_slope = _Incomplete(detached(df), w).logit()
            w = detached(clip(w - (value - target) * xp.exp(-log_slope), low, high))
        value, log_slope = _Incomplete(df, w).logit()  # the last step alone carries gradients, to s and to df
        return self._t(w - (value - target) * xp.exp(-detached(log_slope)), s)

    def _guess(self, s: Array) -> tuple[Array, Array, Array]:
        """The w where logit F is about s >= 0, and bounds of it: the slope runs steadily from that at 0 to df."""
        xp, df = namespace(self.df), self._df
        inner = 4 * xp.exp(_log_gamma_ratio(df / 2)) / math.sqrt(math.pi)
        low, high = (detached(s / side(inner, df)) for side in (xp.maximum, xp.minimum))
        return detached(clip(_first_guess(df, s), low, high)), low, high

    def _t(self, w: Array, s: Array) -> Array:
        """sqrt(df) sinh(w) with the sign of s; inf where floats end."""
        xp = namespace(w)
        largest = math.log(float(xp.finfo(w.dtype).max)) - 1
        t = xp.sqrt(self._df) * xp.sinh(clip(w, 0.0, largest))
        t = xp.where(xp.isfinite(s) & (w <= largest), t, xp.full_like(t, xp.inf))
        return xp.where(s < 0, -t, t)

    def _places(self, s: Array) -> Array:
        """The first guesses of the quantiles, which do as well."""
        xp = namespace(s)
        return drawn_in(xp.sort(self._t(self._guess(xp.abs(s))[0], s), axis=1))

    # ---- integrals -------------------------------------------------------------------------------------------------

    def _moments(self) -> Moments:
        """0, sqrt(df / (df - 2)), -E |T - T'| / 2 = -2 k b / (df - 1); or crps(0) = 2 k (1 - b) / (df - 1).

        The latter where integrals start at 0. k = sqrt(df) / B(df / 2, 1/2), b = B(df - 1/2, 1/2) / B(df / 2, 1/2).
        """
        xp = namespace(self.df)
        df = xp.astype(self.df, xp.float64)
        none, infinite = xp.full_like(df, xp.nan), xp.full_like(df, xp.inf)
        some, finite = df > 1, df > 2
        std = xp.where(finite, xp.sqrt(df / xp.where(finite, df - 2, xp.ones_like(df))), infinite)
        proper = _beside(xp.where(df > 0.5, df, xp.ones_like(df)), 1, 1e-8)
        log_b = _log_gamma_ratio(proper / 2) - _log_gamma_ratio(proper - 0.5)
        shift = -2 * _slope(proper) * xp.where(_light(df), xp.exp(log_b), xp.expm1(log_b)) / (proper - 1)
        mean, std = (xp.where(some, part, none) for part in (0 * df, std))
        return Moments(*map(self._at_home, (mean, std, xp.where(df > 0.5, shift, infinite))))

    def _integrals(self, t: Array, which: int) -> Array:
        """t F + m, m = f (df + t^2) / (df - 1); (t^2 F + 2 t m + v) / 2, v = (df F - (df - 1) t m) / (df - 2);

        and t F^2 + 2 m F - g U, g = E |T - T'| / 2, U the CDF for 2 df - 1 degrees of freedom. Where the first two do
        not exist from -inf, they start at 0: with m less its value there, and F - 1/2 in v.
        """
        xp, light, eps = namespace(self.df), _light(self._df), float(namespace(self.df).finfo(self.df.dtype).eps)
        df = _beside(self._df, 1, 4 * eps)
        df = _beside(df, 2, eps**0.5) if which == TWICE else df
        w = xp.asinh(t / xp.sqrt(df))
        F, power = _Incomplete(df, w).cdf(), (1 - df) * _log_cosh(w)
        m = _slope(df) * xp.where(light, xp.exp(power), xp.expm1(power)) / (df - 1)
        if which == ONCE:
            return t * F + m
        if which == TWICE:
            above = F - xp.where(self._df > 2, xp.zeros_like(df), xp.full_like(df, 0.5))
            v = (df * above - t * _slope(df) * xp.exp(power)) / (df - 2)
            return (t**2 * F + 2 * t * m + v) / 2
        df = xp.where(light, df, xp.full_like(df, 2.0))
        g = 2 * _slope(df) * xp.exp(_log_gamma_ratio(df / 2) - _log_gamma_ratio(df - 0.5)) / (df - 1)
        square = t * F**2 + 2 * m * F - g * _Incomplete(2 * df - 1, xp.asinh(t / xp.sqrt(df))).cdf()
        return square if bool(xp.all(light)) else xp.where(light, square, super()._integrals(t, which))

    def _describe(self) -> str:
        return "" if self.shape else f"df={float(self.df):g}"


class _Incomplete:
    """F at w: the mass between 0 and w near the centre, the log of the nearer tail farther out."""

    def __init__(self, df: Array, w: Array) -> None:
        xp = namespace(df)
        self.xp, self.df, self.w = xp, df, w
        size = xp.abs(w)
        one = xp.ones_like(size + df)
        self.central = (size < 0.6) & (xp.sinh(clip(size, 0.0, 1.0)) * xp.sqrt(df) < 2.2)
        a = 0.5 * df
        log_power = -df * _log_cosh(w) + _log_gamma_ratio(a) - 0.5 * math.log(math.pi)  # log(x^a / B(a, 1/2))

        near = xp.where(self.central, w * one, 0 * one)
        y = xp.tanh(near) ** 2
        total = one
        for k in range(_SERIES, 0, -1):
            total = 1 + (a + (k - 0.5)) / (k + 0.5) * y * total
        self.inner = xp.tanh(near) * xp.exp(xp.where(self.central, log_power, -one)) * total

        far = xp.where(self.central, one, size)
        z = 4 * xp.exp(-2 * far) / xp.expm1(-2 * far) ** 2  # 1 / sinh(w)^2
        fraction = one
        for m in range(_FRACTION // 2, 0, -1):
            fraction = 1 + z * ((m + 0.5) * (a + m) / ((a + 2 * m) * (a + (2 * m + 1)))) / fraction
            fraction = 1 + z * (m * (a + (m - 0.5)) / ((a + (2 * m - 1)) * (a + 2 * m))) / fraction
        fraction = 1 + z * (0.5 / (a + 1)) / fraction
        log_tail = log_power - xp.log(df * xp.tanh(far) * fraction)
        self.log_tail = xp.where(self.central, -one, log_tail)

    def cdf(self) -> Array:
        tail = self.xp.exp(self.log_tail)
        return self.xp.where(self.central, 0.5 + self.inner, self.xp.where(self.w < 0, tail, 1 - tail))

    def logit(self) -> tuple[Array, Array]:
        """log F - log(1 - F) and the log of its slope in w, for w >= 0."""
        xp = self.xp
        rest = xp.log1p(-xp.exp(self.log_tail))
        value = xp.where(self.central, 2 * xp.atanh(2 * self.inner), rest - self.log_tail)
        both = xp.where(self.central, xp.log1p(-4 * self.inner**2) - math.log(4), rest + self.log_tail)
        return value, _log_density(self.df, self.w) + 0.5 * xp.log(self.df) + _log_cosh(self.w) - both


def _light(df: Array) -> Array:
    """Whether the integral of F is taken from -inf."""
    return df > 1.0001


def _beside(df: Array, whole: int, step: float) -> Array:
    """df, kept away from a whole number at which formulas divide by 0."""
    xp = namespace(df)
    return df + detached(xp.where(xp.abs(df - whole) < step, whole + step - df, xp.zeros_like(df)))


def _slope(df: Array) -> Array:
    """sqrt(df) / B(df / 2, 1/2), which is df f(0)."""
    xp = namespace(df)
    return xp.sqrt(df / math.pi) * xp.exp(_log_gamma_ratio(df / 2))


def _first_guess(df: Array, s: Array) -> Array:
    """Wallace's z^2 = 2 (df - 1/2) log cosh(w), z normal; far out log(1 - F) = df (log 2 - w) - log(df B)."""
    xp = namespace(s)
    z = ndtri_logit(s)
    power = z**2 / (2 * df) * (1 + 1 / (2 * df))
    wallace = power + xp.log1p(xp.sqrt(-xp.expm1(-2 * power)))  # acosh(exp(power)), without overflow
    line = math.log(2) + (s - xp.log(df) + _log_gamma_ratio(df / 2) - 0.5 * math.log(math.pi)) / df
    return xp.where((line > 1) & (s > 2), line, wallace)


def _log_density(df: Array, w: Array) -> Array:
    xp = namespace(df)
    return _log_gamma_ratio(0.5 * df) - 0.5 * xp.log(math.pi * df) - (df + 1) * _log_cosh(w)


def _log_cosh(w: Array) -> Array:
    """log(1 + sinh(w)^2) / 2 for small w, |w| - log 2 + log(1 + exp(-2 |w|)) for large."""
    xp = namespace(w)
    size = xp.abs(w)
    small = size < 1
    inner = 0.5 * xp.log1p(xp.sinh(xp.where(small, w, xp.zeros_like(w))) ** 2)
    return xp.where(small, inner, size - math.log(2) + xp.log1p(xp.exp(-2 * size)))


def _log_gamma_ratio(a: Array) -> Array:
    """log(Gamma(a + 1/2) / Gamma(a)): Stirling's series at a + 20, and twenty steps down."""
    xp = namespace(a)
    far = a + 20
    x = 1 / far**2
    ratio = 0.5 * xp.log(far) - (1 - x * (1 / 24 - x * (1 / 80 - x * (17 / 1792 - x * 31 / 2304)))) / (8 * far)
    for j in range(20):
        ratio = ratio + xp.log1p(-0.5 / (a + (j + 0.5)))
    return ratio


def StudentT(df: ArrayLike, loc: ArrayLike, scale: ArrayLike, *, strict: bool = False) -> LocationScale:
    """The distributions of loc + scale * T, T with `df` degrees of freedom: one number for all rows, or one per row.

    The mean is nan for df <= 1; the standard deviation is nan for df <= 1 and inf for 1 < df <= 2; the crps is inf for
    df <= 1/2. A zero scale becomes the least that floats tell apart there, with a warning; `strict=True` raises.

    >>> StudentT(4, [0.0, 1.0], [1.0, 2.0]).interval(0.9)
    (array([-2.13184679, -3.26369357]), array([2.13184679, 5.26369357]))
    """
    law = located("StudentT", loc, scale, StandardT(np.asarray(1.0)), strict=strict)
    df = floats("StudentT.df", df, like=law.loc)
    xp = namespace(df)
    if df.ndim > 1:
        raise ValueError(f"StudentT takes one df, or one per row, got shape {tuple(df.shape)}")
    if bool(xp.any(df <= 0)):
        complain("StudentT.df", df <= 0, "is not positive")
    if not df.ndim:
        return LocationScale(law.loc, law.scale, StandardT(df))
    if law.shape:
        same_length("StudentT.loc", law.shape[0], "StudentT.df", df.shape[0])
    return LocationScale(xp.zeros_like(df) + law.loc, xp.zeros_like(df) + law.scale, StandardT(df))
