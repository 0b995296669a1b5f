"""XGBoost: `XGBRegressor`, `XGBRFRegressor` and `Booster`."""

from __future__ import annotations

import json
from typing import Any

from calibrant.models.outputs import column, named, quantiles
from calibrant.predictions import Point, Quantiles, Rates


def adapt(model: Any, X: Any) -> Point | Quantiles:
    """`Quantiles` of quantile_alpha for "reg:quantileerror", `Rates` for "count:poisson", else a `Point`."""
    import xgboost

    if isinstance(model, xgboost.Booster):
        booster, matrix = model, isinstance(X, xgboost.DMatrix)
        output = model.predict(X if matrix else xgboost.DMatrix(X, enable_categorical=True))
    else:
        booster, output = model.get_booster(), model.predict(X)
    objective = json.loads(booster.save_config())["learner"]["objective"]
    if objective["name"] != "reg:quantileerror":
        return (Rates if objective["name"] == "count:poisson" else Point)(column(named(model), output))
    levels = objective["quantile_loss_param"]["quantile_alpha"].strip("[]()").split(",")
    return quantiles(named(model), [float(level) for level in levels], output)
