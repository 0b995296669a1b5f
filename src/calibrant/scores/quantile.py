"""The level at which a label lies among predicted quantiles, among samples, or above an atom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from calibrant._arguments import positive
from calibrant._arrays import Array, anywhere, concatenate, device_like, namespace, resolution
from calibrant.predictions import Quantiles, Samples
from calibrant.predictions.with_atom import LEVELS, AtomLine, width_below
from calibrant.scores.floors import Floored
from calibrant.scores.transforms.base import Affine, BrokenLine, Transform


@dataclass(frozen=True, repr=False)
class QuantileScore(Floored, default_for=Quantiles):
    """phi(f, y) runs straight through (f_k, alpha_k), k = 1..K, and on outside with a slope of its own.

    By default that slope is the row's mean slope, (alpha_K - alpha_1) / (f_K - f_1), so that the score does not
    depend on the unit of y. `outer_slope=1` is the paper's score, made for standardised labels. With a single
    quantile the score is the residual. Quantiles that are equal, or nearly, are set apart by a millionth of the row's
    mean gap; a row whose quantiles are all equal needs a floor for f_K - f_1, see `Floored`.
    """

    outer_slope: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.outer_slope is not None:
            positive(f"{type(self).__name__}.outer_slope", self.outer_slope)

    def loc_scale(self, prediction: Any) -> tuple[Array, Array] | None:
        """f_1 and f_K - f_1; a single quantile needs no width."""
        values = prediction.values
        return (values[:, 0], values[:, -1] - values[:, 0]) if values.shape[1] > 1 else None

    def transform(self, prediction: Any) -> Transform:
        """The broken line."""
        quantiles = prediction.as_quantiles()
        levels, values = quantiles.levels, quantiles.values
        xp = namespace(values)
        if values.shape[1] == 1:
            return Affine(values[:, 0], xp.full_like(values[:, 0], 1 / (self.outer_slope or 1.0)))
        values, gap = self._apart(values)
        inner = (levels[1:] - levels[:-1]) / gap
        own = (levels[-1] - levels[0]) / (values[:, -1:] - values[:, :1])
        outer = own if self.outer_slope is None else xp.full_like(own, self.outer_slope)
        return BrokenLine(values, levels[None, :], concatenate([outer, inner, outer], axis=1))

    def middle(self, prediction: Any) -> float:
        """1/2; 0 for a single quantile, whose score is the residual."""
        return 0.0 if self.loc_scale(prediction) is None else 0.5

    def _apart(self, values: Array) -> tuple[Array, Array]:
        """The values and their gaps; a row with too small a gap is rebuilt from its first value and wider ones.

        Each gap is at least a millionth of the row's own mean gap, (f_K - f_1) / (K - 1). In a row without a width of
        its own, where f_K - f_1 is below the floor, each is at least floor / (K - 1).
        """
        xp, first = namespace(values), values[:, :1]
        gap, spread = values[:, 1:] - values[:, :-1], values[:, -1] - values[:, 0]
        lifted = self._positive_scale(spread, values[:, 0])
        least = (xp.where(lifted > spread, lifted, 1e-6 * spread) / gap.shape[1])[:, None]
        short = gap < least
        if not anywhere(short):
            return values, gap
        # a gap of a single float would be lost in the sum
        wide = xp.maximum(xp.maximum(gap, least + xp.zeros_like(gap)), resolution(values[:, 1:], 0.0))
        apart = concatenate([first, first + xp.cumulative_sum(wide, axis=1)], axis=1)
        values = xp.where(xp.any(short, axis=1)[:, None], apart, values)
        return values, values[:, 1:] - values[:, :-1]


@dataclass(frozen=True, repr=False)
class SamplesScore(QuantileScore, default_for=Samples):
    """The quantile score of the sorted samples, at the levels (k - 1/2) / K."""


@dataclass(frozen=True, repr=False)
class AtomScore(QuantileScore, default_for=AtomLine):
    """phi runs straight through (at - w, 0), (at, share) and (f_k, share + (1 - share) alpha_k), and on outside.

    Below the atom lie labels that were drawn there, uniformly over w, so that their scores are uniform up to `share`,
    whatever w is. Above all quantiles the slope is alpha_K / (f_K - at), which has the row's unit and not its share:
    where the atom is all but sure, the rest may be far off no sooner than in other rows.
    """

    share: ClassVar[float] = 0.01  # rows of which only the atom is known are many, not odd ones
    warns = False  # a forecast that is sure of the atom need not know more

    def loc_scale(self, prediction: AtomLine) -> tuple[Array, Array]:
        """The atom, and f_K - at."""
        last = prediction.values[:, -1]
        return namespace(last).full_like(last, prediction.at), last - prediction.at

    def transform(self, prediction: AtomLine) -> Transform:
        """The broken line."""
        share, w = prediction.share[:, None], width_below(prediction.at)
        xp = namespace(share)
        at = xp.full_like(share, prediction.at)
        values, gap = self._apart(concatenate([at, prediction.values], axis=1))
        levels = device_like([[0.0, *LEVELS]], values)
        inner = (1 - share) * (levels[:, 1:] - levels[:, :-1]) / gap
        outer = LEVELS[-1] / (values[:, -1:] - at)
        return BrokenLine(
            concatenate([at - w, values], axis=1),
            concatenate([xp.zeros_like(share), share + (1 - share) * levels], axis=1),
            concatenate([xp.full_like(share, 1 / w), share / w, inner, outer], axis=1),
        )
