"""Refined: an estimator around a model, and what reaches it inside CalibratedRegressor."""

import pickle
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, LinearRegression, QuantileRegressor, Ridge
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from calibrant import (
    CalibratedRegressor,
    Point,
    Refined,
    neg_crps,
    prediction_of,
)
from calibrant.refine import Constant, Refiner, ResidualLocationScale
from calibrant.refine.combined import Cascade
from calibrant.refine.spread import Spread
from calibrant.sklearn import learning
from calibrant.sklearn.meta_estimator import Routed
from calibrant.sklearn.splits import Split

RNG = np.random.default_rng(7)
X = RNG.normal(size=(500, 3))
Y = X @ [1.0, 2.0, -1.0] + np.exp(0.7 * X[:, 0]) * RNG.normal(size=500)
SEEN, NEW = slice(0, 350), slice(350, 500)
ROW = np.arange(500.0)[:, None]


class Notes(Refiner):
    """Keeps the rows it was shown, whose number is their only feature."""

    def fit(self, rows):
        return partial(noted, rows=rows)


def noted(X, prediction, rows):
    del X, rows
    return Point(prediction.centre_rows())


def shown(refined):
    return refined.refinement_.keywords["rows"]


@dataclass(frozen=True)
class Shift(Refiner):
    by: float

    def fit(self, rows):
        return partial(shifted, by=self.by)


def shifted(X, prediction, by):
    del X
    return Point(prediction.centre_rows() + by)


@parametrize_with_checks([Refined(Ridge(), "spread", random_state=0)])
def test_it_is_a_scikit_learn_regressor(estimator, check):
    check(estimator)


# ---- Refined --------------------------------------------------------------------------------------------------------


def test_every_row_is_predicted_by_a_model_that_did_not_see_it():
    model = Refined(HistGradientBoostingRegressor(max_iter=20), Notes(), cv=KFold(5)).fit(X[SEEN], Y[SEEN])
    rows = shown(model)
    for train, test in KFold(5).split(X[SEEN]):
        alone = HistGradientBoostingRegressor(max_iter=20).fit(X[SEEN][train], Y[SEEN][train])
        np.testing.assert_allclose(rows.prediction.values[test], alone.predict(X[SEEN][test]))
    np.testing.assert_array_equal(rows.y, Y[SEEN])


class Seer(RegressorMixin, BaseEstimator):
    """Knows the label of each row that it saw, and says 0 of others; the number of a row is its only feature."""

    def fit(self, X, y):
        self.known_ = dict(zip(X[:, 0].tolist(), y.tolist(), strict=True))
        return self

    def predict(self, X):
        return np.array([self.known_.get(row, 0.0) for row in X[:, 0].tolist()])


def test_five_copies_are_kept_and_each_row_is_unseen_by_one():
    (copies,) = Refined(Seer(), "constant", random_state=0).fit(ROW, Y).estimators_
    unseen = [set(range(500)) - set(map(int, copy.known_)) for copy in copies]
    assert [len(rows) for rows in unseen] == [100] * 5
    assert set.union(*unseen) == set(range(500))


def test_the_mean_of_the_copies_predicts():
    model = Refined(HistGradientBoostingRegressor(max_iter=5), None, random_state=0).fit(X[SEEN], Y[SEEN])
    (copies,) = model.estimators_
    np.testing.assert_allclose(model.predict(X[NEW]), np.mean([copy.predict(X[NEW]) for copy in copies], axis=0))


def test_a_copy_that_saw_its_rows_is_caught(monkeypatch):
    """The refiner of honest copies learns nothing of the label; where the copies are taught all rows, it sees them."""
    honest = Refined(Seer(), Notes(), random_state=0).fit(ROW, Y)
    assert not shown(honest).prediction.values.any()
    split, everything = Split.folds, np.arange(500)
    monkeypatch.setattr(Split, "folds", lambda *a, **k: [(everything, test) for _, test in split(*a, **k)])
    leaking = Refined(Seer(), Notes(), random_state=0).fit(ROW, Y)
    np.testing.assert_array_equal(shown(leaking).prediction.values, Y)


def test_learning_returns_the_rows_held_out_and_their_refined_predictions():
    model = Refined(Ridge(), Constant(), cv=TimeSeriesSplit(4))
    rows, found = model.learn(X[SEEN], Y[SEEN], Routed([{}], {}))
    np.testing.assert_array_equal(rows, np.arange(70, 350))
    for copy, (_, test) in zip(model.estimators_[0], TimeSeriesSplit(4).split(X[SEEN]), strict=True):
        np.testing.assert_allclose(found.values[test - 70], copy.predict(X[SEEN][test]))


