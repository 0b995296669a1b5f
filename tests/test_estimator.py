"""CalibratedRegressor: what scikit-learn asks of it, and what it promises."""

import functools
import os
import pickle
import subprocess
import sys

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, LinearRegression, QuantileRegressor, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from calibrant import (
    Calibrated,
    CalibratedRegressor,
    Calibrator,
    CrossCalibrated,
    Guarantee,
    Normal,
    Point,
    Refined,
    evaluate,
    load,
    neg_crps,
    neg_interval_score,
    neg_nll,
    prediction_of,
)
from calibrant.interpolators import NAF, InfiniteTails, Linear, Random
from calibrant.scores import LocationScaleScore
from calibrant.sklearn.meta_estimator import Routed, last_step

RNG = np.random.default_rng(9)
X = RNG.normal(size=(600, 3))
Y = X @ [1.0, 2.0, -1.0] + np.exp(0.5 * X[:, 0]) * RNG.standard_t(5, 600)
SEEN, NEW = slice(0, 400), slice(400, 600)
NAMES = ["a", "b", "c"]

unrefined = functools.partial(CalibratedRegressor, refine=None)  # refinement has tests of its own: test_refined.py


def fitted(estimator=None, **parameters):
    estimator = Ridge() if estimator is None else estimator
    return unrefined(estimator, **{"random_state": 0, **parameters}).fit(X[SEEN], Y[SEEN])


# ---- what scikit-learn asks ----------------------------------------------------------------------------------------


@parametrize_with_checks([unrefined(Ridge(), random_state=0), unrefined(Ridge(), cv=3, random_state=0)])
def test_it_is_a_scikit_learn_regressor(estimator, check):
    check(estimator)


def test_the_check_that_needs_scipys_array_api_mode_passes_too(request):
    """It is skipped above unless this variable is set before scipy is imported."""
    arguments = ["-q", "-p", "no:cacheprovider", "-k", "test_it_is and array_api", __file__]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED and not request.config.getoption("complete"):
        pytest.skip("an older scikit-learn has no such check")
    assert done.returncode == 0, done.stdout
    assert "skipped" not in done.stdout


def test_the_calibration_score_does_not_hide_the_usual_score_method():
    model = fitted(calibration_score="residual")
    assert model.get_params()["calibration_score"] == "residual"
    assert 0.5 < model.score(X[NEW], Y[NEW]) < 1
    assert clone(model).get_params()["calibration_score"] == "residual"
    assert model.set_params(calibration_score=None).get_params()["calibration_score"] is None
    assert "calibration_score='residual'" in repr(clone(model).set_params(calibration_score="residual"))


def test_a_clone_and_a_pickle_predict_the_same():
    model = fitted(interpolator="random")
    for other in (clone(model).fit(X[SEEN], Y[SEEN]), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_interval(X[NEW]), model.predict_interval(X[NEW]))


def test_it_works_at_the_end_of_a_pipeline_and_around_one():
    inside = unrefined(make_pipeline(StandardScaler(), Ridge()), random_state=0).fit(X[SEEN], Y[SEEN])
    outside = make_pipeline(StandardScaler(), unrefined(Ridge(), random_state=0)).fit(X[SEEN], Y[SEEN])
    np.testing.assert_allclose(outside.predict(X[NEW]), inside.predict(X[NEW]), atol=0.05)
    np.testing.assert_allclose(neg_crps(outside, X[NEW], Y[NEW]), neg_crps(inside, X[NEW], Y[NEW]), rtol=0.02)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_it_takes_the_frames_that_set_output_makes(kind):
    pipeline = make_pipeline(StandardScaler(), unrefined(Ridge(), random_state=0)).set_output(transform=kind)
    pipeline.fit(pd.DataFrame(X[SEEN], columns=NAMES), Y[SEEN])
    assert list(pipeline[-1].feature_names_in_) == NAMES
    bounds = pipeline[-1].predict_interval(pipeline[:-1].transform(pd.DataFrame(X[NEW], columns=NAMES)))
    assert type(bounds).__module__.split(".")[0] == kind


def test_a_transformed_target_is_predicted_in_its_own_unit():
    model = TransformedTargetRegressor(unrefined(Ridge(), random_state=0), func=np.arcsinh, inverse_func=np.sinh)
    assert model.fit(X[SEEN], Y[SEEN]).score(X[NEW], Y[NEW]) > 0.3


