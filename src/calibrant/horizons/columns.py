"""Which columns of a long table are one model's forecast, by the names that people give them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from calibrant._arguments import unit
from calibrant._types import ArrayLike
from calibrant.forms import increasing
from calibrant.predictions import Interval, Point, Quantiles

NO_MODEL_NAME = "quantiles"
"""The model whose columns are called by their levels alone."""
MEANS = ("mean", "point_forecast")
"""What its point is called."""


@dataclass(frozen=True)
class ForecastColumns:
    """The columns of one model: a point, and quantiles by their levels."""

    model: str
    point: str | None
    quantiles: tuple[tuple[str, float], ...] = ()
    """Columns and levels, in the order of the levels."""

    def __post_init__(self) -> None:
        if self.quantiles:
            increasing("its levels", [level for _, level in self.quantiles])
        elif self.point is None:
            raise ValueError(f"{self.model!r} has no columns")

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns that are read: the point only where there are no quantiles."""
        return tuple(name for name, _ in self.quantiles) or (str(self.point),)

    def prediction(self, column: Callable[[str], ArrayLike]) -> Point | Interval | Quantiles:
        """A Point, an Interval, or Quantiles.

        Where there are quantiles, the point is not used: it is a mean, which has no level.

        Args:
            column: A function that gives the numbers of a column by its name.
        """
        values = [column(name) for name in self.names]
        if not self.quantiles:
            return Point(values[0])
        levels = [level for _, level in self.quantiles]
        if len(levels) == 2 and abs(sum(levels) - 1) < 1e-9:
            return Interval(*values)
        return Quantiles(levels, np.stack(values, axis=1))


def find_forecast(
    names: Sequence[str], model: str | None = None, *, coverage: float = 0.8, exclude: Sequence[str] = ()
) -> ForecastColumns:
    """The forecast of a model in a table with these columns; the only one, if it is not named.

    `coverage` is that of bounds whose names do not state it, such as yhat_lower. Columns in `exclude` are not
    forecasts.

    >>> find_forecast(["unique_id", "ds", "ETS", "ETS-lo-90", "ETS-hi-90"], exclude=["unique_id", "ds"])
    ForecastColumns(model='ETS', point='ETS', quantiles=(('ETS-lo-90', 0.05), ('ETS-hi-90', 0.95)))
    """
    coverage = unit("coverage", coverage)
    left = [name for name in names if name not in exclude]
    quantiles: dict[str, dict[float, str]] = {}
    for name in left:
        if (read := _model_and_level(name, left, coverage)) is not None:
            whose, level = read
            other = quantiles.setdefault(whose, {}).setdefault(level, name)
            if other != name:
                raise ValueError(f"columns {other!r} and {name!r} are both the quantile of {whose} at level {level:g}")
    levelled = {name for own in quantiles.values() for name in own.values()}
    plain = [name for name in left if name not in levelled]
    known = list(dict.fromkeys([*quantiles, *plain]))
    found = list(quantiles) or plain
    if model is None and len(found) != 1:
        many = f"several forecasts are in the table, {', '.join(found)}: name one by model="
        raise ValueError(many if found else "there is no forecast in the table: no column is left for it")
    if model is not None and model not in known:
        listed = ", ".join(known) or "none"
        raise ValueError(f"there is no forecast of {model!r} in the table, the columns left for it are {listed}")
    model = found[0] if model is None else model
    own = quantiles.get(model, {})
    for name in own.values():
        if sided := _SIDED.fullmatch(name):
            other = f"{sided['model']}-{'hi' if sided['side'] == 'lo' else 'lo'}-{sided['percent']}"
            if other not in left:
                raise ValueError(f"column {name!r} lacks its counterpart {other!r}")
    point = next((name for name in ((model,) if model != NO_MODEL_NAME else MEANS) if name in plain), None)
    return ForecastColumns(model, point, tuple((own[level], level) for level in sorted(own)))


_SIDED = re.compile(r"(?P<model>.+)-(?P<side>lo|hi)-(?P<percent>\d+(?:\.\d+)?)")
_LEVEL = re.compile(r"(?:(?P<model>.+)[-_])?ql?[-_]?(?P<level>\d+(?:\.\d+)?|\.\d+)")
_BOUNDS = {"_lower": -1, "_upper": 1}
_SKFORECAST = {"lower_bound": -1, "upper_bound": 1}


def _model_and_level(name: str, names: Sequence[str], coverage: float) -> tuple[str, float] | None:
    """The model and the level of a column of quantiles; None for any other column."""

    def bound(coverage: float, side: int) -> float:
        return round((1 + side * coverage) / 2, 12)

    if sided := _SIDED.fullmatch(name):
        percent = float(sided["percent"])
        if not 0 < percent < 100:
            raise ValueError(f"column {name!r} is the bound of a {percent:g}% interval, which there is not")
        return sided["model"], bound(percent / 100, -1 if sided["side"] == "lo" else 1)
    if name.endswith("-median"):
        return name.removesuffix("-median"), 0.5
    for ending, side in _BOUNDS.items():
        whose = name.removesuffix(ending)
        if whose != name and all(f"{whose}{each}" in names for each in _BOUNDS):
            return whose, bound(coverage, side)
    if name in _SKFORECAST and "pred" in names:
        return "pred", bound(coverage, _SKFORECAST[name])
    if (named := _LEVEL.fullmatch(name)) or re.fullmatch(r"0?\.\d+", name):
        level = float(named["level"] if named else name)
        level = level if level < 1 else level / 100  # q0.1 and q10 are the same
        if not 0 < level < 1:
            raise ValueError(f"column {name!r} is a quantile at level {level:g}, which there is not")
        return (named and named["model"]) or NO_MODEL_NAME, level
    return None
