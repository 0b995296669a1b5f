"""Conformal intervals: {y : a(f(x), y) <= t} for a non-conformity score a and the right threshold t."""

from calibrant.intervals.conformal import (
    ConformalInterval,
    FittedInterval,
    IntervalGuarantee,
    paper_rank,
    standard_rank,
)
from calibrant.intervals.nonconformity import (
    CQR,
    AbsoluteResidual,
    Centred,
    Nonconformity,
    NormalizedResidual,
    check_nonconformity,
)

__all__ = [
    "CQR",
    "AbsoluteResidual",
    "Centred",
    "ConformalInterval",
    "FittedInterval",
    "IntervalGuarantee",
    "Nonconformity",
    "NormalizedResidual",
    "check_nonconformity",
    "paper_rank",
    "standard_rank",
]