def test_scorers_choose_in_a_search():
    noisy = {"estimator__alpha": [1e-3, 1e4]}
    for scoring in (neg_crps, neg_nll, neg_interval_score, functools.partial(neg_interval_score, coverage=0.5)):
        search = GridSearchCV(unrefined(Ridge(), random_state=0), noisy, scoring=scoring, cv=3)
        search.fit(X[SEEN], Y[SEEN])
        assert search.best_params_ == {"estimator__alpha": 1e-3}
        assert np.isfinite(search.best_score_)
        assert scoring(search, X[NEW], Y[NEW]) == scoring(search.best_estimator_, X[NEW], Y[NEW])


def test_scorers_are_minus_the_metrics():
    model = fitted()
    said = evaluate(model.predict_distribution(X[NEW]), Y[NEW])
    assert neg_crps(model, X[NEW], Y[NEW]) == -said.crps
    assert neg_nll(model, X[NEW], Y[NEW]) == -said.nll
    assert neg_interval_score(model, X[NEW], Y[NEW]) == -said.interval_score


def test_a_scorer_names_what_it_cannot_score():
    with pytest.raises(TypeError, match=r"needs a model with predict_distribution.*got Ridge\(\)"):
        neg_crps(Ridge().fit(X, Y), X, Y)


def test_cross_validation_tools_take_it():
    model = unrefined(Ridge(), random_state=0)
    assert cross_val_predict(model, X, Y, cv=3).shape == (600,)
    assert cross_val_score(model, X, Y, cv=3, scoring=neg_crps).max() < 0


# ---- calibration ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cv", [0.25, 4, KFold(3), "mixture:4", ShuffleSplit(2, test_size=0.3, random_state=1)])
def test_intervals_cover_as_they_say(cv):
    """On average over data sets; one of 50 held-out rows alone can be off by 0.06."""
    rng, covered = np.random.default_rng(11), []
    for _ in range(40):
        Z = rng.normal(size=(700, 3))
        labels = Z @ [1.0, 2.0, -1.0] + np.exp(0.5 * Z[:, 0]) * rng.standard_t(5, 700)
        model = unrefined(Ridge(), cv=cv, random_state=0).fit(Z[:200], labels[:200])
        lower, upper = model.predict_interval(Z[200:], coverage=0.8).T
        covered.append(np.mean((lower <= labels[200:]) & (labels[200:] <= upper)))
    assert abs(np.mean(covered) - 0.8) < 0.03


def test_a_share_holds_rows_out_and_keeps_the_strong_guarantee():
    model = fitted(cv=0.25)
    assert isinstance(model.guarantee_, Guarantee)
    assert (model.guarantee_.n, model.guarantee_.epsilon) == (100, 1 / 101)
    assert len(model.estimators_) == 1


def test_a_fifth_calibrates_by_default_and_five_roots_of_many_rows():
    assert fitted().guarantee_.n == 80
    Z = RNG.normal(size=(4_000, 1))
    assert unrefined(Ridge(), random_state=0).fit(Z, Z[:, 0] + RNG.normal(size=4_000)).guarantee_.n == 317


def test_with_folds_every_row_scores_nested_models_and_models_of_all_rows_predict():
    model = fitted(cv=KFold(4))
    assert isinstance(model.calibrated_, Calibrated)
    nested = cross_val_predict(Ridge(), X[SEEN], Y[SEEN], cv=KFold(4))
    q = Calibrator().fit(nested, Y[SEEN])
    everything = Ridge().fit(X[SEEN], Y[SEEN])
    assert len(model.estimators_) == 1
    np.testing.assert_array_equal(model.estimators_[0].coef_, everything.coef_)
    np.testing.assert_allclose(model.predict_interval(X[NEW]).T, q(everything.predict(X[NEW])).interval(0.9))


def test_what_predicts_with_folds_is_what_refines_and_stacks_all_rows():
    models = [Ridge(), KNeighborsRegressor()]
    model = CalibratedRegressor(models, cv=3, random_state=0).fit(X[SEEN], Y[SEEN])
    (refined,) = model.estimators_
    alone = clone(refined).fit(X[SEEN], Y[SEEN])
    np.testing.assert_array_equal(model.predict_base(X[NEW]).values, alone.predict_forecast(X[NEW]).values)
    assert model.guarantee_.n == 400


