"""Student's t law, in the coordinate in which its tails are straight.

With t = sqrt(df) sinh(w) the density is proportional to cosh(w)^-(df + 1), and log F falls like df * w: no
power of t overflows, and the logit of F lies between two straight lines in w, which brackets its inverse. The
incomplete beta function that F is comes as a power series in tanh(w)^2 near the centre, and as Gauss's
continued fraction with positive terms in the tails, in plain array operations, so that torch's gradients
reach both t and df.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from array_api_compat import device

from calibrant._arguments import same_length
from calibrant._arrays import Array, complain, detached, device_like, floats, namespace
from calibrant._kept import keep
from calibrant._special import logit, ndtri_logit
from calibrant._types import ArrayLike
from calibrant.distributions.base import Distribution
from calibrant.distributions.integrals import PartialMoments, Squares
from calibrant.distributions.location_scale import LocationScale, located
from calibrant.distributions.logits import LOGIT_GRID

_SERIES, _FRACTION = 60, 90  # terms that leave errors below 1e-15 where each is used, for any df
_NEWTON = 3  # steps that take the first guess to the resolution of floats


@dataclass(frozen=True, eq=False, repr=False)
class StandardT(Distribution):
    """f(t) = (1 + t^2 / df)^-((df + 1) / 2) / (sqrt(df) B(df / 2, 1/2)); `df` is one number, or one a row.

    The mean is nan for df <= 1; the standard deviation is nan for df <= 1 and inf for 1 < df <= 2; the crps
    is inf for df <= 1/2. Relative errors are a few 1e-14, as far out as floats reach.
    """

    df: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """One law for each df."""
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

    def _logcdf(self, t: Array) -> Array:
        return _Incomplete(self._df, self._w(t)).log_cdf()

    def _logsf(self, t: Array) -> Array:
        return self._logcdf(-t)

    def _logit(self, t: Array) -> Array:
        return self._logit_and_log_slope(t)[0]

    def _logit_and_log_slope(self, t: Array) -> tuple[Array, Array]:
        """The law is symmetric: those of |t|, with the sign of t."""
        xp, far = namespace(t), namespace(t).isinf(t)
        w = self._w(xp.where(far, xp.zeros_like(t), xp.where(t < 0, -t, t)))
        beta = _Incomplete(self._df, w)
        value, log_slope = beta.logit(), _log_density(self._df, w) - beta.log_both()
        infinite = xp.full_like(value, xp.inf)
        value, log_slope = (xp.where(far, infinite, part) for part in (value, log_slope))
        return xp.where(t < 0, -value, value), log_slope

    def _ppf(self, p: Array) -> Array:
        return self._ppf_logit(logit(p))

    def _ppf_logit(self, s: Array) -> Array:
        """sqrt(df) sinh(w), logit F(w) = s: the slope of logit F runs steadily from that at 0 to df."""
        xp, df = namespace(self.df), self._df
        inner = 4 * xp.exp(_log_gamma_ratio(df / 2)) / math.sqrt(math.pi)
        target = xp.where(xp.isfinite(s), xp.abs(s), xp.ones_like(s)) + xp.zeros_like(df)
        # bounds of steps that are detached; with gradients, array-api-compat 1.12 and torch 2.13 would warn
        low, high = (detached(target / side(inner, df)) for side in (xp.maximum, xp.minimum))
        w = xp.clip(_first_guess(df, target), low, high)
        for _ in range(_NEWTON):
            w = detached(w)
            beta = _Incomplete(detached(df), w)
            w = xp.clip(w - (beta.logit() - target) * xp.exp(-beta.log_slope()), low, high)
        w = detached(w)  # the last step alone carries gradients, to s and to df
        beta = _Incomplete(df, w)
        w = w - (beta.logit() - target) * xp.exp(-detached(beta.log_slope()))
        largest = math.log(float(xp.finfo(w.dtype).max)) - 1
        t = xp.sqrt(df) * xp.sinh(xp.clip(w, 0.0, largest))
        t = xp.where(xp.isfinite(s) & (w <= largest), t, xp.full_like(t, xp.inf))
        return xp.where(s < 0, -t, t)

    def _logpdf(self, t: Array) -> Array:
        return _log_density(self._df, self._w(t))

    def _mean(self) -> Array:
        xp = namespace(self.df)
        return xp.where(self.df > 1, xp.zeros_like(self.df), xp.full_like(self.df, xp.nan))

    def _std(self) -> Array:
        """sqrt(df / (df - 2))."""
        xp, finite = namespace(self.df), self.df > 2
        df = xp.where(finite, self.df, xp.full_like(self.df, 3.0))
        heavy = xp.where(self.df > 1, xp.full_like(df, xp.inf), xp.full_like(df, xp.nan))
        return xp.where(finite, xp.sqrt(df / (df - 2)), heavy)

    def _crps(self, t: Array) -> Array:
        """t (2 F - 1) + 2 m - g, m = f (df + t^2) / (df - 1), g = E |T - T'| / 2.

        For 1/2 < df <= 1, where there is no mean, by quadrature; inf below.
        """
        xp, light = namespace(t), self._df > 1
        if not bool(xp.all(light)):
            proper = StandardT(xp.where(self.df > 0.5, self.df, xp.ones_like(self.df)))
            squares = Distribution._squares(proper, t)
            numeric = xp.where(self._df > 0.5, squares.lower + squares.upper, xp.full_like(squares.lower, xp.inf))
        df = xp.where(light, self._df, xp.full_like(self._df, 2.0))
        F, S, m = _parts(df, t)
        crps = t * (F - S) + 2 * m - _spread(df)
        return crps if bool(xp.all(light)) else xp.where(light, crps, numeric)

    def _partial_moments(self, t: Array) -> PartialMoments:
        """t F + m and (t^2 F + 2 t m + (df F - (df - 1) t m) / (df - 2)) / 2, else inf; the same at -t."""
        xp, light, lighter = namespace(t), self._df > 1, self._df > 2
        df = xp.where(light, self._df, xp.full_like(self._df, 3.0))
        F, S, m = _parts(df, t)
        df = xp.where(lighter, df, xp.full_like(df, 3.0))

        def one_side(t: Array, F: Array) -> tuple[Array, Array]:
            first = t * F + m
            second = 0.5 * (t**2 * F + 2 * t * m + (df * F - (df - 1) * t * m) / (df - 2))
            infinite = xp.full_like(first, xp.inf)
            return xp.where(light, first, infinite), xp.where(lighter, second, infinite)

        return PartialMoments(*one_side(t, F), *one_side(-t, S))

    def _squares(self, t: Array) -> Squares:
        """t F^2 + 2 m F - g U(w), U the CDF for 2 df - 1 degrees of freedom; the same at -t."""
        xp, light = namespace(t), self._df > 1
        df = xp.where(light, self._df, xp.full_like(self._df, 2.0))
        F, S, m = _parts(df, t)
        w, g = xp.asinh(t / xp.sqrt(df)), _spread(df)
        lower = t * F**2 + 2 * m * F - g * _Incomplete(2 * df - 1, w).cdf()
        upper = -t * S**2 + 2 * m * S - g * _Incomplete(2 * df - 1, -w).cdf()
        infinite = xp.full_like(lower, xp.inf)
        return Squares(xp.where(light, lower, infinite), xp.where(light, upper, infinite))

    def _breaks(self) -> Array:
        """A fine grid, as far as floats reach."""
        t = self._ppf_logit(device_like(LOGIT_GRID, self.df))
        return t[namespace(t).isfinite(t)]

    def _describe(self) -> str:
        return "" if self.shape else f"df={float(self.df):g}"


class _Incomplete:
    """F at w: the mass between 0 and w near the centre, the log of the nearer tail farther out."""

    def __init__(self, df: Array, w: Array) -> None:
        xp = namespace(df)
        self.xp, self.df, self.w = xp, df, w
        size = xp.abs(w)
        one = xp.ones_like(size + df)
        self.central = (size < 0.6) & (xp.sinh(xp.clip(size, 0.0, 1.0)) * xp.sqrt(df) < 2.2)
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

    def log_cdf(self) -> Array:
        xp = self.xp
        outer = xp.where(self.w < 0, self.log_tail, xp.log1p(-xp.exp(self.log_tail)))
        return xp.where(self.central, xp.log1p(self.inner - 0.5), outer)

    def logit(self) -> Array:
        """log F - log(1 - F), for w >= 0."""
        xp = self.xp
        outer = xp.log1p(-xp.exp(self.log_tail)) - self.log_tail
        return xp.where(self.central, 2 * xp.atanh(2 * self.inner), outer)

    def log_both(self) -> Array:
        """log F + log(1 - F), for w >= 0."""
        xp = self.xp
        outer = self.log_tail + xp.log1p(-xp.exp(self.log_tail))
        return xp.where(self.central, xp.log1p(-4 * self.inner**2) - math.log(4), outer)

    def log_slope(self) -> Array:
        """The log derivative of the logit in w, for w >= 0."""
        slope = _log_density(self.df, self.w) + 0.5 * self.xp.log(self.df) + _log_cosh(self.w)
        return slope - self.log_both()


def _parts(df: Array, t: Array) -> tuple[Array, Array, Array]:
    """F, 1 - F and f (df + t^2) / (df - 1)."""
    xp = namespace(df)
    w = xp.asinh(t / xp.sqrt(df))
    m = xp.exp(_log_density(df, w) + 2 * _log_cosh(w)) * df / (df - 1)
    return _Incomplete(df, w).cdf(), _Incomplete(df, -w).cdf(), m


def _spread(df: Array) -> Array:
    """E |T - T'| / 2 = 2 sqrt(df) B(1/2, df - 1/2) / ((df - 1) B(1/2, df / 2)^2)."""
    xp = namespace(df)
    betas = 2 * _log_gamma_ratio(df / 2) - _log_gamma_ratio(df - 0.5) - 0.5 * math.log(math.pi)
    return 2 * xp.sqrt(df) / (df - 1) * xp.exp(betas)


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
    """The laws of loc + scale * T, T with `df` degrees of freedom: one number for all rows, or one a row.

    The mean is nan for df <= 1; the standard deviation is nan for df <= 1 and inf for 1 < df <= 2; the crps
    is inf for df <= 1/2. A zero scale becomes the least that floats tell apart there, with a warning;
    `strict=True` raises.

    >>> StudentT(4, [0.0, 1.0], [1.0, 2.0]).interval(0.9)
    (array([-2.13184679, -3.26369357]), array([2.13184679, 5.26369357]))
    """
    law = located("StudentT", loc, scale, _CAUCHY, strict=strict)
    df = floats("StudentT.df", df, like=law.loc)
    xp = namespace(df)
    if df.ndim > 1:
        raise ValueError(f"StudentT takes one df, or one a row, got shape {tuple(df.shape)}")
    if bool(xp.any(df <= 0)):
        complain("StudentT.df", df <= 0, "is not positive")
    if df.ndim:
        if law.shape:
            same_length("StudentT.loc", law.shape[0], "StudentT.df", df.shape[0])
        else:
            law = LocationScale(xp.zeros_like(df) + law.loc, xp.zeros_like(df) + law.scale, law.base)
    return LocationScale(law.loc, law.scale, StandardT(df) if df.ndim else _shared(df))


_CAUCHY = StandardT(np.asarray(1.0))


def _shared(df: Array) -> StandardT:
    """One law for all predictions with the same df, so that what is kept for it serves them all."""
    if getattr(df, "requires_grad", False):
        return StandardT(df)
    key = ("df", float(df), namespace(df).__name__, str(df.dtype), str(device(df)))
    return keep(_CAUCHY, key, lambda: StandardT(device_like(float(df), df)))
