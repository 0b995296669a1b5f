"""The broken line through quantiles of a row, the chart of the quantile score and of the samples score."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from calibrant._arrays import Array, anywhere, concatenate, namespace, resolution
from calibrant.predictions import Quantiles
from calibrant.scores.charts import Affine, BrokenLine, Chart
from calibrant.scores.floors import SHARE, Floored


class QuantileLine(Floored):
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
        values, gap = self._apart(values)
        inner = (levels[1:] - levels[:-1]) / gap
        own = (levels[-1] - levels[0]) / (values[:, -1:] - values[:, :1])
        outer = own if self.outer_slope is None else xp.full_like(own, self.outer_slope)
        return BrokenLine(values, levels[None, :], concatenate([outer, inner, outer], axis=1))

    def _apart(self, values: Array) -> tuple[Array, Array]:
        """The values and their gaps; a row with too small a gap is rebuilt from its first value and wider ones."""
        xp, first = namespace(values), values[:, :1]
        gap, spread = values[:, 1:] - values[:, :-1], values[:, -1] - values[:, 0]
        held = self.at_least(spread, values[:, 0])
        least = (xp.where(held > spread, held, SHARE * spread) / gap.shape[1])[:, None]
        short = gap < least
        if not anywhere(short):
            return values, gap
        short = xp.any(short, axis=1)[:, None]
        # a gap of a single float would be lost in the sum
        wide = xp.maximum(xp.maximum(gap, least + xp.zeros_like(gap)), resolution(values[:, 1:], 0.0))
        values = xp.where(short, concatenate([first, first + xp.cumulative_sum(wide, axis=1)], axis=1), values)
        return values, values[:, 1:] - values[:, :-1]
