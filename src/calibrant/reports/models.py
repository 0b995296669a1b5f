"""Several models on the same rows: a league by CRPS, with paired differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arguments import same_length
from calibrant.diagnosis.headline import Headline, headline
from calibrant.diagnosis.overall import overall_of
from calibrant.distributions.base import Distribution
from calibrant.metrics.forecasts import forecast as forecast_of
from calibrant.metrics.label_kinds import distribution_for_labels
from calibrant.metrics.rounding import rounded
from calibrant.predictions import Quantiles, Rates, Samples
from calibrant.reports.scored_forecast import Floats, ScoredForecast, checked_distribution, scored_forecast
from calibrant.reports.table import Comparison, TableLine

MOST = 20


@dataclass(frozen=True)
class ModelEntry:
    """One model: its measures, and how they differ from those of the first that was named."""

    name: str
    crps: TableLine
    """`before` is the first one's, and `change` what this one has more; neither is there for the first itself."""
    covered: TableLine
    width: TableLine
    headline: Headline


def distributions_by_name(H: Any, y: Floats, labels: Any) -> dict[str, Any]:
    """The forecasts of several models by their names, or of one, which has none; each a distribution for each label."""

    def distribution_of(forecast: Any, name: str = "H") -> Any:
        return checked_distribution(distribution_for_labels(forecast_of(forecast), y, labels), name)

    if not isinstance(H, Mapping):
        return {"": distribution_of(H)}
    if not 1 <= len(H) <= MOST:
        raise ValueError(f"H must name 1 to {MOST} models, got {len(H)}")
    found = {str(name): distribution_of(distribution, f"H[{str(name)!r}]") for name, distribution in H.items()}
    for name, distribution in found.items():
        if distribution.shape:
            same_length("y", y.shape[0], f"H[{name!r}]", len(distribution))
    return found


def original_kind(first: Any, distribution: Any) -> str:
    """What the forecasts were, in the plural, before they were taken as distributions of counts; "" if they were."""
    words: dict[type, str] = {Quantiles: "quantiles", Samples: "draws"}
    if isinstance(first, Rates):
        words[Rates] = f"{'negative binomial' if first.dispersion else 'Poisson'} rates"
    return words.get(type(first), "") if isinstance(distribution, Distribution) else ""


def league_of(models: Sequence[ModelEntry]) -> dict[str, Any] | None:
    """The table of models in plain numbers, for a file; None where there is only one."""
    names = ("CRPS", "difference", "coverage")
    head = ["model", *(f"{name}{end}" for name in names for end in ("", ", low", ", high")), "outcome", "mean width"]
    rows = [
        [
            each.name,
            *(
                rounded(math.nan if x is None else x)
                for of in (each.crps.after, each.crps.change, each.covered.after)
                for x in (getattr(of, end, None) for end in ("value", "low", "high"))
            ),
            each.crps.outcome,
            rounded(each.width.after.value),
        ]
        for each in models
    ]
    return {"head": head, "rows": rows} if rows else None


def entries(
    first: ScoredForecast, distributions: Mapping[str, Any], y: Floats, coverage: float, guarantees: Mapping[str, Any]
) -> list[ModelEntry]:
    """The models from the lowest CRPS to the largest; none where there is only one."""
    found = []
    for k, (name, distribution) in enumerate(distributions.items() if len(distributions) > 1 else ()):
        side = first if k == 0 else scored_forecast(distribution, y, coverage)
        lines = Comparison(None if k == 0 else first, side, coverage).lines
        promise = guarantees.get(name)
        overall = overall_of(side.drawn, coverage, promise, side.inside(coverage))
        verdict = headline(overall, known="raw" if promise is None else "calibrated")
        found.append(ModelEntry(name, lines["crps"], lines["covered"], lines["width"], verdict))
    order = np.argsort([entry.crps.after.value for entry in found], kind="stable")
    return [found[k] for k in order]
