"""Several models stacked: their weights, the kinds they may have, and what predicts afterwards."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, LinearRegression, QuantileRegressor, Ridge
from sklearn.neighbors import KNeighborsRegressor

from calibrant import (
    CalibratedRegressor,
    Ensemble,
    Interval,
    Normal,
    Point,
    Quantiles,
    Refined,
    Samples,
    StudentT,
    neg_crps,
    prediction_of,
    report,
)
from calibrant.distributions import Poisson
from calibrant.refine.stack import LEVELS, Stack, at_levels, averaged
from calibrant.sklearn.meta_estimator import Routed

RNG = np.random.default_rng(3)
X = RNG.uniform(-2, 2, size=(300, 3))
Y = X[:, 0] + np.sin(3 * X[:, 1]) + (0.2 + 0.2 * (X[:, 2] > 0)) * RNG.normal(size=300)
SEEN, NEW = slice(0, 200), slice(200, 300)
CURVED, STRAIGHT = np.sin(3 * X[:, 1]), X[:, 0]
"""Two halves of the truth: the mean of both is better than either."""


def learned(*predictions, **told):
    return Stack.learned([f"model {k}" for k in range(len(predictions))], predictions, Y, **told)


def error(prediction):
    """The CRPS of the errors around a point, or the pinball loss of quantiles twice."""
    if isinstance(prediction, Point):
        r = Y - prediction.values
        return np.mean(np.abs(r[:, None] - r)) / 2
    short = Y[:, None] - at_levels(prediction)
    return 2 * np.mean(np.maximum(LEVELS * short, (np.asarray(LEVELS) - 1) * short))


POINTS = [Point(CURVED), Point(STRAIGHT), Point(RNG.normal(size=300))]
SPREAD = Normal(STRAIGHT, np.full(300, 0.8))
LISTS = {"points": POINTS, "distributions": [SPREAD, Normal(CURVED, np.full(300, 1.2))], "both": [*POINTS[:2], SPREAD]}


# ---- weights --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", LISTS)
def test_weights_are_shares(kind):
    weights = learned(*LISTS[kind]).weights
    assert min(weights) >= 0
    assert sum(weights) == pytest.approx(1)


@pytest.mark.parametrize("kind", LISTS)
def test_the_stack_beats_its_best_member(kind):
    assert error(learned(*LISTS[kind])(LISTS[kind])) < min(map(error, LISTS[kind]))


def test_a_model_that_knows_the_label_gets_all_the_weight():
    assert learned(*POINTS, Point(Y)).weights == (0, 0, 0, 1)


def test_a_constant_that_is_added_does_not_count_for_points():
    """Their errors around the point are learned by calibration."""
    np.testing.assert_allclose(
        learned(Point(CURVED), Point(STRAIGHT)).weights, learned(Point(CURVED + 5), Point(STRAIGHT)).weights, atol=1e-3
    )


def test_rows_of_weight_zero_do_not_teach_the_stack():
    weight = (X[:, 0] > 0) * 1.0
    knowing = Point(np.where(weight > 0, Y, 100.0))
    assert learned(Point(CURVED), knowing, sample_weight=weight).weights == (0, 1)


def test_many_rows_are_sampled_by_the_seed(monkeypatch):
    monkeypatch.setattr("calibrant.refine.stack.MOST", 50)
    one, again, other = (learned(*POINTS, seed=seed).weights for seed in (0, 0, 1))
    assert one == again != other


def test_one_model_stays_as_it_is():
    assert learned(SPREAD)([SPREAD]) is SPREAD


# ---- kinds ----------------------------------------------------------------------------------------------------------


def test_points_make_a_point_and_whatever_has_a_spread_makes_quantiles():
    assert type(learned(*POINTS)(POINTS)) is Point
    for kind in ("distributions", "both"):
        found = learned(*LISTS[kind])(LISTS[kind])
        assert found.quantile_levels() == LEVELS
        assert np.all(np.diff(found.values, axis=1) >= 0)


def test_a_point_takes_part_with_the_quantiles_of_its_own_errors():
    """Beside a distribution of no use the point alone is left, with its errors around it."""
    useless = Normal(np.full(300, 50.0), np.ones(300))
    found = learned(Point(STRAIGHT), useless)([Point(STRAIGHT), useless])
    wanted = STRAIGHT[:, None] + np.quantile(Y - STRAIGHT, LEVELS)
    np.testing.assert_allclose(found.values, wanted, atol=0.02)


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        (Point([1.0]), Point([3.0]), Point([2.0])),
        (Interval([0.0], [2.0]), Interval([2.0], [8.0]), Interval([1.0], [5.0])),
        (Quantiles([0.1, 0.9], [[0.0, 2.0]]), Quantiles([0.1, 0.9], [[2.0, 8.0]]), Quantiles([0.1, 0.9], [[1.0, 5.0]])),
        (Normal([0.0], [1.0]), Normal([4.0], [3.0]), Normal([2.0], [2.0])),
        (Samples([[5.0, 1.0]]), Samples([[3.0, 7.0]]), Samples([[2.0, 6.0]])),
        (Poisson([1.0]), Poisson([3.0]), Poisson([2.0])),
    ],
    ids=lambda each: type(each).__name__,
)
def test_the_mean_of_copies_keeps_its_kind(one, other, wanted):
    found = averaged([one, other])
    assert type(found) is type(wanted)
    assert found.form() == wanted.form()
    np.testing.assert_allclose(found.centre_rows(), wanted.centre_rows())
    if wanted.spread_rows() is not None:
        np.testing.assert_allclose(found.spread_rows(), wanted.spread_rows())


def test_the_mean_of_distributions_of_two_shapes_is_that_of_their_quantiles():
    pair = [StudentT(3.0, [0.0], [1.0]), StudentT(9.0, [0.0], [1.0])]
    np.testing.assert_allclose(averaged(pair).values, (at_levels(pair[0]) + at_levels(pair[1])) / 2)


def test_the_mean_of_two_kinds_is_an_ensemble():
    assert isinstance(averaged([Point([0.0]), Interval([0.0], [1.0])]), Ensemble)


# ---- the estimator --------------------------------------------------------------------------------------------------


def test_a_list_of_models_is_stacked_and_beats_each_of_them():
    models = [RandomForestRegressor(20, random_state=0), Ridge(), KNeighborsRegressor()]
    scores = [
        neg_crps(CalibratedRegressor(each, random_state=0, refine=None).fit(X[SEEN], Y[SEEN]), X[NEW], Y[NEW])
        for each in (models, *models)
    ]
    assert scores[0] > max(scores[1:])


def test_a_forest_a_boosted_point_model_and_quantile_models_stand_in_one_list():
    levels = [QuantileRegressor(quantile=q, alpha=0) for q in (0.1, 0.5, 0.9)]
    forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=0)
    boosted = HistGradientBoostingRegressor(max_iter=30, min_samples_leaf=5)
    model = CalibratedRegressor([forest, boosted, *levels, BayesianRidge()], random_state=0).fit(X[SEEN], Y[SEEN])
    names = ["RandomForestRegressor", "HistGradientBoostingRegressor", "BayesianRidge", "quantiles"]
    assert list(model.weights_) == names
    assert np.all(np.isfinite(model.predict_interval(X[NEW])))


def test_models_of_one_quantile_each_are_one_member():
    levels = [QuantileRegressor(quantile=q, alpha=0) for q in (0.9, 0.1)]
    model = Refined([*levels, Ridge()], None, random_state=0).fit(X[SEEN], Y[SEEN])
    assert list(model.weights_) == ["Ridge", "quantiles"]


def test_models_of_one_quantile_each_alone_stay_quantiles_at_their_levels():
    levels = [QuantileRegressor(quantile=q, alpha=0) for q in (0.9, 0.1)]
    model = CalibratedRegressor(levels, refine=None, random_state=0).fit(X[SEEN], Y[SEEN])
    assert model.predict_base(X[NEW]).quantile_levels() == (0.1, 0.9)


def test_models_of_one_class_have_names_of_their_own():
    model = Refined([Ridge(), Ridge(100.0)], None, random_state=0).fit(X[SEEN], Y[SEEN])
    assert list(model.weights_) == ["Ridge", "Ridge 2"]


def test_one_model_has_the_weight_1():
    for refine in (None, "constant"):
        fitted = CalibratedRegressor(Ridge(), refine=refine, random_state=0).fit(X[SEEN], Y[SEEN])
        assert fitted.weights_ == {"Ridge": 1.0}


class Absurd(RegressorMixin, BaseEstimator):
    """Of no use, as a point or as a distribution."""

    def __init__(self, spread=False):
        self.spread = spread

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return 1e3 * np.sin(1e5 * np.asarray(X)[:, 0])


class AbsurdNormal(Absurd):
    def predict_distribution(self, X):
        return Normal(self.predict(X), np.ones(len(X)))


@pytest.mark.parametrize("refine", [None, "location-scale"])
@pytest.mark.parametrize("absurd", [Absurd(), AbsurdNormal()], ids=["a point", "a distribution"])
@pytest.mark.parametrize("good", [Ridge(), BayesianRidge()], ids=["of a point", "of a distribution"])
def test_a_model_of_weight_zero_is_not_kept_and_the_others_predict(good, absurd, refine):
    model = CalibratedRegressor([good, absurd], refine=refine, random_state=0).fit(X[SEEN], Y[SEEN])
    assert list(model.weights_.values()) == [1.0, 0.0]
    (copies,) = model.estimators_[0].estimators_
    assert {type(copy) for copy in copies} == {type(good)}
    assert neg_crps(model, X[NEW], Y[NEW]) > -0.6


def test_what_predicts_is_what_was_scored():
    """Also where the only distribution among points has weight 0."""
    models = [Ridge(), RandomForestRegressor(5, random_state=0), AbsurdNormal()]
    model = Refined(models, None, random_state=0)
    _, found = model.learn(X, Y, Routed([{}] * 3, {}))
    assert type(model.predict_forecast(X)) is type(found)


def test_frozen_models_are_stacked_on_the_rows_as_they_are():
    models = [Ridge().fit(X[:100], Y[:100]), DummyRegressor().fit(X[:100], Y[:100])]
    model = Refined([FrozenEstimator(each) for each in models], None).fit(X[100:], Y[100:])
    assert model.weights_["Ridge"] > 0.8
    assert prediction_of(model, X[:5]).values.shape == (5,)


def test_the_weights_of_a_mixture_are_those_of_its_folds_together():
    models = [Ridge(), KNeighborsRegressor(5)]
    model = CalibratedRegressor(models, cv="mixture:2", refine=None, random_state=0).fit(X[SEEN], Y[SEEN])
    each = [fold.weights_["Ridge"] for fold in model.estimators_]
    assert model.weights_["Ridge"] == pytest.approx(np.mean(each))


def test_the_report_shows_the_weights():
    model = CalibratedRegressor([LinearRegression(), KNeighborsRegressor(5)], refine=None, random_state=0)
    page = model.fit(X[SEEN], Y[SEEN]).report(X[NEW], Y[NEW]).html
    assert page.index("Models in the forecast") < page.index("KNeighborsRegressor") < page.index("A closer look")
    alone = CalibratedRegressor(LinearRegression(), refine=None, random_state=0).fit(X[SEEN], Y[SEEN])
    assert "Models in the forecast" not in alone.report(X[NEW], Y[NEW]).html


def test_weights_that_are_no_mapping_are_refused():
    with pytest.raises(TypeError, match=r"weights must be a dict of names and weights, such as model.weights_, got 3"):
        report(Normal(Y, 1.0), Y, weights=3)
