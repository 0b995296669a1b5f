"""The alarm: new rows, one after the other, against the calibration rows and all new ones before."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import generator, one_number
from calibrant._arrays import Rng, to_numpy
from calibrant._types import ArrayLike, Bound
from calibrant._words import count
from calibrant.calibration import Calibrated
from calibrant.forecast import PredictionLike
from calibrant.monitoring.bets import BETS, Direction, capital, shares, since
from calibrant.monitoring.ranks import online_p_values
from calibrant.updating import known_history, scores_of

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Alarm:
    """The first time that the capital reached the threshold. Rows with a label are counted from 0, as they came."""

    row: int
    since: int
    """The start of the bets that won most: about the row of the change."""
    direction: Direction
    share: float
    """Of the capital in bets on this direction."""

    def __str__(self) -> str:
        return f"Alarm at row {self.row}: {self.direction.words}, since about row {self.since}."


@dataclass(frozen=True, eq=False, repr=False)
class Monitor:
    """A capital that starts at 1 and is bet against "nothing has changed"; it rings when it reaches `threshold`.

    While new rows are exchangeable with the calibration rows, the probability that it ever rings is at most
    1 / threshold, however long one waits (Ville's inequality). A value never changes: `update` gives a new one.

    >>> from calibrant import Calibrator
    >>> rng = np.random.default_rng(0)
    >>> start = Monitor(Calibrator().fit(np.zeros(500), rng.normal(size=500)))
    >>> calm = start.update(np.zeros(1000), rng.normal(size=1000), rng=rng)
    >>> calm.alarm is None
    True
    >>> print(calm.update(np.zeros(200), 1.0 + rng.normal(size=200), rng=rng).alarm)
    Alarm at row 1061: the labels are higher than the forecasts say, since about row 1003.
    """

    calibrated: Calibrated
    threshold: float = 100.0
    p: Numbers = field(default_factory=lambda: np.empty(0))
    """The p-value of each row so far."""
    log_capital: Numbers = field(default_factory=lambda: np.empty(0))
    """The natural logarithm of the capital after each row."""
    alarm: Alarm | None = None
    pool: Numbers | None = None
    """All scores so far, those of the calibration rows included, in increasing order."""
    log_bets: Numbers = field(default_factory=lambda: np.full(len(BETS), -math.inf))
    """The logarithm of what each bet holds."""

    def __post_init__(self) -> None:
        threshold = one_number("Monitor.threshold", self.threshold)
        if not 1 < threshold < math.inf:
            raise ValueError(f"Monitor.threshold must be above 1 and finite, got {self.threshold!r}")
        object.__setattr__(self, "threshold", threshold)
        if not isinstance(self.calibrated, Calibrated):
            raise TypeError(
                f"the alarm takes what Calibrator.fit gives, a Calibrated, got {type(self.calibrated).__name__}"
            )
        if self.pool is None:
            history = known_history(self.calibrated)
            if history.weights is not None:
                raise TypeError("the alarm compares rows that count equally: this calibrator was fitted with weights")
            object.__setattr__(self, "pool", np.sort(to_numpy(history.scores).astype(np.float64)))

    def update(self, prediction: PredictionLike, y: ArrayLike, *, bound: Bound = None, rng: Rng = None) -> Monitor:
        """After more rows, in time order; `rng` draws one uniform per row, and what the labels need.

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
            y: The labels: one number per row.
            bound: What `labels` must know of each row, such as a capacity: an array, or a table with the columns that
                they name. Only for labels that ask for it.
            rng: A `numpy.random.Generator`, which draws a uniform number for each row; a fresh one by default.
        """
        draws = generator(rng)
        scores = to_numpy(scores_of(self.calibrated, prediction, y, bound=bound, rng=draws)[0]).astype(np.float64)
        rows = len(self.p)
        p, pool = online_p_values(self._pool, scores, draws.random(len(scores)))
        path, log_bets = capital(p, self.log_bets, rows)
        p = np.concatenate([self.p, p])
        alarm = self.alarm
        reached = path >= math.log(self.threshold)
        if alarm is None and reached.any():
            last = rows + int(np.argmax(reached))
            alarm = _alarm(p[: last + 1])
        return replace(
            self, p=p, log_capital=np.concatenate([self.log_capital, path]), alarm=alarm, pool=pool, log_bets=log_bets
        )

    @property
    def _pool(self) -> Numbers:
        return self.pool  # type: ignore[return-value]

    def __len__(self) -> int:
        """How many rows it has seen."""
        return len(self.p)

    def __str__(self) -> str:
        rate = f"{1 / self.threshold:.2g}"
        if self.alarm is not None:
            return f"{self.alarm} As long as nothing changes, the probability of ever hearing it is at most {rate}."
        most = math.exp(float(np.max(self.log_capital, initial=0.0)))  # below the threshold
        return (
            f"No alarm in {count(len(self), 'row')}: the capital was at most {most:.3g}, and the alarm rings at"
            f" {self.threshold:g}, which has a probability of at most {rate} as long as nothing changes."
        )

    def __repr__(self) -> str:
        return f"Monitor(rows={len(self)}, threshold={self.threshold:g}, alarm={self.alarm!r})"


def monitor(
    calibrated: Calibrated,
    prediction: PredictionLike,
    y: ArrayLike,
    *,
    threshold: float = 100.0,
    bound: Bound = None,
    rng: Rng = None,
) -> Monitor:
    """Test whether labels since calibration still look like the calibration rows; rows in time order.

    Args:
        calibrated: A fitted calibrator, as `Calibrator.fit` returns it.
        prediction: The predictions of all rows since calibration, in time order.
        y: The labels of these rows; a row without one, NaN, is left out.
        threshold: The alarm rings when the capital of the bets reaches it. As long as nothing changes, the probability
            that it ever does is at most 1 / threshold.
        bound: What the labels must know of each row, as in `Calibrator.fit`.
        rng: A `numpy.random.Generator`, which draws one uniform number per row and what the labels need.

    >>> from calibrant import Calibrator
    >>> rng = np.random.default_rng(0)
    >>> calibrated = Calibrator().fit(np.zeros(500), rng.normal(size=500))
    >>> print(monitor(calibrated, np.zeros(300), 2 * rng.normal(size=300), rng=rng))
    Alarm at row 17: the labels scatter more than the forecasts say: these are too narrow, since about row 0. As long as
    nothing changes, the probability of ever hearing it is at most 0.01.
    """
    return Monitor(calibrated, threshold).update(prediction, y, bound=bound, rng=rng)


def _alarm(p: Numbers) -> Alarm:
    """What the bets say after these p-values, the last of which rang."""
    found = shares(capital(p, np.full(len(BETS), -math.inf))[1])
    direction = max(found, key=lambda each: found[each])
    return Alarm(len(p) - 1, since(p), direction, found[direction])
