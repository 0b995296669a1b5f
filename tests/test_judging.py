"""What the estimator is asked after `fit`: metrics, a report, a file; and words to those who come from elsewhere."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import calibrant
from calibrant import CalibratedRegressor, HalfLife, Window, prediction_of

sklearn = pytest.importorskip("sklearn")
pd = pytest.importorskip("pandas")

from sklearn.frozen import FrozenEstimator  # noqa: E402
from sklearn.linear_model import LinearRegression, Ridge  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer, StandardScaler  # noqa: E402


def frame(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "region": rng.integers(0, 3, n), "day": rng.permutation(n)})
    return X, pd.Series(X["a"] + rng.normal(size=n), name="demand")


@pytest.fixture(scope="module")
def model():
    return CalibratedRegressor(LinearRegression(), random_state=0).fit(*frame())


def test_evaluate_is_that_of_the_forecasts(model):
    X, y = frame(seed=1)
    found = model.evaluate(X, y, coverage=0.8)
    assert found == calibrant.evaluate(model.predict_distribution(X), y, coverage=0.8)
    assert abs(found.coverage - 0.8) < 0.08


@pytest.mark.few(1)
@pytest.mark.parametrize("cv", [0.2, 3])
def test_labels_that_were_never_meant_are_refused(cv):
    X, y = frame(300)
    model = CalibratedRegressor(LinearRegression(), labels="0:", cv=cv, random_state=0).fit(X, np.abs(y))
    for ask in (model.evaluate, model.report):
        with pytest.raises(ValueError, match=r"in row \d+ \(\d+ rows in all\)"):
            ask(X, y)


def test_evaluate_of_several_labels_has_each_of_them():
    X, y = frame()
    Y = np.stack([y, 2 * y], axis=1)
    found = CalibratedRegressor(LinearRegression(), refine=None, random_state=0).fit(X, Y).evaluate(X, Y)
    assert "joint" in str(found)


def test_the_report_names_the_label_and_knows_columns_for_groups_and_time(model):
    X, y = frame(seed=1)
    page = model.report(X, y, groups="region", time="day")
    assert "Forecasts of demand" in page.html
    assert "region" in page.html
    assert "Over time" in page.html
    assert "calibrated" in str(page)
    with pytest.raises(ValueError, match="groups names the column 'regoin', and those of X are a, region, day"):
        model.report(X, y, groups=["regoin"])
    with pytest.raises(TypeError, match="time names the column 'day', but X is no data frame"):
        CalibratedRegressor(LinearRegression(), random_state=0).fit(X.to_numpy(), y).report(X.to_numpy(), y, time="day")


def test_the_report_sets_the_model_itself_beside_what_was_refined_and_calibrated(model):
    X, y = frame(seed=1)
    error = np.mean(np.abs(y - model.estimators_[0].predict_stacked(X).values))
    assert f"{error:.3g}"[:4] in model.report(X, y).html
    folds = CalibratedRegressor(LinearRegression(), refine=None, cv="mixture:3", random_state=0).fit(X, y)
    assert "Forecasts of y" in folds.report(X, y.to_numpy()).html


@pytest.mark.parametrize("cv", ["mixture:2", "mixture:3"])
def test_the_model_of_one_fold_is_not_what_was_before_calibration(cv):
    X, y = frame(300)
    folds = CalibratedRegressor(LinearRegression(), refine=None, cv=cv, random_state=0).fit(X, y)
    assert folds._uncalibrated(X) is None
    alone = CalibratedRegressor(LinearRegression(), refine=None, random_state=0).fit(X, y)
    np.testing.assert_array_equal(alone._uncalibrated(X).values, alone.estimators_[0].predict(X))


def test_what_is_saved_is_the_calibration(model, tmp_path):
    model.save_calibration(tmp_path / "m.safetensors")
    again = calibrant.load(tmp_path / "m.safetensors")
    assert again.q.knots.tolist() == model.calibrated_.q.knots.tolist()


def test_old_rows_are_forgotten_in_the_order_of_time():
    X, y = frame(400)
    frozen = FrozenEstimator(LinearRegression().fit(X, y))
    drifted = y + np.where(np.arange(400) >= 300, 5.0, 0.0)
    medians = [
        float(
            CalibratedRegressor(frozen, forget=forget).fit(X, drifted).predict_distribution(X[:1]).median()[0]
            - frozen.predict(X[:1])[0]
        )
        for forget in (None, Window(80), HalfLife(20))
    ]
    assert medians[0] < 1
    assert min(medians[1:]) > 4
    window = CalibratedRegressor(LinearRegression(), refine=None, cv=0.5, forget=Window(50), random_state=0)
    with pytest.warns(UserWarning, match="the errors of neighbouring rows are correlated"):
        held = window.fit(X[["a"]], drifted).calibrated_.history.scores
    assert float(np.median(held)) > 2  # the last of the rows that were held out, not any of them
    assert window.guarantee_.n == 50


def test_pipelines_and_searches_hand_their_forecasts_out():
    X, y = frame()
    model = CalibratedRegressor(Ridge(), refine=None, random_state=0)
    grid = {"calibratedregressor__estimator__alpha": [0.1, 1.0]}
    search = GridSearchCV(make_pipeline(StandardScaler(), model), grid, cv=3).fit(X, y)
    lower, upper = prediction_of(search, X).interval(0.9)
    assert 0.85 < np.mean((lower <= y) & (y <= upper)) < 0.95


def test_ways_out_are_told():
    X, y = frame(60)
    with pytest.raises(ValueError, match=r"got 'prefit': wrap a model that is fitted already in FrozenEstimator"):
        CalibratedRegressor(LinearRegression(), cv="prefit").fit(X, y)
    with pytest.raises(TypeError, match=r"interpolator must be one of .*, got None: leave it out for the default"):
        CalibratedRegressor(LinearRegression(), interpolator=None).fit(X, y)
    with pytest.warns(UserWarning, match="90% intervals need 19 calibration rows, and there are 12"):
        CalibratedRegressor(LinearRegression(), refine=None, random_state=0).fit(X, y).predict_interval(X)


def test_a_lazy_frame_is_to_be_collected():
    pl = pytest.importorskip("polars")
    X, y = frame(60)
    lazy = pl.DataFrame({name: X[name].to_numpy() for name in X}).lazy()
    with pytest.raises(TypeError, match=r"X is a LazyFrame, whose rows are not there yet: give X.collect\(\)"):
        CalibratedRegressor(LinearRegression()).fit(lazy, y)


def shown(page):
    """The features of each row that the page shows."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.html, re.DOTALL)
    return {row["row"]: row.get("features") for row in json.loads(found.group(1))["rows"]}