def test_what_is_stacked_is_what_the_refinement_was_given():
    model = Refined([Ridge(), DummyRegressor()], Shift(1.0), random_state=0).fit(X[SEEN], Y[SEEN])
    np.testing.assert_allclose(model.predict(X[NEW]), model.predict_stacked(X[NEW]).values + 1.0)


def test_rows_in_no_held_out_part_teach_the_refiner_nothing():
    model = Refined(Ridge(), Notes(), cv=TimeSeriesSplit(4)).fit(X[SEEN], Y[SEEN])
    np.testing.assert_array_equal(shown(model).y, Y[SEEN][70:])


def test_rows_held_out_twice_are_refused():
    with pytest.raises(ValueError, match=r"cv of Refined must hold out each row at most once, got row \d+ \d times"):
        Refined(Ridge(), Notes(), cv=ShuffleSplit(3, random_state=0)).fit(X[SEEN], Y[SEEN])
    rows = np.arange(len(Y[SEEN]))
    twice = [(np.delete(rows, held), held) for held in (rows[:100], rows[99:200])]
    with pytest.raises(ValueError, match="got row 99 2 times"):
        Refined(Ridge(), Notes(), cv=twice).fit(X[SEEN], Y[SEEN])


def test_a_frozen_model_is_refined_on_the_rows_as_they_are():
    base = Ridge().fit(X[:100], Y[:100])
    model = Refined(FrozenEstimator(base), Notes()).fit(X[100:350], Y[100:350])
    np.testing.assert_array_equal(shown(model).prediction.values, base.predict(X[100:350]))
    assert len(shown(model)) == 250


def test_nothing_is_known_before_fit():
    for ask in (Refined(Ridge()).predict_forecast, Refined(Ridge()).predict):
        with pytest.raises(NotFittedError):
            ask(X)


def test_it_clones_pickles_and_nests():
    model = Refined(make_pipeline(StandardScaler(), Ridge()), "location-scale", random_state=0)
    fitted = clone(model).fit(X[SEEN], Y[SEEN])
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(fitted.predict(X[NEW]), again.predict(X[NEW]))
    np.testing.assert_array_equal(fitted.predict(X[NEW]), clone(model).fit(X[SEEN], Y[SEEN]).predict(X[NEW]))
    pipeline = make_pipeline(StandardScaler(), Refined(Ridge(), "location-scale", random_state=0)).fit(X[SEEN], Y[SEEN])
    np.testing.assert_allclose(prediction_of(pipeline, X[NEW]).mean(), pipeline.predict(X[NEW]))


def test_it_can_be_searched():
    model = CalibratedRegressor(Ridge(), refine="constant", random_state=0)
    grid = {"refine": ["constant", ResidualLocationScale()], "estimator__alpha": [0.1]}
    search = GridSearchCV(model, grid, scoring=neg_crps, cv=2).fit(X, Y)
    assert search.best_params_["refine"] == ResidualLocationScale()


class Weighed(RegressorMixin, BaseEstimator):
    def fit(self, X, y, sample_weight=None):
        self.mean_ = np.average(y, weights=sample_weight)
        self.weight_ = sample_weight
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


@pytest.mark.filterwarnings("ignore:the rows seem to be sorted")
def test_weights_reach_the_model_and_the_refiner():
    weight = np.arange(1.0, 351.0)
    model = Refined(Weighed(), Notes(), cv=3).fit(X[SEEN], Y[SEEN], sample_weight=weight)
    (copies,) = model.estimators_
    assert sum(copy.weight_.sum() for copy in copies) == 2 * weight.sum()  # each row teaches two of three
    np.testing.assert_allclose(shown(model).sample_weight, weight / weight.mean())
    inside = CalibratedRegressor(Weighed(), refine=Notes(), cv="mixture:2").fit(
        ROW[SEEN], Y[SEEN], sample_weight=weight
    )
    for part in inside.estimators_:
        train = shown(part).X[:, 0].astype(int)
        np.testing.assert_allclose(shown(part).sample_weight, weight[train] / weight[train].mean())


def test_rows_without_weight_do_not_teach_the_refiner():
    """Their labels are absurd, and medians and thresholds know no weights."""
    weight = np.arange(350) % 2.0
    y = np.where(weight > 0, Y[SEEN], 1e12)
    model = Refined(Ridge(), Cascade(), random_state=0).fit(X[SEEN], y, sample_weight=weight)
    assert np.max(np.abs(model.predict(X[NEW]) - Y[NEW])) < 50


