"""The level at which a label lies among predicted quantiles."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, cast

from calibrant._arrays import Array, concatenate, namespace, one_number, resolution
from calibrant.predictions import Quantiles, Samples
from calibrant.scores.charts import Affine, BrokenLine, Chart
from calibrant.scores.floors import SHARE, Floored


class _Line(Floored):
    """The broken line through quantiles of a row, which are set apart where they are equal, or nearly.

    Each gap is at least a millionth of the row's own mean gap, (f_K - f_1) / (K - 1). In a row without a width of its
    own, where f_K - f_1 is below the floor, each is at least floor / (K - 1).
    """

    outer_slope: float | None

    @abstractmethod
    def quantiles(self, prediction: Any) -> Quantiles:
        """The prediction as quantiles."""

    def widths(self, prediction: Any) -> tuple[Array, Array] | None:
        """f_K - f_1, near f_1; a single quantile needs no width."""
        values = self.quantiles(prediction).values
        return (values[:, -1] - values[:, 0], values[:, 0]) if values.shape[1] > 1 else None

    def chart(self, prediction: Any) -> Chart:
        """The broken line."""
        quantiles = self.quantiles(prediction)
        levels, values = quantiles.levels, quantiles.values
        xp = namespace(values)
        if values.shape[1] == 1:
            slope = 1.0 if self.outer_slope is None else self.outer_slope
            return Affine(values[:, 0], xp.full_like(values[:, 0], 1 / slope))
        values = self._apart(values)
        inner = (levels[1:] - levels[:-1]) / (values[:, 1:] - values[:, :-1])
        own = (levels[-1] - levels[0]) / (values[:, -1:] - values[:, :1])
        outer = own if self.outer_slope is None else xp.full_like(own, self.outer_slope)
        return BrokenLine(values, levels[None, :], concatenate([outer, inner, outer], axis=1))

    def _apart(self, values: Array) -> Array:
        """Each row with a gap that is too small rebuilt from its first value and wider gaps; the others as they are."""
        xp, first = namespace(values), values[:, :1]
        gap, spread = values[:, 1:] - values[:, :-1], values[:, -1] - values[:, 0]
        held = self.at_least(spread, values[:, 0])
        least = (xp.where(held > spread, held, SHARE * spread) / gap.shape[1])[:, None]
        short = xp.any(gap < least, axis=1)[:, None]
        if not bool(xp.any(short)):
            return values
        # a gap of a single float would be lost in the sum
        wide = xp.maximum(xp.maximum(gap, least + xp.zeros_like(gap)), resolution(values[:, 1:], 0.0))
        return xp.where(short, concatenate([first, first + xp.cumulative_sum(wide, axis=1)], axis=1), values)


@dataclass(frozen=True, repr=False)
class QuantileScore(_Line):
    """phi(f, y) runs straight through (f_k, alpha_k), k = 1..K, and on outside with a slope of its own.

    By default that slope is the row's mean slope, (alpha_K - alpha_1) / (f_K - f_1), so that the score does not
    depend on the unit of y. `outer_slope=1` is the paper's score, made for standardised labels. With a single
    quantile the score is the residual. Quantiles that are equal, or next to equal, are set a millionth of the row's
    mean gap apart; a row whose quantiles are all equal needs a floor for f_K - f_1, see `Floored`.
    """

    outer_slope: float | None = None
    expects = (Quantiles,)

    def __post_init__(self) -> None:
        super().__post_init__()
        slope = self.outer_slope
        if slope is not None and not 0 < one_number("QuantileScore.outer_slope", slope) < math.inf:
            raise ValueError(f"QuantileScore.outer_slope must be positive and finite, got {self.outer_slope}")

    def quantiles(self, prediction: Any) -> Quantiles:
        """As they are."""
        return cast(Quantiles, prediction)

    def middle(self, prediction: Any) -> float:
        """1/2; 0 for a single quantile, whose score is the residual."""
        return 0.0 if prediction.levels.shape[0] == 1 else 0.5


@dataclass(frozen=True, repr=False)
class SamplesScore(_Line):
    """The quantile score of the sorted samples, at the levels (k - 1/2) / K."""

    outer_slope = None
    expects = (Samples,)

    def quantiles(self, prediction: Any) -> Quantiles:
        """The sorted samples."""
        return cast(Quantiles, prediction.as_quantiles())

    def middle(self, prediction: Any) -> float:
        """1/2."""
        return 0.5
