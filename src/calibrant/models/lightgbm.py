"""LightGBM: `LGBMRegressor` and `Booster`."""

from __future__ import annotations

from typing import Any

from calibrant.models.outputs import check_order, column, columns_in, named, quantiles
from calibrant.predictions import Point, Quantiles, Rates

_DEFAULT_ALPHA = 0.9  # LightGBM's own, which its parameters do not show


def adapt(model: Any, X: Any) -> Point | Quantiles:
    """`Quantiles` of level alpha for the objective "quantile", `Rates` for "poisson", else a `Point`."""
    booster = model.booster_ if hasattr(type(model), "booster_") else model  # it knows what was fitted
    known, given = booster.feature_name(), columns_in(X)
    if given is not None and known[0] != "Column_0":  # which LightGBM calls the first column of an array
        check_order(named(model), known, [name.replace(" ", "_") for name in given])  # as it spells them
    if booster.params.get("objective") == "quantile":
        return quantiles(named(model), [float(booster.params.get("alpha", _DEFAULT_ALPHA))], model.predict(X))
    kind = Rates if booster.params.get("objective") == "poisson" else Point
    return kind(column(named(model), model.predict(X)))
