"""Labels of which many are one value: rain, claims, waiting lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arguments import finite, keep
from calibrant._arrays import Array, anywhere, namespace, probabilities
from calibrant._types import Bound, Draws
from calibrant.distributions.base import Distribution
from calibrant.labels.base import Chained, Labels, column_of, refuse_labels, shown, uniform
from calibrant.labels.real import Real
from calibrant.labels.transformed import Transformed
from calibrant.predictions.base import Prediction
from calibrant.predictions.with_atom import LEAST, atom_line, width_below


@dataclass(frozen=True)
class AtomAt(Labels):
    """Y = max(Y', at), where many labels are exactly `at` and none is below.

    A label at the atom becomes a Y' below it, drawn by `rng`, and any other stays. The score of Y' is uniform over the
    base's own mass at or below the atom, so no two labels are equal, and H'(Y') is calibrated by Theorem 1. The
    distribution of Y has the atom P(Y = at) = H'(at).

    The prediction tells how likely the atom is in each row: a distribution, quantiles or draws by their own mass at or
    below it, or any prediction with a probability of its own, `WithAtom(prediction, share)`. Where that probability is
    in a table, `share` is the name of its column in `bound`, or a function of `bound`.

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
    draws = True

    def __post_init__(self) -> None:
        keep(self, at=finite("AtomAt.at", self.at))
        if not (self.share is None or isinstance(self.share, str) or callable(self.share)):
            raise TypeError(
                f"AtomAt.share must be the name of a column of bound, or a function of bound, got {self.share!r}:"
                " probabilities themselves go with the prediction, WithAtom(prediction, share)"
            )

    @property
    def by_row(self) -> bool:
        return self.share is not None

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.share,) if isinstance(self.share, str) else ()

    def check(self, y: Array, bound: Bound = None) -> None:
        """Raise where y lies below the atom."""
        refuse_labels("y", y, y < self.at, f", below the atom at {self.at:g}")

    def spread(self, y: Array, prediction: Any, *, bound: Bound = None, rng: Draws = None) -> Array:
        """at - w (1 - U) for the labels at the atom."""
        if self.share is None and anywhere(y == self.at):
            line: Any = atom_line(prediction, self.at)
            if not any(anywhere(part.share > LEAST) for part in line.parts() or [line]):
                raise ValueError(
                    f"{prediction!r} has no mass at or below {self.at:g} in any row: give the probability of"
                    f" {self.at:g} too, as in WithAtom(prediction, share) or AtomAt({self.at:g}, share='column')"
                )
        below = self.at - width_below(self.at) * (1 - uniform(y, rng))
        return namespace(y).where(y > self.at, y, below)

    def spread_prediction(self, prediction: Any, *, bound: Bound = None) -> Prediction:
        """The prediction's distribution above the atom, and the atom's share."""
        if self.share is None:
            return atom_line(prediction, self.at)
        name = f"the share of {self!r}"
        return atom_line(prediction, self.at, probabilities(name, column_of(self, self.share, bound, name, prediction)))

    def collapse(self, distribution: Distribution, *, bound: Bound = None) -> Distribution:
        """The distribution clipped: P(Y = at) = P(Y' <= at)."""
        return distribution.clip(lower=self.at)

    def __or__(self, other: Labels) -> Labels:
        """max(g(Y'), a) is g(max(Y', b)) with g(b) = a, so that the atom goes to the inner end."""
        if isinstance(other, Transformed):
            at = np.asarray([self.at])
            other.check(at)
            return Chained((Real(self.at), other, AtomAt(float(other.function(at)[0]), self.share)))
        if isinstance(other, Real):
            return Chained((other, self))
        if isinstance(other, Labels):
            raise TypeError(f"{self!r} is a kind for the inner end of a chain, and {other!r} cannot follow it")
        return NotImplemented

    def __repr__(self) -> str:
        return f"AtomAt({self.at:g}{'' if self.share is None else f', share={shown(self.share)}'})"


def atom_in(labels: Labels | None) -> float | None:
    """The atom of a kind that leaves its share to the prediction, in the unit of the labels; None of other kinds."""
    *outer, last = labels.steps if isinstance(labels, Chained) else (labels,)
    if not isinstance(last, AtomAt) or last.share is not None:
        return None
    at: Array = np.asarray([last.at])
    for step in reversed(outer):
        at = step.function.inverse(at) if isinstance(step, Transformed) else at
    return float(at[0])
