"""Bets against uniform p-values: capital that grows when scores move or spread, and else is a martingale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtri

Numbers = NDArray[np.float64]

MOVES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
"""How far scores may have moved, in standard deviations, if they are normal."""
SPREADS = (1.05, 1.1, 1.25, 1.5, 2.0, 3.0)
"""By which factor they may spread more, or less."""


class Direction(NamedTuple):
    """What has changed, in words."""

    name: str
    words: str


LOW = Direction("low", "the labels are lower than the forecasts say")
HIGH = Direction("high", "the labels are higher than the forecasts say")
NARROW = Direction("narrow", "the labels scatter more than the forecasts say: these are too narrow")
WIDE = Direction("wide", "the labels scatter less than the forecasts say: these are too wide")
DIRECTIONS = (LOW, HIGH, NARROW, WIDE)


@dataclass(frozen=True)
class Bet:
    """f(p) = phi((z - move) / spread) / spread / phi(z), z = Phi^-1(p): at least 0, and its integral over p is 1.

    It is the likelihood ratio of scores that were normal and are now moved and spread.
    """

    direction: Direction
    move: float = 0.0
    spread: float = 1.0

    def log(self, z: Numbers) -> Numbers:
        """log f."""
        return np.asarray((z**2 - ((z - self.move) / self.spread) ** 2) / 2 - np.log(self.spread))


BETS = (
    *(Bet(LOW, move=-move) for move in MOVES),
    *(Bet(HIGH, move=move) for move in MOVES),
    *(Bet(NARROW, spread=spread) for spread in SPREADS),
    *(Bet(WIDE, spread=1 / spread) for spread in SPREADS),
)
"""Each has the same share of the capital."""


def log_start(t: Numbers) -> Numbers:
    """log of pi_t, the share of the capital that is bet from row t = 1, 2, ... on: pi_t = g(t) - g(t + 1)."""
    return np.asarray(np.log(np.log1p(1 / (t + 1)) / np.log(2)) - np.log(np.log2(t + 1)) - np.log(np.log2(t + 2)))


def log_idle(t: Numbers) -> Numbers:
    """log of g(t + 1), the share that is not yet bet after row t; g(t) = 1 / log2(t + 1) falls from 1 to 0, slowly."""
    return np.asarray(-np.log(np.log2(t + 2)))


def gains(p: Numbers) -> Numbers:
    """log f_k(p_t), a row for each p-value and a column for each bet."""
    z = ndtri(np.clip(p, 1e-300, 1 - 1e-16))
    return np.stack([bet.log(z) for bet in BETS], axis=1)


def capital(p: Numbers, log_bets: Numbers, rows: int = 0) -> tuple[Numbers, Numbers]:
    """log M_t after each of these p-values, and the log of A_k after the last.

    M_t = g(t + 1) + sum over k of A_k(t) / K, where A_k(t) = (A_k(t - 1) + pi_t) f_k(p_t): a part of the capital that
    is bet from row 1 on, another from row 2 on, and so on, each of which is a martingale while the p-values are
    independent and uniform. So M is one, and it starts at 1. `held` is log A_k after the `rows` rows before these.
    """
    t = rows + np.arange(1.0, len(p) + 1)
    earned = np.cumsum(gains(p), axis=0)
    before = np.concatenate([np.zeros((1, len(BETS))), earned[:-1]])
    parts = np.concatenate([log_bets[None, :], log_start(t)[:, None] - before])
    after = earned + np.logaddexp.accumulate(parts, axis=0)[1:]
    path = np.logaddexp(log_idle(t), logsumexp(after, axis=1) - np.log(len(BETS)))
    return path, after[-1] if len(p) else log_bets


def since(p: Numbers) -> int:
    """The start, counted from 0, from which on the bets hold the most of the capital after these p-values."""
    t = np.arange(1.0, len(p) + 1)
    to_come = np.cumsum(gains(p)[::-1], axis=0)[::-1]
    return int(np.argmax(log_start(t) + logsumexp(to_come, axis=1)))


def shares(log_bets: Numbers) -> dict[Direction, float]:
    """The share of each direction in what the bets hold."""
    total = logsumexp(log_bets)
    of = {direction: [bet.direction is direction for bet in BETS] for direction in DIRECTIONS}
    return {direction: float(np.exp(logsumexp(log_bets[mine]) - total)) for direction, mine in of.items()}
