"""An alarm that rings when new rows stop looking like the calibration rows, with a false-alarm rate that holds.

Each new score is ranked among the calibration scores and all new ones before it. A capital is bet against these ranks
being uniform.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtri

from calibrant._arguments import generator, one_number
from calibrant._arrays import Rng, to_numpy
from calibrant._types import ArrayLike, Bound
from calibrant._words import count
from calibrant.calibration import Calibrated
from calibrant.forecast import PredictionLike
from calibrant.updating import known_history, scores_of

__all__ = ["monitor"]

Numbers = NDArray[np.float64]

# ---- bets ------------------------------------------------------------------------------------------------------------


class Direction(NamedTuple):
    """What has changed, in words."""

    name: str
    words: str


DIRECTIONS = (
    Direction("low", "the labels are lower than the forecasts say"),
    Direction("high", "the labels are higher than the forecasts say"),
    Direction("narrow", "the labels scatter more than the forecasts say: these are too narrow"),
    Direction("wide", "the labels scatter less than the forecasts say: these are too wide"),
)
_MOVES, _SPREADS = np.array([0.05, 0.1, 0.25, 0.5, 1.0, 2.0]), np.array([1.05, 1.1, 1.25, 1.5, 2.0, 3.0])
MOVES = np.concatenate([-_MOVES, _MOVES, np.zeros(12)])
"""How far each of the 24 bets, six in each direction, takes scores to have moved, in standard deviations."""
SPREADS = np.concatenate([np.ones(12), _SPREADS, 1 / _SPREADS])
"""By which factor each takes them to spread more."""


def gains(p: Numbers) -> Numbers:
    """log f_k(p_t), a row for each p-value and a column for each bet: what a bet of 1 becomes.

    f(p) = phi((z - move) / spread) / spread / phi(z), z = Phi^-1(p): at least 0, and its integral over p is 1. It is
    the likelihood ratio of scores that were normal and are now moved and spread.
    """
    z = ndtri(np.clip(p, 1e-300, 1 - 1e-16))[:, None]
    return np.asarray((z**2 - ((z - MOVES) / SPREADS) ** 2) / 2 - np.log(SPREADS))


def log_start(t: Numbers) -> Numbers:
    """log of pi_t, the share of the capital that is bet from row t = 1, 2, ... on: pi_t = g(t) - g(t + 1)."""
    return np.asarray(np.log(np.log1p(1 / (t + 1)) / np.log(2)) - np.log(np.log2(t + 1)) - np.log(np.log2(t + 2)))


def log_idle(t: Numbers) -> Numbers:
    """log of g(t + 1), the share that is not yet bet after row t; g(t) = 1 / log2(t + 1) falls from 1 to 0, slowly."""
    return np.asarray(-np.log(np.log2(t + 2)))


def capital(p: Numbers, log_bets: Numbers | None = None, rows: int = 0) -> tuple[Numbers, Numbers]:
    """log M_t after each of these p-values, and the log of A_k after the last.

    M_t = g(t + 1) + sum over k of A_k(t) / K, where A_k(t) = (A_k(t - 1) + pi_t) f_k(p_t): a part of the capital that
    is bet from row 1 on, another from row 2 on, and so on, each of which is a martingale while the p-values are
    independent and uniform. So M is one, and it starts at 1. `log_bets` is log A_k after the `rows` rows before these.
    """
    log_bets = np.full(len(MOVES), -math.inf) if log_bets is None else log_bets
    t, earned = rows + np.arange(1.0, len(p) + 1), np.cumsum(gains(p), axis=0)
    before = np.concatenate([np.zeros((1, len(MOVES))), earned[:-1]])
    parts = np.concatenate([log_bets[None, :], log_start(t)[:, None] - before])
    after = earned + np.logaddexp.accumulate(parts, axis=0)[1:]
    path = np.logaddexp(log_idle(t), logsumexp(after, axis=1) - np.log(len(MOVES)))
    return path, after[-1] if len(p) else log_bets


# ---- ranks -----------------------------------------------------------------------------------------------------------

BLOCK = 256
"""Rows that are compared with one another at once; earlier ones are found by binary search."""


def online_p_values(pool: Numbers, scores: Numbers, uniform: Numbers) -> tuple[Numbers, Numbers]:
    """p_t = (#{i: s_i < s_t} + U_t (1 + #{i: s_i = s_t})) / (1 + #{i}), i all scores before t; and the new pool.

    `pool` holds the earlier scores in increasing order. If all scores are exchangeable, the p_t are independent and
    uniform: given which scores there are up to t, each is as likely to be the last one, and U_t fills the steps.

    >>> online_p_values(np.array([1.0, 2.0, 3.0]), np.array([2.5, 2.0]), np.array([0.5, 0.5]))
    (array([0.625, 0.4  ]), array([1. , 2. , 2. , 2.5, 3. ]))
    """
    p = np.empty(len(scores))
    for start in range(0, len(scores), BLOCK):
        new = scores[start : start + BLOCK]
        left, right = (np.searchsorted(pool, new, side=side) for side in ("left", "right"))
        earlier = np.tri(len(new), k=-1, dtype=bool)  # row t, column i: i < t
        below = left + ((new[None, :] < new[:, None]) & earlier).sum(axis=1)
        equal = right - left + ((new[None, :] == new[:, None]) & earlier).sum(axis=1)
        before = len(pool) + np.arange(len(new))
        p[start : start + BLOCK] = (below + uniform[start : start + BLOCK] * (1 + equal)) / (1 + before)
        new = np.sort(new)
        pool = np.insert(pool, np.searchsorted(pool, new), new)
    return p, pool


# ---- the alarm -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Alarm:
    """The first time that the capital reached the threshold. Rows with a label are counted from 0, as they came."""

    row: int
    since: int
    """The start of the bets that won most: about the row of the change."""
    direction: Direction
    share: float
    """Of the capital in bets on this direction."""

    @classmethod
    def after(cls, p: Numbers) -> Alarm:
        """What the bets say after these p-values, the last of which rang.

        Args:
            p: The p-value of each row so far.
        """
        log_bets = capital(p)[1]
        shares = np.exp(logsumexp(log_bets.reshape(len(DIRECTIONS), -1), axis=1) - logsumexp(log_bets))
        to_come = np.cumsum(gains(p)[::-1], axis=0)[::-1]
        since = int(np.argmax(log_start(np.arange(1.0, len(p) + 1)) + logsumexp(to_come, axis=1)))
        most = int(np.argmax(shares))
        return cls(len(p) - 1, since, DIRECTIONS[most], float(shares[most]))

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
    pool: Numbers = None  # type: ignore[assignment]
    """All scores so far, those of the calibration rows included, in increasing order."""
    log_bets: Numbers | None = None
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
        """After more rows, in time order.

        Args:
            prediction: What the model predicts: `Point`, `Quantiles`, ..., a distribution, or an array of points.
            y: The labels: one number per row; a row without one, NaN, is left out.
            bound: The bound of y in each row, as in `Calibrator.fit`.
            rng: A `numpy.random.Generator`, which draws one uniform number per row and what the labels need.
        """
        draws = generator(rng)
        scores = to_numpy(scores_of(self.calibrated, prediction, y, bound=bound, rng=draws)[0]).astype(np.float64)
        p, pool = online_p_values(self.pool, scores, draws.random(len(scores)))
        path, log_bets = capital(p, self.log_bets, len(self.p))
        p, log_capital = np.concatenate([self.p, p]), np.concatenate([self.log_capital, path])
        reached, alarm = log_capital >= math.log(self.threshold), self.alarm
        if alarm is None and reached.any():
            alarm = Alarm.after(p[: int(np.argmax(reached)) + 1])
        return replace(self, p=p, log_capital=log_capital, alarm=alarm, pool=pool, log_bets=log_bets)

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
        bound: The bound of y in each row, as in `Calibrator.fit`.
        rng: A `numpy.random.Generator`, which draws one uniform number per row and what the labels need.

    >>> from calibrant import Calibrator
    >>> rng = np.random.default_rng(0)
    >>> calibrated = Calibrator().fit(np.zeros(500), rng.normal(size=500))
    >>> print(monitor(calibrated, np.zeros(300), 2 * rng.normal(size=300), rng=rng))
    Alarm at row 17: the labels scatter more than the forecasts say: these are too narrow, since about row 0. As long as
    nothing changes, the probability of ever hearing it is at most 0.01.
    """
    return Monitor(calibrated, threshold).update(prediction, y, bound=bound, rng=rng)
