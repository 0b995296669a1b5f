"""The laws that a score and an interpolator of your own must keep, run on your class.

Each check returns nothing, or raises an AssertionError that names the law that broke.

>>> from calibrant import Point
>>> from calibrant.scores import ResidualScore
>>> check_score(ResidualScore(), Point([1.0, 2.0, 3.0]), [1.5, 1.0, 3.5])
>>> from calibrant.interpolators import Linear
>>> check_interpolator(Linear())
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import Array, device_like, floats, same_length, to_numpy
from calibrant._batch import promoted
from calibrant.distributions.base import Distribution
from calibrant.distributions.context import Context
from calibrant.distributions.logistic import Logistic
from calibrant.interpolators import Interpolator
from calibrant.predictions import as_prediction
from calibrant.scores import Score

Floats = NDArray[np.float64]

_POINTS = 15  # labels tried in each row
_LEVELS = np.array([0.02, 0.11, 0.27, 0.5, 0.68, 0.86, 0.97])


# ---- scores --------------------------------------------------------------------------------------------------------


def check_score(score: Score, prediction: Any, y: Any) -> None:
    """Raise an AssertionError unless `score` keeps the laws of a score on these predictions and labels.

    The laws: one finite number a row; strictly increasing in y; `pull_back(q, prediction)` has the cdf q(score), its
    inverse as ppf and its slope in logpdf; and the score of some rows is some rows of the score. Every row is tried
    with labels from all over the range of y, so let y hold labels that any of these rows might have had.
    """
    prediction = promoted(as_prediction(prediction), y)
    y = floats("y", y, like=prediction.like, ndim=1)
    same_length("the prediction", len(prediction), "y", y.shape[0])
    if y.shape[0] < 2:
        raise ValueError(f"check_score needs at least two rows, got {y.shape[0]}")
    trial = _ScoreTrial(score, prediction, y)
    trial.one_finite_number_a_row()
    trial.strictly_increasing()
    trial.slicing_commutes()
    trial.pulls_back_to_q_of_the_score()
    trial.ppf_inverts_the_score()
    trial.density_has_the_slope_of_the_score()


class _ScoreTrial:
    def __init__(self, score: Score, prediction: Any, y: Array) -> None:
        self.score, self.prediction, self.y = score, prediction, y
        self.name = type(score).__name__
        labels = to_numpy(y).astype(np.float64)
        self.range = float(np.ptp(labels)) or abs(float(labels[0])) or 1.0
        # an irrational-looking grid, so that no point falls on a bend of the score
        share = np.sort((np.arange(1, _POINTS + 1) * (math.sqrt(5) - 1) / 2) % 1)
        self.grid = float(labels.min()) + share * float(np.ptp(labels) or self.range)
        self.epsilon = 2.0**-23 if "32" in str(y.dtype) else 2.0**-52

    def at(self, label: float) -> Array:
        """The same label in every row."""
        return device_like(np.full(len(self.prediction), label), self.y)

    def scores(self, labels: Array) -> Floats:
        with np.errstate(all="ignore"):
            return np.asarray(to_numpy(self.score(self.prediction, labels)), dtype=np.float64)

    def one_finite_number_a_row(self) -> None:
        scores = to_numpy(self.score(self.prediction, self.y))
        _law(
            scores.shape == (len(self.prediction),),
            f"{self.name} must give one number a row, shape ({len(self.prediction)},), got shape {scores.shape}",
        )
        bad = np.flatnonzero(~np.isfinite(scores))
        if bad.size:
            raise AssertionError(
                f"{self.name} must be finite at the labels, but is not in row {bad[0]} ({bad.size} rows in all)"
            )

    @cached_property
    def table(self) -> Floats:
        """The scores of the grid, (n, k)."""
        return np.stack([self.scores(self.at(label)) for label in self.grid], axis=1)

    def strictly_increasing(self) -> None:
        table, grid = self.table, self.grid
        for row, k in _first(~(np.diff(table, axis=1) > 0)):
            raise AssertionError(
                f"{self.name} must increase strictly in y, but in row {row} it is {table[row, k]:.6g} at"
                f" y = {grid[k]:.6g} and {table[row, k + 1]:.6g} at y = {grid[k + 1]:.6g}"
            )

    def slicing_commutes(self) -> None:
        index = np.arange(len(self.prediction))[::-2]
        whole = self.scores(self.y)[index]
        part = to_numpy(self.score(self.prediction[index], device_like(to_numpy(self.y)[index], self.y)))
        _law(
            part.shape == whole.shape and np.allclose(part, whole, rtol=1e6 * self.epsilon, atol=0),
            f"slicing must commute with {self.name}: the score of some rows alone differs from theirs among all",
        )
        labels = device_like(to_numpy(self.y)[index], self.y)
        sliced = self.score.pull_back(self.q, self.prediction[index])
        _law(
            np.allclose(to_numpy(sliced.cdf(labels)), to_numpy(self.H.cdf(self.y))[index], atol=1e3 * self.epsilon),
            f"slicing must commute with {self.name}.pull_back: the law of some rows alone is another",
        )

    @cached_property
    def q(self) -> Distribution:
        """A smooth law about where the scores are."""
        scores = self.scores(self.y)
        return Logistic(float(np.median(scores)), float(np.std(scores)) or 1.0).to(self.y)

    @cached_property
    def H(self) -> Distribution:
        """That law, pulled back."""
        H = self.score.pull_back(self.q, self.prediction)
        _law(
            H.shape == (len(self.prediction),),
            f"{self.name}.pull_back must give one law a row, shape ({len(self.prediction)},), got shape {H.shape}",
        )
        return H

    def of_H(self, method: str) -> Floats:
        """A method of H at the grid, (n, k)."""
        return np.asarray(to_numpy(getattr(self.H, method)(device_like(self.grid[None, :], self.y))), dtype=np.float64)

    def of_q(self, method: str) -> Floats:
        """A method of q at the scores of the grid, (n, k)."""
        return np.asarray(to_numpy(getattr(self.q, method)(device_like(self.table, self.y))), dtype=np.float64)

    def pulls_back_to_q_of_the_score(self) -> None:
        got, wanted = self.of_H("cdf"), self.of_q("cdf")
        for row, k in _first(~(np.abs(got - wanted) <= 1e4 * self.epsilon)):
            raise AssertionError(
                f"the cdf of {self.name}.pull_back(q, prediction) must be q(score): in row {row} at"
                f" y = {self.grid[k]:.6g} it is {got[row, k]:.6g}, not {wanted[row, k]:.6g}"
            )

    def ppf_inverts_the_score(self) -> None:
        """H.ppf(H.cdf(y)) = y; where F rounds to 0 or 1 nothing can be told."""
        F, density = self.of_H("cdf"), self.of_H("pdf")
        told = (F > 1e-6) & (F < 1 - 1e-6)
        back = to_numpy(self.H.ppf(device_like(np.clip(F, 1e-7, 1 - 1e-7), self.y)))
        width = 1e5 * self.epsilon * (np.abs(self.grid) + self.range + 1 / np.maximum(density, 1e-300))
        for row, k in _first(told & ~(np.abs(back - self.grid) <= width)):
            raise AssertionError(
                f"the inverse of {self.name} must undo the score: in row {row} y = {self.grid[k]:.6g} comes back as"
                f" {back[row, k]:.6g}"
            )

    def density_has_the_slope_of_the_score(self) -> None:
        """log H'(y) - log q'(s) is the log-slope; where the score bends it lies between two difference quotients."""
        h = self.range * self.epsilon ** (1 / 3)
        left, right = (np.stack([self.scores(self.at(y + d)) for y in self.grid], axis=1) for d in (-h, h))
        quotients = np.stack([self.table - left, right - self.table]) / h
        slope = np.exp(self.of_H("logpdf") - self.of_q("logpdf"))
        tolerance, noise = 30 * self.epsilon ** (1 / 3), 8 * self.epsilon * np.abs(self.table) / h
        low = quotients.min(axis=0) * (1 - tolerance) - noise
        high = quotients.max(axis=0) * (1 + tolerance) + noise
        for row, k in _first(~((slope >= low) & (slope <= high))):
            raise AssertionError(
                f"the log-slope of {self.name} must be that of the score: in row {row} at y = {self.grid[k]:.6g} the"
                f" density says exp(log-slope) = {slope[row, k]:.6g}, the score itself rises by"
                f" {quotients[:, row, k].mean():.6g}"
            )


def _first(broken: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The first row and column where a law is broken, if there is one."""
    return [(int(row), int(k)) for row, k in np.argwhere(broken)[:1]]