@pytest.mark.parametrize(("count", "labels"), [(104, None), (124, None), (220, "atom:0")])
def test_folds_with_too_few_rows_for_the_mean_of_refiners_predict_one_kind(count, labels):
    y = Y[:count] if labels is None else np.maximum(Y[:count], 0)
    model = CalibratedRegressor(Ridge(), cv=5, labels=labels, random_state=0).fit(X[:count], y)
    assert model.predict_interval(X[NEW]).shape == (200, 2)


def test_with_folds_nothing_finite_is_claimed():
    guarantee = fitted(cv=5).guarantee_
    assert guarantee.basis == "nested"
    assert guarantee.kind == "no claim"
    assert guarantee.n == 400
    assert "nothing is proved for a given number" in guarantee.in_short()
    later = fitted(cv=5).update(X[NEW], Y[NEW]).guarantee_
    assert (later.basis, later.n) == ("nested", 600)
    anew = fitted(cv=5).calibrate(X[NEW], Y[NEW]).guarantee_
    assert (anew.basis, anew.n, anew.epsilon) == ("marginal", 200, 1 / 201)


def test_the_calibration_of_every_row_is_saved_with_its_guarantee(tmp_path):
    model = fitted(cv=5)
    model.save_calibration(tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    assert again.guarantee == model.guarantee_
    assert again.update(Point(Y[NEW]), Y[NEW]).guarantee.basis == "nested"


def test_a_splitter_with_one_split_is_a_held_out_part():
    model = fitted(cv=ShuffleSplit(1, test_size=0.25, random_state=0))
    assert (model.guarantee_.basis, model.guarantee_.n) == ("marginal", 100)


@pytest.mark.slow
@pytest.mark.parametrize("refine", [None, "location-scale"])
def test_every_row_covers_as_it_says_over_many_tables(refine):
    """Nothing is proved of it: 60 tables of 80 rows, 200 new rows of each."""
    rng, covered = np.random.default_rng(12), []
    for seed in range(60):
        Z = rng.normal(size=(280, 3))
        labels = Z @ [1.0, 2.0, -1.0] + np.exp(0.5 * Z[:, 0]) * rng.normal(size=280)
        model = CalibratedRegressor(Ridge(), refine=refine, cv=5, random_state=seed).fit(Z[:80], labels[:80])
        lower, upper = model.predict_interval(Z[80:]).T
        covered.append(np.mean((lower <= labels[80:]) & (labels[80:] <= upper)))
    assert abs(np.mean(covered) - 0.9) < 4 * np.std(covered) / np.sqrt(60)


@pytest.mark.parametrize(("cv", "folds"), [("mixture", 5), ("mixture:4", 4)])
def test_a_mixture_has_a_distribution_for_each_fold_and_the_guarantee_of_2c(cv, folds):
    model = fitted(cv=cv)
    assert isinstance(model.calibrated_, CrossCalibrated)
    assert len(model.estimators_) == folds
    assert model.guarantee_.basis == "cross"
    assert model.guarantee_.n == 400
    assert model.guarantee_.epsilon == pytest.approx(2 / (400 / folds + 1))
    H = model.predict_distribution(X[NEW])
    by_hand = 0
    splits = KFold(folds, shuffle=True, random_state=np.random.RandomState(0).randint(2**31 - 1)).split(X[SEEN])
    for base, (train, test) in zip(model.estimators_, splits, strict=True):
        np.testing.assert_array_equal(base.coef_, Ridge().fit(X[SEEN][train], Y[SEEN][train]).coef_)
        q = Calibrator().fit(base.predict(X[SEEN][test]), Y[SEEN][test])
        by_hand += q(base.predict(X[NEW])).cdf(Y[NEW]) / folds
    np.testing.assert_allclose(H.cdf(Y[NEW]), by_hand, rtol=1e-12)


def test_a_frozen_estimator_is_not_fitted_and_every_row_calibrates():
    base = Ridge().fit(X[:100], Y[:100])
    coefficients = base.coef_.copy()
    model = unrefined(FrozenEstimator(base)).fit(X[100:400], Y[100:400])
    assert model.guarantee_.n == 300
    np.testing.assert_array_equal(base.coef_, coefficients)
    direct = Calibrator().fit(base.predict(X[100:400]), Y[100:400])(base.predict(X[NEW]))
    np.testing.assert_array_equal(model.predict_interval(X[NEW]).T, direct.interval(0.9))


def test_calibrate_learns_from_new_rows_and_keeps_the_models():
    model = fitted()
    before = model.estimators_[0]
    model.calibrate(X[NEW], Y[NEW] + 100)
    assert model.estimators_[0] is before
    assert model.guarantee_.n == 200
    assert abs(model.predict(X[NEW]).mean() - Y[NEW].mean() - 100) < 1


def test_calibrate_makes_one_ensemble_of_a_mixture():
    for score in (None, "residual"):
        model = fitted(cv="mixture:4", calibration_score=score)
        assert isinstance(model.calibrated_, CrossCalibrated)
        model.calibrate(X[NEW], Y[NEW])
        assert isinstance(model.guarantee_, Guarantee)
        assert model.guarantee_.epsilon == 1 / 201
        assert abs(evaluate(model.predict_distribution(X[SEEN]), Y[SEEN]).coverage - 0.9) < 0.05


def test_a_hundred_draws_are_made_unless_told_otherwise():
    assert fitted().predict_samples(X[:3]).shape == (3, 100)


def test_what_holds_one_value_a_row_is_split_with_the_rows_and_nothing_else():
    given = {
        "weight": np.array([1.0, 2.0, 3.0]),
        "rounds": 3,
        "name": "abc",
        "names": dict.fromkeys("abc"),
        "two": [1, 2],
    }
    kept = Routed([given], {"groups": [7, 8, 9]}).rows(np.array([0, 2]), 3)
    np.testing.assert_array_equal(kept.fit[0].pop("weight"), [1.0, 3.0])
    assert kept.fit[0] == {name: value for name, value in given.items() if name != "weight"}
    assert list(kept.split["groups"]) == [7, 9]


@pytest.mark.parametrize("before", [[], [StandardScaler()], [StandardScaler(), StandardScaler()]], ids=len)
def test_the_last_step_is_the_model_at_the_end(before):
    model = Ridge()
    assert last_step(make_pipeline(*before, model)) is model
    assert last_step(GridSearchCV(make_pipeline(*before, model), {})) is model


@pytest.mark.parametrize(("cv", "count", "wanted"), [(5, 9, 5), (5, 3, 3), (5, 2, 2), (3, 2, 2), (0.2, 9, 1)])
def test_folds_are_no_more_than_there_is_to_hold_out(cv, count, wanted):
    (copies,) = Refined(Ridge(), None, cv=cv).fit(X[:count], Y[:count]).estimators_
    assert len(copies) == wanted


def test_folds_are_two_at_least():
    with pytest.raises(ValueError, match="n_splits=2 greater than the number of samples: n_samples=1"):
        Refined(Ridge(), None).fit(X[:1], Y[:1])


def test_the_kind_of_prediction_is_found_and_may_be_chosen():
    assert type(fitted(BayesianRidge()).calibrated_.score).__name__ == "ZScore"
    levels = [QuantileRegressor(quantile=q, alpha=0) for q in (0.1, 0.9)]
    assert type(fitted(levels).calibrated_.score).__name__ == "QuantileScore"
    assert type(fitted([Ridge(), KNeighborsRegressor()]).calibrated_.score).__name__ == "ResidualScore"
    assert type(fitted([Ridge(), BayesianRidge()]).calibrated_.score).__name__ == "QuantileScore"
    forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=0)
    assert type(fitted(forest).calibrated_.score).__name__ == "SamplesScore"
    assert type(fitted(forest, adapter="point").calibrated_.score).__name__ == "ResidualScore"
    own = fitted(Ridge(), adapter=lambda model, X: Normal(model.predict(X), np.exp(X[:, 0])))
    assert type(own.calibrated_.score).__name__ == "ZScore"
    assert (
        type(fitted(own.estimator, calibration_score="zscore", adapter=own.adapter).calibrated_.score).__name__
        == "ZScore"
    )


