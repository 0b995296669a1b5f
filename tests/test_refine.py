"""Refiners: what they learn from the residuals of training rows, and that they learn nothing else."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from calibrant import Calibrator, Ensemble, Interval, Normal, Point, Quantiles, Samples, StudentT
from calibrant.refine import (
    Constant,
    Forest,
    Mean,
    Refiner,
    ResidualLocationScale,
    ResidualQuantiles,
    forest,
    refiner_named,
)
from calibrant.refine.base import TrainingRows
from calibrant.refine.combined import Cascade
from calibrant.refine.spread import Shrinkage, Spread
from calibrant.refine.stack import at_levels
from calibrant.testing import check_refiner

SIMPLEST_FIRST = [
    Constant(),
    Spread(),
    ResidualLocationScale(),
    ResidualQuantiles((0.1, 0.5, 0.9)),
    Forest(trees=20),
    Cascade(),
    Mean(),
]


def simulated(n=1200, seed=0):
    """y = x0 + x1/2 + exp(x2/2) e, of which a point model knows x0 only."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0], X[:, 0] + 0.5 * X[:, 1] + np.exp(0.5 * X[:, 2]) * rng.normal(size=n)


X, F, Y = simulated()
ROWS = TrainingRows(X[:800], Point(F[:800]), Y[:800])


@pytest.mark.parametrize("refiner", SIMPLEST_FIRST, ids=repr)
def test_a_refiner_keeps_the_distributions(refiner):
    check_refiner(refiner)


def crps(prediction, y=Y[800:]):
    half = len(y) // 2
    return np.mean(Calibrator().fit(prediction[:half], y[:half])(prediction[half:]).crps(y[half:]))


@pytest.mark.few(2)
@pytest.mark.parametrize("refiner", SIMPLEST_FIRST[2:], ids=repr)
def test_what_the_residuals_know_makes_the_distribution_sharper(refiner):
    refined = refiner.fit(ROWS)(X[800:], Point(F[800:]))
    assert crps(refined) < 0.97 * crps(Point(F[800:]))


def test_where_residuals_know_nothing_location_and_scale_stay_as_they_are():
    rng = np.random.default_rng(1)
    noise = TrainingRows(rng.normal(size=(600, 5)), Point(np.zeros(600)), rng.normal(size=600))
    fitted = ResidualLocationScale().fit(noise)
    found = fitted(rng.normal(size=(100, 5)), Point(np.zeros(100)))
    location, scale = found.loc, found.scale
    assert np.std(location) < 0.1
    assert np.std(np.log(scale)) < 0.15


# ---- spread that is nearly zero -------------------------------------------------------------------------------------


def test_the_shrinkage_finds_the_common_scale_and_the_factor():
    rng = np.random.default_rng(2)
    spread = rng.gamma(1.0, 1.0, 20_000)
    errors = np.hypot(0.5, 2.0 * spread) * rng.laplace(size=20_000)
    found = Shrinkage.of(spread, errors)
    assert abs(found.common - 0.5) < 0.15
    assert abs(found.factor - 2.0) < 0.15


def test_a_spread_that_says_nothing_is_not_believed():
    rng = np.random.default_rng(3)
    found = Shrinkage.of(rng.gamma(0.3, 1.0, 5_000), rng.laplace(size=5_000))
    assert found.factor * 1.0 < 0.1 * found.common


@pytest.mark.parametrize("zero", [0.0, 1e-75])
def test_rows_that_all_trees_agree_on_do_not_rule_the_distribution(zero):
    """A forest's trees as samples: in one row of twenty they agree by accident."""
    rng = np.random.default_rng(4)
    spread = np.where(rng.random(2000) < 0.05, zero, 1.0)
    centre, y = np.zeros(2000), rng.normal(size=2000)
    samples = Samples(centre[:, None] + spread[:, None] * rng.normal(size=(2000, 30)))
    fitted = Spread().fit(TrainingRows(np.zeros((1000, 1)), samples[:1000], y[:1000]))
    widened = fitted(None, samples[1000:])
    assert isinstance(widened, Samples)
    with pytest.warns(UserWarning, match="."):
        as_is = crps(samples[1000:], y[1000:])
    assert crps(widened, y[1000:]) < 0.62 < as_is
    assert crps(Point(np.zeros(1000)), y[1000:]) < 0.62


