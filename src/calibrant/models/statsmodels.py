"""statsmodels: the results of `fit`."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant.distributions import Normal, StudentT
from calibrant.models.outputs import check_order, column, columns_in, named, quantiles, without_arrow
from calibrant.predictions import Point, Rates


def _dispersion(results: Any) -> float | None:
    """That of a model of counts, 0 for Poisson; None of any other model."""
    kind, family = type(results.model).__name__, type(getattr(results.model, "family", None)).__name__
    if "Poisson" in (kind, family):
        return 0.0
    if family == "NegativeBinomial":
        return float(results.model.family.alpha)
    if kind == "NegativeBinomial" and results.model.loglike_method == "nb2":  # its last parameter is the dispersion
        return float(np.asarray(results.params)[-1])
    return None


def adapt(results: Any, X: Any) -> Any:
    """t or normal distributions for least squares, `Quantiles` for quantile regression, `Rates` of counts, or `Point`.

    X is the design of the new rows: with its constant, if the model was fitted with one, unless a formula adds it.
    """
    from statsmodels.regression.linear_model import RegressionModel

    name, X = named(results), without_arrow(X)
    if not hasattr(results, "model"):
        raise TypeError(f"prediction_of takes the results that statsmodels' fit returns, got the model {name}")
    if any(kind.__module__.startswith("statsmodels.tsa") for kind in type(results.model).__mro__):
        raise TypeError(
            f"{name} forecasts a series from its own past, not from X: "
            f"pass Normal(forecast.predicted_mean, forecast.se_mean) of its get_forecast to Calibrator"
        )
    known, given = getattr(results.model, "exog_names", None) or [], columns_in(X)
    # a formula goes by name; and the names of an array's columns, x1 and so on, are not those of any table
    if given is not None and not hasattr(results.model, "formula") and sorted(given) == sorted(map(str, known)):
        check_order(name, known, given)
    if hasattr(results, "q"):
        return quantiles(name, [float(results.q)], results.predict(X))
    if not (isinstance(results.model, RegressionModel) and hasattr(results, "get_prediction")):
        values = column(name, results.predict(X))
        dispersion = _dispersion(results)
        return Point(values) if dispersion is None else Rates(values, dispersion or None)
    prediction = results.get_prediction(X)
    mean, scale = column(name, prediction.predicted_mean), column(name, prediction.se_obs)
    return StudentT(float(results.df_resid), mean, scale) if results.use_t else Normal(mean, scale)