def test_predict_is_the_mean():
    model = fitted()
    np.testing.assert_array_equal(model.predict(X[NEW]), model.predict_distribution(X[NEW]).mean())


def test_predict_is_the_median_where_there_is_no_finite_mean_and_says_so():
    model = fitted(interpolator="random")
    with pytest.warns(UserWarning, match="200 of 200 distributions have no finite mean: .* their median"):
        found = model.predict(X[NEW])
    np.testing.assert_array_equal(found, model.predict_distribution(X[NEW]).median())


def test_random_state_decides_the_split_and_the_uniforms():
    one, two, other = (fitted(interpolator=Random(), random_state=seed).predict_interval(X[NEW]) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("cv", [0.25, 3])
@pytest.mark.parametrize("refine", [None, "quantiles"])
def test_a_saved_calibration_takes_predict_base_in_place_of_x(cv, refine, tmp_path):
    models = [Ridge(), KNeighborsRegressor()]
    model = CalibratedRegressor(models, cv=cv, refine=refine, random_state=0).fit(X[SEEN], Y[SEEN])
    model.save_calibration(tmp_path / "model.safetensors")
    H = load(tmp_path / "model.safetensors")(model.predict_base(X[NEW]))
    np.testing.assert_array_equal(H.ppf(0.9), model.predict_distribution(X[NEW]).ppf(0.9))


def test_a_saved_mixture_takes_predict_base_or_the_prediction_of_each_fold(tmp_path):
    model = fitted(cv="mixture:3")
    model.save_calibration(tmp_path / "model.safetensors")
    for base in ([Point(each.predict(X[NEW])) for each in model.estimators_], model.predict_base(X[NEW])):
        H = load(tmp_path / "model.safetensors")(base)
        np.testing.assert_array_equal(H.ppf(0.9), model.predict_distribution(X[NEW]).ppf(0.9))


# ---- weights and groups --------------------------------------------------------------------------------------------


class Recorder(RegressorMixin, BaseEstimator):
    """Remembers what reached its fit."""

    def fit(self, X, y, sample_weight=None, flag=None):
        self.rows_, self.weight_, self.flag_ = X[:, 0], sample_weight, flag
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return X[:, 1]


def test_weights_reach_the_base_estimator_row_by_row():
    weight = X[SEEN][:, 0] + 100
    for cv in (0.25, 3):
        model = unrefined(Recorder(), cv=cv).fit(X[SEEN], Y[SEEN], sample_weight=weight, flag="as it is")
        for base in model.estimators_:
            np.testing.assert_array_equal(base.weight_, base.rows_ + 100)
            assert base.flag_ == "as it is"


@pytest.mark.parametrize(("cv", "fits"), [(0.25, 1), ("mixture:3", 3), (3, 4), (GroupKFold(3), 4)])
@pytest.mark.parametrize("refine", [None, "constant"])
def test_groups_stay_together(cv, fits, refine, monkeypatch):
    groups, taught, fit = np.repeat(np.arange(40), 10), [], Recorder.fit
    monkeypatch.setattr(Recorder, "fit", lambda self, X, y: [taught.append(X[:, 0]), fit(self, X, y)][1])
    CalibratedRegressor(Recorder(), cv=cv, refine=refine, random_state=0).fit(X[SEEN], Y[SEEN], groups=groups)
    assert len(taught) == (fits if refine is None else 5 * fits)
    for rows in taught:
        seen = groups[np.isin(X[SEEN][:, 0], rows)]
        assert np.all(np.bincount(seen, minlength=40) % 10 == 0)
    whole = sum(len(rows) == 400 for rows in taught)
    assert whole == (refine is None and fits == 4)  # with folds one of the models has seen every row


@pytest.mark.parametrize("cv", [0.25, GroupKFold(3)])
def test_metadata_is_routed_as_it_was_requested(cv):
    weight, groups = X[SEEN][:, 0] + 100, np.repeat(np.arange(40), 10)
    with sklearn.config_context(enable_metadata_routing=True):
        base = Recorder().set_fit_request(sample_weight=True, flag=False)
        model = unrefined(base, cv=cv, random_state=0)
        model.fit(X[SEEN], Y[SEEN], sample_weight=weight, groups=groups)
        np.testing.assert_array_equal(model.estimators_[0].weight_, model.estimators_[0].rows_ + 100)
        seen = groups[np.isin(X[SEEN][:, 0], model.estimators_[0].rows_)]
        assert np.all(np.bincount(seen, minlength=40) % 10 == 0)
        with pytest.raises(TypeError, match="flag"):
            model.fit(X[SEEN], Y[SEEN], flag=1)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        nested = make_pipeline(scaler, unrefined(base, random_state=0))
        nested.fit(X[SEEN], Y[SEEN], sample_weight=weight)
        assert nested[-1].estimators_[0].weight_ is not None


# ---- frames --------------------------------------------------------------------------------------------------------


def as_frame(kind, rows):
    columns = {name: X[rows][:, k] for k, name in enumerate(NAMES)}
    return {
        "pandas": lambda: pd.DataFrame(columns, index=[f"row {i}" for i in range(len(X[rows]))]),
        "polars": lambda: pl.DataFrame(columns),
        "pyarrow": lambda: pa.table(columns),
    }[kind]()


@pytest.mark.parametrize("cv", [0.25, 3])
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("base", [Ridge(), HistGradientBoostingRegressor(max_iter=5)], ids=lambda b: type(b).__name__)
def test_a_frame_gives_a_frame_of_its_kind(kind, cv, base):
    model = unrefined(base, cv=cv, random_state=0).fit(as_frame(kind, SEEN), Y[SEEN])
    assert list(model.feature_names_in_) == NAMES
    plain = unrefined(base, cv=cv, random_state=0).fit(X[SEEN], Y[SEEN])
    bounds = model.predict_interval(as_frame(kind, NEW), coverage=0.8)
    quantiles = model.predict_quantiles(as_frame(kind, NEW), quantiles=[0.1, 0.5, 0.975])
    for frame, names, expected in (
        (bounds, ["lower", "upper"], plain.predict_interval(X[NEW], coverage=0.8)),
        (quantiles, ["q0.1", "q0.5", "q0.975"], plain.predict_quantiles(X[NEW], quantiles=[0.1, 0.5, 0.975])),
    ):
        assert type(frame) is type(as_frame(kind, NEW))
        wide = nw.from_native(frame, eager_only=True)
        assert wide.columns == names
        np.testing.assert_allclose(wide.to_numpy(), expected, rtol=1e-9)
        if kind == "pandas":
            assert list(frame.index) == [f"row {i}" for i in range(200)]


def test_labels_may_be_a_series():
    for y in (pd.Series(Y[SEEN], index=np.arange(400)[::-1]), pl.Series(Y[SEEN]), pa.chunked_array([Y[SEEN]])):
        model = unrefined(LinearRegression(), random_state=0).fit(X[SEEN], y)
        np.testing.assert_array_equal(model.predict(X[NEW]), fitted(LinearRegression()).predict(X[NEW]))


# ---- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "error", "said"),
    [
        ({"cv": 1.5}, ValueError, "cv as a share of the rows must lie strictly inside (0, 1), got 1.5"),
        (
            {"cv": True},
            TypeError,
            "cv must be a share, a number of folds, 'auto', 'mixture', 'latest' or a splitter, got",
        ),
        ({"cv": "last"}, ValueError, "'auto', 'mixture', 'latest' or a splitter, got 'last'"),
        ({"cv": "latest:2"}, ValueError, "cv must be 'latest', or 'latest:0.3' for the last 30% of the rows, got"),
        ({"cv": "mixture:1"}, ValueError, "cv must be 'mixture', or 'mixture:10' for the mean of 10 folds, got"),
        ({"cv": 1}, ValueError, "cv=1 is no number of folds: give 2 or more, or a share such as cv=0.2"),
        ({"estimator": "ridge"}, ValueError, "estimator must be a model, a list of models, 'sklearn' or None, got 'r"),
        ({"estimator": []}, ValueError, "estimator must be a model or a list of models, got an empty list"),
        ({"calibration_score": "pit"}, ValueError, "score must be one of residual, relative"),
        ({"interpolator": "spline"}, ValueError, "interpolator must be one of linear, naive, random, naf"),
        ({"interpolator": NAF}, TypeError, "interpolator must be one of the names"),
        ({"adapter": "quantiles"}, TypeError, "adapter must be None, 'point' or a function"),
        (
            {"cv": [(np.arange(300), np.arange(290, 400))]},
            ValueError,
            "cv puts row 290 in both parts of a split (10 rows",
        ),
        ({"calibration_score": "interval"}, TypeError, "IntervalScore takes Interval, got Point(n=80)"),
    ],
)
def test_a_wrong_parameter_is_named(parameters, error, said):
    with pytest.raises(error) as caught:
        fitted(**parameters)
    assert said in str(caught.value)


