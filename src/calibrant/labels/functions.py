"""Increasing functions t of a label, each with its inverse and the log of its slope."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant._arrays import Array, device_like, namespace
from calibrant._special import log_sigmoid, sigmoid

Elementwise = Callable[[Array], Array]


class Function(ABC):
    """t, increasing from (lower, upper) onto the whole line; what lies below goes to -inf, what lies above to inf."""

    lower: ClassVar[float] = -math.inf
    upper: ClassVar[float] = math.inf
    least: ClassVar[float] = -math.inf
    """The least label there may be, where t goes on below it: laws are clipped there."""

    @abstractmethod
    def forward(self, y: Array) -> Array:
        """t(y)."""

    @abstractmethod
    def inverse(self, s: Array) -> Array:
        """The y with t(y) = s."""

    @abstractmethod
    def log_slope(self, y: Array) -> Array:
        """The log of t'(y); any finite number beyond the ends."""


@dataclass(frozen=True)
class Log(Function):
    """log y."""

    lower: ClassVar[float] = 0.0

    def forward(self, y: Array) -> Array:
        """-inf up to 0."""
        return _log(y, y)

    def inverse(self, s: Array) -> Array:
        """exp(s)."""
        with np.errstate(over="ignore"):
            return namespace(s).exp(s)

    def log_slope(self, y: Array) -> Array:
        """-log y."""
        return -_finite(self.forward(y))


@dataclass(frozen=True)
class Log1p(Function):
    """log(1 + y)."""

    lower: ClassVar[float] = -1.0

    def forward(self, y: Array) -> Array:
        """-inf up to -1."""
        xp = namespace(y)
        inside = y > -1
        return xp.where(inside, xp.log1p(xp.where(inside, y, xp.zeros_like(y))), xp.full_like(y, -xp.inf))

    def inverse(self, s: Array) -> Array:
        """exp(s) - 1."""
        with np.errstate(over="ignore"):
            return namespace(s).expm1(s)

    def log_slope(self, y: Array) -> Array:
        """-log(1 + y)."""
        return -_finite(self.forward(y))


@dataclass(frozen=True)
class Logit(Function):
    """log y - log(1 - y)."""

    lower: ClassVar[float] = 0.0
    upper: ClassVar[float] = 1.0

    def forward(self, y: Array) -> Array:
        """Infinite outside (0, 1)."""
        return _log(y, y) - _log(1 - y, y)

    def inverse(self, s: Array) -> Array:
        """1 / (1 + exp(-s))."""
        return sigmoid(s)

    def log_slope(self, y: Array) -> Array:
        """-log y - log(1 - y)."""
        s = _finite(self.forward(y))
        return -log_sigmoid(s) - log_sigmoid(-s)


@dataclass(frozen=True)
class Sqrt(Function):
    """sqrt(y) for y >= 0, continued by -sqrt(-y)."""

    least: ClassVar[float] = 0.0

    def forward(self, y: Array) -> Array:
        """The root, with the sign of y."""
        xp = namespace(y)
        return xp.sign(y) * xp.sqrt(xp.abs(y))

    def inverse(self, s: Array) -> Array:
        """The square, with the sign of s."""
        return s * namespace(s).abs(s)

    def log_slope(self, y: Array) -> Array:
        """-log(2 sqrt(y)), which is infinite at 0 and very large here."""
        xp = namespace(y)
        tiny = float(xp.finfo(y.dtype).smallest_normal)
        return -math.log(2) - 0.5 * xp.log(xp.maximum(xp.abs(y), xp.full_like(y, tiny)))


@dataclass(frozen=True)
class YeoJohnson(Function):
    """((1 + y)^p - 1) / p above 0, -((1 - y)^(2 - p) - 1) / (2 - p) below; a log where the power is 0."""

    power: float

    def __post_init__(self) -> None:
        if not 0 <= self.power <= 2:  # beyond, t does not reach the whole line: some of a law would have no label
            raise ValueError(f"yeo-johnson takes a power of [0, 2], such as yeo-johnson:0.5, got {self.power:g}")

    def forward(self, y: Array) -> Array:
        """By the side of y."""
        return self._sided(_raised, y)

    def inverse(self, s: Array) -> Array:
        """By the side of s."""
        with np.errstate(over="ignore"):
            return self._sided(_lowered, s)

    def _sided(self, function: Callable[[Array, float], Array], x: Array) -> Array:
        xp, zero = namespace(x), namespace(x).zeros_like(x)
        return function(xp.maximum(x, zero), self.power) - function(xp.maximum(-x, zero), 2 - self.power)

    def log_slope(self, y: Array) -> Array:
        """(p - 1) log(1 + |y|), with the sign of y."""
        xp = namespace(y)
        return (self.power - 1) * xp.sign(y) * xp.log1p(xp.abs(y))


