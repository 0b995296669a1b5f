"""What any kind of prediction says of labels of which many are one value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibrant._arrays import Array, anywhere, clip, concatenate, device_like, namespace
from calibrant._search import count_up_to, gather
from calibrant.distributions.base import Distribution
from calibrant.forms import Form
from calibrant.predictions.base import Prediction
from calibrant.predictions.ensemble import Ensemble
from calibrant.predictions.point import Point
from calibrant.predictions.quantiles import Quantiles
from calibrant.predictions.samples import Samples
from calibrant.predictions.with_atom import WithAtom

LEVELS = (0.01, 0.025, *(k / 20 for k in range(1, 20)), 0.975, 0.99, 0.998)
"""At which the law above the atom is known."""
_LEAST = 1e-6
"""The least probability of the atom, and of the rest: the line of a row must rise on both sides."""
_MOST = 0.99
"""A law with more of its mass at or below the atom has its last hundredth moved to where the atom ends."""


@dataclass(frozen=True, eq=False, repr=False)
class AtomLine(Prediction):
    """P(Y <= at) = share, and P(Y <= values[i, k]) = share + (1 - share) LEVELS[k], for values above `at`."""

    share: Array
    values: Array
    at: float = field(metadata={"shared": True})

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.share.shape)

    def form(self) -> Form:
        """One for all."""
        return Form("an atom and the law above it")


def atom_line(prediction: Any, at: float, share: Array | None = None) -> Prediction | Distribution:
    """The line of each row; without a share the prediction's own mass at or below the atom is the atom's."""
    own: Array | None
    match prediction:
        case WithAtom():
            return atom_line(prediction.prediction, at, prediction.share if share is None else share)
        case Ensemble():
            return Ensemble([atom_line(member, at, share) for member in prediction.members], prediction.weights)
        case Distribution():
            own, values = _of_law(prediction, at)
        case Quantiles():
            own, values = _of_quantiles(prediction.levels, prediction.values, at)
        case Samples():
            quantiles = prediction.as_quantiles()
            own, values = _of_quantiles(quantiles.levels, quantiles.values, at)
        case Point():
            own, values = None, _of_mean(prediction.values, at, share)
        case _:
            raise TypeError(
                f"an atom takes laws, quantiles, draws and points, got {type(prediction).__name__}: it has no levels"
            )
    share = own if share is None else share
    if share is None:
        raise TypeError(
            f"a point does not say how likely {at:g} is: predict a law, quantiles or draws, or give the probability,"
            f" as in WithAtom(prediction, share) or AtomAt({at:g}, share='column')"
        )
    return AtomLine(clip(share, _LEAST, 1 - _LEAST), values, at)


def some_mass(prediction: Any, at: float) -> None:
    """Raise where no row of the prediction has mass at or below the atom."""
    line = atom_line(prediction, at)
    shares = [member.share for member in getattr(line, "members", [line])]
    if not any(anywhere(share > _LEAST) for share in shares):
        raise ValueError(
            f"{prediction!r} has no mass at or below {at:g} in any row: give the probability of {at:g} too, as in"
            f" WithAtom(prediction, share) or AtomAt({at:g}, share='column')"
        )


def _of_law(law: Distribution, at: float) -> tuple[Array, Array]:
    mass = law.cdf(at)
    held = namespace(mass).clip(mass, None, _MOST)
    values = law.ppf(_above(held))
    return mass, _moved(values, law.ppf(held[:, None])[:, 0], mass, at)


def _of_quantiles(levels: Array, values: Array, at: float) -> tuple[Array, Array]:
    """The law whose CDF runs straight through the quantiles, and on to 0 and 1 with the row's mean slope."""
    xp = namespace(values)
    if values.shape[1] == 1:
        raise TypeError(f"an atom at {at:g} needs quantiles at two levels or more, got one")
    slope = (values[:, -1:] - values[:, :1]) / (levels[-1] - levels[0])
    values = concatenate([values[:, :1] - levels[0] * slope, values, values[:, -1:] + (1 - levels[-1]) * slope], axis=1)
    ends = device_like([0.0, 1.0], levels)
    levels = concatenate([ends[:1], levels, ends[1:]])[None, :]

    def straight(x: Array, knots: Array, heights: Array) -> Array:
        """Through the knots, from the right where some are equal."""
        j = clip(count_up_to(knots, x), 1, levels.shape[1] - 1)
        low, high = gather(knots, j - 1), gather(knots, j)
        gap = high - low
        part = clip((x - low) / xp.where(gap > 0, gap, xp.ones_like(gap)), 0.0, 1.0)
        part = xp.where(gap > 0, part, xp.ones_like(part))
        return gather(heights, j - 1) + part * (gather(heights, j) - gather(heights, j - 1))

    levels = levels + xp.zeros_like(values)
    mass = straight(xp.full_like(values[:, :1], at), values, levels)[:, 0]
    held = xp.clip(mass, None, _MOST)
    start = straight(held[:, None], levels, values)[:, 0]
    return mass, _moved(straight(_above(held), levels, values), start, mass, at)


def _of_mean(mean: Array, at: float, share: Array | None) -> Array:
    """Exponential above the atom, with the mean that makes `mean` the mean of all."""
    rest = 1.0 if share is None else 1 - clip(share, _LEAST, 1 - _LEAST)
    size = namespace(mean).clip(mean - at, 0.0, None) / rest
    return at + size[:, None] * device_like(-np.log1p(-np.asarray(LEVELS)), mean)[None, :]


def _above(mass: Array) -> Array:
    """The levels of a law at which the part above this mass has `LEVELS`."""
    return mass[:, None] + (1 - mass[:, None]) * device_like(LEVELS, mass)[None, :]


def _moved(values: Array, start: Array, mass: Array, at: float) -> Array:
    """The quantiles above the atom; of a row with hardly any mass there those of its last hundredth, moved."""
    xp = namespace(values)
    values = xp.where((mass > _MOST)[:, None], at + (values - start[:, None]), values)
    return xp.clip(values, at, None)
