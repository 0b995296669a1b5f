"""The laws of a score."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from calibrant._arguments import same_length
from calibrant._arrays import Array, device_like, floats, to_numpy
from calibrant._batch import promoted
from calibrant._types import ArrayLike
from calibrant._words import in_all
from calibrant.distributions.base import Distribution
from calibrant.distributions.logistic import Logistic
from calibrant.forecast import PredictionLike
from calibrant.predictions import as_prediction
from calibrant.scores import Score
from calibrant.testing.broken import Floats, first, law

_POINTS = 15  # labels tried in each row


def check_score(score: Score, prediction: PredictionLike, y: ArrayLike) -> None:
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
        law(
            scores.shape == (len(self.prediction),),
            f"{self.name} must give one number a row, shape ({len(self.prediction)},), got shape {scores.shape}",
        )
        bad = np.flatnonzero(~np.isfinite(scores))
        if bad.size:
            raise AssertionError(
                f"{self.name} must be finite at the labels, but is not in row {bad[0]} ({in_all(bad.size)})"
            )

    @cached_property
    def table(self) -> Floats:
        """The scores of the grid, (n, k)."""
        return np.stack([self.scores(self.at(label)) for label in self.grid], axis=1)

    def strictly_increasing(self) -> None:
        table, grid = self.table, self.grid
        for row, k in first(~(np.diff(table, axis=1) > 0)):
            raise AssertionError(
                f"{self.name} must increase strictly in y, but in row {row} it is {table[row, k]:.6g} at"
                f" y = {grid[k]:.6g} and {table[row, k + 1]:.6g} at y = {grid[k + 1]:.6g}"
            )

    def slicing_commutes(self) -> None:
        index = np.arange(len(self.prediction))[::-2]
        whole = self.scores(self.y)[index]
        part = to_numpy(self.score(self.prediction[index], device_like(to_numpy(self.y)[index], self.y)))
        law(
            part.shape == whole.shape and np.allclose(part, whole, rtol=1e6 * self.epsilon, atol=0),
            f"slicing must commute with {self.name}: the score of some rows alone differs from theirs among all",
        )
        labels = device_like(to_numpy(self.y)[index], self.y)
        sliced = self.score.pull_back(self.q, self.prediction[index])
        law(
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
        law(
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
        for row, k in first(~(np.abs(got - wanted) <= 1e4 * self.epsilon)):
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
        for row, k in first(told & ~(np.abs(back - self.grid) <= width)):
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
        for row, k in first(~((slope >= low) & (slope <= high))):
            raise AssertionError(
                f"the log-slope of {self.name} must be that of the score: in row {row} at y = {self.grid[k]:.6g} the"
                f" density says exp(log-slope) = {slope[row, k]:.6g}, the score itself rises by"
                f" {quotients[:, row, k].mean():.6g}"
            )
