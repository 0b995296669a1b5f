"""XGBoost: `XGBRegressor`, `XGBRFRegressor` and `Booster`."""

from __future__ import annotations

import json
from typing import Any

from calibrant.models.outputs import check_order, column, columns_in, named, quantiles
from calibrant.predictions import Point, Quantiles, Rates


def adapt(model: Any, X: Any) -> Point | Quantiles:
    """`Quantiles` of quantile_alpha for "reg:quantileerror", `Rates` for "count:poisson", else a `Point`."""
    import xgboost

    booster = model if isinstance(model, xgboost.Booster) else model.get_booster()
    if booster.feature_names is not None:  # XGBoost compares them for pandas, and not for polars and Arrow
        check_order(named(model), booster.feature_names, columns_in(X))
    if isinstance(model, xgboost.Booster):
        matrix = isinstance(X, xgboost.DMatrix)
        output = model.predict(X if matrix else xgboost.DMatrix(X, enable_categorical=True))
    else:
        output = model.predict(X)
    objective = json.loads(booster.save_config())["learner"]["objective"]
    if objective["name"] != "reg:quantileerror":
        return (Rates if objective["name"] == "count:poisson" else Point)(column(named(model), output))
    levels = objective["quantile_loss_param"]["quantile_alpha"].strip("[]()").split(",")
    return quantiles(named(model), [float(level) for level in levels], output)
