"""A prediction, and how likely one value is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from calibrant._arguments import same_length
from calibrant._arrays import Array, device_like, probabilities
from calibrant._types import ArrayLike
from calibrant.distributions.base import Distribution
from calibrant.forecast import PredictionLike
from calibrant.forms import Form
from calibrant.predictions.as_prediction import as_prediction
from calibrant.predictions.base import Prediction


@dataclass(frozen=True, eq=False, repr=False)
class WithAtom(Prediction):
    """The atom with probability `share`, else what `prediction` says: for labels of which many are one value.

    Which value that is, `calibrant.labels.AtomAt` says. The prediction may be of y as a whole or of the rest alone:
    of a law, quantiles or draws only what lies above the atom counts. A point is the mean of y as a whole.

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
            raise ValueError(f"WithAtom.share must be one probability a row, got shape {tuple(share.shape)}")
        same_length("WithAtom.prediction", len(prediction), "WithAtom.share", share.shape[0])
        object.__setattr__(self, "prediction", prediction)
        object.__setattr__(self, "share", share)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.share.shape)

    @property
    def like(self) -> Array:
        return self.share

    def _describe(self) -> str:
        return type(self.prediction).__name__

    def centre_rows(self) -> Array:
        """That of the prediction."""
        return self.prediction.centre_rows()

    def spread_rows(self) -> Array | None:
        """That of the prediction."""
        return self.prediction.spread_rows()

    def default_score(self) -> NoReturn:
        """None: it takes labels that have an atom."""
        raise TypeError("a WithAtom needs labels that say where the atom is, as in Calibrator(labels=AtomAt(0))")

    def form(self) -> Form:
        """That of the prediction, with an atom."""
        return Form("predictions with an atom", members=(self.prediction.form(),))
