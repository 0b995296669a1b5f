"""Callables, and models of libraries that are unknown here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from typing import Any

from calibrant.distributions import Normal
from calibrant.distributions.base import Distribution
from calibrant.models.outputs import column, named
from calibrant.predictions import Point, Prediction
from calibrant.predictions.point import as_prediction


def adapt(model: Any, X: Any) -> Any:
    """`predict_forecast`, `predict_distribution`, `predict`, with its `return_std` if it has one, else `model(X)`."""
    if callable(getattr(model, "predict_forecast", None)):
        return as_output(named(model), model.predict_forecast(X))
    if callable(getattr(model, "predict_distribution", None)):
        return as_output(named(model), model.predict_distribution(X))
    if callable(getattr(model, "predict", None)):
        if "return_std" in _arguments(model.predict):
            mean, std = model.predict(X, return_std=True)
            return Normal(column(named(model), mean), column(named(model), std))
        return as_output(named(model), model.predict(X))
    if callable(model):
        return as_output(named(model), model(X))
    raise TypeError(
        f"prediction_of takes a fitted model, either an object with predict or a callable that maps X to a prediction "
        f"such as Normal(mean, scale), got {named(model)}: pass predictions that you have already to Calibrator"
    )


def _arguments(function: Callable[..., Any]) -> Collection[str]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # compiled, and silent about them
        return ()


def as_output(name: str, output: Any) -> Any:
    """A prediction as it is, distributions of scipy and torch adapted, one number per row as a `Point`."""
    if isinstance(output, (Prediction, Distribution)) or type(output).__module__.startswith(_DISTRIBUTION_MODULES):
        return as_prediction(output)
    if isinstance(output, (list, tuple)) and any(_is_array(part) for part in output):
        raise TypeError(
            f"{name} returned a {type(output).__name__} of {len(output)} arrays, which may mean many things: "
            f"return Normal(mean, scale), Interval(lower, upper) or Quantiles(levels, values)"
        )
    if output is None or isinstance(output, (str, bytes, dict)):
        raise TypeError(f"{name} must return a prediction or one number per row, got {type(output).__name__}")
    return Point(column(name, output))


def _is_array(part: Any) -> bool:
    return hasattr(part, "__len__") and not isinstance(part, str)


_DISTRIBUTION_MODULES = ("scipy.stats", "torch.distributions")
