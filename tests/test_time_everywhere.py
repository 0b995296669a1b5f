"""`update` and `monitor` by the estimator and on the command line."""

import json
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from typer.testing import CliRunner

from calibrant import CalibratedRegressor, Calibrator, HalfLife, Normal, Tracker, Window, load, monitor
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
    assert "800 calibration rows" in said
    assert said.endswith(f"Wrote {model}.")
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
    assert "HalfLife.rows must be positive" in run(*fit, "--half-life", "0", code=2)
    for threshold in ("1", "inf", "nan"):
        said = run("monitor", first, "-m", model, "--threshold", threshold, code=2)
        assert f"expected a number above 1, got {threshold}" in said
    naf = [*fit[:-1], str(tmp_path / "naf.safetensors"), "--interpolator", "naf"]
    run(*naf)
    assert "(--refit)" in run("update", naf[-3], first, "-o", out, code=1)
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
    assert said["threshold"] == found.threshold
    assert said["log_capital"] == found.log_capital[-1]
    calm = json.loads(CliRunner().invoke(app, ["monitor", str(tmp_path / "first.csv"), "-m", model, "--json"]).stdout)
    assert calm["alarm"] is None


def test_monitor_says_when_also_where_labels_are_missing(model, tmp_path):
    later = rows(2, moved=1.0)
    later["y"][:7] = np.nan  # the alarm counts rows with a label, time does not
    path = write(tmp_path / "later.csv", later)
    said = json.loads(CliRunner().invoke(app, ["monitor", path, "-m", model, "--time", "day", "--json"]).stdout)[
        "alarm"
    ]
    days = [str(day) for day in later["day"]]
    assert (said["time"], said["since_time"]) == (days[said["row"] + 7], days[said["since"] + 7])
    words = f"It rings at {said['time']}, since about {said['since_time']}."
    assert words in run("monitor", path, "-m", model, "--time", "day")
    assert "It rings at" not in run("monitor", path, "-m", model)