def test_the_report_shows_the_features_of_a_row(model):
    X, y = frame(seed=1)
    rows = shown(model.report(X, y))
    assert len(rows) >= 100
    for row, features in rows.items():
        assert float(features.pop("a").replace("−", "-")) == pytest.approx(X["a"][row], rel=1e-3)
        assert features == {"region": str(X["region"][row]), "day": str(X["day"][row])}
    assert set(map(tuple, shown(model.report(X, y, features=["region"])).values())) == {("region",)}
    assert set(shown(model.report(X, y, features=())).values()) == {None}
    with pytest.raises(ValueError, match="features names the column 'aeg', and those of X are a, region, day"):
        model.report(X, y, features="aeg")


@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.tolist, pd.DataFrame, pl.DataFrame, pa.table])
def test_the_report_shows_the_features_of_any_kind_of_table(kind):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(300, 40))
    y = numbers[:, 0] + rng.normal(size=300)
    X = kind(numbers if kind in (np.asarray, np.ndarray.tolist) else {f"x{k}": numbers[:, k] for k in range(40)})
    model = CalibratedRegressor(LinearRegression(), refine=None, random_state=0).fit(X, y)
    rows = shown(model.report(X, y))
    assert len(rows) >= 100
    for row, features in rows.items():
        assert list(features) == [f"x{k}" for k in range(30)]  # of 40 columns the first 30
        assert float(features["x7"].replace("−", "-")) == pytest.approx(numbers[row, 7], rel=1e-3)
    (last,) = next(iter(shown(model.report(X, y, features=["x39"] if hasattr(X, "columns") else 39)).values()))
    assert last == "x39"


def test_the_report_of_rows_without_columns_shows_none():
    texts, y = [f"a text of {k} words" for k in range(300)], np.arange(300.0)
    count = make_pipeline(FunctionTransformer(lambda X: np.array([[len(text)] for text in X])), LinearRegression())
    model = CalibratedRegressor(count, refine=None, random_state=0).fit(texts, y)
    assert set(shown(model.report(texts, y)).values()) == {None}