def test_nothing_is_predicted_before_fit():
    model = unrefined(Ridge())
    for_labels = (model.calibrate, model.update, model.track, model.monitor, model.evaluate, model.report)
    for call in (
        model.predict,
        model.predict_interval,
        model.predict_base,
        lambda X: model.guarantee_,
        lambda X: model.weights_,
    ):
        with pytest.raises(NotFittedError):
            call(X)
    for call in for_labels:
        with pytest.raises(NotFittedError):
            call(X, Y)
    with pytest.raises(NotFittedError):
        model.save_calibration("never.safetensors")


def test_wrong_coverages_and_levels_are_named():
    model = fitted()
    with pytest.raises(ValueError, match=r"coverage must lie strictly inside \(0, 1\), got 90"):
        model.predict_interval(X, coverage=90)
    with pytest.raises(ValueError, match="quantiles must be a list of distinct levels"):
        model.predict_quantiles(X, quantiles=[0.5, 0.5])
    with pytest.raises(ValueError, match=r"quantiles lies outside \[0, 1\]"):
        model.predict_quantiles(X, quantiles=[5])


def test_a_score_of_your_own_is_taken():
    class Relative(LocationScaleScore):
        def loc_scale(self, prediction):
            return prediction.values, 1 + abs(prediction.values)

    assert (
        abs(evaluate(fitted(calibration_score=Relative()).predict_distribution(X[NEW]), Y[NEW]).coverage - 0.9) < 0.08
    )


