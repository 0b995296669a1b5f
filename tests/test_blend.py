"""CalibratedRegressor without a model: the models of the blend, the tables that they take, and what is stacked."""

import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from calibrant import CalibratedRegressor, Refined, neg_crps
from calibrant.sklearn import blend as blending
from calibrant.sklearn.blend import Member, blend

TREES, SMOOTH = {"boosting", "extra trees", "forest"}, {"Gaussian process", "network", "support vectors"}
SKLEARN = TREES | SMOOTH | {"linear"}
RNG = np.random.default_rng(5)
N = 120
X = RNG.normal(size=(N, 2))
Y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.2 * RNG.normal(size=N)
KINDS = np.array(["red", "green", "blue"])[RNG.integers(0, 3, N)]


def table():
    """Numbers with gaps, a category, a text with gaps, a date and a truth."""
    return pd.DataFrame(
        {
            "a": np.where(np.arange(N) % 9 == 0, np.nan, X[:, 0]),
            "b": X[:, 1],
            "kind": pd.Categorical(KINDS),
            "text": np.where(np.arange(N) % 7 == 0, None, KINDS),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.permutation(N), "D"),
            "late": X[:, 1] > 0,
        }
    )


FEW = {"linear": Ridge(), "boosting": HistGradientBoostingRegressor(max_iter=20, random_state=0)}


@pytest.fixture
def two_models(monkeypatch):
    """A blend of two fast models."""

    def few(count, seed, **told):
        return {name: Member(each, smooth=name == "linear") for name, each in FEW.items()}

    monkeypatch.setattr("calibrant.sklearn.refined.blend", few)


# ---- which models ---------------------------------------------------------------------------------------------------


def test_sklearn_leaves_lightgbm_and_catboost_out():
    assert set(blend(100, 0, library="sklearn")) == SKLEARN


def test_what_is_installed_joins(monkeypatch):
    monkeypatch.setattr(blending, "find_spec", lambda name: name == "lightgbm")
    monkeypatch.setattr(blending, "_OTHERS", {"LightGBM": ("lightgbm", _stub), "CatBoost": ("catboost", _stub)})
    assert set(blend(100, 0)) == SKLEARN | {"LightGBM"}


def _stub(count, seed):
    return Ridge()


@pytest.mark.parametrize("package", ["lightgbm", "catboost"])
def test_the_models_of_other_libraries_are_fast_and_silent_on_few_rows(package, capfd):
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    name = {"lightgbm": "LightGBM", "catboost": "CatBoost"}[package]
    found = blend(100, 0)[name].fit(X[:100], Y[:100]).predict(X[100:])
    assert np.corrcoef(found, Y[100:])[0, 1] > 0.5
    assert capfd.readouterr() == ("", "")


def test_many_rows_leave_out_what_compares_each_with_each():
    assert "support vectors" not in blend(6_000, 0, library="sklearn")
    assert set(blend(30_000, 0, library="sklearn")) == TREES | {"linear"}


def test_rows_with_weights_leave_out_what_takes_none():
    found = blend(100, 0, library="sklearn", weighted=True)
    assert SKLEARN - set(found) <= {"Gaussian process", "network"}  # newer networks take weights
    assert "Gaussian process" not in found


def test_the_seed_decides_what_the_models_draw():
    seeds = [each.model.random_state for each in blend(100, 7, library="sklearn").values() if _draws(each.model)]
    assert set(seeds) == {7}
    assert len(seeds) == 5


def _draws(model):
    return "random_state" in model.get_params()


# ---- a member of the blend ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_member_takes_categories_gaps_dates_and_texts(kind, smooth):
    frame = table() if kind == "pandas" else pl.from_pandas(table())
    base = Ridge() if smooth else HistGradientBoostingRegressor(max_iter=30, random_state=0)
    found = Member(base, smooth=smooth).fit(frame[:90], Y[:90]).predict(frame[90:])
    assert np.corrcoef(found, Y[90:])[0, 1] > 0.6


def test_a_smooth_member_learns_an_effect_of_each_category():
    effect = {"red": 0.0, "green": 5.0, "blue": 1.0}
    y = np.array([effect[kind] for kind in KINDS])
    member = Member(Ridge(1e-6), smooth=True).fit(pd.DataFrame({"kind": KINDS}), y)
    np.testing.assert_allclose(member.predict(pd.DataFrame({"kind": ["blue", "green", "red"]})), [1, 5, 0], atol=1e-3)


