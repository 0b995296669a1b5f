"""Rows in time order: cv="latest", and the warning where rows look so and calibration rows are drawn at random."""

import pickle

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from calibrant import CalibratedRegressor, Refined, neg_crps
from calibrant.models.frames import is_frame
from calibrant.sklearn.rows import Neighbours, column_in_order

N = 203
RNG = np.random.default_rng(0)
A = RNG.normal(size=(N, 1))
Y = A[:, 0] + RNG.normal(size=N) * np.linspace(1, 2, N)
DAYS = pd.date_range("2024-01-01", periods=N)
LOOK = "the rows seem to be sorted, grouped or in time order"
IN_ORDER = {
    "index": pd.DataFrame({"a": A[:, 0]}, index=DAYS),
    "zoned index": pd.DataFrame({"a": A[:, 0]}, index=DAYS.tz_localize("Europe/Berlin")),
    "periods": pd.DataFrame({"a": A[:, 0]}, index=DAYS.to_period("D")),
    "column": pd.DataFrame({"a": A[:, 0], "day": DAYS}),
    "polars": pl.DataFrame({"a": A[:, 0], "day": pl.Series(DAYS.to_numpy()).cast(pl.Date)}),
    "arrow": pa.table({"a": A[:, 0], "day": DAYS.to_numpy()}),
    "ties": pd.DataFrame({"a": A[:, 0]}, index=DAYS[np.arange(N) // 5]),
    "numbered columns": pd.DataFrame({0: A[:, 0]}, index=DAYS),
    "numbers": pd.DataFrame({"a": A[:, 0], "row": np.arange(N)}),
    "numbers of an array": np.column_stack([A, np.arange(N)]),
}
OTHERS = {
    "array": A,
    "shuffled": IN_ORDER["index"].sample(frac=1, random_state=0),
    "few": pd.DataFrame({"a": A[:, 0]}, index=DAYS[np.arange(N) // 50]),
    "gaps": pd.DataFrame({"a": A[:, 0], "day": DAYS.where(np.arange(N) != 3)}),
}


def column_a(X):
    return nw.from_native(X, eager_only=True)["a"].to_numpy()[:, None]


def model(X=None, **parameters):
    dated = is_frame(X) and "day" in nw.from_native(X).columns
    base = make_pipeline(FunctionTransformer(column_a), Ridge()) if dated else Ridge()
    return CalibratedRegressor(base, **{"refine": None, "random_state": 0, **parameters})


def same(one, other):
    np.testing.assert_array_equal(one.predict_quantiles(A), other.predict_quantiles(A))


def test_latest_calibrates_on_the_last_fifth_in_the_order_given():
    held = np.arange(N - 41, N)  # ceil(0.2 * 203) = 41, as many as a random split holds out
    by_hand = model(cv=[(np.arange(N - 41), held)]).fit(A, Y)
    latest = model(cv="latest").fit(A, Y)
    same(latest, by_hand)
    assert latest.guarantee_.n == model().fit(A, Y).guarantee_.n == 41
    assert model(cv="latest:0.5").fit(A, Y).guarantee_.n == 102


def test_latest_survives_clone_pickle_set_params_and_search():
    latest = model().set_params(cv="latest")
    same(pickle.loads(pickle.dumps(clone(latest).fit(A, Y))), model(cv="latest").fit(A, Y))
    found = GridSearchCV(latest, {"cv": ["latest", "latest:0.4"]}, scoring=neg_crps)
    assert found.fit(A, Y).best_params_["cv"] in ("latest", "latest:0.4")


def test_several_labels_and_what_refines_take_latest_too():
    assert model(cv="latest").fit(A, np.stack([Y, -Y], axis=1)).guarantee_.n == 41
    assert Refined(Ridge(), "spread", cv="latest", random_state=0).fit(A, Y).predict(A).shape == (N,)


@pytest.mark.parametrize("routing", [False, True])
def test_latest_refuses_groups(routing):
    refused = pytest.raises(TypeError, match="cv='latest' holds out the last rows, and groups= keeps")
    with sklearn.config_context(enable_metadata_routing=routing), refused:
        model(cv="latest").fit(A, Y, groups=np.arange(N) // 10)


def test_latest_leaves_rows_to_train_on():
    with pytest.raises(ValueError, match="n_samples=1 leaves none to train on"):
        model(cv="latest").fit(A[:1], Y[:1])


WAYS = {"auto": r"cv=ShuffleSplit\(1, test_size=0.2\) draws", 5: r"cv=KFold\(5, shuffle=True\) draws", "mixture": ""}


@pytest.mark.parametrize(("kind", "cv"), [*((kind, "auto") for kind in IN_ORDER), ("index", 5), ("index", "mixture")])
def test_rows_in_time_order_split_at_random_are_told_the_way(kind, cv):
    X = IN_ORDER[kind]
    with pytest.warns(UserWarning, match=f"{LOOK}.*cv='latest' calibrates on the last rows.*{WAYS[cv]}") as told:
        model(X, cv=cv).fit(X, Y)
    assert len(told) == 1
    assert told[0].filename == __file__


@pytest.mark.parametrize("kind", OTHERS)
def test_rows_that_say_nothing_of_time_are_told_nothing(kind):
    model(OTHERS[kind]).fit(OTHERS[kind], Y)  # a warning is an error


@pytest.mark.parametrize(
    "cv", ["latest", ShuffleSplit(1, test_size=0.2), KFold(5), [(np.arange(99), np.arange(99, N))]]
)
def test_a_split_that_somebody_chose_is_told_nothing(cv):
    model(cv=cv).fit(IN_ORDER["index"], Y)  # a warning is an error


def test_ten_values_in_order_tell_of_time_and_nine_do_not():
    assert column_in_order(IN_ORDER["column"][:10]) == "column 'day' of X"
    assert column_in_order(IN_ORDER["column"][:9]) is None


# ---- neighbours whose errors are alike ------------------------------------------------------------------------------


def drifting(n=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 1))
    return x, x[:, 0] + np.cumsum(rng.normal(size=n)) / 3 + rng.normal(size=n)


@pytest.mark.parametrize(("cv", "refine"), [("auto", "constant"), (5, None), ("mixture", None)])
def test_errors_of_neighbours_that_are_alike_are_told_once_with_the_figure(cv, refine):
    with pytest.warns(
        UserWarning, match=LOOK + r" \(the errors of neighbouring rows are correlated by 0\.\d\d\)"
    ) as told:
        model(cv=cv, refine=refine).fit(*drifting())
    assert len(told) == 1


def test_errors_of_several_labels_are_looked_at_too():
    x, y = drifting()
    with pytest.warns(UserWarning, match=LOOK):
        model().fit(x, np.stack([y, -y], axis=1))


def test_a_table_that_is_sorted_by_its_labels_says_nothing_of_time():
    x, y = drifting()
    order = np.argsort(y)
    model().fit(x[order], y[order])


def test_shuffled_tables_are_told_of_neighbours_one_time_in_a_hundred_at_most():
    rng = np.random.default_rng(0)
    assert sum(Neighbours.of(rng.standard_t(3, 200)).alike for _ in range(1000)) <= 10


def test_latest_claims_nothing_where_neighbours_are_alike():
    x, y = drifting()
    found = model(cv="latest").fit(x, y).guarantee_
    assert (found.basis, found.kind) == ("time", "no claim")
    mixed = np.random.default_rng(1).permutation(len(y))
    assert model(cv="latest").fit(x[mixed], y[mixed]).guarantee_.basis == "marginal"


def test_latest_learns_from_folds_of_neighbours():
    refined = model(cv="latest", refine="constant").fit(A, Y).estimators_[0]
    for copy, (train, _) in zip(refined.estimators_[0], KFold(5).split(A[:-41]), strict=True):
        np.testing.assert_array_equal(copy.coef_, Ridge().fit(A[train], Y[train]).coef_)


def test_a_frozen_model_splits_nothing_and_is_told_nothing():
    X = IN_ORDER["index"]
    CalibratedRegressor(FrozenEstimator(Ridge().fit(X, Y))).fit(X, Y)  # a warning is an error


@pytest.mark.parametrize("cv", ["latest:2", "latest:0", "latest:a third"])
def test_a_share_that_is_none_is_shown_with_what_is_wanted(cv):
    with pytest.raises(ValueError, match=rf"cv must be 'latest', or 'latest:0.3' for the last 30% .*, got '{cv}'"):
        model(cv=cv).fit(A, Y)
