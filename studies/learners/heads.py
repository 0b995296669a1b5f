"""What a network's outputs mean: the loss they are trained by and the prediction they become.

Labels are standardised, so every width here is in units of the label's standard deviation. torch is imported when it is
used: a study's design names heads, and reading its results needs no torch.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from calibrant.distributions import Normal
from calibrant.predictions import Interval, Point, Quantiles

if TYPE_CHECKING:
    from torch import Tensor

FLOOR = 0.05
"""No scale and no half-width is below this, or a few rows with repeated labels would rule the loss."""

BETA = 0.5
"""A row weighs scale^(2 BETA) in a Gaussian loss: 0 is the likelihood, at 1 the mean learns by squared errors."""


class Head(ABC):
    """The outputs of one network for a row, read as a prediction of its label."""

    outputs: int

    @abstractmethod
    def loss(self, raw: Tensor, y: Tensor) -> Tensor:
        """What training lowers, for outputs (..., rows, outputs) and labels (..., rows): one value a row."""

    @abstractmethod
    def validation(self, raw: Tensor, y: Tensor) -> Tensor:
        """What early stopping goes by, as a proper scoring rule of each row."""

    @abstractmethod
    def prediction(self, raw: Tensor) -> Any:
        """The outputs (rows, outputs), in float64, as a calibrant prediction."""


class PointHead(Head):
    """f(x) = raw_1, by the squared error."""

    outputs = 1

    def loss(self, raw: Tensor, y: Tensor) -> Tensor:
        """(y - f)^2."""
        return (y - raw[..., 0]).square()

    def validation(self, raw: Tensor, y: Tensor) -> Tensor:
        """(y - f)^2."""
        return self.loss(raw, y)

    def prediction(self, raw: Tensor) -> Any:
        """Point(f)."""
        return Point(raw[:, 0].numpy())


class IntervalHead(Head):
    """[c - w, c + w] with c = raw_1 and w = FLOOR + softplus(raw_2), by the pinball losses at 5% and 95%."""

    outputs = 2

    def loss(self, raw: Tensor, y: Tensor) -> Tensor:
        """(pinball(y - lower, 0.05) + pinball(y - upper, 0.95)) / 2."""
        centre, half = located(raw)
        return (pinball(y - (centre - half), 0.05) + pinball(y - (centre + half), 0.95)) / 2

    def validation(self, raw: Tensor, y: Tensor) -> Tensor:
        """The same pinball losses."""
        return self.loss(raw, y)

    def prediction(self, raw: Tensor) -> Any:
        """Interval(c - w, c + w)."""
        centre, half = located(raw)
        return Interval((centre - half).numpy(), (centre + half).numpy())


class QuantileHead(Head):
    """The quantiles at (k - 1/2) / K, k = 1..K, by the pinball loss."""

    def __init__(self, outputs: int) -> None:
        self.outputs = outputs

    def loss(self, raw: Tensor, y: Tensor) -> Tensor:
        """The mean of the K pinball losses."""
        return pinball(y[..., None] - raw, self._levels(raw)).mean(-1)

    def validation(self, raw: Tensor, y: Tensor) -> Tensor:
        """The same pinball losses, of the sorted outputs."""
        return self.loss(raw.sort(dim=-1).values, y)

    def prediction(self, raw: Tensor) -> Any:
        """Quantiles of the sorted outputs, each moved a little so that none are equal."""
        levels = self._levels(raw)
        return Quantiles(levels.numpy(), (raw.sort(dim=1).values + 1e-4 * (levels - 0.5)).numpy())

    def _levels(self, like: Tensor) -> Tensor:
        import torch

        return (torch.arange(self.outputs, dtype=like.dtype, device=like.device) + 0.5) / self.outputs


class GaussianHead(Head):
    """N(m, s^2) with m = raw_1 and s = FLOOR + softplus(raw_2), by the likelihood."""

    outputs = 2

    def loss(self, raw: Tensor, y: Tensor) -> Tensor:
        """s^(2 BETA) (log s + ((y - m) / s)^2 / 2), with no gradient through the first factor (Seitzer et al. 2022).

        The bare likelihood learns the mean of the rows it is sure of and neglects the others.
        """
        mean, scale = located(raw)
        return scale.detach() ** (2 * BETA) * (scale.log() + ((y - mean) / scale).square() / 2)

    def validation(self, raw: Tensor, y: Tensor) -> Tensor:
        """CRPS = s (z (2 Phi(z) - 1) + 2 phi(z) - 1 / sqrt(pi)), z = (y - m) / s.

        The likelihood would stop a network for a scale that is too small long before its mean is learnt, and it is
        the scale that calibration repairs.
        """
        mean, scale = located(raw)
        z = (y - mean) / scale
        density = (-z.square() / 2).exp() / math.sqrt(2 * math.pi)
        return scale * (z * (z / math.sqrt(2)).erf() + 2 * density - 1 / math.sqrt(math.pi))

    def prediction(self, raw: Tensor) -> Any:
        """Normal(m, s)."""
        mean, scale = located(raw)
        return Normal(mean.numpy(), scale.numpy())


def located(raw: Tensor) -> tuple[Tensor, Tensor]:
    """A location and a scale: raw_1 and FLOOR + softplus(raw_2)."""
    from torch.nn.functional import softplus

    return raw[..., 0], FLOOR + softplus(raw[..., 1])


def pinball(error: Tensor, level: Tensor | float) -> Tensor:
    """max(a e, (a - 1) e) for the error e = y - quantile at the level a."""
    return (level * error).maximum((level - 1) * error)


_GAUSSIAN = GaussianHead()

BASES: dict[str, tuple[Head, ...]] = {
    "point": (PointHead(),),
    "interval": (IntervalHead(),),
    "quantile-2": (QuantileHead(2),),
    "quantile-4": (QuantileHead(4),),
    "quantile-7": (QuantileHead(7),),
    "quantile-10": (QuantileHead(10),),
    "distribution": (_GAUSSIAN,),
    "ensemble": (_GAUSSIAN,) * 5,
}
"""All kinds of base predictor that there are, with the head of each of their networks: twelve networks a split."""
