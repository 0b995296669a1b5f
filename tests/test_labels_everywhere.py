"""Labels and missing values through the estimator, the model adapters and the command line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from commands import run, write
from pyarrow import csv, parquet
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LinearRegression, QuantileRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import calibrant
from calibrant import CalibratedRegressor, Calibrator, Normal, Point, Samples, prediction_of
from calibrant.labels import Counts, Real, Transformed
from calibrant.labels.base import Chained
from calibrant.labels.named import labels_named

N = 240
RNG = np.random.default_rng(0)
X = pd.DataFrame({"x": RNG.uniform(0, 3, N), "z": RNG.normal(size=N), "capacity": RNG.uniform(2, 30, N)})
Y = np.minimum(np.exp(X["x"] + 0.5 * RNG.normal(size=N)) - 0.8, X["capacity"]).clip(0).to_numpy()


# ---- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        (None, None),
        ("0:", Real(0)),
        (Real(0), Real(0)),
        ("-1.5:2", Real(-1.5, 2)),
        (":capacity", Real(None, "capacity")),
        ("yeo-johnson:0.5", Transformed("yeo-johnson:0.5")),
        ("0:, log1p", Chained((Real(0), Transformed("log1p")))),
        ("real", None),
        ("counts", Counts()),
        ("counts:0.05", Counts(0.05)),
        ("integers", Counts(lower=None)),
    ],
)
def test_labels_have_names(name, labels):
    assert Calibrator(labels=name).labels == labels


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("loq", "labels must be one of log, .* or bounds such as 0: or 0:1, got 'loq'"),
        ("count", r"labels must be one of log, .* did you mean 'counts'"),
        ("counts:many", r"as in counts:0\.05"),
        ("yeo-johnson", "labels 'yeo-johnson' needs a number, as in yeo-johnson:0.5"),
        ("log:2", "labels 'log' takes no number"),
        ("yeo-johnson:3", r"a power of \[0, 2\]"),
        ("1:0", "Real needs lower < upper"),
    ],
)
def test_what_is_no_name_of_labels_is_refused(name, words):
    with pytest.raises(ValueError, match=words):
        labels_named(name)


# ---- the estimator ---------------------------------------------------------------------------------------------------


def model(**params):
    return CalibratedRegressor(LinearRegression(), random_state=0, **params)


def test_the_estimator_takes_labels_by_name_and_by_object():
    named, given = model(labels="0:", refine=None).fit(X, Y), model(labels=Real(0), refine=None).fit(X, Y)
    plain = model(refine=None).fit(X, Y)
    H = named.predict_distribution(X)
    np.testing.assert_array_equal(H.crps(Y), given.predict_distribution(X).crps(Y))
    assert plain.predict_interval(X)["lower"].min() < 0 <= named.predict_interval(X)["lower"].min()
    assert H.crps(Y).mean() < plain.predict_distribution(X).crps(Y).mean()
    assert clone(named).get_params()["labels"] == "0:"
    with pytest.raises(TypeError, match="labels must be a name or a Labels object, got 3"):
        model(labels=3, refine=None).fit(X, Y)
    assert named.set_params(labels="0:,log1p").fit(X, Y).calibrated_.labels == Real(0) | Transformed("log1p")


@pytest.mark.parametrize("cv", [0.25, 3])
def test_the_estimator_finds_a_bound_by_row_in_x(cv):
    found = model(labels="0:capacity", refine=None, cv=cv).fit(X, Y)
    assert np.all(found.predict_interval(X, 0.95)["upper"] <= X["capacity"])
    by_function = model(labels=Real(0, lambda X: X["capacity"]), refine=None, cv=cv).fit(X, Y)
    np.testing.assert_array_equal(by_function.predict(X), found.predict(X))
    assert np.all(found.calibrate(X, Y).predict_interval(X, 0.95)["upper"] <= X["capacity"])
    with pytest.raises(ValueError, match="above the bound"):
        model(labels="0:capacity", refine=None).fit(X, Y + 30)


@pytest.mark.parametrize(
    ("params", "bound"), [({"labels": "0:capacity"}, X), ({"by": lambda X: (X["z"] > 0).to_list()}, None)]
)
def test_the_estimator_watches_rows_with_a_bound_or_of_groups(params, bound):
    found = model(refine=None, **params).fit(X, Y)
    f, rng = found.estimators_[0].predict(X), np.random.default_rng(found.seed_)
    wanted = calibrant.monitor(found.calibrated_, f, Y, bound=bound, rng=rng)
    np.testing.assert_array_equal(found.monitor(X, Y).log_capital, wanted.log_capital)


def test_a_grid_search_over_labels():
    search = GridSearchCV(
        model(refine=None), {"labels": [None, "0:", Real(0) | Transformed("log1p")]}, scoring=calibrant.neg_crps, cv=3
    ).fit(X, Y)
    scores = search.cv_results_["mean_test_score"]
    assert scores[1] > scores[0]
    assert search.best_params_["labels"] is not None


def test_refined_predictions_are_calibrated_as_the_labels_say():
    found = model(labels="0:", refine="location-scale").fit(X, Y)
    assert np.all(found.predict_interval(X, 0.95)["lower"] >= 0)
    free = model(refine="location-scale").fit(X, Y)  # which learned the same, in y's own unit
    np.testing.assert_array_equal(found.predict_distribution(X).cdf(1.0), free.predict_distribution(X).cdf(1.0))


def test_predict_gives_the_median_where_a_mean_is_infinite():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(400, 1))
    y = np.exp(x[:, 0] + 3 * rng.standard_t(3, 400))
    base = TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp)
    found = CalibratedRegressor(base, labels="log", refine=None, random_state=0).fit(x, y)
    with pytest.warns(UserWarning, match="400 of 400 distributions have no finite mean: .* their median"):
        values = found.predict(x)
    np.testing.assert_array_equal(values, found.predict_distribution(x).median())


# ---- transformed targets ---------------------------------------------------------------------------------------------

LOGS = {"func": np.log1p, "inverse_func": np.expm1}


def test_the_trees_of_a_transformed_target_are_draws():
    forest = TransformedTargetRegressor(RandomForestRegressor(20, random_state=0), **LOGS).fit(X, Y)
    found = prediction_of(forest, X)
    assert isinstance(found, Samples)
    np.testing.assert_allclose(found.values, np.expm1(prediction_of(forest.regressor_, X).values))


def test_a_spread_is_not_lost_without_a_word():
    scaled = TransformedTargetRegressor(GaussianProcessRegressor(alpha=0.5), transformer=StandardScaler()).fit(X, Y)
    with pytest.warns(UserWarning, match="taken as a point, without the spread of .*: it is known by its values alone"):
        assert isinstance(prediction_of(scaled, X), Point)
    turned = FunctionTransformer(np.negative, np.negative)
    upside_down = TransformedTargetRegressor(QuantileRegressor(quantile=0.9), transformer=turned).fit(X, Y)
    with pytest.warns(UserWarning, match="it turns the order round"):
        prediction_of(upside_down, X)


# ---- missing ---------------------------------------------------------------------------------------------------------


def holes(values, *rows):
    changed = np.array(values, dtype=float)
    changed[list(rows)] = np.nan
    return changed


def test_rows_without_a_label_are_left_out_and_counted():
    f = X["x"].to_numpy()
    y = np.minimum(Y, 4)
    with pytest.warns(UserWarning, match="y is missing in 2 of 240 rows, the first is row 3: they are left out"):
        found = Calibrator(labels=Real(0, "capacity")).fit(Normal(f, 1.0), holes(Y, 3, 9), bound=X)
    there = np.delete(np.arange(N), [3, 9])
    wanted = Calibrator(labels=Real(0, "capacity")).fit(Normal(f[there], 1.0), Y[there], bound=X.iloc[there])
    np.testing.assert_array_equal(found.q.knots, wanted.q.knots)
    with pytest.warns(UserWarning, match="y is missing in 1 of 240 rows"):
        listed = Calibrator().fit(f.tolist(), holes(y, 0).tolist())
    assert listed.guarantee.n == N - 1
    with pytest.warns(UserWarning, match="missing in 240"), pytest.raises(ValueError, match="at least one row"):
        Calibrator().fit(f, np.full(N, np.nan))


def test_rows_without_a_prediction_answer_nan_and_the_others_as_ever():
    f = X["x"].to_numpy()
    calibrated = Calibrator().fit(f, Y)
    mean = holes(f[:6], 1, 4)
    there = ~np.isnan(mean)
    H, whole = calibrated(mean[there]).among(there), calibrated(f[:6])
    assert len(H) == 6
    for ask in ("mean", "std", "median"):
        found, wanted = getattr(H, ask)(), getattr(whole, ask)()
        assert np.isnan(found[~there]).all()
        np.testing.assert_array_equal(found[there], wanted[there])
    for ask in ("cdf", "cdf_left", "sf", "logpdf", "pdf", "crps"):
        found, wanted = getattr(H, ask)(2.0), getattr(whole, ask)(2.0)
        assert np.isnan(found[~there]).all(), ask
        np.testing.assert_array_equal(found[there], wanted[there])
    np.testing.assert_array_equal(np.isnan(H.quantiles([0.1, 0.9])), np.tile(~there[:, None], 2))
    np.testing.assert_array_equal(np.isnan(H[[1, 0]].mean()), [True, False])
    assert (
        np.isnan(H.clip(0.0, 9.0).std()).tolist() == np.isnan(H.clip(np.zeros(6)).std()).tolist() == (~there).tolist()
    )
    assert np.isnan(H.sample(3, np.random.default_rng(0))[1]).all()
    with pytest.raises(ValueError, match="must have one row for each of the 4 rows of the batch, got 3"):
        whole[:4].among([True, False, True, True])
    with pytest.raises(TypeError, match="a batch of distributions and a mask"):
        whole.among([0, 1])


# ---- the command line ------------------------------------------------------------------------------------------------


def table(path, **changed):
    return write(path, {"f": X["x"].to_numpy() + 0.5, "y": Y, "capacity": X["capacity"].to_numpy(), **changed})


def test_the_command_line_keeps_labels_in_the_file_and_reads_their_bounds(tmp_path):
    data, saved, out = table(tmp_path / "cal.parquet"), tmp_path / "m.safetensors", tmp_path / "out.parquet"
    said = run("fit", data, "--target", "y", "--point", "f", "--labels", "0:capacity", "-o", saved).stdout
    assert "labels Real(0, 'capacity')." in " ".join(said.split())
    run("predict", data, "-m", saved, "--interval", "0.98", "--keep", "capacity", "-o", out)
    found = parquet.read_table(out)
    lower, upper, capacity = (found[name].to_numpy() for name in ("lower", "upper", "capacity"))
    assert np.all(lower >= 0)
    assert np.all(upper <= capacity)
    wanted = Calibrator(labels=Real(0, "capacity")).fit(X["x"] + 0.5, Y, bound=X)(X["x"] + 0.5, bound=X).interval(0.98)
    np.testing.assert_array_equal([lower, upper], wanted)
    assert "Real" in run("inspect", saved).stdout
    run("evaluate", data, "-m", saved)
    run("report", data, "-m", saved, "-o", tmp_path / "report.html")
    wrong = run("fit", data, "--target", "y", "--point", "f", "--labels", "loq", "-o", saved, code=2).stderr
    assert "labels must be one of log" in wrong


def test_the_command_line_names_labels_outside_the_bounds(tmp_path):
    y = Y.copy()
    y[7] = -3.0
    data, saved = table(tmp_path / "cal.parquet", y=y), tmp_path / "m.safetensors"
    said = run("fit", data, "--target", "y", "--point", "f", "--labels", "0:", "-o", saved, code=1).stderr
    assert "y is -3 in row 7 (the only such row), below the bound 0 of Real(0, None) (--labels)" in said
    assert not saved.exists()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_command_line_leaves_missing_rows_out_and_counts_them(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr("calibrant.tables.files.BATCH", 50)
    monkeypatch.setattr("calibrant.tables.predicting.IN_CACHE", 20)
    f = pa.array([None if row == 60 else value for row, value in enumerate((X["x"] + 0.5).tolist())])
    y = pa.array([None if row in (5, 70) else value for row, value in enumerate(Y.tolist())])
    data, saved, out = table(tmp_path / f"cal.{suffix}", f=f, y=y), tmp_path / "m.safetensors", tmp_path / "out.csv"
    fitted = run("fit", data, "--target", "y", "--point", "f", "-o", saved)
    assert "2 rows, the first is row 5, have no label: they are left out" in fitted.stderr
    assert "1 row, row 60, has no prediction: it is left out" in fitted.stderr
    there = np.delete(np.arange(N), [5, 60, 70])
    calibrated = Calibrator().fit((X["x"] + 0.5)[there], Y[there])
    assert calibrant.load(saved).guarantee.n == N - 3
    said = run("predict", data, "-m", saved, "--interval", "0.9", "-o", out)
    assert "1 row, row 60, has no prediction: what is written for it is NaN" in said.stderr
    lower = csv.read_csv(out)["lower"].to_numpy()
    assert np.flatnonzero(np.isnan(lower)).tolist() == [60]
    np.testing.assert_allclose(
        np.delete(lower, 60), np.delete(calibrated(X["x"] + 0.5).interval(0.9)[0], 60), rtol=1e-12
    )
    assert "no label: they are left out" in run("evaluate", data, "-m", saved).stderr
    for command in (("predict", "--interval", "0.9", "-o", out), ("evaluate",)):
        refused = run(command[0], data, "-m", saved, *command[1:], "--missing", "error", code=1)
        assert "is missing in row" in refused.stderr
    empty = table(tmp_path / f"none.{suffix}", y=pa.array([None] * N, pa.float64()))
    assert "column 'y' is missing in all 240 rows" in run("evaluate", empty, "-m", saved, code=1).stderr


@pytest.mark.parametrize("kind", ["log", "log1p", "0:,log1p"])
def test_a_transform_works_with_the_estimators_defaults(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.exp(1 + 0.5 * X[:, 0] + 0.8 * rng.normal(size=300))
    base = TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp)
    model = CalibratedRegressor(base, labels=kind, random_state=0).fit(X[:200], y[:200])
    lower, upper = model.predict_interval(X[200:], 0.8).T
    assert np.all(lower >= (-1 if kind == "log1p" else 0))
    assert np.mean((lower <= y[200:]) & (y[200:] <= upper)) == pytest.approx(0.8, abs=0.15)
