"""What a table shows of its rows before a model sees them, and what is said of it: copies, groups, odd labels, time."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit, TimeSeriesSplit
from sklearn.neighbors import KNeighborsRegressor
from torch import nn

from calibrant import CalibratedRegressor, Refined, load
from calibrant.sklearn.meta_estimator import Routed
from calibrant.sklearn.rows import copies_in


def table(n, seed=0, columns=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    return X, X[:, 0] + rng.normal(size=n)


# ---- copies ---------------------------------------------------------------------------------------------------------


def test_copies_have_one_number_and_other_rows_their_own():
    X, y = table(200)
    assert copies_in(X, y) is None
    copies = copies_in(np.concatenate([X, X[:50]]), np.concatenate([y, y[:50]]))
    assert len(np.unique(copies)) == 200
    np.testing.assert_array_equal(copies[:50], copies[200:])


def test_rows_that_are_equal_in_x_alone_are_no_copies():
    X, y = table(200)
    assert copies_in(np.concatenate([X, X]), np.concatenate([y, y + 1.0])) is None


@pytest.mark.parametrize("cells", [30, 400])
def test_ties_of_rounded_labels_in_cells_of_equal_x_are_no_copies(cells):
    rng = np.random.default_rng(0)
    x = rng.integers(0, cells, 4000)
    assert copies_in(x[:, None], np.round(10 * x + rng.normal(size=4000))) is None


def test_counts_of_rows_that_hardly_repeat_are_pointed_out_and_left_alone():
    X, _ = table(300)
    y = np.random.default_rng(1).poisson(2.0, 300).astype(float)
    with pytest.warns(UserWarning, match="60 rows of 360 equal another in X and in y, which may be copies or ties"):
        assert copies_in(np.concatenate([X, X[:60]]), np.concatenate([y, y[:60]])) is None


@pytest.mark.parametrize("times", [2, 5])
def test_intervals_hold_what_they_should_where_every_row_is_copied(times):
    inside = []
    for seed in range(8):
        X, y = table(300, seed)
        model = CalibratedRegressor(ExtraTreesRegressor(20, random_state=0), refine=None, random_state=seed)
        with pytest.warns(UserWarning, match=f"{300 * (times - 1):,} rows of {300 * times:,} are copies of others"):
            model.fit(np.tile(X, (times, 1)), np.tile(y, times))
        assert model.guarantee_.n == 60  # distinct rows
        new, label = table(400, seed + 100)
        lower, upper = model.predict_interval(new).T
        inside.append(np.mean((lower <= label) & (label <= upper)))
    # 8 sets of 60 rows: 4 standard errors; it was 55% and 27% where copies stood on both sides of the split
    assert abs(np.mean(inside) - 0.9) < 4 * np.sqrt(0.09 / 60 / 8)


def test_copies_stay_together_where_groups_are_calibrated_by_themselves():
    X, y = table(200)
    X[:, 5] = np.arange(200) % 2
    with pytest.warns(UserWarning, match="200 rows of 400 are copies"):
        model = CalibratedRegressor(Ridge(), by=5, refine=None, random_state=0).fit(np.tile(X, (2, 1)), np.tile(y, 2))
    assert [model.guarantee_[group].n for group in (0, 1)] == [20, 20]


@pytest.mark.parametrize(
    "cv", ["latest", ShuffleSplit(1, test_size=0.25, random_state=0), [(np.arange(0, 200), np.arange(200, 400))]]
)
def test_copies_of_rows_that_a_splitter_holds_out_do_not_train_and_calibrate_once(cv, monkeypatch):
    seen = []
    monkeypatch.setattr(Ridge, "fit", lambda self, X, y: seen.append(X) or LinearRegression().fit(X, y))
    X, y = table(300)
    order = np.random.default_rng(0).permutation(400)
    twice, labels = np.concatenate([X, X[:100]])[order], np.concatenate([y, y[:100]])[order]
    with pytest.warns(UserWarning, match="100 rows of 400 are copies"):
        model = CalibratedRegressor(Ridge(), cv=cv, refine=None, random_state=0).fit(twice, labels)
    ((train),) = seen
    held = 300 - len(np.unique(train, axis=0))
    assert model.guarantee_.n == held > 50


def test_copies_calibrate_a_frozen_model_once_and_again_in_calibrate_and_update():
    X, y = table(200)
    model = CalibratedRegressor(FrozenEstimator(Ridge().fit(*table(50, 1))), random_state=0)
    for learn in (model.fit, model.calibrate):
        with pytest.warns(UserWarning, match="200 rows of 400 are copies"):
            learn(np.tile(X, (2, 1)), np.tile(y, 2))
        assert model.guarantee_.n == 200
    with pytest.warns(UserWarning, match="50 rows of 100 are copies"):
        model.update(*(np.concatenate([each, each]) for each in table(50, 2)))
    assert model.guarantee_.n == 250


def test_copies_stay_together_in_the_folds_of_refined():
    X, y = table(100)
    with pytest.warns(UserWarning, match="100 rows of 200 are copies"):
        model = Refined(KNeighborsRegressor(1), "constant", random_state=0).fit(np.tile(X, (2, 1)), np.tile(y, 2))
    for copy in model.estimators_[0]:
        assert len(np.unique(copy._fit_X, axis=0)) == 80  # a fold less, with all its copies
    assert len(model.learn(X, y, Routed([{}], {}))[0]) == 100


# ---- groups ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interpolator", ["linear", "naf"])
def test_rows_of_a_group_count_once_and_the_guarantee_counts_groups(interpolator):
    X, y = table(400)
    model = CalibratedRegressor(Ridge(), interpolator=interpolator, random_state=0)
    model.fit(X, y, groups=np.arange(400) // 4)
    assert model.guarantee_.n == 20  # a fifth of 100 groups
    assert model.guarantee_.epsilon == pytest.approx((1 + model.calibrated_.interpolator.accuracy(20)) / 21)


def test_rows_of_a_group_count_once_in_calibrate_and_update_too():
    X, y = table(400)
    groups = np.arange(400) // 4
    model = CalibratedRegressor(Ridge(), random_state=0).fit(X, y)
    model.calibrate(X, y, groups=groups)
    assert (model.guarantee_.n, model.guarantee_.basis) == (100, "new group")
    assert model.update(X[:40], y[:40], groups=groups[:40]).guarantee_.n == 110
    assert model.update(X[:40], y[:40]).guarantee_.n == 150
    assert model.calibrate(X, y).update(X[:40], y[:40], groups=groups[:40]).guarantee_.n == 410
    several = CalibratedRegressor(Ridge(), random_state=0).fit(X, np.stack([y, -y], axis=1))
    assert several.calibrate(X, np.stack([y, -y], axis=1), groups=groups).guarantee_.n == 100


def test_the_monitor_refuses_rows_of_groups():
    X, y = table(400)
    model = CalibratedRegressor(Ridge(), random_state=0).fit(X, y, groups=np.arange(400) // 4)
    with pytest.raises(TypeError, match="or rows of a group: calibrate"):
        model.monitor(X, y)


def test_a_row_that_is_held_out_several_times_counts_once():
    X, y = table(200)
    model = CalibratedRegressor(Ridge(), cv=RepeatedKFold(n_splits=4, n_repeats=3, random_state=0), refine=None)
    guarantee = model.fit(X, y).guarantee_
    assert (guarantee.n, guarantee.basis) == (200, "nested")
    later = CalibratedRegressor(Ridge(), cv=TimeSeriesSplit(4), random_state=0).fit(X, y)
    assert (later.guarantee_.n, later.guarantee_.kind) == (160, "no claim")
    for copy, (train, _) in zip(later.estimators_[0].estimators_[0], KFold(5).split(X), strict=True):
        np.testing.assert_array_equal(copy.coef_, Ridge().fit(X[train], y[train]).coef_)


def test_a_uniform_does_not_make_groups_exact():
    X, y = table(400)
    model = CalibratedRegressor(Ridge(), interpolator="random", random_state=0).fit(X, y, groups=np.arange(400) // 8)
    assert model.guarantee_.epsilon > 0


@pytest.mark.parametrize(
    ("known", "groups"),
    [({"cv": 5}, 1), ({"cv": 5, "by": 5}, 1), ({}, 4), ({"interpolator": "random"}, 4), ({"interpolator": "naf"}, 4),
     ({"cv": 5, "interpolator": "naive"}, 4)],
)  # fmt: skip
def test_a_saved_calibration_keeps_what_is_promised(tmp_path, known, groups):
    X, y = table(400)
    X[:, 5] = np.arange(400) % 3
    given = {} if groups == 1 else {"groups": np.arange(400) // groups}
    model = CalibratedRegressor(Ridge(), refine=None, random_state=0, **known).fit(X, y, **given)
    model.save_calibration(tmp_path / "m.safetensors")
    assert load(tmp_path / "m.safetensors").guarantee == model.guarantee_


def test_rows_of_new_groups_are_covered_where_rows_of_a_group_are_alike():
    def row_shares(seed, groups):
        """A shared error of each group; large groups have a small one, and would rule if each row counted."""
        rng = np.random.default_rng(seed)
        sizes = rng.choice([1, 20], groups)
        group = np.repeat(np.arange(groups), sizes)
        shared = rng.normal(size=groups) * np.where(sizes == 20, 0.6, 4.0)
        X = rng.normal(size=(len(group), 3))
        return X, X[:, 0] + shared[group] + 0.3 * rng.normal(size=len(group)), group

    inside = []
    for seed in range(40):
        X, y, group = row_shares(seed, 100)
        model = CalibratedRegressor(LinearRegression(), refine=None, random_state=seed).fit(X, y, groups=group)
        new, label, of = row_shares(seed + 1000, 200)
        lower, upper = model.predict_interval(new).T
        rows = np.unique(of, return_index=True)[1]  # one row of each new group
        inside.append(np.mean(((lower <= label) & (label <= upper))[rows]))
    assert abs(np.mean(inside) - 0.9) < 4 * np.sqrt(0.09 / 20 / 40)


# ---- labels and models ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "error", "words"),
    [
        (np.arange(100).astype("datetime64[D]"), TypeError, "y holds dates or durations"),
        (np.full(100, 3.0), ValueError, "all 100 labels are 3: there is nothing to learn"),
        (np.where(np.arange(100) == 7, 1e300, 0.5), ValueError, r"y is 1e\+300 in row 7"),
    ],
)
def test_labels_that_teach_nothing_are_refused_in_one_sentence(labels, error, words):
    with pytest.raises(error, match=words):
        CalibratedRegressor(Ridge()).fit(table(100)[0], labels)


def test_a_fitted_model_is_not_fitted_again_in_silence():
    X, y = table(200)
    fitted = Ridge().fit(X, y)
    with pytest.warns(UserWarning, match=r"Ridge is fitted already.*FrozenEstimator\(model\) keeps it"):
        CalibratedRegressor(fitted, random_state=0).fit(X, y)
    CalibratedRegressor(FrozenEstimator(fitted), random_state=0).fit(*table(200, 1))


def test_a_model_that_cannot_be_copied_is_told_the_way():
    for model in (nn.Linear(6, 1), lambda X: X[:, 0], [Ridge(), nn.Linear(6, 1)]):
        with pytest.raises(TypeError, match=r"has no get_params.* put a trained model into FrozenEstimator\(model\)"):
            CalibratedRegressor(model).fit(*table(100))
    frozen = CalibratedRegressor(FrozenEstimator(lambda X: X[:, 0])).fit(*table(100))
    assert frozen.guarantee_.n == 100


# ---- time -----------------------------------------------------------------------------------------------------------


def test_models_without_time_are_left_out_by_name_and_one_takes_part():
    with pytest.warns(UserWarning, match="time_limit leaves no time for boosting"):
        model = CalibratedRegressor("sklearn", time_limit=1e-3, random_state=0).fit(*table(100))
    assert model.weights_ == {"linear": 1.0}


def test_a_limit_of_time_leaves_a_users_models_alone():
    model = CalibratedRegressor([Ridge(), LinearRegression()], time_limit=1e-3, random_state=0).fit(*table(200))
    assert set(model.weights_) == {"Ridge", "LinearRegression"}


def test_a_bar_shows_how_far_it_is(capsys):
    CalibratedRegressor(Ridge(), verbose=1, random_state=0).fit(*table(200))
    shown = capsys.readouterr().err
    assert "Ridge, fold 1 of 5" in shown
    assert shown.rstrip(" ").endswith("\n")
    assert "100%" in shown
    CalibratedRegressor(Ridge(), random_state=0).fit(*table(200))
    assert capsys.readouterr().err == ""
