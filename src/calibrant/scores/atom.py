"""The level at which a label lies on a distribution with an atom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array, concatenate, device_like, namespace
from calibrant.predictions.quantiles import Quantiles
from calibrant.predictions.with_atom import LEVELS, AtomLine
from calibrant.scores.quantile import QuantileLine
from calibrant.scores.transforms import BrokenLine, Transform


@dataclass(frozen=True, repr=False)
class AtomScore(QuantileLine, default_for=AtomLine):
    """phi runs straight through (at - w, 0), (at, share) and (f_k, share + (1 - share) g_k), and on outside.

    Below the atom lie labels that were drawn there, uniformly over w, so that their scores are uniform up to `share`,
    whatever w is. Above all quantiles the slope is g_K / (f_K - at), which has the row's unit and not its share: where
    the atom is all but sure, the rest may be far off no sooner than in other rows.
    """

    share = 0.01  # rows of which only the atom is known are many, not odd ones
    warns = False  # a forecast that is sure of the atom need not know more

    def quantiles(self, prediction: Any) -> Quantiles:
        """Those above the atom."""
        return Quantiles(device_like(LEVELS, prediction.values), prediction.values)

    def loc_scale(self, prediction: Any) -> tuple[Array, Array]:
        """The atom, and f_K - at."""
        last = prediction.values[:, -1]
        return namespace(last).full_like(last, prediction.at), last - prediction.at

    def transform(self, prediction: Any) -> Transform:
        """The broken line."""
        xp, share = namespace(prediction.values), prediction.share[:, None]
        at = xp.full_like(share, prediction.at)
        values, gap = self._apart(concatenate([at, prediction.values], axis=1))
        levels = device_like([0.0, *LEVELS], values)[None, :]
        w = below_the_atom(prediction.at)
        inner = (1 - share) * (levels[:, 1:] - levels[:, :-1]) / gap
        outer = LEVELS[-1] / (values[:, -1:] - at)
        return BrokenLine(
            concatenate([at - w, values], axis=1),
            concatenate([xp.zeros_like(share), share + (1 - share) * levels], axis=1),
            concatenate([xp.full_like(share, 1 / w), share / w, inner, outer], axis=1),
        )


def below_the_atom(at: float) -> float:
    """w: any width will do which floats near the atom tell apart."""
    return 1.0 + abs(at)
