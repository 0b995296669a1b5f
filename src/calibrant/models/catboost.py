"""CatBoost: `CatBoostRegressor` and `CatBoost`."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant.distributions import Normal
from calibrant.models.outputs import column, named, numbers, quantiles, without_arrow
from calibrant.predictions import Point, Rates

_LOGARITHMIC = ("LogLinQuantile", "Poisson", "Tweedie")
_QUANTILE = ("LogLinQuantile", "MultiQuantile", "Quantile")


def adapt(model: Any, X: Any) -> Any:
    """`Quantiles` for the quantile losses, `Normal` for RMSEWithUncertainty, `Rates` for Poisson, else a `Point`."""
    loss, _, options = model.get_all_params()["loss_function"].partition(":")
    name, X = named(model), without_arrow(X)
    if loss == "RMSEWithUncertainty":
        output = numbers(name, model.predict(X, prediction_type="RMSEWithUncertainty"))
        return Normal(output[:, 0], np.sqrt(output[:, 1]))
    # these learn the logarithm, which CatBoost's predict returns for some of its classes and losses
    output = model.predict(X, prediction_type="Exponent" if loss in _LOGARITHMIC else "RawFormulaVal")
    if loss in _QUANTILE:
        given = dict(option.split("=") for option in options.split(";") if option)
        return quantiles(name, [float(level) for level in given.get("alpha", "0.5").split(",")], output)
    return (Rates if loss == "Poisson" else Point)(column(name, output))
