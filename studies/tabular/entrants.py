"""Who takes part in the league."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from studies.tabular import ours, with_crepes, with_mapie
from studies.tabular.bench import Bench
from studies.tabular.said import Said

PLAIN, OURS, OWN_SPREAD, SPREAD = "constant", "mean", "own-spread", "spread"
"""The plain residual; the default of `CalibratedRegressor`; the model's own spread, as it is and shrunk."""


@dataclass(frozen=True)
class Entrant:
    """A method, and the words for it."""

    name: str
    what: str
    says: Callable[[Bench], Said]
    package: str | None = None
    """Of another library's method; without it the method is left out."""
    needs_spread: bool = False
    """It is for models that say how sure they are: here, forests."""


def _rung(name: str, what: str, *, needs_spread: bool = False) -> Entrant:
    return Entrant(name, what, partial(ours.rung, name), needs_spread=needs_spread)


_ALL = (
    _rung(PLAIN, "one distribution of residuals for all rows"),
    Entrant(OWN_SPREAD, "the trees of the forest as samples, as they are", ours.own_spread, needs_spread=True),
    _rung(SPREAD, "the trees' spread, shrunk towards a common one", needs_spread=True),
    _rung("location-scale", "boosted location and scale of the residual"),
    _rung("quantiles", "five boosted quantiles of the residual"),
    _rung("forest", "the distribution of the residual among similar training rows"),
    _rung("cascade", "location and scale, then the local distribution of what is left"),
    _rung(OURS, "the mean of the quantiles of cascade and quantiles: the default"),
    Entrant("direct-quantiles", "nine boosted quantiles of y, without the base model", ours.direct_quantiles),
    Entrant("mapie-split", "MAPIE's split conformal", with_mapie.split, "mapie"),
    Entrant("mapie-normalised", "MAPIE's ResidualNormalisedScore, scale by boosting", with_mapie.normalised, "mapie"),
    Entrant("mapie-cqr", "MAPIE's conformalised quantile regression, by boosting", with_mapie.quantile, "mapie"),
    Entrant("mapie-cv-plus", "MAPIE's CV+ on training and calibration rows", with_mapie.cv_plus, "mapie"),
    Entrant("crepes-knn", "crepes, difficulty by nearest neighbours", with_crepes.knn, "crepes"),
    Entrant(
        "crepes-variance",
        "crepes, difficulty by the trees' variance",
        with_crepes.variance,
        "crepes",
        needs_spread=True,
    ),
    Entrant("crepes-mondrian", "crepes, Mondrian bins of the prediction", with_crepes.mondrian, "crepes"),
)

ENTRANTS = {entrant.name: entrant for entrant in _ALL}

NEIGHBOURS = tuple(name for name, entrant in ENTRANTS.items() if entrant.package is not None)
"""The methods of other libraries."""
