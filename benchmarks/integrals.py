"""Mean, std and crps of a distribution from its cdf and sf alone, by adaptive quadrature: for catalogue.py.

With F the cdf, S = 1 - F and any c,

    mean      = c + int_c^inf S - int_-inf^c F
    variance  = 2 int_c^inf (t - c) S + 2 int_-inf^c (c - t) F - (mean - c)^2
    crps(y)   = int_-inf^y F^2 + int_y^inf S^2.

Gauss-Legendre between all the points where the distribution may bend or jump, which the caller gives; pieces are halved
until both halves agree with the whole, so that a forgotten bend costs time, not digits. Tails go on in panels of double
width until nothing is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)
TOLERANCE = 1e-12
"""Of each piece, relative to the integral over all of them."""


class TooLong(Exception):
    """The quadrature took more values than it was given."""


@dataclass
class Reference:
    """The integrals of a distribution of one row; counts the values of cdf and sf that it took."""

    distribution: object
    centre: float
    scale: float
    label: float
    values_left: int = 4_000_000

    def one_sided(self, t: np.ndarray) -> np.ndarray:
        """F below the centre, S from the centre on: neither cancels."""
        result = np.empty_like(t)
        upper = t >= self.centre
        for side, method in ((~upper, self.distribution.cdf), (upper, self.distribution.sf)):
            points = t[side]
            self.values_left -= points.size
            if self.values_left < 0:
                raise TooLong
            parts = [method(points[None, k : k + 4096])[0] for k in range(0, points.size, 4096)]
            result[side] = np.concatenate(parts) if parts else points
        return result

    def integrands(self, t: np.ndarray) -> np.ndarray:
        """(3, *t.shape): of the mean, of the second moment about the centre, of the crps."""
        tail = self.one_sided(t.ravel()).reshape(t.shape)
        upper, above_label = t >= self.centre, t >= self.label
        square = np.where(upper == above_label, tail, 1 - tail) ** 2
        return np.stack([np.where(upper, tail, -tail), 2 * np.abs(t - self.centre) * tail, square])

    def rule(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Gauss-Legendre on every [a, b]: (3, pieces)."""
        half = (b - a)[:, None] / 2
        return np.sum(self.integrands((a + b)[:, None] / 2 + half * NODES) * (half * WEIGHTS), axis=-1)

    def integrate(self, edges: np.ndarray) -> np.ndarray:
        """The three integrals over the range of the edges."""
        a, b = edges[:-1], edges[1:]
        whole, done, size = self.rule(a, b), np.zeros(3), np.zeros(3)
        for _ in range(60):
            middle = (a + b) / 2
            left, right = self.rule(a, middle), self.rule(middle, b)
            halves = left + right
            total = size + np.sum(np.abs(halves), axis=1)
            rough = np.any(np.abs(halves - whole) > TOLERANCE * total[:, None], axis=0) & (a < middle) & (middle < b)
            done, size = done + halves[:, ~rough].sum(axis=1), size + np.abs(halves[:, ~rough]).sum(axis=1)
            if not rough.any():
                return done
            a, b = np.concatenate([a[rough], middle[rough]]), np.concatenate([middle[rough], b[rough]])
            whole = np.concatenate([left[:, rough], right[:, rough]], axis=1)
        return done + whole.sum(axis=1)

    def tail(self, end: float) -> np.ndarray:
        """Edges beyond the end, each twice as far from the centre, until t^2 times the tail is nothing."""
        far = self.centre + (end - self.centre) * 2.0 ** np.arange(1, 400)
        weight = self.one_sided(far) * ((far - self.centre) / self.scale) ** 2
        small = np.flatnonzero(weight <= 1e-14)
        if not small.size:
            raise ArithmeticError("the second moment is infinite")
        return far[: small[0] + 1]


def mean_std_crps(distribution: object, label: float, bends: np.ndarray) -> np.ndarray:
    """Of a distribution of one row, given all the points where its cdf may bend or jump."""
    low, centre, high = distribution.quantiles([0.1, 0.5, 0.9])[0]
    inner = np.unique(np.append(bends[np.isfinite(bends)], [centre, label]))
    spread = max(inner[-1] - inner[0], 1e-300)
    reference = Reference(distribution, centre, high - low, label)
    # a little farther than the last bend: no tail starts at the centre
    ends = inner[0] - 0.01 * spread, inner[-1] + 0.01 * spread
    edges = np.concatenate([reference.tail(ends[0])[::-1], [ends[0]], inner, [ends[1]], reference.tail(ends[1])])
    first, second, crps = reference.integrate(edges)
    return np.array([centre + first, np.sqrt(max(second - first**2, 0.0)), crps])