def test_only_ratios_of_weights_count():
    weight = np.where(X[SEEN, 0] > 0, 3.0, 1.0)
    each = [
        Refined(Weighed(), Cascade(), random_state=0).fit(X[SEEN], Y[SEEN], sample_weight=w)
        for w in (weight, 8 * weight)
    ]
    np.testing.assert_allclose(each[0].predict(X[NEW]), each[1].predict(X[NEW]))


@pytest.mark.filterwarnings("ignore:groups= keeps the rows of a group together")
@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
def test_few_groups_are_no_obstacle(count):
    """As few as there are, one of which calibrates: the mean of refiners needs six to train on, folds need two."""
    groups, least = np.arange(350) % count, None if count == 2 else "spread"
    model = CalibratedRegressor(Ridge(), random_state=0).fit(X[SEEN], Y[SEEN], groups=groups)
    plain = CalibratedRegressor(Ridge(), refine=least, random_state=0).fit(X[SEEN], Y[SEEN], groups=groups)
    np.testing.assert_allclose(model.predict_base(X[NEW]).values, plain.predict_base(X[NEW]).values)


@pytest.mark.parametrize("given", [["c", "extra", "b", "a"], ["b", "c", "a"]])
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas])
def test_columns_are_known_by_name(given, kind):
    """A column transformer takes its columns in any order, and more than it needs."""
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    base = make_pipeline(make_column_transformer((StandardScaler(), ["a", "b", "c"])), Ridge())
    model = CalibratedRegressor(base, refine="location-scale", random_state=0).fit(kind(frame[:350]), Y[SEEN])
    moved = kind(frame.assign(extra=1.0)[given][350:])
    np.testing.assert_allclose(model.predict_interval(moved), model.predict_interval(kind(frame[350:])))


def test_metadata_routing():
    weight = np.arange(1.0, 351.0)
    with sklearn.config_context(enable_metadata_routing=True):
        base = Weighed().set_fit_request(sample_weight=True)
        model = Refined(base, Notes(), cv=3).fit(X[SEEN], Y[SEEN], sample_weight=weight)
        np.testing.assert_allclose(shown(model).sample_weight, weight / weight.mean())
        outer = CalibratedRegressor(base, refine=Notes(), random_state=0).fit(X[SEEN], Y[SEEN], sample_weight=weight)
        assert shown(outer.estimators_[0]).sample_weight.shape == (280,)


# ---- inside CalibratedRegressor -------------------------------------------------------------------------------------


@pytest.fixture
def taught(monkeypatch):
    """The rows that each refiner learned from, as sets of their numbers."""
    known, fit = [], Notes.fit

    def noting(self, rows):
        known.append(set(rows.X[:, 0].astype(int).tolist()))
        return fit(self, rows)

    monkeypatch.setattr(Notes, "fit", noting)
    return known


ONE_SPLIT = list(ShuffleSplit(1, random_state=0).split(X))


@pytest.mark.parametrize("cv", [KFold(3), ONE_SPLIT], ids=["every row", "one split"])
def test_no_calibration_row_teaches_the_refiner_of_its_score(cv, taught):
    splits = list(cv.split(X)) if hasattr(cv, "split") else cv
    CalibratedRegressor(Ridge(), refine=Notes(), cv=cv).fit(ROW, Y)
    whole = [rows for rows in taught if len(rows) == 500]
    assert len(whole) == (len(splits) > 1)  # what predicts has seen every row
    assert [rows for rows in taught if len(rows) < 500] == [set(train.tolist()) for train, _ in splits]


@pytest.mark.filterwarnings("ignore:the rows seem to be sorted")
def test_no_calibration_row_of_a_mixture_teaches_the_refiner_of_its_fold(taught):
    CalibratedRegressor(Ridge(), refine=Notes(), cv="mixture:3", random_state=0).fit(ROW, Y)
    held = [set(range(500)) - rows for rows in taught]
    assert sorted(map(len, held)) == [166, 167, 167]
    assert set.union(*held) == set(range(500))


def test_a_planted_leak_is_caught(monkeypatch, taught):
    """The refiner gets the calibration rows too: the same check sees every one of them."""
    whole = learning.learned
    monkeypatch.setattr(learning, "learned", lambda model, X, y, *rest: whole(model, ROW, Y, *rest))
    CalibratedRegressor(Ridge(), refine=Notes(), cv=KFold(3)).fit(ROW, Y)
    assert all(len(rows & set(test.tolist())) > 100 for rows, (_, test) in zip(taught, KFold(3).split(X), strict=False))