@pytest.mark.parametrize(
    ("prediction", "kind"),
    [
        (Interval(-np.ones(50), np.ones(50)), Interval),
        (Quantiles([0.1, 0.5, 0.9], np.array([[-1.0, 0.0, 1.0]]).repeat(50, 0)), Quantiles),
        (Samples(np.array([[-1.0, 0.0, 1.0]]).repeat(50, 0)), Samples),
        (Normal(np.zeros(50), np.ones(50)), type(Normal([0.0], [1.0]))),
        (StudentT(1.0, np.zeros(50), np.ones(50)), type(Normal([0.0], [1.0]))),
        (Ensemble([Point(np.zeros(50)), Normal(np.ones(50), np.ones(50))]), type(Normal([0.0], [1.0]))),
        (Point(np.zeros(50)), Point),
    ],
)
def test_a_widened_prediction_keeps_its_kind(prediction, kind):
    y = np.random.default_rng(5).normal(size=50)
    widened = Spread().fit(TrainingRows(np.zeros((50, 1)), prediction, y))(None, prediction)
    assert isinstance(widened, kind)
    np.testing.assert_allclose(widened.centre_rows(), prediction.centre_rows(), atol=1e-9)


def test_the_centre_and_spread_of_each_kind():
    assert Point([1.0, 2.0]).centre_rows().tolist() == [1.0, 2.0]
    assert Point([1.0]).spread_rows() is None
    assert Interval([0.0], [4.0]).centre_rows() == 2
    assert Interval([0.0], [4.0]).spread_rows() == 4
    assert Quantiles([0.25, 0.75], [[0.0, 4.0]]).centre_rows() == 2
    assert Quantiles([0.1, 0.5, 0.9], [[0.0, 1.0, 4.0]]).centre_rows() == 1
    assert Quantiles([0.1, 0.5, 0.9], [[0.0, 1.0, 4.0]]).spread_rows() == 4 / 3
    assert Quantiles([0.6, 0.9], [[0.0, 1.0]]).centre_rows() == 0
    assert Quantiles([0.1, 0.4], [[0.0, 1.0]]).centre_rows() == 1
    assert Quantiles([0.9], [[3.0]]).spread_rows() is None
    assert Samples([[0.0, 4.0]]).centre_rows() == 2
    assert Samples([[0.0, 4.0]]).spread_rows() == 2
    assert Normal([1.0], [2.0]).centre_rows() == 1
    assert Normal([1.0], [2.0]).spread_rows() == 2
    cauchy = StudentT(1.0, [3.0], [2.0])
    np.testing.assert_allclose(cauchy.centre_rows(), 3.0)
    np.testing.assert_allclose(cauchy.spread_rows(), 0.7413 * 4)
    both = Ensemble([Point([0.0]), Normal([4.0], [2.0])], weights=[3, 1])
    assert both.centre_rows() == 1
    np.testing.assert_allclose(both.spread_rows(), np.sqrt(0.75 * 1 + 0.25 * (9 + 4)))


# ---- X of every kind ------------------------------------------------------------------------------------------------


def with_categories(kind):
    colour = np.array(["red", "green", "blue", None])[np.random.default_rng(0).integers(0, 4, 1200)]
    columns = {"a": X[:, 1], "b": np.where(X[:, 2] > 2, np.nan, X[:, 2]), "colour": colour.tolist()}
    columns["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(1200), "D")
    frame = pd.DataFrame(columns)
    if kind == "categorical":
        return frame.astype({"colour": "category"})
    return pl.from_pandas(frame) if kind == "polars" else frame


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["pandas", "categorical", "polars"])
def test_frames_with_categories_dates_and_missing_values_are_taken(kind):
    frame = with_categories(kind)
    rows = TrainingRows(frame, Point(F), Y)
    train, test = rows[np.arange(800)], rows[np.arange(800, 1200)]
    refined = Cascade().fit(train)(test.X, test.prediction)
    assert crps(refined) < 0.97 * crps(test.prediction)


