"""Conformal intervals: {y : a(f(x), y) <= t} for a non-conformity score a and the right threshold t."""

from calibrant.intervals.centred import AbsoluteResidual, Centred, NormalizedResidual
from calibrant.intervals.conformal import ConformalInterval, standard_rank
from calibrant.intervals.cqr import CQR
from calibrant.scores.nonconformity import Nonconformity

__all__ = [
    "CQR",
    "AbsoluteResidual",
    "Centred",
    "ConformalInterval",
    "Nonconformity",
    "NormalizedResidual",
    "standard_rank",
]
