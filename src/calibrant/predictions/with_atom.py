"""A prediction of labels of which many are one value, the atom."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from calibrant._arguments import keep, same_length
from calibrant._arrays import Array, clip, concatenate, device_like, namespace, probabilities
from calibrant._search import interpolated
from calibrant._types import ArrayLike
from calibrant.distributions.base import Distribution
from calibrant.forecast import PredictionLike
from calibrant.forms import Form
from calibrant.predictions.base import Prediction
from calibrant.predictions.ensemble import Ensemble
from calibrant.predictions.point import Point, as_prediction
from calibrant.predictions.quantiles import Quantiles
from calibrant.predictions.samples import Samples

LEVELS = (0.01, 0.025, *(k / 20 for k in range(1, 20)), 0.975, 0.99, 0.998)
"""At which the distribution above the atom is known."""
LEAST = 1e-6
"""The least probability of the atom, and of the rest: the line of a row must rise on both sides."""
_MOST = 0.99
"""Where more of the mass is at or below the atom, the last hundredth is moved to where the atom ends."""


def width_below(at: float) -> float:
    """How far below an atom its labels are drawn: any width will do which floats near the atom tell apart."""
    return 1.0 + abs(at)


@dataclass(frozen=True, eq=False, repr=False)
class WithAtom(Prediction):
    """The atom with probability `share`, else as `prediction` says: for labels of which many are one value.

    The value itself is that of `calibrant.labels.AtomAt`. The prediction may be of y as a whole or of the rest alone:
    of a distribution, quantiles or draws only what lies above the atom counts. A point is the mean of y as a whole.

    >>> from calibrant import Normal
    >>> WithAtom(Normal([3.0, 1.0], 2.0), share=[0.1, 0.7])
    WithAtom(n=2, LocationScale)
    """

    prediction: Prediction | Distribution
    share: Array

    if TYPE_CHECKING:

        def __init__(self, prediction: PredictionLike, share: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        prediction = as_prediction(self.prediction)
        share = probabilities("WithAtom.share", self.share, like=prediction.like)
        share = share if share.ndim else share + device_like(np.zeros(len(prediction)), share)
        if share.ndim != 1:
            raise ValueError(f"WithAtom.share must be one probability per row, got shape {tuple(share.shape)}")
        same_length("WithAtom.prediction", len(prediction), "WithAtom.share", share.shape[0])
        keep(self, prediction=prediction, share=share)

    @property
    def like(self) -> Array:
        return self.share

    def _describe(self) -> str:
        return type(self.prediction).__name__

    def centre_rows(self) -> Array:
        return self.prediction.centre_rows()

    def spread_rows(self) -> Array | None:
        return self.prediction.spread_rows()

    def default_score(self) -> NoReturn:
        """None: it is for labels that have an atom."""
        raise TypeError("a WithAtom needs labels that say where the atom is, as in Calibrator(labels=AtomAt(0))")

    def form(self) -> Form:
        return Form("predictions with an atom", members=(self.prediction.form(),))


@dataclass(frozen=True, eq=False, repr=False)
class AtomLine(Prediction):
    """P(Y <= at) = share, and P(Y <= values[i, k]) = share + (1 - share) LEVELS[k], for values above `at`."""

    share: Array
    values: Array
    at: float = field(metadata={"shared": True})

    def form(self) -> Form:
        return Form("an atom and the distribution above it")


def atom_line(prediction: Any, at: float, share: Array | None = None) -> Prediction:
    """The line of each row; without a share the prediction's own mass at or below the atom is the atom's."""
    own: Array | None = None
    match prediction:
        case WithAtom():
            return atom_line(prediction.prediction, at, prediction.share if share is None else share)
        case Ensemble():
            return Ensemble([atom_line(member, at, share) for member in prediction.members], prediction.weights)
        case Distribution():
            own = prediction.cdf(at)
            values = _above(own, prediction.ppf, at)
        case Quantiles() | Samples():
            levels, values = _extended(prediction, at)
            own = interpolated(namespace(values).full_like(values[:, :1], at), values, levels)[:, 0]
            values = _above(own, lambda p: interpolated(p, levels, values), at)
        case Point():
            # exponential above the atom, with the mean that makes the point the mean of all
            rest = 1.0 if share is None else 1 - clip(share, LEAST, 1 - LEAST)
            mean = clip(prediction.values - at, 0.0, math.inf) / rest
            values = at + mean[:, None] * device_like(-np.log1p(-np.asarray(LEVELS)), mean)[None, :]
        case _:
            raise TypeError(
                "an atom takes distributions, quantiles, draws and points, got"
                f" {type(prediction).__name__}: it has no levels"
            )
    share = own if share is None else share
    if share is None:
        raise TypeError(
            f"a point does not say how likely {at:g} is: predict a distribution, quantiles or draws, or give the"
            f" probability, as in WithAtom(prediction, share) or AtomAt({at:g}, share='column')"
        )
    return AtomLine(clip(share, LEAST, 1 - LEAST), values, at)


def _above(mass: Array, ppf: Callable[[Array], Array], at: float) -> Array:
    """The quantiles above the atom at `LEVELS`; of a row with hardly any mass there those of its last hundredth."""
    xp = namespace(mass)
    below = clip(mass, 0.0, _MOST)[:, None]
    values = ppf(below + (1 - below) * device_like(LEVELS, mass)[None, :])
    return clip(xp.where((mass > _MOST)[:, None], at + (values - ppf(below)), values), at, math.inf)


def _extended(prediction: Quantiles | Samples, at: float) -> tuple[Array, Array]:
    """Levels and quantiles from 0 to 1: the row's own, and beyond them straight on with its mean slope."""
    prediction = prediction.as_quantiles()
    levels, values = prediction.levels[None, :], prediction.values
    if values.shape[1] == 1:
        raise TypeError(f"an atom at {at:g} needs quantiles at two levels or more, got one")
    first, last = levels[:, :1], levels[:, -1:]
    slope = (values[:, -1:] - values[:, :1]) / (last - first)
    ends = values[:, :1] - first * slope, values[:, -1:] + (1 - last) * slope
    return concatenate([0 * first, levels, 0 * last + 1], axis=1), concatenate([ends[0], values, ends[1]], axis=1)
