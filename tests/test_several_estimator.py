"""Several labels through the scikit-learn door."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from calibrant import CalibratedRegressor, Normal, Point, Quantiles, Samples
from calibrant.models.multioutput import predictions_of
from calibrant.predictions import WithAtom
from calibrant.sklearn.inputs import is_several

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 3))
SHARED = RNG.normal(size=(600, 1))
Y = X[:, :2] + (SHARED + 0.5 * RNG.normal(size=(600, 2))) * [1.0, 50.0]
INFINITE = np.where(np.arange(1200).reshape(600, 2) == 7, np.inf, Y)
KNOWN, NEW = slice(0, 400), slice(400, 600)


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (LinearRegression(), Point),
        (RandomForestRegressor(20, min_samples_leaf=5, random_state=0), Samples),
        (BayesianRidge(), Normal),
        ([LinearRegression(), BayesianRidge()], Quantiles),
        (make_pipeline(StandardScaler(), LinearRegression()), Point),
        (GridSearchCV(LinearRegression(), {"fit_intercept": [True]}, cv=2), Point),
    ],
    ids=lambda value: type(value).__name__,
)
def test_models_of_several_labels_get_distributions_boxes_and_draws(model, kind):
    fitted = CalibratedRegressor(model, refine=None, random_state=0).fit(X[KNOWN], Y[KNOWN])
    predictions = fitted.estimators_[0].predict_forecast(X[NEW]).predictions
    assert {type(each) for each in predictions} == {kind if kind is not Normal else type(Normal([0.0], 1.0))}
    found = fitted.predict_distribution(X[NEW]).evaluate(Y[NEW])
    # 80 calibration and 200 new rows: four standard errors of their shares together
    assert abs(found.together["joint"] - 0.9) < 4 * np.sqrt(0.09 / 80 + 0.09 / 200)
    assert fitted.predict(X[NEW]).shape == (200, 2)
    assert fitted.predict_interval(X[NEW]).shape == (200, 2, 2)
    assert fitted.predict_quantiles(X[NEW], [0.1, 0.5, 0.9]).shape == (200, 3, 2)
    draws = fitted.predict_samples(X[NEW], 50, np.random.default_rng(0))
    assert draws.shape == (200, 50, 2)
    assert np.corrcoef((draws - draws.mean(axis=1, keepdims=True)).reshape(-1, 2).T)[0, 1] > 0.5
    assert fitted.calibrated_.box_guarantee(0.9).n == 80


def test_the_box_of_the_estimator_covers_over_many_calibration_sets():
    rng, shares = np.random.default_rng(1), []
    for seed in range(60):
        x = rng.normal(size=(200, 1))
        y = x + rng.normal(size=(200, 5)) * [1, 2, 3, 4, 5]
        model = CalibratedRegressor(LinearRegression(), refine=None, cv=0.3, random_state=seed).fit(x[:100], y[:100])
        box = model.predict_interval(x[100:], 0.8, joint=True)
        shares.append(np.mean(np.all((box[:, 0] <= y[100:]) & (y[100:] <= box[:, 1]), axis=1)))
    error = np.std(shares) / np.sqrt(60)
    assert 0.8 - 4 * error <= np.mean(shares) <= 0.8 + 1 / 31 + 4 * error
    assert error < 0.012


def test_labels_are_compared_by_errors_of_models_that_did_not_see_the_rows():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 2))
    y = 100 * x + rng.normal(size=(500, 2)) * [1, 3]
    for model in (LinearRegression(), KNeighborsRegressor(1)):
        fitted = CalibratedRegressor(model, refine=None, random_state=0).fit(x, y)
        spreads = [each.q.std() for each in fitted.calibrated_.references]
        if isinstance(model, LinearRegression):
            np.testing.assert_allclose(spreads, [1, 3], rtol=0.2)
        else:
            assert min(spreads) > 2  # on rows it saw, its errors are 0


def test_each_label_is_refined_by_itself():
    model = CalibratedRegressor(LinearRegression(), refine="location-scale", random_state=0).fit(X[KNOWN], Y[KNOWN])
    forecasts = model.estimators_[0].predict_forecast(X[NEW])
    assert forecasts.names == ("y0", "y1")
    spreads = [np.median(each.std()) for each in forecasts.predictions]
    assert 20 < spreads[1] / spreads[0] < 100


def test_each_label_has_fitted_copies_and_weights_of_its_own():
    models = [LinearRegression(), KNeighborsRegressor(3)]
    steps = np.stack([X[:, 0], np.round(2 * X[:, 1])], axis=1)
    model = CalibratedRegressor(models, refine=None, random_state=0).fit(X, steps)
    assert model.weights_["y0"] == {"LinearRegression": 1.0, "KNeighborsRegressor": 0.0}
    assert model.weights_["y1"]["KNeighborsRegressor"] > 0
    assert [len(each.estimators_) for each in model.estimators_[0].models] == [1, 2]


def test_each_label_is_predicted_as_if_it_stood_alone():
    several = CalibratedRegressor([LinearRegression(), BayesianRidge()], random_state=0).fit(X[KNOWN], Y[KNOWN])
    for j, each in enumerate(several.predict_base(X[NEW]).predictions):
        one = CalibratedRegressor([LinearRegression(), BayesianRidge()], random_state=0).fit(X[KNOWN], Y[KNOWN, j])
        np.testing.assert_array_equal(each.values, one.predict_base(X[NEW]).values)


@pytest.mark.parametrize("model", [RegressorChain(LinearRegression()), MultiOutputRegressor(BayesianRidge())])
def test_a_model_of_several_labels_may_be_frozen(model):
    fitted = CalibratedRegressor(FrozenEstimator(model.fit(X[:200], Y[:200]))).fit(X[200:400], Y[200:400])
    found = fitted.predict_distribution(X[NEW]).evaluate(Y[NEW])
    assert abs(found.margins["y1"].coverage - 0.9) < 4 * np.sqrt(0.09 / 200 + 0.09 / 200)


def test_the_blend_takes_several_labels():
    model = CalibratedRegressor("sklearn", random_state=0).fit(X[:50], Y[:50])
    assert set(model.weights_) == {"y0", "y1"}
    assert model.predict_interval(X[NEW], joint=True).shape == (200, 2, 2)


def test_frames_in_frames_out():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["u", "v", "w"], index=np.arange(600) + 7)
    labels = pd.DataFrame(Y, columns=["a", "b"])
    model = CalibratedRegressor(LinearRegression(), refine=None, random_state=0).fit(frame[KNOWN], labels[KNOWN])
    box = model.predict_interval(frame[NEW], 0.9, joint=True)
    assert list(box.columns) == ["lower_a", "upper_a", "lower_b", "upper_b"]
    assert list(box.index[:2]) == [407, 408]
    same = CalibratedRegressor(LinearRegression(), refine=None, random_state=0).fit(X[KNOWN], Y[KNOWN])
    bounds = same.predict_interval(X[NEW], 0.9, joint=True)
    np.testing.assert_allclose(box[["lower_b", "upper_b"]], bounds[:, :, 1])
    columns = ["q0.05_a", "q0.95_a", "q0.05_b", "q0.95_b"]
    assert list(model.predict_quantiles(frame[NEW], [0.05, 0.95]).columns) == columns


def test_labels_may_be_named_for_each_column():
    positive = np.exp(Y / [1, 50])
    for labels in ({"y0": "log"}, ["log", None]):
        model = CalibratedRegressor(
            LinearRegression(), refine=None, adapter=lambda m, x: abs(m.predict(x)) + 0.1, labels=labels, random_state=0
        )
        H = model.fit(X[KNOWN], positive[KNOWN]).predict_distribution(X[NEW])
        assert H[0].cdf(0.0).max() == 0
        assert H[1].cdf(0.0).min() > 0
        assert np.all(model.predict_interval(X[NEW], joint=True)[:, 0, 0] > 0)


def test_a_frozen_model_with_a_spread_has_a_box():
    frozen = FrozenEstimator(RandomForestRegressor(20, min_samples_leaf=9, random_state=0).fit(X[:200], Y[:200]))
    model = CalibratedRegressor(frozen).fit(X[200:400], Y[200:400])
    found = model.predict_distribution(X[NEW]).evaluate(Y[NEW])
    assert abs(found.together["joint"] - 0.9) < 4 * np.sqrt(0.09 / 200 + 0.09 / 200)
    points = CalibratedRegressor(FrozenEstimator(LinearRegression().fit(X[:200], Y[:200]))).fit(X[KNOWN], Y[KNOWN])
    with pytest.raises(TypeError, match="points do not give the usual size of an error"):
        points.predict_interval(X[NEW], joint=True)


def test_calibrating_anew_keeps_the_model_and_what_compares_the_labels():
    model = CalibratedRegressor(LinearRegression(), refine=None, random_state=0).fit(X[:200], Y[:200])
    before = model.calibrated_.references
    model.calibrate(X[200:400], Y[200:400])
    assert model.guarantee_.n == 200
    assert model.calibrated_.references == before
    found = model.predict_distribution(X[NEW]).evaluate(Y[NEW])
    assert abs(found.together["joint"] - 0.9) < 4 * np.sqrt(0.09 / 200 + 0.09 / 200)


def test_a_label_with_many_zeros_is_refined_in_two_parts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    Y = pd.DataFrame({"rain": np.maximum(X[:, 0] + rng.normal(size=300), 0), "wind": X[:, 1] + rng.normal(size=300)})
    model = CalibratedRegressor(LinearRegression(), labels={"rain": "atom:0"}, random_state=0).fit(X, Y)
    rain, wind = model.predict_base(X).predictions
    assert isinstance(rain, WithAtom)
    assert not isinstance(wind, WithAtom)


def test_rows_without_a_label_are_refused():
    gaps = Y.copy()
    gaps[5, 1] = np.nan
    model = CalibratedRegressor(LinearRegression(), refine=None, random_state=0)
    with pytest.raises(ValueError, match=r"label 'y1' is missing in row 5 \(1 of 600 rows lacks a label\)"):
        model.fit(X, gaps)


@pytest.mark.parametrize(
    ("model", "error", "what"),
    [
        (CalibratedRegressor(LinearRegression(), cv=5), ValueError, "one held-out part, got cv=5 with 5 splits"),
        (CalibratedRegressor(LinearRegression(), cv=KFold(2)), ValueError, "with 2 splits: give a share"),
        (CalibratedRegressor(LinearRegression(), cv="mixture"), ValueError, "got cv='mixture' with 5 splits"),
        (
            CalibratedRegressor(LinearRegression(), labels={"z": "log", "w": "log"}),
            ValueError,
            "'z', which is none of the labels",
        ),
        (CalibratedRegressor(LinearRegression(), labels=["log"]), ValueError, "each of the 2 labels, got 1"),
        (CalibratedRegressor(LinearRegression(), by=0), TypeError, "by= is for one label, and y has several"),
        (
            CalibratedRegressor(LinearRegression(), weights=np.ravel),
            TypeError,
            "weights= is for one label, and y has several",
        ),
        (
            CalibratedRegressor(LinearRegression(), adapter="distribution"),
            TypeError,
            "adapter must be None, 'point' or a funct",
        ),
        (
            CalibratedRegressor(LinearRegression(), labels={"y0": "log"}),
            ValueError,
            "lies outside|must be positive|log",
        ),
    ],
)
def test_what_cannot_be_done_is_said(model, error, what):
    with pytest.raises(error, match=what):
        model.set_params(refine=None).fit(X, Y)


@pytest.mark.parametrize(
    ("ask", "error", "what"),
    [
        (lambda model: model.update(X, Y), TypeError, "several labels cannot be updated: call calibrate"),
        (lambda model: model.track(X, Y), TypeError, "a SeveralCalibrated cannot be tracked"),
        (lambda model: model.report(X, Y), TypeError, "a report covers one label: calibrant.report"),
        (lambda model: model.calibrate(X, INFINITE), ValueError, "y is NaN or infinite in row 3"),
        (lambda model: model.evaluate(X, INFINITE), ValueError, "y is NaN or infinite in row 3"),
    ],
)
def test_what_is_for_one_label_is_refused_after_fit(ask, error, what):
    model = CalibratedRegressor(LinearRegression(), refine=None, random_state=0).fit(X, Y)
    with pytest.raises(error, match=what):
        ask(model)


def test_labels_that_are_infinite_are_refused():
    with pytest.raises(ValueError, match="y is NaN or infinite in row 3"):
        CalibratedRegressor(LinearRegression(), refine=None).fit(X, INFINITE)


def test_columns_of_x_in_another_order_are_refused():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["u", "v", "w"])
    model = CalibratedRegressor(LinearRegression(), refine=None, random_state=0).fit(frame, Y)
    with pytest.raises(ValueError, match="Feature names must be in the same order as they were in fit"):
        model.predict(frame[["v", "u", "w"]])


def test_rows_in_time_order_are_told_the_way():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["u", "v", "w"], index=pd.date_range("2024-01-01", periods=600))
    with pytest.warns(
        UserWarning, match=r"the rows seem to be sorted, grouped or in time order \(the index of X never falls\)"
    ):
        CalibratedRegressor(LinearRegression(), refine=None, random_state=0).fit(frame, Y)


def test_what_is_no_table_of_numbers_is_refused():
    with pytest.raises(ValueError, match=r"<lambda> must predict a column for each label, got shape \(600,\)"):
        predictions_of(lambda X: X[:, 0], X)
    with pytest.raises(ValueError, match="<lambda> must predict an array of numbers, got rows of unequal length"):
        predictions_of(lambda X: [[1.0], [1.0, 2.0]], X)


def test_a_joint_box_of_one_label_is_refused():
    model = CalibratedRegressor(LinearRegression(), refine=None, random_state=0).fit(X, Y[:, 0])
    with pytest.raises(TypeError, match="joint=True is for several labels, and y had one"):
        model.predict_interval(X, joint=True)
    assert model.predict_samples(X[:3], 4).shape == (3, 4)


def test_weights_and_groups_reach_the_model_and_the_folds():
    calls = []

    class Seen(LinearRegression):
        def fit(self, X, y, sample_weight=None):
            calls.append(len(np.unique(sample_weight)))
            return super().fit(X, y, sample_weight)

    groups = np.repeat(np.arange(60), 10)
    model = CalibratedRegressor(Seen(), refine=None, random_state=0)
    model.fit(X, Y, sample_weight=groups + 1.0, groups=groups)
    assert len(calls) == 10  # five copies for each label
    assert all(36 <= seen <= 40 for seen in calls)  # of 48 groups, each with a weight of its own, a fifth held out
    assert model.guarantee_.n == 12  # a row of each of 12 groups


def test_the_trees_of_a_forest_are_the_draws_of_each_label():
    forest = RandomForestRegressor(10, random_state=0).fit(X, Y)
    found = predictions_of(forest, X[:9]).predictions
    trees = np.stack([tree.predict(X[:9]) for tree in forest.estimators_], axis=1)
    for j in range(2):
        np.testing.assert_allclose(found[j].values, np.sort(trees[:, :, j], axis=1))


@pytest.mark.parametrize("before", [[], [StandardScaler()], [StandardScaler(), PolynomialFeatures()]], ids=len)
def test_a_pipeline_predicts_each_label_from_what_its_steps_make_of_x(before):
    model = make_pipeline(*before, LinearRegression()).fit(5 + 3 * X, Y)
    found = np.stack([each.values for each in predictions_of(model, X).predictions], axis=1)
    np.testing.assert_array_equal(found, model.predict(X))


def test_a_single_column_of_labels_is_one_label():
    assert not is_several(np.zeros((5, 1)))
    assert not is_several([[0.0], [1.0]])
    assert is_several(np.zeros((5, 2)))


@pytest.mark.parametrize("count", [150, 250])
@pytest.mark.parametrize("method", ["evaluate", "calibrate"])
def test_several_labels_of_another_number_of_rows_are_refused(method, count):
    model = CalibratedRegressor(LinearRegression(), refine=None, random_state=0).fit(X[KNOWN], Y[KNOWN])
    with pytest.raises(ValueError, match=rf"200.*{count}"):
        getattr(model, method)(X[NEW], Y[:count])
