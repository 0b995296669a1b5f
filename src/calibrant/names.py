"""The names of scores, interpolators and tails, for those who cannot pass objects: the command line, the estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from calibrant._words import spelling
from calibrant.interpolators import (
    NAF,
    BoundedTails,
    ExponentialTails,
    InfiniteTails,
    Interpolator,
    Linear,
    Naive,
    Random,
)
from calibrant.interpolators.support import Tails
from calibrant.scores import (
    CDFScore,
    IntervalScore,
    LogScore,
    QuantileScore,
    RelativeScore,
    ResidualScore,
    SamplesScore,
    Score,
    SqrtScore,
    ZScore,
)

SCORES: dict[str, Callable[..., Score]] = {
    "residual": ResidualScore,
    "relative": RelativeScore,
    "sqrt": SqrtScore,
    "log": LogScore,
    "interval": IntervalScore,
    "quantile": QuantileScore,
    "samples": SamplesScore,
    "zscore": ZScore,
    "cdf": CDFScore,
}
NUMBERS = dict.fromkeys(("relative", "interval", "quantile", "samples", "zscore"), "floor") | {"sqrt": "c", "log": "c"}
"""What a number behind the name of a score is: `log:1` is LogScore(c=1.0)."""
InterpolatorName = Literal["linear", "naive", "random", "naf"]
INTERPOLATORS: dict[str, Callable[[], Interpolator]] = {"linear": Linear, "naive": Naive, "random": Random, "naf": NAF}
TAILS: dict[str, Callable[[], Tails]] = {
    "exponential": ExponentialTails,
    "bounded": BoundedTails,
    "infinite": InfiniteTails,
}


def score_named(value: Any) -> Score | None:
    """The score of a name; a score as it is; None, which leaves the choice to the kind of prediction.

    A name may carry a number, the score's c or floor.

    >>> score_named("zscore"), score_named("zscore:0.01"), score_named("log:1")
    (ZScore(), ZScore(floor=0.01), LogScore(c=1.0))
    """
    if value is None:
        return None
    name, colon, number = value.partition(":") if isinstance(value, str) else (value, "", "")
    if not colon or name not in SCORES:
        return _named("score", value, SCORES, Score)  # type: ignore[no-any-return]
    if name not in NUMBERS:
        raise ValueError(f"score {name!r} takes no number, got {value}")
    try:
        own = float(number)
    except ValueError:
        raise ValueError(f"score {name!r} takes a number for its {NUMBERS[name]}, got {value}") from None
    return SCORES[name](**{NUMBERS[name]: own})


def interpolator_named(value: Any) -> Interpolator:
    """The interpolator of a name, or an interpolator as it is.

    >>> interpolator_named("linear")
    Linear(tails=ExponentialTails())
    """
    return _named("interpolator", value, INTERPOLATORS, Interpolator)  # type: ignore[no-any-return]


def _named(what: str, value: Any, table: Mapping[str, Callable[[], Any]], kind: type) -> Any:
    if isinstance(value, str):
        if value not in table:
            raise ValueError(f"{what} must be one of {', '.join(table)}, got {value!r}{spelling(value, table)}")
        return table[value]()
    if not isinstance(value, kind) or isinstance(value, type):  # a class may look like an object of its protocol
        default = ": leave it out for the default" if value is None else ""
        raise TypeError(
            f"{what} must be one of the names {', '.join(table)} or an object of that kind, got {value!r}{default}"
        )
    return value