def test_a_mixture_does_not_take_one_prediction_for_a_list_of_them():
    model = fitted(cv="mixture:3")
    with pytest.raises(TypeError, match=r"takes a list of 3 predictions of the same rows.*got Point\(n=3\)"):
        model.calibrated_(Point([1.0, 2.0, 3.0]))
    with pytest.raises(TypeError, match=r"takes a list of 3 predictions.*got a list of 2"):
        model.calibrated_([[1.0], [2.0]])


# ---- what a review found -------------------------------------------------------------------------------------------


def test_quantiles_of_folds_are_the_inverse_of_their_cdf():
    """Beside a bend of the mixture Newton's steps went back and forth and ended far off."""
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(200, 2))
    model = unrefined(Ridge(), cv="mixture", random_state=0).fit(Z, Z.sum(axis=1) + rng.standard_t(3, 200))
    H = model.predict_distribution(rng.normal(size=(2000, 2)))
    for level in (0.03, 0.5, 0.9, 0.97):
        np.testing.assert_allclose(H.cdf(H.ppf(level)), level, rtol=1e-9)


def test_uneven_folds_with_mass_at_infinity_have_finite_quantiles_where_the_mixture_has():
    calibrator = Calibrator(interpolator=Linear(tails=InfiniteTails()))
    parts = [calibrator.fit(np.zeros(len(y)), y) for y in np.split(Y[SEEN], [10, 200])]
    H = CrossCalibrated(tuple(parts))([Y[NEW]] * 3)
    np.testing.assert_allclose(H.cdf(H.ppf(0.05)), 0.05, rtol=1e-9)
    assert np.all(H.ppf(0.001) == -np.inf)


