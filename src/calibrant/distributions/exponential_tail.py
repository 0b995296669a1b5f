"""A tail beyond an end: mass * exp(-excess / scale), or with an infinite scale a mass that never falls.

Mass and scale are numbers, or arrays that meet the distance d; a tail without mass or scale is none.
"""

from __future__ import annotations

from typing import Any

from calibrant._arrays import Array, namespace
from calibrant.distributions.table import ONCE, SQUARE


def proper(mass: Any, scale: Any, like: Array) -> tuple[Array, Array, Array, Array]:
    """Whether it falls, whether it never does, and its mass and scale where it has them, in the shape of `like`."""
    xp = namespace(like)
    mass, scale = mass + xp.zeros_like(like), scale + xp.zeros_like(like)
    flat, falls = xp.isinf(scale) & (mass > 0), xp.isfinite(scale) & (scale > 0)
    some = xp.where(falls | flat, mass, xp.zeros_like(mass))
    found: tuple[Array, Array, Array, Array] = falls, flat, some, xp.where(falls, scale, xp.ones_like(scale))
    return found


def tail_mass(d: Array, mass: Any, scale: Any) -> Array:
    """The mass beyond a distance d."""
    xp = namespace(d)
    falls, _, mass, scale = proper(mass, scale, xp.zeros_like(d))
    left: Array = mass * xp.exp(xp.where(falls, -d / scale, xp.zeros_like(d)))
    return left


def tail_excess(p: Array, mass: Any, scale: Any) -> Array:
    """The distance beyond which a mass p is left: scale * log(mass / p)."""
    xp = namespace(p)
    _, flat, mass, scale = proper(mass, scale, xp.zeros_like(p))
    out, some = p < mass, p > 0
    ratio = xp.where(out & some, p / xp.where(mass > 0, mass, xp.ones_like(mass)), xp.ones_like(p))
    far = xp.full_like(ratio, xp.inf)
    excess = xp.where(flat | ~some, far, -scale * xp.log(ratio))
    return xp.where(out, excess, xp.zeros_like(excess))


def beyond(d: Array, mass: Any, scale: Any, which: int) -> Array:
    """The integral `which` of the tail from a distance d on; of a mass that never falls, from its start to d, less."""
    xp = namespace(d)
    falls, flat, mass, scale = proper(mass, scale, xp.zeros_like(d))
    square = which == SQUARE
    left = mass * xp.exp(xp.where(falls, -d / scale, xp.zeros_like(d)))
    smooth = left**2 * scale / 2 if square else left * scale ** (1 if which == ONCE else 2)
    steps = -(mass**2) * d if square else -mass * d if which == ONCE else mass * d**2 / 2
    return xp.where(flat, steps, xp.where(falls, smooth, xp.zeros_like(d)))


def onwards(d: Array, mass: Any, scale: Any, which: int, once: Array) -> Array:
    """What the integral `which` of F gains over a distance d into the upper tail, where it is `once` at its start."""
    xp = namespace(d)
    falls, flat, mass, scale = proper(mass, scale, xp.zeros_like(d))
    lost = -xp.expm1(xp.where(falls, -d / scale, xp.zeros_like(d)))
    area = xp.where(flat, mass * d, xp.where(falls, mass * scale * lost, 0 * d))
    if which == ONCE:
        return d - area
    if which == SQUARE:
        twice = -xp.expm1(xp.where(falls, -2 * d / scale, xp.zeros_like(d)))
        return d - 2 * area + xp.where(flat, mass**2 * d, xp.where(falls, mass**2 * scale / 2 * twice, 0 * d))
    second = xp.where(flat, mass * d**2 / 2, xp.where(falls, scale * (mass * d - area), 0 * d))
    return d * once + d**2 / 2 - second