@pytest.mark.filterwarnings("ignore:the rows seem to be sorted")
def test_groups_reach_the_inner_folds():
    groups = np.arange(500) // 10
    model = CalibratedRegressor(Ridge(), refine=Notes(), cv=0.2, random_state=0).fit(ROW, Y, groups=groups)
    rows = shown(model.estimators_[0])
    np.testing.assert_array_equal(rows.groups, groups[rows.X[:, 0].astype(int)])
    for train, test in rows.folds(3):
        assert not set(rows.groups[train]) & set(rows.groups[test])


def test_without_refinement_the_bits_are_what_they_were():
    model = CalibratedRegressor(Ridge(), refine=None, random_state=3).fit(X[SEEN], Y[SEEN])
    train, held = next(ShuffleSplit(1, test_size=0.2, random_state=_first_draw(3)).split(X[SEEN]))
    train = np.sort(train)  # the order of the table
    base = Ridge().fit(X[SEEN][train], Y[SEEN][train])
    q = np.sort(Y[SEEN][held] - base.predict(X[SEEN][held]))
    np.testing.assert_array_equal(model.calibrated_.q.knots[np.isin(model.calibrated_.q.knots, q)], q)


def _first_draw(seed):
    return np.random.RandomState(seed).randint(2**31 - 1)


def test_what_the_default_means():
    def refined(**told):
        (refiner,) = CalibratedRegressor(**{"estimator": Ridge(), **told})._refiners(None)
        return refiner

    assert refined() == "mean"
    assert refined(estimator=None) == refined(estimator=[Ridge(), LinearRegression()]) == "mean"
    assert refined(labels="log") is None
    assert refined(labels="0:") == "mean"
    assert refined(calibration_score="residual") is None
    assert refined(adapter="point") is None
    assert refined(estimator=FrozenEstimator(Ridge())) is None
    assert refined(estimator=Refined(Ridge())) is None
    for before in ([], [StandardScaler()], [StandardScaler(), StandardScaler()]):
        assert refined(estimator=make_pipeline(*before, Ridge())) == "mean"
        assert refined(estimator=make_pipeline(*before, Refined(Ridge()))) is None
    assert refined(calibration_score="zscore", refine="location-scale") == "location-scale"
    assert refined(refine=None) is None


def test_the_refiner_learns_from_five_folds_unless_told_otherwise():
    model = Refined(DummyRegressor(), Notes(), random_state=0).fit(X[SEEN], Y[SEEN])
    wanted = np.empty(350)
    for train, held in KFold(5, shuffle=True, random_state=_first_draw(0)).split(X[SEEN]):
        wanted[held] = Y[SEEN][train].mean()
    np.testing.assert_allclose(shown(model).prediction.values, wanted)


@pytest.mark.filterwarnings("ignore:the rows seem to be sorted")
def test_splits_refiners_and_uniforms_have_seeds_of_their_own_from_the_random_state():
    def drawn(random):
        return int(random.randint(2**31 - 1))

    model = CalibratedRegressor(Ridge(), refine=Notes(), random_state=0).fit(ROW, Y)
    random = np.random.RandomState(0)
    (train, _), inner = next(ShuffleSplit(1, test_size=0.2, random_state=drawn(random)).split(ROW)), drawn(random)
    train = np.sort(train)
    assert model.seed_ == drawn(random)
    rows, random = shown(model.estimators_[0]), np.random.RandomState(inner)
    np.testing.assert_array_equal(rows.X[:, 0], train)
    _, test = next(KFold(5, shuffle=True, random_state=drawn(random)).split(train))
    alone = Ridge().fit(np.delete(ROW[train], test, 0), np.delete(Y[train], test))
    np.testing.assert_allclose(rows.prediction.values[test], alone.predict(ROW[train][test]))
    assert rows.seed == drawn(random)

    several = CalibratedRegressor(Ridge(), refine=Notes(), random_state=0).fit(ROW, np.stack([Y, -Y], axis=1))
    random = np.random.RandomState(0)
    _, inner = drawn(random), np.random.RandomState(drawn(random))
    _, wanted = drawn(inner), drawn(inner)  # of the folds, and of the refiner, as for one label
    assert [shown(each).seed for each in several.estimators_[0].models] == [wanted] * 2
    assert several.seed_ == drawn(random)


def test_few_training_rows_stay_plain():
    model = CalibratedRegressor(Ridge(), random_state=0).fit(X[:100], Y[:100])
    assert isinstance(prediction_of(model.estimators_[0], X[NEW]), Point)


