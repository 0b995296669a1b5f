"""The yardstick: what the residual score and a linear q take in plain numpy, without a check, a tail or a choice."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


class Plain:
    """H[x](y) = q(y - f(x)), q straight through (s_(i), i / (n + 1)); it ends at the outermost scores."""

    def __init__(self, f: Array, y: Array) -> None:
        self.s = np.sort(y - f)
        n = len(self.s)
        self.p = np.arange(1, n + 1) / (n + 1)
        gaps = np.diff(self.s, prepend=-np.inf, append=np.inf)
        self.log_density = -np.log((n + 1) * gaps)
        self.prefix = np.concatenate([[0.0], np.cumsum(self.s)])
        # E|X - X'| / 2 of the scores
        self.half = float(np.sum((2 * np.arange(1, n + 1) - n - 1) * self.s) / n**2)
        self.mean_score, self.std_score = float(self.s.mean()), float(self.s.std())

    def cdf(self, f: Array, y: Array) -> Array:
        return np.interp(y - f, self.s, self.p)

    def logpdf(self, f: Array, y: Array) -> Array:
        return self.log_density[np.searchsorted(self.s, y - f)]

    def quantiles(self, f: Array, levels: Array) -> Array:
        return f[:, None] + np.interp(levels, self.p, self.s)

    def interval(self, f: Array, coverage: float) -> tuple[Array, Array]:
        low, high = np.interp([(1 - coverage) / 2, (1 + coverage) / 2], self.p, self.s)
        return f + low, f + high

    def mean_std(self, f: Array) -> tuple[Array, Array]:
        return f + self.mean_score, np.full(len(f), self.std_score)

    def crps(self, f: Array, y: Array) -> Array:
        """E|X - u| - E|X - X'| / 2 of the distribution of the scores themselves."""
        u, n = y - f, len(self.s)
        k = np.searchsorted(self.s, u)
        return (u * (2 * k - n) + self.prefix[-1] - 2 * self.prefix[k]) / n - self.half
