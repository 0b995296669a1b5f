"""What a league judges by: a proper score of each row, smaller is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from calibrant._arguments import unit
from calibrant._arrays import Array, Rng, to_numpy
from calibrant.calibration import Calibrator
from calibrant.distributions.base import Distribution
from calibrant.interpolators import NAF, Interpolator, Linear
from calibrant.metrics.scores import interval_score_rows, nll_rows

CriterionName = Literal["crps", "nll", "interval"]


@dataclass(frozen=True)
class Criterion:
    """A score of each row, and the interpolator whose laws it judges."""

    name: str
    rows: Callable[[Distribution, Array], Array]
    interpolator: Interpolator

    def judge(
        self,
        prediction: Any,
        y: Array,
        halves: tuple[Array, Array],
        calibrator: Calibrator | None = None,
        rng: Rng = None,
    ) -> Any:
        """The score of each row of both halves, each calibrated on the other half."""
        calibrator = calibrator or Calibrator(None, self.interpolator)
        scores = []
        for one, other in (halves, halves[::-1]):
            H = calibrator.fit(prediction[one], y[one], rng=rng)(prediction[other], rng=rng)
            scores.append(to_numpy(self.rows(H, y[other])))
        return scores


CriterionLike = Criterion | CriterionName
"""A criterion, or its name."""


def interval_score(coverage: float) -> Criterion:
    """The interval score of the centred interval."""
    coverage = unit("coverage", coverage)
    return Criterion(f"interval score at {coverage:.4g}", partial(interval_score_rows, coverage=coverage), Linear())


def _crps(H: Distribution, y: Array) -> Array:
    return H.crps(y)


def _nll(H: Distribution, y: Array) -> Any:
    return nll_rows(H, y)


CRITERIA: dict[str, Callable[[], Criterion]] = {
    "crps": lambda: Criterion("crps", _crps, Linear()),
    "nll": lambda: Criterion("nll", _nll, NAF()),
    "interval": lambda: interval_score(0.9),
}
"""What makes each criterion, by its name."""


def criterion_named(value: CriterionLike) -> Criterion:
    """The criterion of a name, or a `Criterion` as it is."""
    if isinstance(value, Criterion):
        return value
    if value not in CRITERIA:
        raise ValueError(f"criterion must be one of {', '.join(CRITERIA)}, got {value!r}")
    return CRITERIA[value]()