def test_a_category_that_was_not_seen_is_a_missing_value():
    rows = TrainingRows(pd.DataFrame({"c": ["a", "b"] * 50}), Point(np.zeros(100)), np.arange(100.0))
    numbers = rows.features(pd.DataFrame({"c": ["b", "z", None]}), Point([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(numbers, [[1.0, 1.0], [2.0, np.nan], [3.0, np.nan]])


def test_a_text_that_was_a_number_in_fit_and_is_none_now_is_a_missing_value():
    rows = TrainingRows(pd.DataFrame({"zip": ["01", "02"] * 50}), Point(np.zeros(100)), np.arange(100.0))
    numbers = rows.features(pd.DataFrame({"zip": ["02", "A1"]}), Point([1.0, 2.0]))
    np.testing.assert_array_equal(numbers, [[1.0, 2.0], [2.0, np.nan]])


def test_a_column_of_lists_is_missing_values():
    frame = pl.DataFrame({"l": [[1], [2]], "a": [3.0, 4.0]})
    numbers = TrainingRows(frame, Point([1.0, 2.0]), np.zeros(2)).matrix
    np.testing.assert_array_equal(numbers, [[1.0, np.nan, 3.0], [2.0, np.nan, 4.0]])


@pytest.mark.parametrize("encoded_before", [True, False])
def test_some_rows_are_encoded_as_the_refinement_will_encode_new_ones(encoded_before):
    """A category that the chosen rows lack must not shift the ranks of the others."""
    rows = TrainingRows(pd.DataFrame({"c": ["a", "b", "c"] * 30}), Point(np.zeros(90)), np.arange(90.0))
    if encoded_before:
        _ = rows.matrix
    some = rows[np.flatnonzero(np.arange(90) % 3 > 0)]
    np.testing.assert_array_equal(some.features(some.X, some.prediction), some.matrix)


def test_other_columns_than_in_fit_are_refused():
    rows = TrainingRows(pd.DataFrame({"a": Y, "b": Y}), Point(F), Y)
    with pytest.raises(ValueError, match="X must have the columns of fit, but 'b' is missing"):
        rows.features(pd.DataFrame({"a": Y, "c": Y}), Point(F))
    with pytest.raises(ValueError, match="X must have 4 columns as in fit, got 3"):
        Forest(trees=5).fit(ROWS)(X[:5, :3], Point(F[:5]))


@pytest.mark.parametrize(
    "given", [sparse.csr_matrix(X), sparse.random(1200, 300, 0.1, "csr"), [str(row) for row in X[:, 0]]]
)
def test_sparse_matrices_and_texts_are_taken(given):
    rows = TrainingRows(given, Point(F), Y)
    refined = ResidualLocationScale().fit(rows[np.arange(300)])(rows[np.arange(300, 400)].X, Point(F[300:400]))
    assert np.all(np.isfinite(refined.mean()))


def test_infinite_features_are_taken():
    wild = X[:800].copy()
    wild[::50, 3] = np.inf
    assert np.all(np.isfinite(Cascade().fit(TrainingRows(wild, Point(F[:800]), Y[:800]))(wild, Point(F[:800])).values))


# ---- many rows, few rows, odd labels --------------------------------------------------------------------------------


@pytest.mark.few
@pytest.mark.parametrize("refiner", SIMPLEST_FIRST, ids=repr)
@pytest.mark.parametrize("labels", ["constant", "two values", "few rows"])
def test_odd_labels_are_taken(refiner, labels):
    n = 12 if labels == "few rows" else 60
    y = {"constant": np.ones(n), "two values": np.arange(n) % 2.0, "few rows": Y[:n]}[labels]
    refined = refiner.fit(TrainingRows(X[:n], Point(np.zeros(n)), y))(X[:n], Point(np.zeros(n)))
    assert np.all(np.isfinite(refined.centre_rows()))


def test_weights_count_as_rows():
    weight = np.where(X[:800, 3] > 0, 1.0, 0.0)
    heavy = TrainingRows(X[:800], Point(F[:800]), Y[:800] + 10 * (weight == 0), weight)
    location = ResidualLocationScale().fit(heavy)(X[800:], Point(F[800:])).loc
    assert np.max(location - F[800:]) < 3  # the rows without weight lie 10 higher


def test_rows_of_weight_zero_are_left_out_and_the_rest_weigh_one_on_average():
    rows = TrainingRows(X[:3], Point(F[:3]), Y[:3], np.array([0.0, 2.0, 6.0])).weighed()
    assert rows.sample_weight.tolist() == [0.5, 1.5]
    np.testing.assert_array_equal(rows.y, Y[1:3])
    with pytest.raises(ValueError, match="sample_weight must have a positive sum over the rows that teach"):
        TrainingRows(X[:3], Point(F[:3]), Y[:3], np.zeros(3)).weighed()


def test_the_local_distribution_of_many_rows_is_learned_from_some(monkeypatch):
    monkeypatch.setattr(forest, "_MOST", 300)
    taught = []
    monkeypatch.setattr(forest, "RandomForestRegressor", lambda *_, **__: Taught(taught))
    with pytest.raises(StopIteration):
        Forest().fit(ROWS[np.arange(800)])
    assert taught == [300]


class Taught:
    """A forest that notes how many rows it is to learn from."""

    def __init__(self, taught):
        self.taught = taught

    def fit(self, matrix, target, sample_weight=None):
        del target, sample_weight
        self.taught.append(len(matrix))
        raise StopIteration


def test_fewer_groups_than_folds_make_fewer_folds():
    assert len(TrainingRows(X, Point(F), Y, groups=np.arange(1200) % 3).folds(5)) == 3
    assert len(ROWS[np.arange(4)].folds(5)) == 4
    with pytest.raises(ValueError, match="a refiner learns from at least two groups, got 1"):
        TrainingRows(X, Point(F), Y, groups=np.zeros(1200)).folds(5)


def test_groups_stay_together_in_every_fold():
    rows = TrainingRows(X, Point(F), Y, groups=np.arange(1200) // 10)
    for train, test in rows.folds(5):
        assert not set(rows.groups[train]) & set(rows.groups[test])


# ---- the mean of refiners, and refiners of one's own -----------------------------------------------------------------


def test_the_mean_has_the_mean_of_its_members_quantiles():
    members = (ResidualLocationScale(), ResidualQuantiles())
    found = Mean(members).fit(ROWS)(X[800:], Point(F[800:]))
    each = [at_levels(member.fit(ROWS)(X[800:], Point(F[800:]))) for member in members]
    np.testing.assert_allclose(found.values, np.sort((each[0] + each[1]) / 2, axis=1))


def test_the_mean_is_at_least_as_sharp_as_its_worse_member():
    refined = {each: crps(each.fit(ROWS)(X[800:], Point(F[800:]))) for each in (*Mean().members, Mean())}
    *members, mean = refined.values()
    assert mean < max(members)


def test_few_rows_leave_a_point_as_it_is():
    point = Point(F[800:])
    assert Mean().fit(ROWS[np.arange(99)])(X[800:], point).values.tolist() == F[800:].tolist()
    assert isinstance(Mean().fit(ROWS[np.arange(100)])(X[800:], point), Quantiles)


def test_few_groups_leave_a_point_as_it_is():
    point = Point(F[800:])
    for count, kind in ((5, Point), (6, Quantiles)):
        rows = TrainingRows(X[:300], Point(F[:300]), Y[:300], groups=np.arange(300) % count)
        assert type(Mean().fit(rows)(X[800:], point)) is kind


def test_few_rows_with_a_spread_keep_it_shrunk():
    """Quantile models on 80 rows must not become points without a word."""
    quantiles = Quantiles([0.1, 0.5, 0.9], F[:80, None] + np.array([-1.0, 0.0, 1.0]))
    fitted = Mean().fit(TrainingRows(X[:80], quantiles, Y[:80]))
    assert isinstance(fitted(X[:80], quantiles), Quantiles)


def shifted(X, prediction, by):
    del X
    return Point(prediction.centre_rows() + by)


class Shift(Refiner):
    def fit(self, rows):
        return partial(shifted, by=np.median(rows.y - rows.centre))


def test_a_refiner_of_ones_own():
    check_refiner(Shift())
    rows = TrainingRows(X, Point(F - 3), Y)
    assert pickle.loads(pickle.dumps(Shift().fit(rows)))(None, Point([0.0])).values[0] > 2


class Peeks(Refiner):
    """What a row becomes depends on the rows it is asked with."""

    def fit(self, rows):
        return partial(centred)


def centred(X, prediction):
    del X
    return Point(prediction.centre_rows() - np.mean(prediction.centre_rows()))


class Forgets(Refiner):
    def fit(self, rows):
        by = np.random.default_rng().normal()
        return partial(shifted, by=by)


class Lambda(Refiner):
    def fit(self, rows):
        return lambda X, prediction: Point(prediction.centre_rows())


class Short(Refiner):
    def fit(self, rows):
        return lambda X, prediction: Point(prediction.centre_rows()[1:])


@pytest.mark.parametrize(
    ("refiner", "said"),
    [(Peeks(), "by itself"), (Forgets(), "rows.seed"), (Lambda(), "must pickle"), (Short(), "one prediction per row")],
)
def test_the_check_names_the_distribution_that_broke(refiner, said):
    with pytest.raises(AssertionError, match=said):
        check_refiner(refiner)


def test_bad_input():
    for wrong in ("best", "default", ["constant"], 3):
        with pytest.raises(ValueError, match=r"refine must be a Refiner, or one of constant, spread, .* mean, got"):
            refiner_named(wrong)
    with pytest.raises(TypeError, match=r"Mean.members must be refiners"):
        Mean([])
    for wrong in ((0.9, 0.1), (0.0, 0.5), (), 0.5):
        with pytest.raises(ValueError, match=r"ResidualQuantiles.levels must increase strictly inside \(0, 1\), got"):
            ResidualQuantiles(wrong)
    for wrong in ({"trees": 0}, {"leaf": 2.5}, {"prior": 0.0}):
        with pytest.raises(ValueError, match=rf"Forest.{next(iter(wrong))} must be"):
            Forest(**wrong)
