"""The laws of an interpolator."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from calibrant._arrays import to_numpy
from calibrant.distributions.base import Distribution
from calibrant.distributions.context import Context
from calibrant.interpolators import Interpolator
from calibrant.testing.broken import Floats, law

_LEVELS = np.array([0.02, 0.11, 0.27, 0.5, 0.68, 0.86, 0.97])


def check_interpolator(
    interpolator: Interpolator,
    *,
    rng: np.random.Generator | None = None,
    sizes: tuple[int, ...] = (1, 2, 3, 10, 60),
    equivariant: bool = False,
) -> None:
    """Raise an AssertionError unless `interpolator` keeps the laws of an interpolator on random scores.

    The laws, for n distinct scores with and without outliers, n in `sizes`: q is one law, with a cdf that rises from 0
    to 1 and a ppf that inverts it; q(u_(i)) lies within accuracy(n) / (n + 1) of i / (n + 1); ties are no obstacle; the
    order of the scores does not matter, they are left as they are, and the same `rng` gives the same q. With
    `equivariant=True` also: q moves and stretches with the scores.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one score tells no scale, and the like
        for n in sizes:
            for scores in _inputs(n, rng):
                trial = _InterpolatorTrial(interpolator, scores)
                trial.is_one_law()
                trial.keeps_its_accuracy()
                trial.repeats_itself()
                if equivariant and n > 1:  # one score tells no scale
                    trial.moves_with_the_scores()
            _InterpolatorTrial(interpolator, np.round(rng.standard_normal(n), 1)).is_one_law()
            _InterpolatorTrial(interpolator, np.full(n, 0.25)).is_one_law()


def _inputs(n: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Distinct scores, in no order: normal, with outliers, in clumps, of huge and of tiny size."""
    normal = rng.standard_normal(n)
    yield normal
    yield 1e6 + normal
    yield np.sinh(6 * normal)
    yield rng.integers(3, size=n) + 1e-5 * normal
    yield 1e9 * normal
    yield 1e-9 * normal


class _InterpolatorTrial:
    def __init__(self, interpolator: Interpolator, scores: Floats) -> None:
        self.interpolator, self.scores = interpolator, scores
        self.n = scores.shape[0]
        self.name = type(interpolator).__name__
        self.where = f" (n = {self.n}, scores from {scores.min():.6g} to {scores.max():.6g})"

    def fit(self, scores: Floats, seed: int = 1) -> Distribution:
        return self.interpolator.fit(scores, rng=np.random.default_rng(seed))

    @cached_property
    def q(self) -> Distribution:
        return self.fit(self.scores)

    def is_one_law(self) -> None:
        before = self.scores.copy()
        q = self.q
        law(np.array_equal(before, self.scores), f"{self.name}.fit must leave the scores as they are")
        law(q.shape == (), f"{self.name}.fit must return one law, of shape (), got shape {q.shape}")
        spread = float(np.ptp(self.scores)) or abs(float(self.scores[0])) or 1.0
        middle = np.linspace(self.scores.min() - spread, self.scores.max() + spread, 50)
        points = np.sort(np.concatenate([self.scores, middle]))
        F = to_numpy(q.cdf(points))
        law(bool(np.all((F >= 0) & (F <= 1))), f"q of {self.name} must lie in [0, 1]{self.where}")
        fall = np.diff(F)
        if fall.min() < -1e-12:
            k = int(fall.argmin())
            raise AssertionError(
                f"q of {self.name} must not decrease, but falls from {F[k]:.6g} at {points[k]:.6g} to {F[k + 1]:.6g} at"
                f" {points[k + 1]:.6g}{self.where}"
            )
        u = to_numpy(q.ppf(_LEVELS))
        rising = not np.isnan(u).any() and bool(np.all(np.diff(_finite(u)) >= 0))
        law(rising, f"ppf of {self.name} must increase{self.where}")
        finite = np.isfinite(u)
        step = 4 * np.spacing(np.abs(u[finite]))
        above, below = to_numpy(q.cdf(u[finite] + step)), to_numpy(q.cdf(u[finite] - step))
        steep = 4 * to_numpy(q.pdf(u[finite])) * step
        off = (above < _LEVELS[finite] - 1e-9 - steep) | (below > _LEVELS[finite] + 1e-9 + steep)
        if off.any():
            k = int(np.flatnonzero(off)[0])
            raise AssertionError(
                f"ppf of {self.name} must invert its cdf: cdf(ppf({_LEVELS[finite][k]:g})) = {above[k]:.6g}{self.where}"
            )

    def keeps_its_accuracy(self) -> None:
        promise = float(self.interpolator.accuracy(self.n))
        # -1 is the promise of a randomised q, which is off by less than a rank before its uniforms are drawn
        allowed = 1.0 if promise == -1 else promise
        q = self.q
        ordered = np.sort(self.scores)
        miss = (self.n + 1) * to_numpy(q.cdf(ordered)) - np.arange(1, self.n + 1)
        worst = int(np.abs(miss).argmax())
        law(
            bool(np.abs(miss[worst]) <= allowed + 1e-9 * (self.n + 1)),
            f"{self.name}.accuracy({self.n}) promises {promise:.6g}, but q(u_({worst + 1})) is off by"
            f" {abs(miss[worst]):.6g} / (n + 1){self.where}",
        )

    def repeats_itself(self) -> None:
        q, again = self.q, self.fit(self.scores)
        law(self._same(q, again), f"{self.name}.fit must give the same q for the same rng{self.where}")
        backwards = self.fit(self.scores[::-1].copy())
        law(self._same(q, backwards), f"{self.name}.fit must not depend on the order of the scores{self.where}")
        drawn = [q.for_rows(Context(3, rng=np.random.default_rng(2))) for _ in range(2)]
        rows = [to_numpy(law.cdf(float(self.scores[0]))) for law in drawn]
        sentence = f"q of {self.name} must give rows the same laws for the same rng{self.where}"
        law(np.array_equal(rows[0], rows[1]), sentence)

    def _same(self, q: Distribution, other: Distribution) -> bool:
        return np.allclose(to_numpy(q.cdf(self.scores)), to_numpy(other.cdf(self.scores)), rtol=0, atol=1e-9)

    def moves_with_the_scores(self) -> None:
        middle = self.q.ppf(_LEVELS)
        for shift, stretch in ((0.0, 1024.0), (float(np.abs(self.scores).max()), 1.0)):
            there = self.fit(shift + stretch * self.scores)
            got, wanted = to_numpy(there.ppf(_LEVELS)), shift + stretch * to_numpy(middle)
            size = stretch * (np.ptp(self.scores) + 1e-6 * np.abs(self.scores).max()) + abs(shift) * 1e-6
            law(
                np.allclose(_finite(got), _finite(wanted), rtol=1e-6, atol=1e-6 * size),
                f"q of {self.name} must move and stretch with the scores: it does not at"
                f" {shift:g} + {stretch:g} * scores{self.where}",
            )


def _finite(u: Floats) -> Floats:
    return np.clip(u, -1e300, 1e300)