@dataclass(frozen=True)
class OwnFunction(Function):
    """A pair of functions of the user's. Where t is not a number, y lies beyond an end."""

    t: Elementwise
    back: Elementwise
    slope: Elementwise | None = None

    def forward(self, y: Array) -> Array:
        """Infinite where t is no number, on the side of y."""
        with np.errstate(all="ignore"):
            s, middle = self.t(y), self.back(device_like(0.0, y))
        xp = namespace(s)
        end = xp.where(y < middle, xp.full_like(s, -xp.inf), xp.full_like(s, xp.inf))
        return xp.where(xp.isnan(s), end, s)

    def inverse(self, s: Array) -> Array:
        """The other one of the pair."""
        with np.errstate(all="ignore"):
            return self.back(s)

    def log_slope(self, y: Array) -> Array:
        """Of the slope that was given, or of differences of the inverse, to nine digits or so."""
        xp = namespace(y)
        with np.errstate(all="ignore"):
            if self.slope is not None:
                return _finite(xp.log(self.slope(y)))
            s = _finite(self.forward(y))
            h = _STEP * xp.maximum(xp.abs(s), xp.ones_like(s))
            near, far = (self.back(s + k * h) - self.back(s - k * h) for k in (1, 2))
            return _finite(xp.log(12 * h) - xp.log(8 * near - far))


@dataclass(frozen=True)
class Backwards(Function):
    """The inverse of a function."""

    function: Function

    def forward(self, y: Array) -> Array:
        """The function's inverse."""
        return self.function.inverse(y)

    def inverse(self, s: Array) -> Array:
        """The function."""
        return self.function.forward(s)

    def log_slope(self, y: Array) -> Array:
        """-log t' at the y that it comes from."""
        return -self.function.log_slope(self.function.inverse(y))


_STEP = 1e-3
_NAMED: dict[str, Function] = {"log": Log(), "log1p": Log1p(), "sqrt": Sqrt(), "logit": Logit()}


def function_of(by: Any) -> Function:
    """The function of a name, such as log or yeo-johnson:0.5, or of a pair (t, inverse) or a triple with t's slope."""
    if isinstance(by, str):
        name, colon, number = by.partition(":")
        if name == "yeo-johnson" and _is_number(number):
            return YeoJohnson(float(number))
        if name not in _NAMED or colon:
            known = ", ".join([*_NAMED, "yeo-johnson:0.5"])
            raise ValueError(f"Transformed takes one of {known}, or a pair of functions, got {by!r}")
        return _NAMED[name]
    if not (isinstance(by, tuple) and len(by) in (2, 3) and all(map(callable, by))):
        raise TypeError(f"Transformed takes a name, or a pair (function, inverse), got {by!r}")
    return OwnFunction(*by)


def _is_number(text: str) -> bool:
    try:
        return not math.isnan(float(text))
    except ValueError:
        return False


def _log(x: Array, like: Array) -> Array:
    """log x, -inf up to 0."""
    xp = namespace(like)
    inside = x > 0
    return xp.where(inside, xp.log(xp.where(inside, x, xp.ones_like(x))), xp.full_like(x, -xp.inf))


def _finite(value: Array) -> Array:
    """0 where it is infinite: beyond the ends of the labels, where nobody asks for a slope."""
    xp = namespace(value)
    return xp.where(xp.isfinite(value), value, xp.zeros_like(value))


def _raised(x: Array, p: float) -> Array:
    xp = namespace(x)
    return xp.log1p(x) if p == 0 else xp.expm1(p * xp.log1p(x)) / p


def _lowered(x: Array, p: float) -> Array:
    xp = namespace(x)
    return xp.expm1(x) if p == 0 else xp.expm1(xp.log1p(p * x) / p)
