"""statsmodels: the results of `fit`."""

from __future__ import annotations

from typing import Any

from calibrant.distributions import Normal, StudentT
from calibrant.models.outputs import column, named, quantiles, without_arrow
from calibrant.predictions import Point


def adapt(results: Any, X: Any) -> Any:
    """t or normal laws of new labels for least squares, `Quantiles` for quantile regression, else a `Point`.

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
    if hasattr(results, "q"):
        return quantiles(name, [float(results.q)], results.predict(X))
    if not (isinstance(results.model, RegressionModel) and hasattr(results, "get_prediction")):
        return Point(column(name, results.predict(X)))
    prediction = results.get_prediction(X)
    mean, scale = column(name, prediction.predicted_mean), column(name, prediction.se_obs)
    return StudentT(float(results.df_resid), mean, scale) if results.use_t else Normal(mean, scale)
