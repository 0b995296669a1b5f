"""The estimator's doors: columns, labels and sizes that were not meant get one sentence, and no wrong number."""

from importlib import reload

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import calibrant
from calibrant import CalibratedRegressor, Refined, neg_crps, prediction_of
from calibrant.metrics.slices import columns_of, slices_of
from calibrant.predictions import Ensemble, Quantiles, Rates
from calibrant.sklearn.predicting import slices_in

RNG = np.random.default_rng(0)
N = 300
X = pd.DataFrame({"a": RNG.uniform(size=N), "b": RNG.uniform(size=N), "c": RNG.uniform(size=N)})
Y = 3 * X["a"].to_numpy() + RNG.normal(scale=0.3, size=N)
KINDS = {"pandas": lambda frame: frame, "polars": pl.from_pandas, "arrow": pa.Table.from_pandas}


class ByPosition(RegressorMixin, BaseEstimator):
    """3 times the first column, whatever it is called: as models do that read tables as arrays."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return 3 * np.asarray(X)[:, 0].astype(float)


def fitted(base=None, kind="pandas", **parameters):
    base = ByPosition() if base is None else base
    return CalibratedRegressor(base, **{"refine": None, "random_state": 0, **parameters}).fit(KINDS[kind](X), Y)


# ---- columns --------------------------------------------------------------------------------------------------------

ORDER = "Feature names must be in the same order as they were in fit"
ASKED = {
    "predict": lambda m, X: m.predict(X),
    "predict_distribution": lambda m, X: m.predict_distribution(X),
    "predict_interval": lambda m, X: m.predict_interval(X),
    "predict_quantiles": lambda m, X: m.predict_quantiles(X),
    "predict_samples": lambda m, X: m.predict_samples(X, 3),
    "score": lambda m, X: m.score(X, Y),
    "calibrate": lambda m, X: m.calibrate(X, Y),
    "update": lambda m, X: m.update(X, Y),
    "track": lambda m, X: m.track(X, Y),
    "monitor": lambda m, X: m.monitor(X, Y),
    "evaluate": lambda m, X: m.evaluate(X, Y),
    "report": lambda m, X: m.report(X, Y),
    "a scorer": lambda m, X: neg_crps(m, X, Y),
    "prediction_of": prediction_of,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ask", ASKED)
def test_columns_in_another_order_are_refused_by_every_method(ask, kind):
    with pytest.raises(ValueError, match=ORDER):
        ASKED[ask](fitted(kind=kind), KINDS[kind](X[["c", "b", "a"]]))


@pytest.mark.parametrize(
    ("columns", "said"),
    [(["a", "b"], "yet now missing:\n- c"), (["a", "b", "c", "d"], "unseen at fit time:\n- d")],
)
def test_a_column_that_is_missing_or_new_is_named(columns, said):
    with pytest.raises(ValueError, match=said):
        fitted().predict_interval(X.assign(d=0.0)[columns])


def test_another_kind_of_frame_with_the_same_columns_is_the_same():
    np.testing.assert_array_equal(fitted().predict_interval(X), fitted().predict_interval(pl.from_pandas(X)))


def test_names_on_one_side_only_are_a_warning_as_in_scikit_learn():
    with pytest.warns(UserWarning, match="X does not have valid feature names, but CalibratedRegressor was fitted"):
        fitted().predict(X.to_numpy())
    unnamed = CalibratedRegressor(ByPosition(), refine=None, random_state=0).fit(X.to_numpy(), Y)
    with pytest.warns(UserWarning, match="X has feature names, but CalibratedRegressor was fitted without"):
        unnamed.predict(X)
    with pytest.raises(ValueError, match="X has 2 features, but CalibratedRegressor is expecting 3"):
        unnamed.predict(X.to_numpy()[:, :2])


def test_columns_called_by_numbers_are_compared_too():
    numbered = pd.DataFrame(X.to_numpy())
    model = CalibratedRegressor(ByPosition(), refine=None, random_state=0).fit(numbered, Y)
    model.predict(numbered)
    with pytest.raises(ValueError, match="column 0 of X is 2, and in fit it was 0"):
        model.predict(numbered[[2, 1, 0]])
    np.testing.assert_array_equal(model.predict(X.to_numpy()), model.predict(numbered))
    unnamed = CalibratedRegressor(ByPosition(), refine=None, random_state=0).fit(X.to_numpy(), Y)
    np.testing.assert_array_equal(unnamed.predict(numbered), model.predict(numbered))


def test_what_refines_compares_columns_too():
    with pytest.raises(ValueError, match=ORDER):
        Refined(ByPosition(), "spread").fit(X, Y).predict(X[["c", "b", "a"]])


@pytest.mark.parametrize(
    "base",
    [
        make_pipeline(FunctionTransformer(), ByPosition()),
        FrozenEstimator(ByPosition().fit(X, Y)),
        GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}),
        [ByPosition(), Ridge()],
        make_pipeline(StandardScaler(), Ridge()),
    ],
)
def test_pipelines_searches_lists_and_frozen_models_are_guarded(base):
    model = fitted(base)
    model.predict(X)
    with pytest.raises(ValueError, match=ORDER):
        model.predict(X[["c", "b", "a"]])


SELECT = make_column_transformer(("passthrough", ["a", "b"]))


@pytest.mark.parametrize(
    "base",
    [
        make_pipeline(SELECT, Ridge()),
        FrozenEstimator(make_pipeline(SELECT, Ridge()).fit(X, Y)),
        GridSearchCV(make_pipeline(SELECT, Ridge()), {"ridge__alpha": [0.1, 1.0]}),
        TransformedTargetRegressor(make_pipeline(SELECT, Ridge())),
    ],
)
def test_a_column_transformer_takes_its_columns_by_name_in_any_order_and_others_beside_them(base):
    model, moved = fitted(base), X.assign(d=0.0)[["d", "c", "b", "a"]]
    np.testing.assert_array_equal(model.predict(moved), model.predict(X))
    with pytest.raises(ValueError, match="'a'"):
        model.predict(X[["b", "c"]])


def test_it_works_inside_a_pipeline_and_a_search():
    search = GridSearchCV(make_pipeline(StandardScaler(), fitted()), {"calibratedregressor__cv": [0.2, 0.3]})
    search.fit(X, Y)
    with pytest.raises(ValueError, match=ORDER):
        search.predict(X[["c", "b", "a"]])
    inner = GridSearchCV(fitted(), {"cv": [0.2, 0.3]}).fit(X, Y)
    with pytest.raises(ValueError, match=ORDER):
        inner.predict(X[["c", "b", "a"]])


def trained(library, kind):
    frame = kind(X)
    if library == "lightgbm":
        module = pytest.importorskip("lightgbm")
        return module.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(frame, Y)
    if library == "a booster of lightgbm":
        module = pytest.importorskip("lightgbm")
        return module.train({"verbose": -1, "num_threads": 1}, module.Dataset(X, Y), 5)
    if library == "xgboost":
        return pytest.importorskip("xgboost").XGBRegressor(n_estimators=5, n_jobs=1).fit(frame, Y)
    return pytest.importorskip("statsmodels.api").OLS(Y, X).fit()


@pytest.mark.parametrize("library", ["lightgbm", "a booster of lightgbm", "xgboost", "statsmodels"])
def test_a_trained_model_that_goes_by_position_is_asked_in_its_order_only(library):
    """Before calibration there is no `fit` of ours that knows the columns."""
    kind = pl.from_pandas if library == "xgboost" else lambda frame: frame
    model = trained(library, kind)
    prediction_of(model, kind(X))
    with pytest.raises(ValueError, match=r"column 0 of X is 'c' where .* was trained on 'a': give its columns in that"):
        prediction_of(model, kind(X[["c", "b", "a"]]))
    with pytest.raises(ValueError, match="column 0 of X is 'c' where"):
        CalibratedRegressor(FrozenEstimator(model)).fit(kind(X[["c", "b", "a"]]), Y)
    if library != "statsmodels":  # whose names of an array's columns may be anything
        with pytest.raises(ValueError, match="was trained on, but 'b' is missing"):
            prediction_of(model, kind(X.rename(columns={"b": "z"})))
        with pytest.raises(ValueError, match="was trained on, and 'd' is none of them"):
            prediction_of(model, kind(X.assign(d=0.0)))


def test_lightgbms_spelling_of_names_and_models_of_arrays_are_known():
    lightgbm = pytest.importorskip("lightgbm")
    spaced = X.rename(columns={"a": "a b"})
    model = lightgbm.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(spaced, Y)
    assert len(prediction_of(model, spaced)) == N
    booster = lightgbm.train({"verbose": -1, "num_threads": 1}, lightgbm.Dataset(X.to_numpy(), Y), 5)
    assert len(prediction_of(booster, X)) == N


# ---- columns that the models do not take -----------------------------------------------------------------------------

PART = np.where(X["b"] > 0.5, "day", "night")
PARTS = X.assign(part=PART)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("refine", [None, "location-scale"])
@pytest.mark.parametrize("base", [Ridge(), [Ridge(), LinearRegression()]], ids=["one model", "a list"])
def test_a_column_of_texts_that_by_names_is_hidden_from_models_that_refuse_texts(base, refine, kind):
    model = CalibratedRegressor(base, by="part", refine=refine, random_state=0).fit(KINDS[kind](PARTS), Y)
    assert model.guarantee_["day"].n + model.guarantee_["night"].n == 60
    refined = model.estimators_[0]
    inner = refined.estimators_[0][0] if isinstance(refined, Refined) else refined
    assert list(inner.feature_names_in_) == ["a", "b", "c"]
    assert model.predict_interval(KINDS[kind](PARTS)[:3]).shape == (3, 2)
    assert model.update(KINDS[kind](PARTS), Y).guarantee_["day"].n > 60


def test_a_column_of_categories_that_by_names_is_hidden_from_models_that_refuse_them():
    categories = PARTS.assign(part=PARTS["part"].astype("category"), c=(np.arange(N) < N // 2).astype(int))
    plain = CalibratedRegressor(Ridge(), by="part", refine=None, random_state=0).fit(categories, Y)
    assert list(plain.estimators_[0].feature_names_in_) == ["a", "b", "c"]
    assert plain.predict_interval(categories[:3]).shape == (3, 2)
    takes = HistGradientBoostingRegressor(max_iter=3)
    assert (
        "part" in CalibratedRegressor(takes, by="part", refine=None).fit(categories, Y).estimators_[0].feature_names_in_
    )
    whole = CalibratedRegressor(Ridge(), by="c", refine=None).fit(categories[["a", "c"]].astype({"c": "category"}), Y)
    assert list(whole.estimators_[0].feature_names_in_) == ["a", "c"]  # categories that are numbers


def test_a_column_of_numbers_that_by_names_is_shown_to_the_models():
    table = X.assign(part=np.arange(N) % 2)
    model = CalibratedRegressor(Ridge(), by="part", refine=None, random_state=0).fit(table, Y)
    assert list(model.estimators_[0].feature_names_in_) == ["a", "b", "c", "part"]


def test_a_pipeline_that_may_take_texts_sees_the_column_of_by():
    encoding = make_column_transformer((OneHotEncoder(), ["part"]), remainder="passthrough")
    model = CalibratedRegressor(make_pipeline(encoding, Ridge()), by="part", refine=None, random_state=0)
    assert model.fit(PARTS, Y).estimators_[0][-1].n_features_in_ == 5


def test_other_columns_of_texts_are_not_hidden():
    with pytest.raises(ValueError, match="X has texts in column 'half', such as 'day', which the estimator cannot use"):
        CalibratedRegressor(Ridge(), by="part").fit(PARTS.assign(half=PART), Y)


def test_the_report_knows_the_column_that_models_do_not_see():
    model = CalibratedRegressor(Ridge(), by="part", refine=None, random_state=0).fit(PARTS, Y)
    assert model.report(PARTS, Y, groups="part").headline


class Refusing(Ridge):
    def fit(self, X, y):
        raise ValueError("no reason that X could tell")


def test_an_error_of_the_estimators_own_stays_as_it_is():
    table = X.assign(when=pd.date_range("2024", periods=N), part=np.arange(N) % 2, late=np.arange(N) % 3 == 0)
    with pytest.raises(ValueError, match=r"^no reason that X could tell$") as caught:
        CalibratedRegressor(Refusing(), by=["part", "late"], refine=None).fit(table, Y)
    assert not hasattr(caught.value, "__notes__")


def test_the_first_of_several_columns_of_dates_is_named():
    days = pd.date_range("2024", periods=N)
    with pytest.raises(TypeError, match="X has dates in column 'then'"):
        CalibratedRegressor(Ridge()).fit(X.assign(then=days, when=days), Y)


def test_a_column_of_dates_is_named():
    dated = X.assign(when=pd.date_range("2024", periods=N, freq="h"))
    with pytest.raises(
        TypeError,
        match=r"X has dates in column 'when', which the estimator cannot use: .* CalibratedRegressor\(\) without",
    ):
        CalibratedRegressor(Ridge()).fit(dated, Y)


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_of_texts_is_named(kind):
    texts = KINDS[kind](X.assign(digits="12", when=pd.date_range("2024", periods=N, freq="h").astype(str)))
    said = "X has texts in column 'when', such as '2024-01-01 00:00:00', which the estimator cannot use: encode"
    with pytest.raises(ValueError, match=said) as caught:
        CalibratedRegressor(Ridge()).fit(texts, Y)
    assert "could not convert string to float" in str(caught.value.__cause__)


# ---- labels ---------------------------------------------------------------------------------------------------------

COUNTS = RNG.poisson(np.exp(2 * X["a"])).astype(float)
HINT = "all labels are whole numbers of at least 0: labels='counts' keeps forecasts so, and labels='real'"


@pytest.mark.parametrize("estimator", [Ridge(), FrozenEstimator(Ridge().fit(X, COUNTS))])
def test_labels_that_look_like_counts_are_pointed_out_once(estimator):
    model = CalibratedRegressor(estimator, refine=None, random_state=0)
    with pytest.warns(UserWarning, match=HINT) as seen:
        model.fit(X, COUNTS)
    assert len(seen) == 1
    assert seen[0].filename == __file__


@pytest.mark.parametrize("labels", ["counts", "real", "0:", "integers"])
def test_labels_of_which_the_kind_is_said_are_not_pointed_out(labels):
    CalibratedRegressor(Ridge(), labels=labels, refine=None, random_state=0).fit(X, COUNTS)


@pytest.mark.parametrize(
    "y",
    [
        COUNTS + 1990.0,  # years
        COUNTS - 1.0,  # of both signs
        COUNTS + 0.5,
        np.arange(N) % 5,  # classes, or grades
        np.arange(N) // 4,  # four rows a value
        RNG.integers(0, 10_000, N),  # whole dollars
        Y,
    ],
    ids=["years", "both signs", "halves", "classes", "few ties", "dollars", "real"],
)
def test_other_labels_are_not_pointed_out(y):
    CalibratedRegressor(Ridge(), refine=None, random_state=0).fit(X, y)


def test_real_is_any_real_number():
    named, silent = (
        CalibratedRegressor(Ridge(), labels=labels, refine=None, random_state=0).fit(X, Y).predict_interval(X)
        for labels in ("real", None)
    )
    np.testing.assert_array_equal(named, silent)


def test_several_labels_that_look_like_counts_are_named():
    frame = pd.DataFrame({"load": Y, "visits": COUNTS})
    with pytest.warns(UserWarning, match="all labels 'visits' are whole numbers"):
        CalibratedRegressor(Ridge(), refine=None, random_state=0).fit(X, frame)
    kinds = {"visits": "counts"}
    CalibratedRegressor(Ridge(), labels=kinds, refine=None, random_state=0).fit(X, frame)


GAPS = np.where(np.arange(N) % 100 == 7, np.nan, Y)


@pytest.mark.parametrize("method", ["fit", "calibrate", "update", "evaluate", "report"])
def test_missing_labels_are_told_with_their_rows_and_the_way(method):
    with pytest.raises(
        ValueError, match=r"y is NaN in row 7 \(3 of 300 rows have no label\): leave such rows out, as in"
    ):
        getattr(fitted(Ridge()), method)(X, GAPS)


@pytest.mark.parametrize("kind", [pd.Series, pl.Series, list])
def test_missing_labels_of_any_kind_of_column_are_refused(kind):
    with pytest.raises(ValueError, match="y is NaN in row 7"):
        fitted(Ridge()).evaluate(X, kind(GAPS))


@pytest.mark.parametrize("method", ["fit", "calibrate"])
def test_a_missing_label_among_several_is_named_with_its_row(method):
    both = np.stack([Y, GAPS], axis=1)
    model = CalibratedRegressor(Ridge(), refine=None, random_state=0).fit(X, np.stack([Y, Y], axis=1))
    with pytest.raises(
        ValueError, match=r"label 'y1' is missing in row 7 \(3 of 300 rows lack a label\): leave such rows"
    ):
        getattr(model, method)(X, both)


OUTSIDE = np.where(np.arange(N) == 7, -1.0, np.abs(Y))


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ("0:", r"y is -1 in row 7 \(the only such row\), below the bound 0"),
        ("0:top", r"y is .* in row 9 .*, above the bound"),
        ("counts", r"y is .* in row 0 \(300 rows in all\): Counts\(\) takes whole numbers"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "evaluate", "report"])
def test_labels_that_are_none_of_their_kind_are_named_by_their_rows(method, labels, said):
    table, good = X.assign(top=9.0), np.round(np.abs(Y))
    bad = OUTSIDE if labels != "0:top" else np.where(np.arange(N) == 9, 9.5, good)
    last = [(np.arange(200), np.arange(200, N))]  # the row trains
    model = CalibratedRegressor(Ridge(), labels=labels, refine=None, cv=last).fit(table, good)
    with pytest.raises(ValueError, match=said):
        getattr(model, method)(table, bad)


@pytest.mark.parametrize("y", [[str(v) for v in Y], pd.Series([str(v) for v in Y]), [*Y[:-1].tolist(), "12"]])
def test_labels_that_are_texts_are_refused(y):
    with pytest.raises(TypeError, match=r"y must hold numbers, got the text '.*' in row"):
        CalibratedRegressor(Ridge()).fit(X, y)
    CalibratedRegressor(Ridge(), refine=None).fit(X, np.array(Y, dtype=object))  # numbers in any array


# ---- groups of a report ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        (PART, ["group"]),
        (PART.tolist(), ["group"]),
        (pd.Series(PART, name="part"), ["part"]),
        ({"part": PART, "c": X["c"]}, ["part", "c"]),
        (pl.DataFrame({"part": PART}), ["part"]),
        ("part", ["part"]),
        (["part", "c"], ["part", "c"]),
        (np.array(["part", "c"]), ["part", "c"]),
        ((), []),
        (None, []),
    ],
)
def test_groups_of_a_report_are_columns_of_x_or_whatever_a_report_takes(groups, names):
    given = slices_in(PARTS, groups)
    found = [] if given is None else [slices_of(name, each, N) for name, each in columns_of(given, "group")]
    assert [slices.name for slices in found] == names
    if "c" not in names and names:
        assert found[0].labels == ("day", "night")


def test_numbers_in_an_array_of_one_value_a_row_are_no_columns():
    table, group = X.to_numpy(), np.arange(N) % 2
    assert slices_in(table, group) is group
    assert list(slices_in(table, [0, 2])) == ["0", "2"]
    order = np.array([2, 0, 1])
    assert slices_in(table[:3], order) is order
    assert list(slices_in(table[:3], order.tolist())) == ["2", "0", "1"]
    for rows in (X[:3], table[:3]):
        assert slices_in(rows, ["dawn", "day", "dusk"]) == ["dawn", "day", "dusk"]  # distinct, and no columns
    assert slices_in(table[:3], [0, 1, 0]) == [0, 1, 0]  # columns, and not distinct


def test_the_report_by_groups_is_that_of_the_forecasts():
    model = fitted(Ridge())
    page = model.report(X, Y, groups={"part": PART}, features=())
    distribution, base = model.predict_distribution(X), prediction_of(model.estimators_[0], X)
    assert (
        page.html
        == calibrant.report(distribution, Y, base=base, groups={"part": PART}, guarantee=model.guarantee_).html
    )


@pytest.mark.parametrize("name", [None, "price"])
@pytest.mark.parametrize("cv", [0.2, 2, "mixture:2"])
def test_a_report_shows_one_model_beside_its_forecasts_and_the_name_of_its_labels(cv, name, monkeypatch):
    model = fitted(Ridge(), cv=cv)
    monkeypatch.setattr("calibrant.sklearn.predicting.report", lambda H, y, **given: given)
    given = model.report(X, pd.Series(Y, name=name))
    assert given["label"] == (name or "y")
    assert (given["base"] is None) == (cv == "mixture:2")  # of two folds neither model made the forecasts


def test_a_group_that_is_no_column_is_named_in_plain_words():
    with pytest.raises(ValueError, match="groups names the column 'night', and those of X are a, b, c"):
        fitted().report(X, Y, groups=np.array(["night"]))


# ---- few rows, files, numbers ---------------------------------------------------------------------------------------


def test_one_row_is_too_few_to_train_and_to_calibrate():
    with pytest.raises(ValueError, match=r"cv=0\.2 of n_samples=1 leaves none to train on: give more rows, or a model"):
        CalibratedRegressor(Ridge()).fit(X[:1], Y[:1])
    with pytest.raises(ValueError, match=r"cv=0\.9 of n_samples=5 leaves none to train on"):
        CalibratedRegressor(Ridge(), cv=0.9).fit(X[:5], Y[:5])
    with pytest.raises(ValueError, match=r"cv=0\.2 of n_samples=5 in 1 groups leaves none to train on"):
        CalibratedRegressor(Ridge()).fit(X[:5], Y[:5], groups=[1] * 5)


def test_no_row_is_answered_with_no_row_or_one_sentence():
    with pytest.raises(ValueError, match="X has no rows, and the estimator predicts for one row or more"):
        fitted(Ridge()).predict_interval(X[:0])
    assert fitted().predict_interval(X[:0]).shape == (0, 2)  # a model that answers


def test_a_saved_calibration_of_a_refined_model_refuses_the_points_of_the_model(tmp_path):
    model = CalibratedRegressor(Ridge(), refine="quantiles", random_state=0).fit(X, Y)
    model.save_calibration(tmp_path / "m.safetensors")
    with pytest.raises(TypeError, match="got points: give it the kind of prediction it was calibrated on"):
        calibrant.load(tmp_path / "m.safetensors")(Ridge().fit(X, Y).predict(X))


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_or_a_model_in_place_of_a_prediction_is_told_the_way(kind):
    calibrated = fitted(Ridge()).calibrated_
    with pytest.raises(TypeError, match=r"got the table \w+: pass prediction_of\(model, X\), or name the column"):
        calibrated(KINDS[kind](X))
    with pytest.raises(TypeError, match=r"Ridge is a model: pass prediction_of\(model, X\)"):
        calibrated(Ridge())


def test_parameters_of_several_models_are_set_and_searched_by_their_numbers():
    several = CalibratedRegressor([Ridge(), Ridge(2.0)], refine=None, random_state=0)
    assert several.get_params()["estimator__1__alpha"] == 2.0
    searched = GridSearchCV(several, {"estimator__0__alpha": [0.1, 1e6]}, scoring=neg_crps, cv=3).fit(X, Y)
    assert searched.best_params_ == {"estimator__0__alpha": 0.1}
    assert [each.alpha for each in searched.best_estimator_.estimator] == [0.1, 2.0]
    assert [each.alpha for each in several.estimator] == [1.0, 2.0]  # the search copies
    assert several.set_params(estimator=[Ridge()], estimator__0__alpha=7.0, cv=0.3).estimator[0].alpha == 7.0
    for name in ("estimator__alpha", "estimator__1__alpha", "estimator__3__alpha", "estimator__0"):
        with pytest.raises(ValueError, match=f"estimator is a list of 1 models, .* got '{name}'"):
            several.set_params(**{name: 1.0})


@pytest.mark.parametrize(
    ("models", "kind"),
    [([np.zeros_like, np.abs], Ensemble), ((np.zeros_like, np.abs), Ensemble), ({0.1: np.zeros_like}, Quantiles)],
    ids=lambda value: type(value).__name__,
)
def test_importing_the_models_registers_lists_tuples_and_dicts(models, kind):
    assert isinstance(reload(calibrant.models).prediction_of(models, Y), kind)


def test_what_was_saved_says_how_to_predict(tmp_path):
    model = fitted(Ridge())
    model.save_calibration(tmp_path / "m.safetensors")
    calibrated = calibrant.load(tmp_path / "m.safetensors")
    for name in ("predict_interval", "predict_distribution", "predict", "predict_quantiles"):
        assert not hasattr(calibrated, name)
        with pytest.raises(AttributeError, match=rf"no attribute '{name}': it holds the calibration, not the model"):
            getattr(calibrated, name)
    with pytest.raises(AttributeError, match=r"no attribute 'intervall'$"):
        _ = calibrated.intervall
    lower, upper = calibrated(model.predict_base(X)).interval(0.9)
    np.testing.assert_array_equal(np.stack([lower, upper], axis=1), model.predict_interval(X))
    joblib.dump(model, tmp_path / "m.joblib")
    np.testing.assert_array_equal(joblib.load(tmp_path / "m.joblib").predict_interval(X), model.predict_interval(X))


def test_the_distributions_of_folds_and_of_several_labels_say_it_too():
    with pytest.raises(AttributeError, match="'CrossCalibrated' object has no attribute 'predict': it holds"):
        _ = fitted(LinearRegression(), cv="mixture").calibrated_.predict
    both = np.stack([Y, Y], axis=1)
    several = CalibratedRegressor(Ridge(), refine=None).fit(X, both).calibrated_
    with pytest.raises(AttributeError, match="'SeveralCalibrated' object has no attribute 'predict': it holds"):
        _ = several.predict


def test_update_and_track_change_the_model_and_calibrated_update_does_not():
    model = fitted(Ridge())
    before = model.calibrated_
    assert model.update(X, Y) is model
    assert (before.guarantee.n, model.calibrated_.guarantee.n) == (60, 360)
    assert before.update(X["a"].to_numpy(), Y) is not before
    model.track(X, Y)
    assert isinstance(model.calibrated_, calibrant.Tracker)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: fitted().predict_interval(X, 90), ValueError, "got 90: did you mean 0.9?"),
        (lambda: fitted().predict_interval(X, [0.5, 0.9]), TypeError, r"got \[0.5, 0.9\]: ask once for each"),
        (lambda: fitted(labels="count"), ValueError, "got 'count': did you mean 'counts'?"),
        (lambda: fitted(interpolator="linaer"), ValueError, "got 'linaer': did you mean 'linear'?"),
        (
            lambda: calibrant.Calibrator(labels=3),
            TypeError,
            r"such as calibrant.labels.Counts\(\), or its name, such as 'counts', got 3",
        ),
        (
            lambda: calibrant.Calibrator().fit((X["a"], X["b"]), Y),
            ValueError,
            r"Point.values must be 1-d, got shape \(2, 300\): Interval\(lower, upper\)",
        ),
        (
            lambda: calibrant.Calibrator(labels=calibrant.labels.Counts()).fit(Rates(Y - Y.min()), COUNTS)(Y),
            TypeError,
            r"ZScore takes Distribution, such as .* Rates\(mean\) of counts, got Point\(n=300\)",
        ),
    ],
)
def test_errors_say_what_was_probably_meant(call, error, said):
    with pytest.raises(error, match=said):
        call()


def test_a_name_of_labels_becomes_what_a_calibrator_takes():
    named = calibrant.labels.named.labels_named("counts")
    assert calibrant.Calibrator(labels=named).labels == calibrant.labels.Counts()
