"""A CDF by points: what mixtures of laws that bend at many points are integrated from."""

from __future__ import annotations

from typing import NamedTuple

from calibrant._arrays import Array, namespace


class Outline(NamedTuple):
    """Points of each CDF in order of y, (n, m), or of a single one, (m,); what all rows share may be (m,) in both."""

    y: Array
    left: Array
    """The CDF from the left at y."""
    right: Array
    """The CDF at y."""
    bend: Array
    """Its second derivative from each point to the next one, (m - 1,): 0 where it runs straight."""

    def bulge(self) -> Array:
        """By how much the integral of the CDF from each point to the next one exceeds that of a straight line."""
        gap = self.y[..., 1:] - self.y[..., :-1]
        return -self.bend * gap**3 / 12


def bends(y: Array, bulge: Array) -> Array:
    """The second derivatives that make the CDF bulge by so much."""
    xp = namespace(y)
    cube = (y[..., 1:] - y[..., :-1]) ** 3
    return xp.where(cube > 0, -12 * bulge / xp.where(cube > 0, cube, xp.ones_like(cube)), xp.zeros_like(cube))
