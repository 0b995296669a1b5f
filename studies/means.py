"""A mean with its standard error and the count behind it: over splits, over datasets, and beside another mean."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Mean:
    """A mean, its standard error and how many values are behind it; None where there is no such number."""

    value: float | None
    se: float | None
    count: int
    """How many values there are."""
    of: int
    """How many there would be if none were missing."""


NOTHING = Mean(None, None, 0, 0)


def over_splits(values: Iterable[float | None]) -> Mean:
    """mean +- sd / sqrt(count) over the splits; no mean if one of them has no finite value, but the count of those.

    To leave out the splits with an infinite value would make the mean look better than it is.

    >>> over_splits([1.0, 2.0, 3.0, 2.0])
    Mean(value=2.0, se=0.408..., count=4, of=4)
    >>> over_splits([1.0, None])
    Mean(value=None, se=None, count=1, of=2)
    """
    given = list(values)
    finite = [value for value in given if value is not None]
    if not finite or len(finite) < len(given):
        return Mean(None, None, len(finite), len(given))
    n = len(finite)
    mean = math.fsum(finite) / n
    se = math.sqrt(math.fsum((value - mean) ** 2 for value in finite) / (n - 1) / n) if n > 1 else None
    return Mean(mean, se, n, n)


def over_datasets(means: Iterable[Mean]) -> Mean:
    """mean +- sqrt(sum se^2) / count over the datasets that have a value: every dataset weighs the same.

    The standard error is that of other splits of the same datasets; it says nothing about other datasets.

    >>> over_datasets([Mean(1.0, 0.3, 16, 16), Mean(2.0, 0.4, 16, 16), Mean(None, None, 3, 16)])
    Mean(value=1.5, se=0.25, count=2, of=3)
    """
    given = list(means)
    values = [mean.value for mean in given if mean.value is not None]
    errors = [mean.se for mean in given if mean.value is not None and mean.se is not None]
    if not values:
        return Mean(None, None, 0, len(given))
    se = math.hypot(*errors) / len(values) if len(errors) == len(values) else None
    return Mean(math.fsum(values) / len(values), se, len(values), len(given))


def difference(one: Mean, other: Mean) -> float | None:
    """(one - other) / sqrt(se^2 + se'^2): how many standard errors apart; None where that is no number.

    >>> difference(Mean(1.0, 0.3, 16, 16), Mean(2.0, 0.4, 16, 16))
    -2.0
    """
    if one.value is None or other.value is None or one.se is None or other.se is None:
        return None
    spread = math.hypot(one.se, other.se)
    return (one.value - other.value) / spread if spread > 0 else None
