"""The criteria of a league: a proper score of each row, smaller is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from calibrant._arrays import Array, to_numpy
from calibrant.calibration import Calibrator
from calibrant.distributions.base import Distribution
from calibrant.interpolators import NAF, Interpolator, Linear
from calibrant.metrics.scores import interval_score_rows, nll_rows

CriterionName = Literal["crps", "nll", "interval"]


@dataclass(frozen=True)
class Criterion:
    """A score of each row, and the interpolator whose distributions it judges."""

    name: str
    rows: Callable[[Distribution, Array], Any]
    interpolator: Interpolator

    def row_scores(self, prediction: Any, y: Array, halves: tuple[Array, Array]) -> Any:
        """The score of each row of both halves, each calibrated on the other half."""
        calibrator, scores = Calibrator(None, self.interpolator), []
        for one, other in (halves, halves[::-1]):
            H = calibrator.fit(prediction[one], y[one])(prediction[other])
            scores.append(to_numpy(self.rows(H, y[other])))
        return scores


def _crps(H: Distribution, y: Array) -> Array:
    return H.crps(y)


CRITERIA = {
    "crps": Criterion("crps", _crps, Linear()),
    "nll": Criterion("nll", nll_rows, NAF()),
    "interval": Criterion("interval score at 0.9", partial(interval_score_rows, coverage=0.9), Linear()),
}
"""By name."""


def criterion_named(name: str) -> Criterion:
    """The criterion of a name."""
    if name not in CRITERIA:
        raise ValueError(f"criterion must be one of {', '.join(CRITERIA)}, got {name!r}")
    return CRITERIA[name]
