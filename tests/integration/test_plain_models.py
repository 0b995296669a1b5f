"""Callables, lists and dicts of them, strangers' classes, and what is no model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import torch
from problem import X_NEW, Y_NEW, covers

from calibrant import Ensemble, Interval, Normal, Point, Quantiles, Samples
from calibrant.models import prediction_of, register
from calibrant.models.outputs import check_order

pytestmark = pytest.mark.integration


def truth(X):
    return 10 + 3 * X[:, 1] + X[:, 2] ** 2


def noise(X):
    return 0.2 + X[:, 0]


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (truth, Point),
        (lambda X: truth(X)[:, None], Point),
        (lambda X: truth(X).tolist(), Point),
        (lambda X: pd.Series(truth(X), index=range(5, 5 + len(X))), Point),
        (lambda X: pd.DataFrame({"y": truth(X)}), Point),
        (lambda X: torch.as_tensor(truth(X)), Point),
        (lambda X: Normal(truth(X), noise(X)), type(Normal([0.0], 1.0))),
        (lambda X: scipy.stats.norm(truth(X), noise(X)), type(Normal([0.0], 1.0))),
        (lambda X: torch.distributions.Normal(*map(torch.as_tensor, (truth(X), noise(X)))), type(Normal([0.0], 1.0))),
        (lambda X: Interval(truth(X) - noise(X), truth(X) + noise(X)), Interval),
        (lambda X: Samples(truth(X)[:, None] + np.arange(5)), Samples),
    ],
)
def test_a_callable_predicts_what_it_returns(function, kind):
    assert type(prediction_of(function, X_NEW)) is kind
    assert covers(function)


@pytest.mark.parametrize("pair", [tuple, list])
def test_a_pair_of_arrays_is_told_to_say_what_it_is(pair):
    with pytest.raises(TypeError, match=r"of 2 arrays, .* return Normal\(mean, scale\), Interval\(lower, upper\)"):
        prediction_of(lambda X: pair([truth(X), noise(X)]), X_NEW)


def test_columns_are_told_to_say_what_they_are():
    with pytest.raises(ValueError, match=r"lambda> must predict one number per row, got shape \(1000, 3\)"):
        prediction_of(lambda X: X, X_NEW)


@pytest.mark.parametrize("output", [None, "12", {"mean": 1.0}])
def test_what_is_no_prediction_is_refused(output):
    with pytest.raises(TypeError, match=f"one number per row, got {type(output).__name__}"):
        prediction_of(lambda X: output, X_NEW)


def test_words_are_not_numbers():
    with pytest.raises(TypeError, match="must predict real numbers, got list of dtype"):
        prediction_of(lambda X: ["a"] * len(X), X_NEW)


@pytest.mark.parametrize("model", [3.0, "model", None, Y_NEW, Point(Y_NEW), Normal(Y_NEW, 1.0), object()])
def test_what_is_no_model_is_told_what_to_pass_instead(model):
    with pytest.raises(TypeError, match=rf"an object with predict or a callable .* got {type(model).__name__}: .* Cal"):
        prediction_of(model, X_NEW)


class Stranger:
    def predict(self, X):
        return truth(X)


class Sure:
    def predict(self, X, return_std=False):
        return (truth(X), noise(X)) if return_std else truth(X)


def test_a_class_is_not_a_model():
    with pytest.raises(TypeError, match="takes a fitted model, got the class Stranger: pass an instance"):
        prediction_of(Stranger, X_NEW)


def test_an_object_with_predict_is_a_model():
    assert np.array_equal(prediction_of(Stranger(), X_NEW).values, truth(X_NEW))


def test_an_object_with_return_std_predicts_normal_distributions():
    assert np.array_equal(prediction_of(Sure(), X_NEW).scale, noise(X_NEW))


class Silent:
    """Callable, and nothing says with what."""

    __signature__ = "none"

    def __call__(self, X):
        return truth(X)


@pytest.mark.parametrize("predict", [list, Silent()], ids=["compiled", "silent"])
def test_a_predict_that_is_silent_about_its_arguments_is_asked_without_any(predict):
    class Model:
        pass

    model, X = Model(), Y_NEW if predict is list else X_NEW
    model.predict = predict
    assert np.array_equal(prediction_of(model, X).values, predict(X))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["c"], "columns that it was trained on, but 'a' is missing"),
        (["a", "b", "c", "d", "e"], "columns that it was trained on, and 'd' is none of them"),
        (["a", "c", "b"], "column 1 of X is 'c' where it was trained on 'b'"),
    ],
)
def test_the_first_column_that_is_not_as_in_training_is_named(given, said):
    check_order("it", ["a", "b", "c"], ["a", "b", "c"])
    with pytest.raises(ValueError, match=said):
        check_order("it", ["a", "b", "c"], given)


def test_a_registered_class_and_its_subclasses_go_to_their_adapter():
    class Mine(Stranger):
        pass

    class MineToo(Mine):
        pass

    register(Mine, lambda model, X: Normal(model.predict(X), noise(X)))
    assert np.array_equal(prediction_of(MineToo(), X_NEW).scale, noise(X_NEW))
    assert isinstance(prediction_of(Stranger(), X_NEW), Point)


def test_a_dict_of_levels_predicts_quantiles_in_order():
    z = {level: scipy.stats.norm.ppf(level) for level in (0.9, 0.1)}
    models = {level: (lambda X, z=z[level]: truth(X) + z * noise(X)) for level in z}
    prediction = prediction_of(models, X_NEW)
    assert isinstance(prediction, Quantiles)
    assert prediction.levels.tolist() == [0.1, 0.9]
    assert np.array_equal(prediction.values[:, 1], models[0.9](X_NEW))
    assert covers(models)


def test_a_list_of_points_is_an_ensemble_of_numpy_or_of_torch():
    assert isinstance(prediction_of([truth, Stranger()], X_NEW), Ensemble)
    assert isinstance(prediction_of((lambda X: torch.as_tensor(truth(X)),) * 2, X_NEW).members[0].values, torch.Tensor)


@pytest.mark.parametrize("empty", [[], (), {}])
def test_no_models_are_refused(empty):
    with pytest.raises(ValueError, match="of at least one model"):
        prediction_of(empty, X_NEW)


@pytest.mark.parametrize("level", [0, 1.5, "high"])
def test_a_level_outside_zero_and_one_is_refused(level):
    with pytest.raises((TypeError, ValueError), match=r"the level of a dict \{level: model\} must"):
        prediction_of({level: truth}, X_NEW)
