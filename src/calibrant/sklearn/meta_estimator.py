"""What estimators that wrap a model share: fitting copies of it, predicting with it, routing metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, GroupKFold, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from calibrant._words import warn_user
from calibrant.models import prediction_of
from calibrant.models.frames import rows_of
from calibrant.models.outputs import column, named
from calibrant.predictions import Ensemble, Point
from calibrant.predictions.point import as_prediction

Adapter = str | Callable[[Any, Any], Any] | None
SEARCHES = (GridSearchCV, RandomizedSearchCV)


@dataclass(frozen=True)
class Routed:
    """The parameters of `fit` other than X and y, and which rows are copies."""

    fit: Sequence[Mapping[str, Any]]
    """What goes to each model's `fit`."""
    split: Mapping[str, Any]
    """What goes to the splitter: `groups`, mostly."""
    copies: np.ndarray[Any, Any] | None = None
    """A number for each row, the same for copies; None where there are none."""

    def of_model(self, k: int) -> Routed:
        """What concerns one model; the models of a blend get the same."""
        return replace(self, fit=[self.fit[k % len(self.fit)]])

    def rows(self, index: np.ndarray[Any, Any], count: int) -> Routed:
        """The rows of whatever holds one value per row, such as weights; the rest as it is."""

        def each(params: Mapping[str, Any]) -> dict[str, Any]:
            return {
                name: rows_of(value, index)
                if hasattr(value, "__len__") and not isinstance(value, (str, Mapping)) and len(value) == count
                else value
                for name, value in params.items()
            }

        copies = None if self.copies is None else self.copies[index]
        return Routed([each(params) for params in self.fit], each(self.split), copies)

    @property
    def sample_weight(self) -> np.ndarray[Any, Any] | None:
        """The weights of the rows, if the first model gets any."""
        weight = next((params.get("sample_weight") for params in self.fit), None)
        return None if weight is None else np.asarray(weight, dtype=np.float64)

    @property
    def groups(self) -> np.ndarray[Any, Any] | None:
        """The group of each row."""
        groups = self.split.get("groups")
        return None if groups is None else np.asarray(groups)


