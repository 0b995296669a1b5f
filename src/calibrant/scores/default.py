"""Which score fits which kind of prediction."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from calibrant.scores.base import ChartScore


@singledispatch
def default_score(prediction: Any) -> ChartScore:
    """The score that fits the kind of prediction; register your own kind with `default_score.register`.

    >>> from calibrant import Point
    >>> type(default_score(Point([1.0]))).__name__
    'ResidualScore'
    """
    raise TypeError(f"there is no default score for {type(prediction).__name__}: pass one")
