"""Labels of which many are one value: rain, claims, waiting lists."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arguments import generator, one_number, same_length
from calibrant._arrays import Array, anywhere, device_like, first_and_count, namespace, probabilities
from calibrant._types import Bound, Draws
from calibrant._words import in_all
from calibrant.distributions.base import Distribution
from calibrant.labels.base import Chained, Labels, column_of
from calibrant.labels.real import Real
from calibrant.labels.transformed import Transformed
from calibrant.predictions.atom_line import atom_line, some_mass
from calibrant.predictions.base import Prediction
from calibrant.scores.atom import below_the_atom


@dataclass(frozen=True)
class AtomAt(Labels):
    """Y = max(Y', at), where many labels are exactly `at` and none is below.

    A label at the atom becomes a Y' below it, drawn by `rng`, and any other stays. The score of Y' is uniform over the
    base's own mass at or below the atom, so no two labels are equal, and H'(Y') is calibrated by Theorem 1. The law
    of Y has the atom P(Y = at) = H'(at).

    How likely the atom is in each row, the prediction says: a law, quantiles or draws by their own mass at or below
    it, or any prediction by a probability beside it, `WithAtom(prediction, share)`. `share` here is for those who have
    it in a table: the name of its column in `bound`, or a function of `bound`.

    >>> from calibrant import Calibrator, Normal
    >>> rng = np.random.default_rng(0)
    >>> mean = rng.uniform(-1.0, 3.0, 500)
    >>> rain = np.maximum(mean + rng.normal(size=500), 0.0)
    >>> H = Calibrator(labels=AtomAt(0)).fit(Normal(mean, 1.0), rain, rng=rng)(Normal([-1.0, 1.0], 1.0))
    >>> H.pmf(0.0).round(2)
    array([0.87, 0.17])
    """

    at: float = 0.0
    share: str | Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        at = one_number("AtomAt.at", self.at)
        if not math.isfinite(at):
            raise ValueError(f"AtomAt.at must be finite, got {self.at!r}")
        object.__setattr__(self, "at", at)
        if not (self.share is None or isinstance(self.share, str) or callable(self.share)):
            raise TypeError(
                f"AtomAt.share must be the name of a column of bound, or a function of bound, got {self.share!r}:"
                " probabilities themselves go beside the prediction, WithAtom(prediction, share)"
            )

    @property
    def by_row(self) -> bool:
        """Whether the share of each row is in `bound`."""
        return self.share is not None

    @property
    def columns(self) -> tuple[str, ...]:
        """The name of the share, if it is a column."""
        return (self.share,) if isinstance(self.share, str) else ()

    @property
    def draws(self) -> bool:
        """A place below the atom for each label at it."""
        return True

    def check(self, y: Array, bound: Bound = None) -> None:
        """Raise where y lies below the atom."""
        del bound
        below_atom(y, self.at)

    def spread(self, y: Array, prediction: Any, *, bound: Bound = None, rng: Draws = None) -> Array:
        """at - w (1 - U) for the labels at the atom, U just inside (0, 1)."""
        del bound
        xp = namespace(y)
        if self.share is None and anywhere(y == self.at):
            some_mass(prediction, self.at)
        margin = 16 * float(xp.finfo(y.dtype).eps)
        u = np.clip(generator(rng).random(y.shape[0]), margin, 1 - margin)
        return xp.where(y > self.at, y, self.at - below_the_atom(self.at) * (1 - device_like(u, y)))

    def spread_prediction(self, prediction: Any, *, bound: Bound = None) -> Prediction | Distribution:
        """The prediction's law above the atom, and the atom's share."""
        return atom_line(prediction, self.at, None if self.share is None else self._share(prediction, bound))

    def collapse(self, law: Distribution, *, bound: Bound = None) -> Distribution:
        """The law clipped: P(Y = at) = P(Y' <= at)."""
        del bound
        return law.clip(lower=self.at)

    def __or__(self, other: Labels) -> Labels:
        """max(g(Y'), a) is g(max(Y', b)) with g(b) = a, so that the atom goes to the inner end."""
        if isinstance(other, Transformed):
            at = device_like([self.at], np.zeros(1))
            other.check(at)
            return Chained((Real(self.at), other, AtomAt(float(other.function(at)[0]), self.share)))
        if isinstance(other, Real):
            return Chained((other, self))
        if isinstance(other, Labels):
            raise TypeError(f"{self!r} is a kind for the inner end of a chain, and {other!r} cannot follow it")
        return NotImplemented

    def _share(self, prediction: Any, bound: Bound) -> Array:
        name = f"the share of {self!r}"
        share = probabilities(name, column_of(self, self.share, bound), like=prediction.like)
        same_length("the prediction", len(prediction), name, share.shape[0])
        return share

    def __repr__(self) -> str:
        share = "" if self.share is None else f", share={getattr(self.share, '__name__', repr(self.share))}"
        return f"AtomAt({self.at:g}{share})"


def below_atom(y: Array, at: float) -> None:
    """Raise where y lies below the atom."""
    if anywhere(y < at):
        row, count = first_and_count(y < at)
        raise ValueError(f"y is {float(y[row]):g} in row {row} ({in_all(count)}), below the atom at {at:g}")


def atom_in(labels: Labels | None) -> float | None:
    """The atom of a kind that leaves its share to the prediction, in the unit of the labels; None of other kinds."""
    *outer, last = labels.steps if isinstance(labels, Chained) else (labels,)
    if not isinstance(last, AtomAt) or last.share is not None:
        return None
    at: Array = np.asarray([last.at])
    for step in reversed(outer):
        at = step.function.inverse(at) if isinstance(step, Transformed) else at
    return float(at[0])