def test_a_category_that_is_new_and_a_gap_that_is_new_are_answered():
    member = Member(Ridge(), smooth=True).fit(table()[:90], Y[:90])
    new = table()[90:].assign(text="violet", b=np.nan)
    assert np.all(np.isfinite(member.predict(new)))


def test_the_units_of_columns_and_labels_do_not_count_for_a_smooth_member():
    one = Member(Ridge(), smooth=True).fit(X, Y)
    other = Member(Ridge(), smooth=True).fit(1e3 * X - 7, 100 * Y + 5)
    np.testing.assert_allclose(other.predict(1e3 * X - 7), 100 * one.predict(X) + 5)


def test_a_wild_value_leads_no_smooth_member_astray():
    member = Member(Ridge(), smooth=True).fit(X, Y)
    assert np.all(np.abs(member.predict(np.array([[1e9, 0.0], [np.inf, 0.0]]))) < 20)


# ---- the estimator --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("cv", ["auto", 2])
def test_a_frame_as_it_comes_is_forecast_without_a_model(kind, cv, two_models):
    frame = table() if kind == "pandas" else pl.from_pandas(table())
    model = CalibratedRegressor(cv=cv, random_state=0).fit(frame[:90], Y[:90])
    assert set(model.weights_) == {"linear", "boosting"}
    assert neg_crps(model, frame[90:], Y[90:]) > -0.5


def test_the_column_of_by_is_seen_by_the_blend(two_models):
    frame = table()[["b", "text"]].fillna("none")
    model = CalibratedRegressor(by="text", refine=None, random_state=0).fit(frame, Y)
    member = model.estimators_[0].estimators_[0][0]
    assert member.columns_.names == ("b", "text")


def test_weights_and_groups_reach_the_blend_and_nothing_else_is_taken(two_models):
    groups = np.arange(N) // 4
    CalibratedRegressor(random_state=0).fit(X, Y, sample_weight=np.ones(N), groups=groups)
    with pytest.raises(TypeError, match="fit of a blend takes sample_weight and groups, got 'flag'"):
        CalibratedRegressor().fit(X, Y, flag=1)


def test_metadata_routing_leaves_the_blend_as_it_is(two_models):
    with sklearn.config_context(enable_metadata_routing=True):
        model = CalibratedRegressor(random_state=0).fit(X, Y, sample_weight=np.ones(N))
    plain = CalibratedRegressor(random_state=0).fit(X, Y, sample_weight=np.ones(N))
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


def test_it_stands_at_the_end_of_a_pipeline(two_models):
    pipeline = make_pipeline(FunctionTransformer(), CalibratedRegressor(random_state=0)).fit(X, Y)
    alone = CalibratedRegressor(random_state=0).fit(X, Y)
    np.testing.assert_array_equal(pipeline.predict(X), alone.predict(X))


def test_no_model_is_refined_by_default_and_may_be_left_as_it_is(two_models):
    assert CalibratedRegressor(random_state=0).fit(X, Y).estimators_[0].refine == "mean"
    assert CalibratedRegressor(refine=None, random_state=0).fit(X, Y).estimators_[0].refinement_ is None


def test_columns_in_another_order_are_refused(two_models):
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = CalibratedRegressor(random_state=0).fit(frame, Y)
    with pytest.raises(ValueError, match="Feature names must be in the same order as they were in fit"):
        model.predict(frame[["b", "a"]])


def test_the_whole_blend_is_silent_repeatable_and_sharper_than_a_linear_model():
    """All of scikit-learn's models, on a hundred rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = CalibratedRegressor("sklearn", refine=None, random_state=0).fit(X[:100], Y[:100])
    assert set(model.weights_) == SKLEARN
    linear = CalibratedRegressor(Ridge(), refine=None, random_state=0).fit(X[:100], Y[:100])
    assert neg_crps(model, X[100:], Y[100:]) > neg_crps(linear, X[100:], Y[100:])


@pytest.mark.slow
def test_the_whole_blend_gives_the_same_again():
    one, again = (Refined("sklearn", None, random_state=0).fit(X, Y).predict(X) for _ in range(2))
    np.testing.assert_array_equal(one, again)
