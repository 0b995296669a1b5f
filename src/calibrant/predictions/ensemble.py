"""An ensemble of predictions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from calibrant._arguments import keep, same_length
from calibrant._arrays import Array, device_like, floats, namespace
from calibrant._batch import promoted, shared
from calibrant.distributions.base import Distribution
from calibrant.forecast import PredictionLike
from calibrant.forms import Form
from calibrant.predictions.base import Prediction
from calibrant.predictions.point import as_prediction


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(Prediction):
    """Predictions of any kind for the same rows, ensembles included, with positive weights (1 each by default).

    >>> from calibrant import Point
    >>> Ensemble([Point([1.0, 2.0]), Point([1.5, 2.5])], weights=[2, 1])
    Ensemble(n=2, members=[Point, Point], weights=(2.0, 1.0))
    """

    members: tuple[Prediction | Distribution, ...]
    weights: tuple[float, ...] = shared()

    def __init__(self, members: Sequence[PredictionLike], weights: Sequence[float] | None = None) -> None:
        if isinstance(members, (Prediction, Distribution)) or not isinstance(members, Iterable):
            raise TypeError(f"Ensemble.members must be a list of predictions, got {type(members).__name__}")
        made = tuple(as_prediction(member) for member in members)
        if not made:
            raise ValueError("Ensemble.members must hold at least one prediction")
        for k, member in enumerate(made):
            same_length("Ensemble.members[0]", len(made[0]), f"Ensemble.members[{k}]", len(member))
            if namespace(member.like) is not namespace(made[0].like):
                raise TypeError(
                    f"Ensemble.members[{k}] holds {type(member.like).__module__.split('.')[0]} arrays where"
                    f" {type(made[0].like).__module__.split('.')[0]} is expected: convert it first"
                )
        made = tuple(promoted(member, *(other.like for other in made)) for member in made)
        given = tuple(map(float, floats("Ensemble.weights", [1] * len(made) if weights is None else weights, ndim=1)))
        same_length("Ensemble.members", len(made), "Ensemble.weights", len(given))
        if min(given) <= 0:
            raise ValueError(f"Ensemble.weights must be positive, got {list(given)}")
        keep(self, members=made, weights=given)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.members[0]),)

    def _describe(self) -> str:
        return f"members=[{', '.join(type(member).__name__ for member in self.members)}], weights={self.weights}"

    def parts(self) -> tuple[Prediction | Distribution, ...]:
        return self.members

    def centre_rows(self) -> Array:
        """The weighted mean of the members' centres."""
        centres, weights = self._centres()
        return namespace(centres).sum(weights * centres, axis=1)

    def spread_rows(self) -> Array | None:
        """sqrt(mean of s_k^2 + variance of c_k) for members with centres c_k and spreads s_k, 0 where one has none."""
        own: list[Array | None] = [member.spread_rows() for member in self.members]
        if len(own) == 1:
            return own[0]
        centres, weights = self._centres()
        xp = namespace(centres)
        spreads = xp.stack([xp.zeros_like(centres[:, 0]) if each is None else each for each in own], axis=1)
        return xp.sqrt(xp.sum(weights * ((centres - self.centre_rows()[:, None]) ** 2 + spreads**2), axis=1))

    def _centres(self) -> tuple[Array, Array]:
        centres = namespace(self.like).stack([member.centre_rows() for member in self.members], axis=1)
        return centres, device_like(np.asarray(self.weights) / sum(self.weights), centres)

    def form(self) -> Form:
        return Form("an ensemble", members=tuple(member.form() for member in self.members))
