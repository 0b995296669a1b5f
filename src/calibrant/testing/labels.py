"""The laws of a kind of labels."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np

from calibrant._arrays import floats, to_numpy
from calibrant._types import ArrayLike, Bound
from calibrant.calibration import Calibrator
from calibrant.distributions import Laplace, Normal
from calibrant.labels import Labels
from calibrant.persistence.codec import decode, encode
from calibrant.persistence.errors import FileError
from calibrant.predictions import Point
from calibrant.testing.broken import law

_DRAWS = 400


def check_labels(labels: Labels, y: ArrayLike, *, bound: Bound = None, rng: np.random.Generator | None = None) -> None:
    """Raise an AssertionError unless `labels` keeps the laws of a kind of labels on the labels y.

    The laws, with Y' what `spread` makes of y and g what `collapse` stands for: labels pass their own check; Y' has one
    finite number a row, and rises with y where rows differ in y alone; a law that is all but sure of Y' collapses to
    one that is sure of y; laws keep their order; a collapsed law has the CDF of its own draws, and of nothing that Y'
    does not have; it calibrates; and it is the same after a pickle and a file.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    law(isinstance(labels, Labels), f"{type(labels).__name__} must be a Labels")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ties, few rows and means that are infinite
        trial = _LabelsTrial(labels, to_numpy(floats("y", y, ndim=1)).astype(np.float64), bound, rng)
        trial.spreads_in_order()
        trial.comes_back()
        trial.collapses_in_order()
        trial.says_what_it_draws()
        trial.calibrates()
        trial.stays_the_same()


class _LabelsTrial:
    def __init__(self, labels: Labels, y: Any, bound: Any, rng: np.random.Generator) -> None:
        self.labels, self.y, self.bound, self.rng = labels, y, bound, rng
        self.name = type(labels).__name__
        self.own = {"bound": bound}
        labels.check(y, bound)
        self.inner = to_numpy(labels.spread(y, self.forecast, bound=bound, rng=np.random.default_rng(1)))
        law(self.inner.shape == y.shape, f"{self.name}.spread must give one number a row, got shape {self.inner.shape}")
        law(bool(np.all(np.isfinite(self.inner))), f"{self.name}.spread must give finite numbers")
        again = to_numpy(labels.spread(y, self.forecast, bound=bound, rng=np.random.default_rng(2)))
        law(labels.draws or bool(np.all(again == self.inner)), f"{self.name}.spread draws, so `draws` must be True")

    @property
    def forecast(self) -> Any:
        """The labels as points, or as normal laws around them where the kind asks for a law."""
        try:
            self.labels.spread_prediction(Point(self.y), **self.own)
        except TypeError:
            return Normal(self.y, float(np.std(self.y)) or 1.0)
        return Point(self.y)

    @property
    def unit(self) -> float:
        return float(np.std(self.inner)) or 1.0

    def spreads_in_order(self) -> None:
        if self.labels.by_row:
            return
        order = np.argsort(self.y, kind="stable")
        y, inner = self.y[order], self.inner[order]
        up = np.diff(y) > 0
        sentence = f"{self.name}.spread must rise with the labels"
        law(bool(np.all(np.diff(inner)[up] > 0)), sentence)

    def comes_back(self) -> None:
        """A law on a point Y' is one on g(Y') = y."""
        found = self._pushed(self.inner)
        size = 1e-6 * (np.std(self.y) + np.abs(self.y)) + 1e-300
        off = np.abs(found - self.y) > size
        if off.any():
            row = int(np.argmax(off))
            raise AssertionError(
                f"{self.name}.collapse must take spread back: y = {self.y[row]:.6g} in row {row} became"
                f" {self.inner[row]:.6g}, which collapses to {found[row]:.6g}"
            )

    def collapses_in_order(self) -> None:
        laws = (Normal(self.inner + k * self.unit, self.unit) for k in (0, 1))
        low, high = (self.labels.collapse(each, **self.own) for each in laws)
        for level in (0.05, 0.5, 0.95):
            below = to_numpy(low.ppf(level)) <= to_numpy(high.ppf(level))
            law(bool(np.all(below)), f"{self.name}.collapse must keep the order of laws, at level {level}")

    def says_what_it_draws(self) -> None:
        """P(g(Y') <= y) is the share of the draws Y' that g, as the laws of points tell it, takes no higher than y."""
        inner = Laplace(self.inner, self.unit)
        H = self.labels.collapse(inner, **self.own)
        draws = to_numpy(inner.sample(_DRAWS, self.rng))
        ends = [to_numpy(H.cdf(np.full(len(self.y), end))) for end in (-np.inf, np.inf)]
        law(bool(np.all(ends[0] == 0) and np.all(ends[1] == 1)), f"a collapsed law of {self.name} must have mass 1")
        pushed = np.stack([self._pushed(draws[:, k]) for k in range(_DRAWS)], axis=1)
        slack = 5 * 0.5 / np.sqrt(pushed.size)  # five standard errors
        for level in (0.1, 0.5, 0.9):
            place = to_numpy(H.ppf(level))
            step = 1e-6 * (np.abs(place) + np.std(self.y))  # points have a width of their own
            low, high = (float(np.mean(pushed <= (place + sign * step)[:, None])) for sign in (-1, 1))
            said = float(np.mean(to_numpy(H.cdf(place))))
            law(
                low - slack <= said <= high + slack,
                f"collapsed laws of {self.name} say P(Y <= y) = {said:.4g} on average at their {level} quantiles, but"
                f" {high:.4g} of the draws of Y' collapse to that or less",
            )

    def _pushed(self, inner: Any) -> Any:
        """g of a number a row."""
        width = np.maximum(1e-9 * self.unit, 1e-12 * np.abs(inner))
        return to_numpy(self.labels.collapse(Normal(inner, width), **self.own).ppf(0.5))

    def calibrates(self) -> None:
        calibrated = Calibrator(labels=self.labels).fit(self.forecast, self.y, **self.own, rng=np.random.default_rng(2))
        H = calibrated(self.forecast, **self.own)
        law(H.shape == self.y.shape, f"{self.name}.collapse must give a law for each row, got shape {H.shape}")
        self.labels.check(H.sample(1, self.rng)[:, 0], self.bound)

    def stays_the_same(self) -> None:
        law(pickle.loads(pickle.dumps(self.labels)) == self.labels, f"{self.name} must equal itself after a pickle")
        calibrated = Calibrator(labels=self.labels).fit(self.forecast, self.y, **self.own)
        try:
            encoded = encode(calibrated)
        except FileError as error:
            raise AssertionError(
                f"{self.name} must fit into a file, as a frozen dataclass of numbers does: {error}"
            ) from error
        again = decode(encoded.tree, encoded.tensors, encoded.classes)
        law(again.labels == self.labels, f"{self.name} must equal itself after a file")