@pytest.mark.parametrize("held", [[Ridge().fit(X, Y), LinearRegression().fit(X, Y)], lambda X: X[:, 0]])
def test_a_frozen_estimator_may_hold_what_is_no_estimator_of_scikit_learns(held):
    model = unrefined(FrozenEstimator(held)).fit(X[SEEN], Y[SEEN])
    assert model.guarantee_.n == 400
    assert model.predict_interval(X[NEW]).shape == (200, 2)


def test_a_fit_that_fails_leaves_the_earlier_one_whole():
    model = fitted()
    before = model.predict_interval(X[NEW])
    with pytest.raises(TypeError):
        model.set_params(calibration_score="interval").fit(X[SEEN], 100 * Y[SEEN])
    np.testing.assert_array_equal(model.predict_interval(X[NEW]), before)
    new = unrefined(Ridge(), calibration_score="interval")
    with pytest.raises(TypeError):
        new.fit(X[SEEN], Y[SEEN])
    with pytest.raises(NotFittedError):
        new.predict(X[NEW])


def test_scorers_take_a_pipeline_of_one_step_and_labels_in_a_column():
    model = fitted()
    pipeline = make_pipeline(unrefined(Ridge(), random_state=0)).fit(X[SEEN], Y[SEEN])
    assert neg_crps(pipeline, X[NEW], pd.DataFrame(Y[NEW])) == neg_crps(model, X[NEW], Y[NEW])
    weight = np.linspace(1, 2, len(Y[NEW]))
    for scorer in (neg_crps, neg_nll, neg_interval_score):
        column = scorer(pipeline, X[NEW], Y[NEW][:, None], sample_weight=weight)
        assert column == scorer(model, X[NEW], Y[NEW], sample_weight=weight)


