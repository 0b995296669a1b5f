"""Right-censored labels: of some rows only a time is known that the label exceeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import one_each, same_length, unit
from calibrant._arrays import floats, refuse, rows, to_numpy
from calibrant._batch import some_rows
from calibrant._types import ArrayLike, Bound, Draws, RowIndex, Values
from calibrant.calibration import Calibrated, Calibrator
from calibrant.distributions.censored_tail import FollowedUp
from calibrant.forecast import PredictionLike
from calibrant.guarantee import Basis
from calibrant.interpolators.weights import CalibrationWeights, Weights
from calibrant.predictions.point import as_prediction, labelled_rows

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Censored:
    """Labels y, of which `event` says which were seen; of the others the label is larger than y.

    A label that was seen has the weight 1 / P(followed so long), which makes up for those that were lost before. The
    probability that a row is followed beyond any time is Kaplan and Meier's of the times at which rows were lost. If
    it depends on x, give `followed`, the probability for each row of being followed up to its y.

    Labels beyond the last one seen cannot be known. Where more than `tolerance` of the mass may lie below a level for
    that reason, the level and all above it are refused.

    >>> from calibrant import Calibrator
    >>> rng = np.random.default_rng(0)
    >>> label, lost = rng.exponential(1.0, 2000), rng.exponential(2.3, 2000)
    >>> y, event = np.minimum(label, lost), label <= lost
    >>> calibrated = Calibrator().fit(np.zeros(2000), Censored(y, event))
    >>> calibrated([0.0]).quantiles([0.5, 0.9]).round(2)  # the truth is 0.69 and 2.3
    array([[0.71, 2.24]])
    """

    y: Numbers
    event: NDArray[np.bool_]
    followed: Numbers | None = None
    tolerance: float = 0.01

    if TYPE_CHECKING:

        def __init__(
            self, y: ArrayLike, event: ArrayLike, followed: ArrayLike | None = None, tolerance: float = 0.01
        ) -> None: ...

    def __post_init__(self) -> None:
        y = to_numpy(floats("y", self.y, ndim=1)).astype(np.float64)
        one_each("y", len(y), "event", self.event)
        event = to_numpy(floats("event", np.asarray(self.event) * 1.0, ndim=1))
        refuse("event", (event != 0) & (event != 1), "is neither 0 nor 1")
        followed = self.followed
        if followed is not None:
            one_each("y", len(y), "followed", followed)
            followed = to_numpy(floats("followed", followed, ndim=1))
            refuse("followed", (followed <= 0) | (followed > 1), "lies outside (0, 1]")
        for name, value in (("y", y), ("event", event == 1), ("followed", followed)):
            object.__setattr__(self, name, value)
        unit("Censored.tolerance", self.tolerance)

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, index: RowIndex) -> Censored:
        """Some of the rows."""
        followed = None if self.followed is None else rows(self.followed, index)
        return Censored(rows(self.y, index), rows(self.event, index), followed, self.tolerance)

    def weights(self) -> Numbers:
        """1 / P(followed up to y) where the label was seen, 0 elsewhere."""
        followed = still_followed(self.y, self.event) if self.followed is None else self.followed
        return np.asarray(np.where(self.event, 1 / np.where(self.event, followed, 1.0), 0.0))

    def calibrated_by(
        self,
        calibrator: Calibrator,
        prediction: PredictionLike,
        by: Values | None = None,
        weights: Weights = None,
        bound: Bound = None,
        rng: Draws = None,
    ) -> Calibrated:
        """What `Calibrator.fit` makes of them.

        Args:
            calibrator: What calibrates: a score, an interpolator and the kind of label.
            prediction: What the model predicts: `Point`, `Quantiles`, ..., a distribution, or an array of points.
            by: Refused: censored labels have weights of their own.
            weights: Refused: censored labels have weights of their own.
            bound: The bound of y in each row, as in `Calibrator.fit`.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
        """
        if by is not None or weights is not None:
            raise TypeError(
                f"Censored labels have weights of their own and take no {'weights' if by is None else 'by'}="
            )
        prediction = as_prediction(prediction)
        same_length("the prediction", len(prediction), "y", len(self))
        if not self.event.any():
            raise ValueError(f"calibration needs a label that was seen, and all {len(self)} are censored")
        inverse, beyond = self.weights(), ~self.event & (self.y >= self.y[self.event].max())
        missing = max(0.0, 1 - float(inverse.sum()) / len(self)) if beyond.any() else 0.0
        seen, weights = self.event, CensoringWeights(inverse[self.event], missing)
        calibrated = calibrator.fit(
            prediction[seen], self.y[seen], weights=weights, bound=some_rows(bound, seen), rng=rng
        )
        known = 1.0
        if missing:
            its_bound = some_rows(bound, beyond)
            lost = labelled_rows(calibrator.labels, prediction[beyond], self.y[beyond], None, None, its_bound, rng)
            scores = calibrated.score(*lost[:2])  # those of their labels are larger
            known = self._known(calibrated.q.cdf(np.sort(to_numpy(scores))), missing)
        q = calibrated.q if known == 1 else FollowedUp(calibrated.q, known)
        return replace(calibrated, q=q, guarantee=replace(calibrated.guarantee, known=known), history=None)

    def _known(self, levels: Any, missing: float) -> float:
        """The level below which at most `tolerance` of the missing mass can lie: each lost row has its share."""
        allowed = int(self.tolerance / (missing / len(levels)))
        most = 1 - missing
        return float(most if allowed >= len(levels) else min(most, float(levels[allowed])))


@dataclass(frozen=True, eq=False)
class CensoringWeights(CalibrationWeights):
    """Inverse probabilities of being followed, for the labels that were seen; a share of all is missing at the top."""

    missing: float = 0.0  # type: ignore[misc]
    basis: ClassVar[Basis] = "censored"


def still_followed(y: ArrayLike, event: ArrayLike) -> Numbers:
    """P(followed up to y_i), Kaplan and Meier's estimate from the times at which rows were lost.

    Where a label is seen and another row is lost at the same time, the label came first.

    Args:
        y: The label, or the time at which the row was lost: one number per row.
        event: Whether the label was seen, for each row.

    >>> still_followed([1.0, 2.0, 3.0, 4.0], [True, False, True, True])
    array([1.        , 1.        , 0.66666667, 0.66666667])
    """
    y, event = np.asarray(y, np.float64), np.asarray(event, bool)
    times, place = np.unique(y, return_inverse=True)
    lost, seen = (np.bincount(place, mask, times.size) for mask in (~event, event))
    at_risk = np.cumsum((lost + seen)[::-1])[::-1] - seen
    beyond = np.cumprod(1 - np.divide(lost, at_risk, out=np.zeros_like(lost), where=at_risk > 0))
    return np.asarray(np.concatenate([[1.0], beyond[:-1]])[place])  # up to y, not beyond it
