"""`update` and `monitor` by the estimator and on the command line."""

import json
from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from typer.testing import CliRunner

from calibrant import CalibratedRegressor, Calibrator, HalfLife, Normal, Window, load, monitor
from calibrant.cli.app import app
from calibrant.labels import Counts

N = 400


def rows(seed, n=N, moved=0.0):
    rng = np.random.default_rng(seed)
    f, e = rng.normal(size=(2, n))
    return {
        "f": f,
        "y": f + e + moved,
        "day": [date(2024, 1, 1) + timedelta(k) for k in range(n)],
        "hour": np.arange(n),
    }


def write(path, columns):
    csv.write_csv(pa.table(columns), path)
    return str(path)


def run(*arguments, code=0):
    found = CliRunner().invoke(app, list(arguments))
    assert found.exit_code == code, found.output
    return " ".join(found.output.split())


@pytest.fixture
def model(tmp_path):
    first = write(tmp_path / "first.csv", rows(0))
    out = str(tmp_path / "m.safetensors")
    run("fit", first, "--target", "y", "--point", "f", "-o", out)
    return out


def read(path):
    table = csv.read_csv(path)
    return table["f"].to_numpy(), table["y"].to_numpy()


def test_update_is_fit_on_both_files(model, tmp_path):
    second = write(tmp_path / "second.csv", rows(1))
    said = run("update", model, second, "--time", "day", "-o", model)  # over itself
    assert "with 400 rows of" in said
    assert "n = 800" in said
    (f, y), (g, z) = read(tmp_path / "first.csv"), read(second)
    whole = Calibrator().fit(np.concatenate([f, g]), np.concatenate([y, z]))
    np.testing.assert_array_equal(load(model).q.knots, whole.q.knots)
    run("evaluate", second, "-m", model)  # the notes are still there


@pytest.mark.parametrize(
    ("flags", "forget"), [(["--last", "100"], Window(100)), (["--half-life", "50"], HalfLife(50))], ids=["last", "half"]
)
def test_fit_forgets_as_it_is_told(tmp_path, flags, forget):
    first, out = write(tmp_path / "first.csv", rows(0)), str(tmp_path / "m.safetensors")
    run("fit", first, "--target", "y", "--point", "f", *flags, "-o", out)
    assert load(out).history.forget == forget
    np.testing.assert_array_equal(load(out).q.knots, Calibrator(forget=forget).fit(*read(first)).q.knots)


def test_wrong_flags_are_one_sentence(tmp_path, model):
    first, out = write(tmp_path / "first.csv", rows(0)), str(tmp_path / "n.safetensors")
    fit = ["fit", first, "--target", "y", "--point", "f", "-o", out]
    assert "do not go together" in run(*fit, "--last", "3", "--half-life", "3", code=2)
    assert "a positive number of rows is wanted" in run(*fit, "--half-life", "0", code=2)
    assert "a number above 1 is wanted" in run("monitor", first, "-m", model, "--threshold", "1", code=2)
    naf = [*fit[:-1], str(tmp_path / "naf.safetensors"), "--interpolator", "naf"]
    run(*naf)
    assert "pass refit=True" in run("update", naf[-3], first, "-o", out, code=1)
    assert "n = 800" in run("update", naf[-3], first, "--refit", "-o", out)


def test_labels_that_are_drawn_are_drawn_anew_at_each_update(tmp_path):
    rng = np.random.default_rng(0)
    rate = rng.uniform(1, 5, 50)
    path = write(tmp_path / "c.csv", {"f": rate, "y": rng.poisson(rate)})
    out = str(tmp_path / "m.safetensors")
    run("fit", path, "--target", "y", "--point", "f", "--labels", "counts", "-o", out)
    run("update", out, path, "-o", out)
    knots = load(out).q.knots
    assert len(np.unique(knots)) == 100  # the same rows, other draws
    assert isinstance(load(out).labels, Counts)


def test_monitor_says_what_the_library_says(model, tmp_path):
    path = write(tmp_path / "later.csv", rows(2, moved=1.0))
    found = monitor(load(model), *read(path), rng=np.random.default_rng(0))
    assert str(found) in run("monitor", path, "-m", model, "--time", "hour")
    said = json.loads(CliRunner().invoke(app, ["monitor", path, "-m", model, "--json"]).stdout)
    assert said["alarm"]["row"] == found.alarm.row
    assert said["alarm"]["direction"] == "high"
    assert said["rows"] == 400
    calm = json.loads(CliRunner().invoke(app, ["monitor", str(tmp_path / "first.csv"), "-m", model, "--json"]).stdout)
    assert calm["alarm"] is None