# ---- interpolators -------------------------------------------------------------------------------------------------


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
        _law(np.array_equal(before, self.scores), f"{self.name}.fit must leave the scores as they are")
        _law(q.shape == (), f"{self.name}.fit must return one law, of shape (), got shape {q.shape}")
        spread = float(np.ptp(self.scores)) or abs(float(self.scores[0])) or 1.0
        middle = np.linspace(self.scores.min() - spread, self.scores.max() + spread, 50)
        points = np.sort(np.concatenate([self.scores, middle]))
        F = to_numpy(q.cdf(points))
        _law(bool(np.all((F >= 0) & (F <= 1))), f"q of {self.name} must lie in [0, 1]{self.where}")
        fall = np.diff(F)
        if fall.min() < -1e-12:
            k = int(fall.argmin())
            raise AssertionError(
                f"q of {self.name} must not decrease, but falls from {F[k]:.6g} at {points[k]:.6g} to {F[k + 1]:.6g} at"
                f" {points[k + 1]:.6g}{self.where}"
            )
        u = to_numpy(q.ppf(_LEVELS))
        rising = not np.isnan(u).any() and bool(np.all(np.diff(_finite(u)) >= 0))
        _law(rising, f"ppf of {self.name} must increase{self.where}")
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
        _law(
            bool(np.abs(miss[worst]) <= allowed + 1e-9 * (self.n + 1)),
            f"{self.name}.accuracy({self.n}) promises {promise:.6g}, but q(u_({worst + 1})) is off by"
            f" {abs(miss[worst]):.6g} / (n + 1){self.where}",
        )

    def repeats_itself(self) -> None:
        q, again = self.q, self.fit(self.scores)
        _law(self._same(q, again), f"{self.name}.fit must give the same q for the same rng{self.where}")
        backwards = self.fit(self.scores[::-1].copy())
        _law(self._same(q, backwards), f"{self.name}.fit must not depend on the order of the scores{self.where}")
        rows = [
            to_numpy(q.for_rows(Context(3, rng=np.random.default_rng(2))).cdf(float(self.scores[0]))) for _ in range(2)
        ]
        sentence = f"q of {self.name} must give the same rows for the same rng{self.where}"
        _law(np.array_equal(rows[0], rows[1]), sentence)

    def _same(self, q: Distribution, other: Distribution) -> bool:
        return np.allclose(to_numpy(q.cdf(self.scores)), to_numpy(other.cdf(self.scores)), rtol=0, atol=1e-9)

    def moves_with_the_scores(self) -> None:
        middle = self.q.ppf(_LEVELS)
        for shift, stretch in ((0.0, 1024.0), (float(np.abs(self.scores).max()), 1.0)):
            there = self.fit(shift + stretch * self.scores)
            got, wanted = to_numpy(there.ppf(_LEVELS)), shift + stretch * to_numpy(middle)
            size = stretch * (np.ptp(self.scores) + 1e-6 * np.abs(self.scores).max()) + abs(shift) * 1e-6
            _law(
                np.allclose(_finite(got), _finite(wanted), rtol=1e-6, atol=1e-6 * size),
                f"q of {self.name} must move and stretch with the scores: it does not at"
                f" {shift:g} + {stretch:g} * scores{self.where}",
            )


def _finite(u: Floats) -> Floats:
    return np.clip(u, -1e300, 1e300)


def _law(kept: bool | np.bool_, sentence: str) -> None:  # noqa: FBT001
    if not kept:
        raise AssertionError(sentence)
