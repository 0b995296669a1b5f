"""The names of scores, interpolators and tails, for those who cannot pass objects: the command line, the estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from calibrant.interpolators import (
    NAF,
    BoundedTails,
    ExponentialTails,
    InfiniteTails,
    Interpolator,
    Linear,
    Naive,
    Random,
    Tails,
)
from calibrant.scores import CDFScore, IntervalScore, QuantileScore, ResidualScore, SamplesScore, Score, ZScore

SCORES: dict[str, Callable[[], Score]] = {
    "residual": ResidualScore,
    "interval": IntervalScore,
    "quantile": QuantileScore,
    "samples": SamplesScore,
    "zscore": ZScore,
    "cdf": CDFScore,
}
INTERPOLATORS: dict[str, Callable[[], Interpolator]] = {
    "linear": Linear,
    "naive": Naive,
    "random": Random,
    "naf": NAF,
}
TAILS: dict[str, Callable[[], Tails]] = {
    "exponential": ExponentialTails,
    "bounded": BoundedTails,
    "infinite": InfiniteTails,
}


def score_named(value: Any) -> Score | None:
    """The score of a name; a score as it is; None, which leaves the choice to the kind of prediction.

    >>> score_named("zscore")
    ZScore()
    """
    if value is None:
        return None
    return _named("score", value, SCORES, Score)  # type: ignore[no-any-return]


def interpolator_named(value: Any) -> Interpolator:
    """The interpolator of a name, or an interpolator as it is.

    >>> interpolator_named("linear")
    Linear(tails=ExponentialTails())
    """
    return _named("interpolator", value, INTERPOLATORS, Interpolator)  # type: ignore[no-any-return]


def _named(what: str, value: Any, table: Mapping[str, Callable[[], Any]], kind: type) -> Any:
    if isinstance(value, str):
        if value not in table:
            raise ValueError(f"{what} must be one of {', '.join(table)}, got {value!r}")
        return table[value]()
    if isinstance(value, type) or not isinstance(value, kind):
        raise TypeError(f"{what} must be one of the names {', '.join(table)} or an object of that kind, got {value!r}")
    return value