@pytest.mark.parametrize(
    ("column", "spoil", "sentence"),
    [
        ("hour", lambda t: [*t[:5], 1, *t[6:]], "'hour' runs backwards in row 5 (counting from 0), from 4 to 1"),
        ("day", lambda t: [*t[:7], t[0], *t[8:]], "'day' runs backwards in row 7 (counting from 0), from 2024-01-07"),
        ("day", lambda t: [None, *t[1:]], "'day' is missing in row 0"),
        ("hour", lambda t: [0.0, 1.0, np.nan, *t[3:]], "'hour' is missing in row 2"),
        ("hour", lambda t: [True] * len(t), "'hour' must hold numbers or dates, got True in row 0"),
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


def test_a_model_that_cannot_go_on_is_named(tmp_path):
    later = rows(1) | {"seen": [1.0, 1.0, 0.0, 1.0] * (N // 4)}
    whole = write(tmp_path / "whole.csv", later | {"seen": [1.0] * N})
    path, out = write(tmp_path / "later.csv", later), tmp_path / "m.safetensors"
    run("fit", path, "--target", "y", "--point", "f", "--event", "seen", "-o", str(out))
    for command in (
        ("monitor", whole, "-m", str(out)),
        ("update", str(out), whole, "-o", str(tmp_path / "n.safetensors")),
    ):
        said = run(*command, code=1)
        assert "m.safetensors: this calibrator does not know its scores" in said.replace("- ", "-")


def test_a_model_by_group_is_updated_and_watched(tmp_path):
    first, second = (write(tmp_path / f"{k}.csv", rows(k) | {"season": ["dry", "wet"] * (N // 2)}) for k in (1, 2))
    model, out = tmp_path / "m.safetensors", tmp_path / "n.safetensors"
    run("fit", first, "--target", "y", "--point", "f", "--by", "season", "-o", str(model))
    assert "No alarm" in run("monitor", second, "-m", str(model))
    run("update", str(model), second, "-o", str(out))
    assert [part.n for part in load(out).guarantee.parts] == [N, N]


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


def test_the_estimator_watches_new_rows():
    X, y = table(0)
    model = CalibratedRegressor(LinearRegression(), cv=0.5, refine=None, random_state=0).fit(X, y)
    later, calm = table(1)
    assert model.monitor(later, calm).alarm is None
    y = calm + np.where(np.arange(len(calm)) < 100, 0.0, 2.0)
    found = model.monitor(later, y)
    assert found.threshold == 100
    assert found.alarm.direction.name == "high"
    assert 100 <= found.alarm.row < 130
    f = model.estimators_[0].predict(later)
    again = monitor(model.calibrated_, f, y, rng=np.random.default_rng(model.seed_))
    np.testing.assert_array_equal(again.log_capital, found.log_capital)
    with pytest.warns(UserWarning, match="y is missing in 1 of 200 rows"):
        assert len(model.monitor(later, np.where(np.arange(200) == 3, np.nan, y))) == 199
    model.track(later, y)
    with pytest.raises(TypeError, match=r"track made this model a tracker.*: call monitor on a copy made before track"):
        model.monitor(later, y)
    folds = CalibratedRegressor(LinearRegression(), cv="mixture:2", refine=None, random_state=0).fit(X, calm)
    with pytest.raises(TypeError, match=r"the alarm takes .* got CrossCalibrated"):
        folds.monitor(later, y)


def test_what_the_estimator_cannot_update_is_one_sentence():
    X, y = table(0)
    folds = CalibratedRegressor(LinearRegression(), cv="mixture:3", refine=None, random_state=0).fit(X, y)
    with pytest.raises(TypeError, match="the distributions of 3 folds cannot be updated together: calibrate"):
        folds.update(X, y)
    again = folds.calibrate(*table(1))
    assert again.update(*table(2)).guarantee_.n == 400
    naf = CalibratedRegressor(LinearRegression(), interpolator="naf", refine=None, random_state=0).fit(X, y)
    with pytest.raises(TypeError, match="refit=True"):
        naf.update(X, y)
    assert naf.update(*table(1), refit=True).guarantee_.n == 240


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


# ---- tracking ------------------------------------------------------------------------------------------------------


def test_the_estimator_tracks_and_goes_on():
    X, y = table(0, 600)
    y[300:] += 2.0
    frozen = FrozenEstimator(LinearRegression().fit(*table(9)))
    model = CalibratedRegressor(frozen, random_state=0).fit(X[:200], y[:200])
    f = frozen.predict(X)
    own, after = Tracker(model.calibrated_, (0.1, 0.9), 0.2).run(f[200:], y[200:])
    first = model.track(X[200:400], y[200:400], levels=(0.1, 0.9), step=0.2)
    second = model.track(X[400:], y[400:])
    np.testing.assert_array_equal(np.append(first.median(), second.median()), own.median())
    np.testing.assert_array_equal(model.predict_quantiles(X[:3]), after(f[:3]).quantiles([0.05, 0.5, 0.95]))
    assert model.guarantee_ == after.guarantee
    assert model.update(X[:9], y[:9]).calibrated_.rows == 409
    with pytest.raises(TypeError, match=r"the model tracks already, with Tracker\(levels=\(0.1, 0.9\)"):
        model.track(X, y, step=1.0)
    y[-1] = np.nan
    with pytest.warns(UserWarning, match="y is missing in 1 of 2 rows"):
        assert len(model.track(X[-2:], y[-2:])) == 2
    assert not hasattr(model.calibrate(X[:200], y[:200]).calibrated_, "rows")
    folds = CalibratedRegressor(LinearRegression(), cv="mixture:2", refine=None, random_state=0).fit(X[:200], y[:200])
    with pytest.raises(TypeError, match="a CrossCalibrated cannot be tracked"):
        folds.track(X[:9], y[:9])


def test_a_tracker_goes_on_in_python(model, tmp_path):
    path, tracker = write(tmp_path / "later.csv", rows(2)), str(tmp_path / "t.safetensors")
    Tracker(load(model)).save(tracker)
    assert "whatever the rows do" in run("inspect", tracker)
    for command in ("evaluate", "monitor"):
        said = run(command, path, "-m", tracker, "--target", "y", "--point", "f", code=1)
        assert said == f"error: {tracker}: it is a tracker, which goes on row by row: load it in Python"


def test_what_is_read_in_time_order_is_not_written_over(model, tmp_path):
    path = write(tmp_path / "later.csv", rows(2))
    before = [Path(name).read_bytes() for name in (path, model)]
    assert f"{path} is read, so it cannot be written over" in run("update", model, path, "-o", path, code=2)
    assert [Path(name).read_bytes() for name in (path, model)] == before


def test_a_model_from_python_that_names_no_columns_goes_on_in_python(model, tmp_path):
    load(model).save(tmp_path / "plain.safetensors")
    path, plain = write(tmp_path / "later.csv", rows(2)), str(tmp_path / "plain.safetensors")
    said = run("update", plain, path, "--target", "y", "-o", str(tmp_path / "n.safetensors"), code=1)
    assert said == f"error: {plain}: it does not say which columns it was fitted on: update it in Python"


def test_rows_of_one_moment_are_in_order(model, tmp_path):
    path = write(tmp_path / "later.csv", rows(2) | {"hour": np.arange(N) // 3})
    assert "No alarm" in run("monitor", path, "-m", model, "--time", "hour")


def test_a_label_beyond_the_bound_of_its_row_is_named(tmp_path):
    columns = rows(4)
    columns |= {"cap": np.maximum(columns["y"], 0.0) + 1.0, "y": np.maximum(columns["y"], 0.0)}
    path, model = write(tmp_path / "first.csv", columns), str(tmp_path / "m.safetensors")
    run("fit", path, "--target", "y", "--point", "f", "--labels", "0:cap", "-o", model)
    columns["y"][8] = columns["cap"][8] + 1.0
    later = write(tmp_path / "later.csv", columns)
    said = run("evaluate", later, "-m", model, code=1)
    assert said.startswith(f"error: {later}: ")
    assert "row 8" in said


def test_labels_that_are_drawn_are_drawn_the_same_for_the_same_files(tmp_path):
    rng = np.random.default_rng(0)
    rate = rng.uniform(1, 5, 60)
    y = rng.poisson(rate)
    path = write(tmp_path / "c.csv", {"f": rate, "y": y})
    files = {name: [str(tmp_path / f"{name}{k}.safetensors") for k in range(2)] for name in ("fit", "update")}
    for fitted, updated in zip(*files.values(), strict=True):
        run("fit", path, "--target", "y", "--point", "f", "--labels", "counts", "-o", fitted)
        run("update", fitted, path, "-o", updated)
    for first, again in files.values():
        assert Path(first).read_bytes() == Path(again).read_bytes()
    whole = Calibrator(labels=Counts()).fit(rate, y.astype(float), rng=np.random.default_rng(0))
    np.testing.assert_array_equal(load(files["fit"][0]).q.knots, whole.q.knots)
    whole = whole.update(rate, y.astype(float), rng=np.random.default_rng(60))
    np.testing.assert_array_equal(load(files["update"][0]).q.knots, whole.q.knots)
