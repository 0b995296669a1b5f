"""Who takes part: a name, what it is, and what it says of the new rows of a split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import CalibratedRegressor, Calibrator, Point
from studies.league import neighbours
from studies.league.table import Floats, Split

LEVELS = np.arange(1, 100) / 100
"""At which distributions are judged."""


def boosting(seed: int) -> Any:
    """Gradient boosting at its defaults."""
    return HistGradientBoostingRegressor(random_state=seed)


def forest(seed: int) -> Any:
    """A forest of 100 trees."""
    return RandomForestRegressor(100, min_samples_leaf=2, random_state=seed)


def lightgbm(seed: int) -> Any:
    """LightGBM at its defaults."""
    from lightgbm import LGBMRegressor

    return LGBMRegressor(random_state=seed, n_jobs=1, deterministic=True, verbose=-1)


def several(seed: int) -> list[Any]:
    """Four kinds of models."""
    ridge = make_pipeline(StandardScaler(), Ridge())
    return [boosting(seed), forest(seed), ExtraTreesRegressor(100, random_state=seed), ridge]


def plain(make: Callable[[int], Any], split: Split) -> Callable[[Floats], Floats]:
    """One model, and one distribution of its errors for every row."""
    X, y, n = split.X, split.y, split.train
    model = make(split.seed).fit(X[:n], y[:n])
    calibrated = Calibrator().fit(Point(model.predict(X[n:])), y[n:])
    return lambda new: np.asarray(calibrated(Point(model.predict(new))).quantiles(LEVELS))


def ours(make: Callable[[int], Any], cv: Any, split: Split) -> Callable[[Floats], Floats]:
    """`CalibratedRegressor`."""
    model = CalibratedRegressor(make(split.seed), cv=cv, random_state=split.seed).fit(split.X, split.y)
    return lambda new: np.asarray(model.predict_distribution(new).quantiles(LEVELS))


@dataclass(frozen=True)
class Entrant:
    """A method.

    It learns from a split, and gives what answers for new rows: (m, 99) quantiles, or (m, 2) bounds of 90% intervals.
    """

    what: str
    learn: Callable[[Split], Callable[[Floats], Floats]]
    package: str = "sklearn"
    """What it needs; where that is not installed, it is left out."""

    @property
    def is_there(self) -> bool:
        """Whether its package is installed."""
        return find_spec(self.package) is not None


def _of(make: Any, kind: str) -> dict[str, Entrant]:
    """A model by itself, and made a distribution by our default."""
    package = "lightgbm" if make is lightgbm else "sklearn"
    return {
        f"{kind} plain": Entrant(
            "one model, one distribution of its errors for every row", partial(plain, make), package
        ),
        f"{kind} default": Entrant(f"`CalibratedRegressor` of {kind}", partial(ours, make, "auto"), package),
    }


ENTRANTS: dict[str, Entrant] = {
    **_of(boosting, "boosting"),
    **_of(forest, "forest"),
    **_of(lightgbm, "LightGBM"),
    "several": Entrant(
        "`CalibratedRegressor` of boosting, a forest, extra trees and ridge", partial(ours, several, "auto")
    ),
    "blend": Entrant("`CalibratedRegressor()`", partial(ours, lambda _: None, "auto"), "catboost"),
    "blend sklearn": Entrant('`CalibratedRegressor("sklearn")`', partial(ours, lambda _: "sklearn", "auto")),
    "blend cv=5": Entrant("`CalibratedRegressor(cv=5)`", partial(ours, lambda _: None, 5), "catboost"),
    "blend sklearn cv=5": Entrant('`CalibratedRegressor("sklearn", cv=5)`', partial(ours, lambda _: "sklearn", 5)),
    "MAPIE split": Entrant("MAPIE's split conformal, of boosting", partial(neighbours.split, boosting), "mapie"),
    "MAPIE normalised": Entrant(
        "MAPIE's ResidualNormalisedScore, of boosting, its scale boosted",
        partial(neighbours.normalised, boosting),
        "mapie",
    ),
    "MAPIE CQR": Entrant("MAPIE's conformalised quantile regression, boosted", neighbours.quantile, "mapie"),
    "MAPIE CV+": Entrant("MAPIE's CV+ of boosting, on all rows", partial(neighbours.cv_plus, boosting), "mapie"),
    "crepes kNN": Entrant(
        "crepes, of boosting, difficulty by nearest neighbours", partial(neighbours.nearest, boosting), "crepes"
    ),
    "crepes Mondrian": Entrant(
        "crepes, of boosting, bins of the prediction", partial(neighbours.mondrian, boosting), "crepes"
    ),
}
AUTOGLUON = "AutoGluon"
EVERY_ROW = tuple(name for name in ENTRANTS if name.endswith("cv=5"))
"""These take minutes on large tables: they are run beside AutoGluon only."""
BESIDE_AUTOGLUON = (*(name for name in ENTRANTS if name.startswith("blend")), "boosting plain", "several")
