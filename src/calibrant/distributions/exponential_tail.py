"""A tail beyond an end of a law: mass * exp(-excess / scale), or with an infinite scale a mass that never falls."""

from __future__ import annotations

import math

from calibrant._arrays import Array, namespace


def tail_mass(excess: Array, mass: float, scale: float) -> Array:
    """mass * exp(-excess / scale)."""
    xp = namespace(excess)
    if math.isinf(scale):
        return xp.full_like(excess, mass)
    return mass * xp.exp(-excess / scale) if scale > 0 else xp.zeros_like(excess)


def tail_excess(p: Array, mass: float, scale: float) -> Array:
    """The excess beyond which a mass p is left: scale * log(mass / p)."""
    xp = namespace(p)
    if mass == 0:
        return xp.zeros_like(p)
    inner = p >= mass
    ratio = xp.where(inner | (p <= 0), xp.ones_like(p), p / mass)
    excess = xp.where(inner, xp.zeros_like(p), -xp.log(ratio) * scale if math.isfinite(scale) else xp.inf + p)
    return xp.where((p <= 0) & ~inner, xp.full_like(p, xp.inf), excess)


def moments_in_tail(
    d: Array, tail: tuple[float, float], near: Array, near2: Array, far: Array, far2: Array
) -> tuple[Array, Array, Array, Array]:
    """Partial moments a distance d beyond an end knot, from those at the knot: of the mass beyond, and of the rest."""
    xp = namespace(d)
    mass, scale = tail
    if not bool(xp.any(d > 0)):
        return near, near2, far, far2
    far2 = far2 + d * far + d**2 / 2
    far = far + d
    if mass == 0:
        return near, near2, far, far2
    if math.isinf(scale):  # a constant mass; the integrals keep their origin at the knot
        return near - mass * d, near2 + mass * d**2 / 2, far - mass * d, far2 - mass * d**2 / 2
    lost = mass * -xp.expm1(-d / scale)
    far = far - scale * lost
    far2 = far2 - (scale * d * mass - scale**2 * lost)
    return near - scale * lost, near2 - scale**2 * lost, far, far2


def squares_in_tail(d: Array, mass: float, scale: float) -> tuple[Array, Array]:
    """What the integrals of the squared tail, and of its squared complement, change a distance d beyond an end knot."""
    xp = namespace(d)
    if math.isinf(scale):
        return -(mass**2) * d, (1 - mass) ** 2 * d
    if scale == 0:
        return xp.zeros_like(d), d
    once, twice = -xp.expm1(-d / scale), -xp.expm1(-2 * d / scale)
    half = mass**2 * scale / 2 * twice
    return -half, d - 2 * mass * scale * once + half


def tail_integrals(d: Array, mass: float, scale: float) -> tuple[Array, Array, Array]:
    """Of a tail T over the distance d beyond an end: the integral of T, of (d - x) T(x), and of T^2."""
    xp = namespace(d)
    if mass == 0 or scale == 0:
        return xp.zeros_like(d), xp.zeros_like(d), xp.zeros_like(d)
    if math.isinf(scale):
        return mass * d, mass * d**2 / 2, mass**2 * d
    lost = -xp.expm1(-d / scale)
    square = mass**2 * scale / 2 * -xp.expm1(-2 * d / scale)
    return mass * scale * lost, mass * scale * (d - scale * lost), square