@pytest.mark.parametrize(("train", "refined"), [([0], False), ([0, 1], True)], ids=["one", "two"])
def test_two_training_rows_or_groups_are_refined_by_default_and_one_is_not(train, refined):
    one = CalibratedRegressor(Ridge(), cv=[(train, [2, 3, 4])]).fit(X[:5], Y[:5])
    assert isinstance(one.estimators_[0], Refined) == refined
    rows, held = np.flatnonzero(np.isin(np.arange(50) % 10, train)), np.flatnonzero(np.arange(50) % 10 > 1)
    grouped = CalibratedRegressor(Ridge(), cv=[(rows, held)]).fit(X[:50], Y[:50], groups=np.arange(50) % 10)
    assert isinstance(grouped.estimators_[0], Refined) == refined


def test_a_frozen_model_with_refinement_divides_its_rows():
    base = Ridge().fit(X[:100], Y[:100])
    model = CalibratedRegressor(FrozenEstimator(base), refine="location-scale", cv=0.5, random_state=0)
    model.fit(X[100:], Y[100:])
    assert model.guarantee_.n == 200
    assert len(prediction_of(model, X[NEW]).median()) == 150


@pytest.mark.few
@pytest.mark.parametrize(
    "base",
    [
        RandomForestRegressor(10, random_state=0),
        BayesianRidge(),
        [QuantileRegressor(quantile=q, alpha=0) for q in (0.1, 0.5, 0.9)],
        [LinearRegression(), Ridge(10.0)],
    ],
    ids=["trees", "return_std", "quantiles", "an ensemble"],
)
@pytest.mark.parametrize("refine", ["spread", "location-scale"])
@pytest.mark.filterwarnings("ignore:Quantiles.values crosses")
def test_bases_with_a_spread_are_refined_too(base, refine):
    plain = CalibratedRegressor(base, refine="constant", random_state=0).fit(X[SEEN], Y[SEEN])
    model = CalibratedRegressor(base, refine=refine, random_state=0).fit(X[SEEN], Y[SEEN])
    assert neg_crps(model, X[NEW], Y[NEW]) > 1.1 * neg_crps(plain, X[NEW], Y[NEW])


def test_frames_with_categories_pass_as_the_base_accepts_them():
    frame = pd.DataFrame({"a": X[:, 0], "c": pd.Categorical(np.where(X[:, 1] > 0, "up", "down"))})
    frame.loc[::7, "a"] = np.nan
    base = HistGradientBoostingRegressor(categorical_features="from_dtype", max_iter=20)
    model = CalibratedRegressor(base, refine="location-scale", random_state=0).fit(frame[:350], Y[SEEN])
    interval = model.predict_interval(frame[350:])
    assert list(interval.index) == list(range(350, 500))
    assert (interval.upper > interval.lower).all()


@pytest.mark.slow
def test_what_ends_in_a_refined_model_is_not_refined_again():
    inner = Refined(Ridge(), "location-scale", random_state=0)
    for model in (make_pipeline(StandardScaler(), inner), GridSearchCV(inner, {"estimator__alpha": [1.0, 2.0]})):
        fitted = CalibratedRegressor(model, random_state=0).fit(X[SEEN], Y[SEEN])
        assert not isinstance(fitted.estimators_[0], Refined)
        assert fitted.predict_distribution(X[:3]).std().std() > 0  # the spread that was learned inside


def test_a_bad_refiner_is_named():
    for wrong in ("best", "default", ["constant", "spread"]):
        for model in (Refined(Ridge(), wrong), CalibratedRegressor(Ridge(), refine=wrong)):
            with pytest.raises(ValueError, match=r"refine must be a Refiner, or one of constant, .*, mean, got"):
                model.fit(X, Y)


def test_spread_of_a_forest_on_rows_where_trees_agree():
    """Half of the labels are exactly zero, and there all trees say zero; now and then they are wrong."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(1200, 2))
    y = np.where(Z[:, 0] > 0, np.exp(Z[:, 1] + rng.normal(size=1200)), 0.0)
    y[rng.random(1200) < 0.005] += 30.0
    forest = RandomForestRegressor(30, min_samples_leaf=2, random_state=0)
    model = CalibratedRegressor(forest, refine=Spread(), random_state=0).fit(Z[:800], y[:800])
    plain = CalibratedRegressor(forest, refine=Constant(), random_state=0).fit(Z[:800], y[:800])
    assert neg_crps(model, Z[800:], y[800:]) > neg_crps(plain, Z[800:], y[800:]) - 0.02