@pytest.mark.parametrize(
    ("column", "spoil", "sentence"),
    [
        ("hour", lambda t: [*t[:5], 1, *t[6:]], "'hour' runs backwards in row 5 (counting from 0), from 4 to 1"),
        ("day", lambda t: [*t[:7], t[0], *t[8:]], "'day' runs backwards in row 7 (counting from 0), from 2024-01-07"),
        ("day", lambda t: [None, *t[1:]], "'day' is missing in row 0"),
        ("day", lambda t: ["Monday"] * len(t), "'day' must hold numbers or dates, got 'Monday' in row 0"),
        ("week", lambda t: t, "there is no column 'week'"),
    ],
)
def test_time_that_runs_backwards_is_one_sentence(model, tmp_path, column, spoil, sentence):
    columns = rows(2)
    if column in columns:
        columns[column] = spoil(list(columns[column]))
    path = write(tmp_path / "later.csv", columns)
    assert sentence in run("monitor", path, "-m", model, "--time", column, code=1)
    assert sentence in run("update", model, path, "-o", str(tmp_path / "n.safetensors"), "--time", column, code=1)
    assert not (tmp_path / "n.safetensors").exists()


# ---- the estimator -------------------------------------------------------------------------------------------------


def table(seed, n=200):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + rng.normal(size=n)


@pytest.mark.parametrize("interpolator", ["linear", "random"])
def test_the_estimator_scores_new_rows_with_its_model(interpolator):
    X, y = table(0)
    frozen = FrozenEstimator(LinearRegression().fit(*table(9)))
    model = CalibratedRegressor(frozen, interpolator=interpolator, random_state=0).fit(X[:80], y[:80])
    before = model.estimators_
    assert model.update(X[80:], y[80:]) is model
    whole = CalibratedRegressor(frozen, interpolator=interpolator, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict_quantiles(X), whole.predict_quantiles(X))
    assert model.guarantee_ == whole.guarantee_
    assert model.estimators_ is before


def test_the_estimator_brings_the_weights_along():
    X, y = table(0)
    frozen = FrozenEstimator(LinearRegression().fit(*table(9)))

    def ratio(X):
        return np.exp(X[:, 1])

    model = CalibratedRegressor(frozen, weights=ratio, random_state=0).fit(X[:80], y[:80]).update(X[80:], y[80:])
    whole = CalibratedRegressor(frozen, weights=ratio, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict_quantiles(X), whole.predict_quantiles(X))


def test_what_the_estimator_cannot_update_is_one_sentence():
    X, y = table(0)
    folds = CalibratedRegressor(LinearRegression(), cv=3, refine=None, random_state=0).fit(X, y)
    with pytest.raises(TypeError, match="the laws of 3 folds cannot be updated together: calibrate"):
        folds.update(X, y)
    again = folds.calibrate(*table(1))
    assert again.update(*table(2)).guarantee_.n == 400
    naf = CalibratedRegressor(LinearRegression(), interpolator="naf", refine=None, random_state=0).fit(X, y)
    with pytest.raises(TypeError, match="refit=True"):
        naf.update(X, y)
    assert naf.update(*table(1), refit=True).guarantee_.n == 240
    dropping = CalibratedRegressor(LinearRegression(), missing="drop", refine=None, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="y is missing in 1 of 2 rows"):
        assert dropping.update(X[:2], [np.nan, 1.0]).guarantee_.n == 41


def test_an_updated_calibrator_is_a_calibrator(tmp_path):
    """It can be pickled, replaced, put among folds and drawn."""
    import pickle
    from dataclasses import replace

    from calibrant import Calibrated, CrossCalibrated

    X, y = table(0)
    updated = Calibrator().fit(Normal(X[:80, 0], 1.0), y[:80]).update(Normal(X[80:, 0], 1.0), y[80:])
    assert isinstance(updated, Calibrated)
    again = pickle.loads(pickle.dumps(updated))
    np.testing.assert_array_equal(again.q.knots, updated.q.knots)
    assert replace(updated, labels=None).guarantee == updated.guarantee
    folds = CrossCalibrated((updated, updated))
    assert folds.guarantee.n == 400
    folds.save(tmp_path / "m.safetensors")
    assert type(load(tmp_path / "m.safetensors").members[0]) is Calibrated
