"""Special functions the array API standard lacks: torch's own where it has them (differentiable), else scipy's."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import array_api_compat
import numpy as np
import scipy.special

from calibrant._arrays import Array, anywhere, device_like, namespace, to_numpy


def _special(name: str) -> Callable[..., Array]:
    """The elementwise function of this name; no gradient flows through scipy's."""

    def function(*arguments: Array) -> Array:
        like, own = arguments[-1], getattr(scipy.special, name)
        if isinstance(like, (np.ndarray, np.generic)):
            return own(*arguments)  # type: ignore[no-any-return]
        if array_api_compat.is_torch_array(like):
            torch = sys.modules["torch"]
            if hasattr(torch.special, name):
                return getattr(torch.special, name)(*torch.broadcast_tensors(*arguments))  # type: ignore[no-any-return]
            if any(getattr(argument, "requires_grad", False) for argument in arguments):
                raise TypeError(f"torch has no {name}, so no gradient flows through it: detach the parameters first")
        return device_like(own(*map(to_numpy, arguments)), like)

    return function


_erfc = _special("erfc")
erfcx = _special("erfcx")  # exp(x**2) erfc(x), which does not vanish for large x
ndtri = _special("ndtri")  # the standard normal quantile function
log_ndtr = _special("log_ndtr")  # the logarithm of the standard normal CDF, finite as far as z**2 is
sigmoid = _special("expit")  # 1 / (1 + exp(-s))
stdtr = _special("stdtr")  # of df and t: the CDF of Student's t distribution
stdtrit = _special("stdtrit")  # of df and p: its quantile function
gammaln = _special("gammaln")
gammainc = _special("gammainc")  # of a and x: the regularised lower incomplete gamma function P(a, x)
gammaincc = _special("gammaincc")  # 1 - P(a, x)
betaln = _special("betaln")  # log B(a, b), with the digits that a difference of log Gammas loses for large a or b
betainc = _special("betainc")  # of a, b and x: the regularised incomplete beta function I_x(a, b)
xlogy = _special("xlogy")  # x log(y), 0 where x is 0


def ndtr(z: Array) -> Array:
    """The standard normal CDF, erfc(-z / sqrt(2)) / 2; torch's own ndtr is 0 from z = -9 or so."""
    return _erfc(z * -math.sqrt(0.5)) / 2


def log_sigmoid(s: Array) -> Array:
    """log(1 / (1 + exp(-s))), without overflow; -inf at -inf."""
    xp = namespace(s)
    return xp.minimum(s, xp.zeros_like(s)) - xp.log1p(xp.exp(-xp.abs(s)))


def log_logistic(s: Array) -> Array:
    """log sigmoid(s) + log sigmoid(-s), the log density of the standard logistic distribution."""
    xp = namespace(s)
    size = xp.abs(s)
    return -size - 2 * xp.log1p(xp.exp(-size))


def safe_sqrt(x: Array) -> Array:
    """The square root, 0 of what is below 0; at 0 its gradient is 0."""
    xp = namespace(x)
    nothing = x <= 0
    return xp.where(nothing, 0.0, xp.sqrt(xp.where(nothing, 1.0, x)))


def safe_log(p: Array) -> Array:
    """log(p), and -inf where p is 0 or less, without a warning."""
    xp = namespace(p)
    positive = p > 0
    return xp.where(positive, xp.log(xp.where(positive, p, 1.0)), -xp.inf)


def logit(p: Array) -> Array:
    """log(p / (1 - p)); -+inf at 0 and 1."""
    xp = namespace(p)
    inside = (p > 0) & (p < 1)
    q = xp.where(inside, p, 0.5)
    return xp.where(inside, xp.log(q) - xp.log1p(-q), xp.where(p > 0.5, xp.inf, -xp.inf + 0 * p))


def ndtri_logit(s: Array) -> Array:
    """The z with Phi(z) = sigmoid(s): ndtri, or far out Newton steps on log Phi from its asymptote."""
    xp = namespace(s)
    endless = xp.isinf(s)
    log_p = xp.where(endless, -1.0, log_sigmoid(xp.where(s > 0, -s, s)))  # of the smaller tail
    deep = log_p < -80.0
    square = xp.where(deep, -2 * log_p, 100.0)
    far = -xp.sqrt(square - xp.log(2 * math.pi * square))
    z = xp.where(deep, far, ndtri(xp.exp(xp.where(deep, -1.0, log_p))))
    least = -1e6 if s.dtype == xp.float64 else -1e3  # below, z**2 has no digits left for Newton
    moving = (log_p > least) & (deep | array_api_compat.is_torch_array(s))  # torch's gradients flow through the steps
    for _ in range(3 if anywhere(moving) else 0):
        log_cdf = log_ndtr(z)
        step = (log_cdf - log_p) * xp.exp(log_cdf + 0.5 * z**2 + 0.5 * math.log(2 * math.pi))
        z = xp.where(moving, z - step, z)
    return xp.where(endless, s, xp.where(s > 0, -z, z))