class MetaEstimator(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator with a parameter `estimator`, one model or a list of them, and `cv`."""

    estimator: Any
    cv: Any

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The parameters that are not the default; of fitted models that are stacked their weights too."""
        text: str = super().__repr__(N_CHAR_MAX)
        weights = getattr(self, "weights_", {}) if hasattr(self, "estimators_") else {}
        if len(weights) < 2 or not all(isinstance(each, float) for each in weights.values()):
            return text
        shown = sorted(weights.items(), key=lambda item: -item[1])
        return f"{text}\nweights: {', '.join(f'{name} {weight:.2f}' for name, weight in shown if weight)}"

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002 (scikit-learn's signature)
        """The parameters by name; those of several models as `estimator__0__alpha`.

        Args:
            deep: Also give the parameters of the estimators inside.
        """
        params: dict[str, Any] = super().get_params(deep)
        for k, each in enumerate(self.estimator if deep and isinstance(self.estimator, (list, tuple)) else ()):
            inner = each.get_params() if hasattr(each, "get_params") else {}
            params |= {f"estimator__{k}__{name}": value for name, value in inner.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of several models by `estimator__0__alpha`.

        Args:
            params: The new values by name.
        """
        several = isinstance(params.get("estimator", self.estimator), (list, tuple))
        inner = {name: value for name, value in params.items() if several and name.startswith("estimator__")}
        super().set_params(**{name: value for name, value in params.items() if name not in inner})
        for name, value in inner.items():
            number, _, own = name.removeprefix("estimator__").partition("__")
            if not (own and number.isdecimal() and int(number) < len(self.estimator)):
                raise ValueError(
                    f"estimator is a list of {len(self.estimator)} models, whose parameters are named as in"
                    f" estimator__0__alpha, got {name!r}"
                )
            self.estimator[int(number)].set_params(**{own: value})
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """`fit` passes metadata to the estimator's `fit` and to the splitter's `split`."""
        router = MetadataRouter(owner=self)
        for name, estimator in by_name(self.estimator).items():
            router.add(**{name: estimator}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        # a number is a splitter that keeps groups together, where there are any; "latest" refuses groups with an error
        splitter = GroupKFold() if isinstance(self.cv, (Real, str)) else self.cv
        return router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))

    def _routed(self, params: Mapping[str, Any]) -> Routed:
        names = list(by_name(self.estimator)) or ["blend"]
        if is_blend(self.estimator) and (unknown := sorted(set(params) - {"sample_weight", "groups"})):
            raise TypeError(f"fit of a blend takes sample_weight and groups, got {unknown[0]!r}")
        if not is_blend(self.estimator) and get_config()["enable_metadata_routing"] and params:
            routed = process_routing(self, "fit", **params)
            return Routed([routed[name]["fit"] for name in names], routed["splitter"]["split"])
        rest = {name: value for name, value in params.items() if name != "groups" and value is not None}
        return Routed([rest] * len(names), {k: v for k, v in params.items() if k == "groups"})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        models = [each for each in map(unwrapped, by_name(self.estimator).values()) if isinstance(each, BaseEstimator)]
        inner = [get_tags(each).input_tags for each in models]
        for name in ("sparse", "allow_nan", "categorical", "string", "pairwise"):
            setattr(tags.input_tags, name, bool(inner) and all(getattr(each, name) for each in inner))
        return tags


def by_name(estimator: Any) -> dict[str, Any]:
    """The estimator, or each of several, by the name under which metadata reaches it."""
    if is_blend(estimator):
        return {}
    if isinstance(estimator, (list, tuple)):
        if not estimator:
            raise ValueError("estimator must be a model or a list of models, got an empty list")
        return {f"estimator_{k}": each for k, each in enumerate(estimator)}
    return {"estimator": estimator}


def is_blend(estimator: Any) -> bool:
    """Whether the models are ours: None, or "sklearn"."""
    if isinstance(estimator, str) and estimator != "sklearn":
        raise ValueError(f"estimator must be a model, a list of models, 'sklearn' or None, got {estimator!r}")
    return estimator is None or isinstance(estimator, str)


def named_models(estimator: Any) -> dict[str, Any]:
    """The model, or each of several, by its class; of two of one class the second has a number.

    >>> from sklearn.linear_model import Ridge
    >>> list(named_models([Ridge(), Ridge(2.0)]))
    ['Ridge', 'Ridge 2']
    """
    found: dict[str, Any] = {}
    for each in by_name(estimator).values():
        name = type(last_step(unwrapped(each))).__name__
        number = sum(known.partition(" ")[0] == name for known in found) + 1
        found[name if number == 1 else f"{name} {number}"] = each
    return found


def is_frozen(estimator: Any) -> bool:
    """Whether nothing of it is to be fitted."""
    models = by_name(estimator).values()
    return bool(models) and all(isinstance(each, FrozenEstimator) for each in models)


def unwrapped(estimator: Any) -> Any:
    """The model inside a `FrozenEstimator`, which may be a torch module, a list or a function."""
    return unwrapped(estimator.estimator) if isinstance(estimator, FrozenEstimator) else estimator


def last_step(estimator: Any) -> Any:
    """The model at the end of a pipeline or inside a search."""
    if isinstance(estimator, Pipeline):
        return last_step(estimator[-1])
    return last_step(estimator.estimator) if isinstance(estimator, SEARCHES) else estimator


def fitted(estimator: Any, X: Any, y: Any, params: Sequence[Mapping[str, Any]]) -> Any:
    """A fitted copy of a model; what is frozen stays as it is."""
    return estimator if isinstance(estimator, FrozenEstimator) else clone(estimator).fit(X, y, **params[0])


def check_models(estimator: Any) -> None:
    """Raise where a model cannot be copied, and say that a fitted one will be fitted again."""
    for each in by_name(estimator).values():
        if not hasattr(each, "get_params"):
            raise TypeError(
                f"the {named(each)} has no get_params, as scikit-learn's estimators have, so it cannot be copied and"
                " fitted: put a trained model into FrozenEstimator(model), and every row calibrates; for one that is to"
                " be trained, such as a torch module, take a wrapper with scikit-learn's methods, such as skorch's"
            )
        if isinstance(each, FrozenEstimator) or not isinstance(each, BaseEstimator) or not get_tags(each).requires_fit:
            continue
        try:
            check_is_fitted(each)
        except NotFittedError:
            continue
        warn_user(
            f"the {named(each)} is fitted already, and fit trains new copies of it on fewer rows:"
            " FrozenEstimator(model) keeps it as it is, and every row calibrates"
        )


def forecast(model: Any, X: Any, adapter: Adapter) -> Any:
    """The prediction of a fitted model, made by the adapter."""
    if adapter is None:
        return prediction_of(model, X)
    if adapter == "point":
        points = [Point(column(named(each), each.predict(X))) for each in by_name(model).values()]
        return Ensemble(points) if isinstance(model, (list, tuple)) else points[0]
    if not callable(adapter):
        raise TypeError(f"adapter must be None, 'point' or a function of a model and X, got {adapter!r}")
    return as_prediction(adapter(model, X))