def test_the_prediction_of_a_calibrated_model_is_its_distribution():
    model = fitted()
    np.testing.assert_array_equal(prediction_of(model, X[NEW]).ppf(0.9), model.predict_distribution(X[NEW]).ppf(0.9))


def test_points_are_taken_in_double_precision_and_of_each_model_of_a_list():
    class Single(Ridge):
        def predict(self, X):
            return super().predict(X).astype(np.float32)

    assert fitted(Single(), adapter="point").predict(X[NEW]).dtype == np.float64
    assert fitted([Ridge(), LinearRegression()], adapter="point").predict(X[NEW]).shape == (200,)


@pytest.mark.parametrize("kind", [list, tuple, np.asarray, lambda rows: np.isin(np.arange(400), rows)])
def test_splits_may_be_lists_or_masks(kind):
    cv = [(kind(range(300)), kind(range(300, 400)))]
    assert unrefined(Ridge(), cv=cv).fit(pl.DataFrame(X[SEEN]), Y[SEEN]).guarantee_.n == 100


@pytest.mark.parametrize(
    ("cv", "said"),
    [
        ([], "cv must yield at least one split"),
        (PredefinedSplit(np.full(400, -1)), "cv must yield at least one split"),
        ([(np.arange(400), [])], "split 0 of cv must have rows to calibrate on"),
        ([([], np.arange(400))], "split 0 of cv must have rows to train on"),
    ],
)
def test_splits_without_rows_are_named(cv, said):
    with pytest.raises(ValueError, match=said):
        fitted(cv=cv)


@pytest.mark.parametrize("cv", [np.int64(4), np.float32(0.25)])
def test_numbers_of_numpy_split_as_pythons_do(cv):
    groups = np.repeat(np.arange(40), 10)
    with sklearn.config_context(enable_metadata_routing=True):
        model = unrefined(Ridge(), cv=cv, random_state=0).fit(X[SEEN], Y[SEEN], groups=groups)
    assert model.guarantee_.n % 10 == 0


def test_weights_that_are_none_are_not_passed_on():
    assert unrefined(KNeighborsRegressor()).fit(X[SEEN], Y[SEEN], sample_weight=None).guarantee_.n == 80


def test_the_score_of_a_list_is_kept_when_folds_are_pooled():
    model = fitted([BayesianRidge(), BayesianRidge(alpha_1=1.0)], cv="mixture:3")
    assert model.calibrate(X[NEW], Y[NEW]).guarantee_.n == 200


def test_scorers_weigh_rows():
    model, weight = fitted(), np.arange(200.0)
    H = model.predict_distribution(X[NEW])
    by_hand = -np.average(H.crps(Y[NEW]), weights=weight)
    assert neg_crps(model, X[NEW], Y[NEW], sample_weight=weight) == pytest.approx(by_hand)
    for scorer in (neg_crps, neg_nll, neg_interval_score):
        once = scorer(model, X[NEW][:100], Y[NEW][:100])
        assert scorer(model, X[NEW], Y[NEW], sample_weight=np.arange(200) < 100) == pytest.approx(once)
    search = GridSearchCV(unrefined(Ridge(), random_state=0), {"cv": [0.2, 0.3]}, scoring=neg_crps, cv=2)
    search.fit(X[SEEN], Y[SEEN], sample_weight=np.ones(400))  # without a warning
    assert np.isfinite(search.best_score_)


@pytest.mark.parametrize("model", [Ridge(), HistGradientBoostingRegressor(), KNeighborsRegressor()], ids=repr)
def test_it_takes_the_x_that_its_model_takes(model):
    own, plain = get_tags(model).input_tags, get_tags(LinearRegression()).input_tags
    tags = get_tags(CalibratedRegressor(model)).input_tags
    both = get_tags(CalibratedRegressor([model, LinearRegression()])).input_tags
    for name in ("allow_nan", "sparse"):
        assert getattr(tags, name) == getattr(own, name)
        assert getattr(both, name) == (getattr(own, name) and getattr(plain, name))
    assert get_tags(CalibratedRegressor(HistGradientBoostingRegressor())).input_tags.allow_nan
