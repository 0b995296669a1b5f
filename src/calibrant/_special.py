"""Special functions the array API standard lacks: scipy's on numpy, torch's own (differentiable) on torch."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import array_api_compat
import numpy as np
import scipy.special

from calibrant._arrays import Array, anywhere, device_like, namespace, to_numpy


def _elementwise(name: str, x: Array) -> Array:
    torch = array_api_compat.is_torch_array(x)
    function: Callable[[Any], Array] = getattr(sys.modules["torch"].special if torch else scipy.special, name)
    if torch or array_api_compat.is_numpy_array(x):
        return function(x)
    return namespace(x).asarray(function(np.asarray(x)), dtype=x.dtype)


def ndtr(z: Array) -> Array:
    """The standard normal CDF, erfc(-z / sqrt(2)) / 2; torch's own ndtr is 0 from z = -9 or so."""
    return _elementwise("erfc", z * -math.sqrt(0.5)) / 2


def log_ndtr(z: Array) -> Array:
    """The logarithm of the standard normal CDF, finite as far as z**2 is."""
    return _elementwise("log_ndtr", z)


def erfcx(x: Array) -> Array:
    """exp(x**2) erfc(x), which does not vanish for large x."""
    return _elementwise("erfcx", x)


def ndtri(p: Array) -> Array:
    """The standard normal quantile function."""
    return _elementwise("ndtri", p)


def log_sigmoid(s: Array) -> Array:
    """log(1 / (1 + exp(-s))), without overflow; -inf at -inf."""
    xp = namespace(s)
    return xp.minimum(s, xp.zeros_like(s)) - xp.log1p(xp.exp(-xp.abs(s)))


def log_logistic(s: Array) -> Array:
    """log sigmoid(s) + log sigmoid(-s), the log density of the standard logistic distribution."""
    xp = namespace(s)
    size = xp.abs(s)
    return -size - 2 * xp.log1p(xp.exp(-size))


def sigmoid(s: Array) -> Array:
    """1 / (1 + exp(-s))."""
    return _elementwise("expit", s)


def safe_sqrt(x: Array) -> Array:
    """The square root, 0 of what is below 0; at 0 its gradient is 0."""
    xp = namespace(x)
    nothing = x <= 0
    return xp.where(nothing, xp.zeros_like(x), xp.sqrt(xp.where(nothing, xp.ones_like(x), x)))


def safe_log(p: Array) -> Array:
    """log(p), and -inf where p is 0, without a warning."""
    xp = namespace(p)
    positive = p > 0
    return xp.where(positive, xp.log(xp.where(positive, p, xp.ones_like(p))), xp.full_like(p, -xp.inf))


def logit(p: Array) -> Array:
    """log(p / (1 - p)); -+inf at 0 and 1."""
    xp = namespace(p)
    inside = (p > 0) & (p < 1)
    q = xp.where(inside, p, xp.full_like(p, 0.5))
    ends = xp.where(p > 0.5, xp.full_like(p, xp.inf), xp.full_like(p, -xp.inf))
    return xp.where(inside, xp.log(q) - xp.log1p(-q), ends)


def ndtri_logit(s: Array) -> Array:
    """The z with Phi(z) = sigmoid(s): ndtri, or far out Newton steps on log Phi from its asymptote."""
    xp = namespace(s)
    endless = xp.isinf(s)
    smaller = log_sigmoid(xp.where(s > 0, -s, s))  # the smaller tail, at most log(1/2)
    log_p = xp.where(endless, -xp.ones_like(s), smaller)
    deep = log_p < -80.0
    square = xp.where(deep, -2 * log_p, xp.full_like(s, 100.0))
    far = -xp.sqrt(square - xp.log(2 * math.pi * square))
    z = xp.where(deep, far, ndtri(xp.exp(xp.where(deep, -xp.ones_like(s), log_p))))
    graded = array_api_compat.is_torch_array(s)  # whose gradients flow through the steps
    least = -1e6 if s.dtype == xp.float64 else -1e3  # below, z**2 has no digits left for Newton
    moving = (log_p > least) & (deep | graded)
    for _ in range(3 if anywhere(moving) else 0):
        log_cdf = log_ndtr(z)
        step = (log_cdf - log_p) * xp.exp(log_cdf + 0.5 * z**2 + 0.5 * math.log(2 * math.pi))
        z = xp.where(moving, z - step, z)
    return xp.where(endless, s, xp.where(s > 0, -z, z))


def _of_several(name: str, *arguments: Array) -> Array:
    """A function of several arguments, by scipy; torch's own where it has one. No gradient flows through scipy's."""
    like = arguments[-1]
    if array_api_compat.is_torch_array(like):
        own: Callable[..., Array] | None = getattr(sys.modules["torch"].special, name, None)
        if own is not None:
            return own(*sys.modules["torch"].broadcast_tensors(*arguments))
        if any(getattr(argument, "requires_grad", False) for argument in arguments):
            raise TypeError(f"torch has no {name}, so that no gradient flows through it: detach the parameters first")
    found = getattr(scipy.special, name)(*(to_numpy(argument) for argument in arguments))
    return found if isinstance(like, (np.ndarray, np.generic)) else device_like(found, like)


def gammainc(a: Array, x: Array) -> Array:
    """The regularised lower incomplete gamma function P(a, x)."""
    return _of_several("gammainc", a, x)


def gammaincc(a: Array, x: Array) -> Array:
    """Q(a, x) = 1 - P(a, x)."""
    return _of_several("gammaincc", a, x)


def betainc(a: Array, b: Array, x: Array) -> Array:
    """The regularised incomplete beta function I_x(a, b)."""
    return _of_several("betainc", a, b, x)


def betaln(a: Array, b: Array) -> Array:
    """log B(a, b), with the digits that log Gamma(a) + log Gamma(b) - log Gamma(a + b) loses for large a or b."""
    return _of_several("betaln", a, b)


def xlogy(x: Array, y: Array) -> Array:
    """x log(y), 0 where x is 0."""
    return _of_several("xlogy", x, y)


def stdtr(df: Array, t: Array) -> Array:
    """The CDF of Student's t distribution."""
    return _of_several("stdtr", df, t)


def stdtrit(df: Array, p: Array) -> Array:
    """The quantile function of Student's t distribution."""
    return _of_several("stdtrit", df, p)


def gammaln(x: Array) -> Array:
    """log Gamma(x)."""
    return _elementwise("gammaln", x)
