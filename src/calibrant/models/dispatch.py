"""Which adapter handles a model."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from importlib import import_module
from typing import Any

from calibrant._types import Features
from calibrant.distributions.base import Distribution
from calibrant.models import generic
from calibrant.models.outputs import named
from calibrant.predictions.base import Prediction

LIBRARIES = frozenset(
    ["catboost", "lightgbm", "ngboost", "quantile_forest", "sklearn", "skpro", "statsmodels", "torch", "xgboost"]
)
"""Each has an adapter: the module of this package that bears its name."""

Adapter = Callable[[Any, Any], Any]
"""A function of a fitted model and X that returns a prediction."""


def prediction_of(model: Any, X: Features) -> Prediction | Distribution:
    """f(X), as the kind of prediction that the model makes: `Point`, `Rates`, `Quantiles`, `Samples`, a distribution.

    | model | prediction |
    |---|---|
    | scikit-learn: `predict` with `return_std` | `Normal` |
    | scikit-learn: a quantile loss | `Quantiles` of that level |
    | scikit-learn: forests and bagging | `Samples`, one per tree |
    | scikit-learn: `TransformedTargetRegressor` | what its regressor predicts, transformed back |
    | LightGBM, XGBoost, CatBoost: quantile objectives | `Quantiles` of their levels |
    | CatBoost: `RMSEWithUncertainty` | `Normal` |
    | scikit-learn, LightGBM, XGBoost, CatBoost: Poisson losses; statsmodels: Poisson and negative binomial | `Rates` |
    | NGBoost, skpro | the distribution they predict |
    | quantile-forest | `Quantiles` |
    | statsmodels: least squares | `StudentT` with the residual degrees of freedom |
    | torch module giving (mean, scale), a distribution, or quantiles at its `levels` | `Normal`, itself, `Quantiles` |
    | list of models | one `Quantiles` of single levels, else an `Ensemble` |
    | dict {level: model} | `Quantiles` |
    | `Refined` | what it refined |
    | `CalibratedRegressor` | its calibrated distribution |
    | anything else with `predict`, any callable | `Point`, or the prediction that it returns |

    X goes to the model as it is. `register` adds classes of your own.

    Args:
        model: A fitted model, a list or a dict of them, or a function of X; the table has all kinds.
        X: The features of the rows to predict, in whatever form the model takes.

    >>> prediction_of(lambda X: [2 * x for x in X], [1.0, 2.0])
    Point(n=2)
    """
    if isinstance(model, type):
        raise TypeError(f"prediction_of takes a fitted model, got the class {model.__name__}: pass an instance")
    return _adapted(model, X)  # type: ignore[no-any-return]


@singledispatch
def _adapted(model: Any, X: Any) -> Any:
    """By the library of the first class in the model's ancestry that has one here."""
    if hasattr(model, "classes_") and hasattr(model, "predict_proba"):
        raise TypeError(f"prediction_of takes a regression model, got the classifier {named(model)}")
    tops = [kind.__module__.partition(".")[0] for kind in type(model).__mro__]
    library = next((top for top in tops if top in LIBRARIES), None)
    adapter: Adapter = generic.adapt if library is None else import_module(f"calibrant.models.{library}").adapt
    return adapter(model, X)


def register(kind: type, adapter: Adapter) -> None:
    """Let `prediction_of` use `adapter(model, X)` for models of class `kind` and its subclasses.

    It goes before the adapters of this package; of several registered classes the nearest in the ancestry decides.

    Args:
        kind: The class of your models.
        adapter: A function of (model, X) that returns the prediction.

    >>> from calibrant import Normal
    >>> class Thermometer:
    ...     error = 0.5
    >>> register(Thermometer, lambda model, X: Normal(X[:, 0], model.error))
    """
    _adapted.register(kind, adapter)
