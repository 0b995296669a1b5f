"""Values that have a probability of their own in distributions that are otherwise continuous: no rain at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._arrays import to_numpy
from calibrant.distributions.base import Distribution
from calibrant.reports.scored_forecast import Floats

MOST = 4
"""A distribution with more of them is one of steps, and drawn as such."""
HEAVY = 0.02
"""What an atom of a distribution of steps must hold to be drawn apart from the other steps."""


@dataclass(frozen=True)
class DrawnAtoms:
    """The atoms of each row: their places, and P(Y = place), 0 where a row has fewer than others."""

    at: Floats
    shares: Floats

    def up_to(self, y: Floats) -> Floats:
        """P(Y is an atom, and at most y), at several y of each row."""
        below = self.at[:, None, :] <= y[:, :, None]
        return np.asarray(np.sum(self.shares[:, None, :] * below, axis=2), np.float64)


def _jump(forecast: Distribution, at: Floats) -> Floats:
    """The probability of each place."""
    return np.asarray(to_numpy(forecast.cdf(at)), np.float64) - np.asarray(to_numpy(forecast.cdf_left(at)), np.float64)


def atoms_of(forecast: Distribution, quantiles: Floats) -> DrawnAtoms:
    """The atoms of the distributions that have these quantiles, at most four per row.

    Where neighbouring quantiles are equal there is an atom. One that is too small for that does not show in a density.
    """
    same = (quantiles[:, 1:] == quantiles[:, :-1]) & np.isfinite(quantiles[:, 1:])
    found = [np.unique(row[1:][equal]) for row, equal in zip(quantiles, same, strict=True)]
    at = np.zeros((len(found), max(map(len, found), default=0)))
    is_atom = np.zeros(at.shape, np.bool_)
    for k, places in enumerate(found):
        at[k, : places.size], is_atom[k, : places.size] = places, True
    if not is_atom.any():
        return DrawnAtoms(at[:, :0], at[:, :0])
    jump = _jump(forecast, at)
    steps = bool(np.all(_jump(forecast, quantiles) > 0))  # a forecast that has atoms alone
    shares = np.where(is_atom & (jump > (HEAVY if steps else 0.0)), jump, 0.0)
    few = np.sum(shares > 0, axis=1, keepdims=True) <= MOST
    return DrawnAtoms(at, np.where(few, shares, 0.0))
