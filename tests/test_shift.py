"""Covariate shift where the ratios are estimated: DensityRatio, the estimator, the command line."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from typer.testing import CliRunner

from calibrant import CalibratedRegressor, Calibrator, DensityRatio, Point, evaluate
from calibrant.cli.app import app
from calibrant.sklearn.density_ratio import FittedRatio


def rows(rng, m, centre):
    x = centre + rng.normal(size=(m, 2))
    return x, x.sum(axis=1) + np.where(x[:, 0] > 0.5, 2.0, 0.6) * rng.normal(size=m)


def test_estimated_ratios_bring_coverage_back_within_two_points():
    """n = 200 calibration rows, on average over sets; the ratio is learned on training rows and rows to come."""
    rng = np.random.default_rng(0)
    X, y = rows(rng, 3000, [0.0, 0.0])
    X_new, _ = rows(rng, 3000, [1.0, 0.0])
    model, ratio = LinearRegression().fit(X, y), DensityRatio(LogisticRegression()).fit(X, X_new)
    boosted = DensityRatio().fit(X, X_new)
    held = {"plain": [], "logistic": [], "default": []}
    for _ in range(200):
        X_cal, y_cal = rows(rng, 200, [0.0, 0.0])
        X_test, y_test = rows(rng, 300, [1.0, 0.0])
        f, f_test = Point(model.predict(X_cal)), Point(model.predict(X_test))
        for name, w in (("plain", None), ("logistic", ratio), ("default", boosted)):
            known, asked = (None, None) if w is None else (w(X_cal), w(X_test))
            lower, upper = Calibrator().fit(f, y_cal, weights=known)(f_test, weights=asked).interval(0.9)
            held[name].append(np.mean((lower <= y_test) & (y_test <= upper)))
    noise = 4 * np.std(held["default"]) / np.sqrt(200)
    assert np.mean(held["plain"]) < 0.87 - noise
    assert abs(np.mean(held["logistic"]) - 0.9) < 0.02
    assert abs(np.mean(held["default"]) - 0.9) < 0.02


def test_the_ratio_is_a_function_of_x_and_clipped():
    rng = np.random.default_rng(1)
    X, X_new = rng.normal(0, 1, (1000, 1)), rng.normal(1, 1, (2000, 1))
    ratio = DensityRatio(LogisticRegression(), largest=3.0).fit(X, X_new)
    w = ratio(np.array([[-8.0], [0.5], [8.0]]))
    assert w[0] == pytest.approx(1 / 3)
    assert w[2] == pytest.approx(3)
    assert w[1] == pytest.approx(1.0, abs=0.15)  # whatever the numbers of rows are
    assert 0 < ratio.largest_share < 0.01
    assert 300 < ratio.effective_size < 1000
    assert np.mean(ratio(X)) == pytest.approx(1.0, abs=0.15)


def test_no_ratio_is_above_50_or_below_its_inverse_unless_told_so():
    rng = np.random.default_rng(1)
    ratio = DensityRatio(LogisticRegression()).fit(rng.normal(0, 1, (500, 1)), rng.normal(1, 1, (500, 1)))
    assert ratio(np.array([[-50.0], [50.0]])) == pytest.approx([1 / 50, 50])


class ZeroAndOne(LogisticRegression):
    """Takes no other classes, as XGBClassifier does."""

    def fit(self, X, y, sample_weight=None):
        if set(y) != {0, 1}:
            raise ValueError(f"the classes must be 0 and 1, got {sorted(set(y))}")
        return super().fit(X, y, sample_weight)


def test_a_classifier_of_the_classes_0_and_1_alone_will_do():
    rng = np.random.default_rng(1)
    X, X_new = rng.normal(0, 1, (200, 1)), rng.normal(1, 1, (300, 1))
    found, wanted = (DensityRatio(each).fit(X, X_new)(X) for each in (ZeroAndOne(), LogisticRegression()))
    np.testing.assert_array_equal(found, wanted)


def test_a_few_rows_that_carry_the_distribution_are_said_in_words():
    rng = np.random.default_rng(1)
    X, X_new = rng.normal(0, 1, (300, 1)), rng.normal(2.0, 0.7, (300, 1))
    with pytest.warns(UserWarning, match=r"effective size of \d+: \d+ of them carry half of the weight"):
        DensityRatio(LogisticRegression(C=100.0), largest=1e6).fit(X, X_new)


@pytest.mark.parametrize("moved", [5.0, 20.0])
@pytest.mark.parametrize("classifier", [None, LogisticRegression()])
def test_rows_to_come_that_no_training_row_is_like_are_said_in_words(moved, classifier):
    rng = np.random.default_rng(1)
    X, X_new = rng.normal(0, 1, (600, 1)), rng.normal(moved, 1, (600, 1))
    # all training rows have the same small ratio: each counts as much as the other, and none tells anything
    with pytest.warns(UserWarning, match=r"the ratios have the mean 0\.0\d+ on training rows, where it should be 1"):
        DensityRatio(classifier).fit(X, X_new)


def test_frames_are_taken_and_rows_without_shift_weigh_the_same():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.normal(size=800), "b": pd.Categorical(rng.choice(["u", "v"], 800))})
    X.loc[::9, "a"] = np.nan
    ratio = DensityRatio().fit(X[:400], X[400:])
    assert np.abs(np.log(ratio(X))).max() < 0.7


def test_bad_input_of_the_ratio():
    with pytest.raises(TypeError, match="classifier must have predict_proba"):
        DensityRatio(Ridge())
    with pytest.raises(ValueError, match="largest must be above 1, got 1"):
        DensityRatio(largest=1.0)
    with pytest.raises(ValueError, match="X_new must have a row for each of the 5 folds, got 4"):
        DensityRatio().fit(np.zeros((10, 1)), np.zeros((4, 1)))
    with pytest.raises(ValueError, match=r"two tables must have the same columns, got shapes \(10, 1\) and \(10, 2\)"):
        DensityRatio().fit(np.zeros((10, 1)), np.zeros((10, 2)))
    one, two = pd.DataFrame({"a": np.zeros(10)}), pd.DataFrame({"a": np.zeros(10), "b": np.zeros(10)})
    with pytest.raises(ValueError, match="two tables must have the same columns, got a and a, b"):
        DensityRatio().fit(one, two)


@pytest.mark.few(1)
@pytest.mark.parametrize("cv", [0.3, 3])
def test_the_estimator_finds_the_weights_of_a_row_by_itself(cv):
    rng = np.random.default_rng(2)
    X, y = rows(rng, 3000, [0.0, 0.0])
    X_new, y_new = rows(rng, 3000, [1.0, 0.0])
    ratio = DensityRatio(LogisticRegression()).fit(X, X_new)
    plain = CalibratedRegressor(LinearRegression(), refine=None, cv=cv, random_state=0).fit(X, y)
    weighted = clone(plain).set_params(weights=ratio).fit(X, y)
    before, after = (evaluate(model.predict_distribution(X_new), y_new).coverage for model in (plain, weighted))
    assert before < 0.87
    assert abs(after - 0.9) < 0.035  # one set, worth some 300 rows
    assert "likelihood ratios" in str(weighted.guarantee_)
    again = clone(weighted).fit(X, y)  # a clone keeps the fitted ratio
    np.testing.assert_array_equal(again.predict(X_new[:5]), weighted.predict(X_new[:5]))


def test_calibrate_takes_the_weights_too_and_any_function_of_x_will_do():
    rng = np.random.default_rng(2)
    X, y = rows(rng, 400, [0.0, 0.0])
    frozen = FrozenEstimator(LinearRegression().fit(X, y))
    model = CalibratedRegressor(frozen, weights=lambda x: np.exp(x[:, 0] - 0.5)).fit(X, y)
    assert model.calibrate(X, y).guarantee_.kind == "weighted"
    assert model.predict_interval(X[:3]).shape == (3, 2)
    with pytest.raises(TypeError, match="weights must be a function of X"):
        CalibratedRegressor(frozen, weights=[1.0]).fit(X, y)


# ---- the command line -----------------------------------------------------------------------------------------------


def run(*arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(3)
    for name, centre in (("cal", 0.0), ("new", 1.0)):
        X, y = rows(rng, 2000, [centre, 0.0])
        table = pd.DataFrame({"y": y, "f": X.sum(axis=1), "w": np.exp(X[:, 0] - 0.5)})
        table.assign(other=7 * table["w"]).to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def test_weights_of_a_column_in_fit_evaluate_predict_and_report(files):
    new, model, out = files / "new.csv", files / "m.safetensors", files / "out.csv"
    fitted = run("fit", files / "cal.csv", "--target", "y", "--point", "f", "--weights", "w", "-o", model)
    assert fitted.exit_code == 0, fitted.output
    assert "effective number" in fitted.output
    found = json.loads(run("evaluate", new, "-m", model, "--json").stdout)
    assert abs(found["metrics"]["coverage"] - 0.9) < 0.025
    assert run("predict", new, "-m", model, "--interval", "0.9", "-o", out).exit_code == 0
    lower = pd.read_csv(out)["lower"]
    table, cal = pd.read_csv(new), pd.read_csv(files / "cal.csv")
    H = Calibrator().fit(cal["f"], cal["y"], weights=cal["w"])(table["f"], weights=table["w"])
    np.testing.assert_allclose(lower, H.interval(0.9)[0], rtol=1e-9)
    assert run("report", new, "-m", model, "-o", files / "r.html").exit_code == 0
    assert run("inspect", model).exit_code == 0
    run("fit", files / "cal.csv", "--target", "y", "--point", "f", "-o", model)
    assert json.loads(run("evaluate", new, "-m", model, "--json").stdout)["metrics"]["coverage"] < 0.87


def test_another_column_of_weights_can_be_named_in_the_call(files):
    model = files / "m.safetensors"
    run("fit", files / "cal.csv", "--target", "y", "--point", "f", "--weights", "other", "-o", model)
    table = pd.read_csv(files / "new.csv").rename(columns={"other": "ratio"})
    table.to_csv(files / "renamed.csv", index=False)
    missing = run("evaluate", files / "renamed.csv", "-m", model)
    assert missing.exit_code != 0
    assert "there is no column 'other'" in missing.output
    assert run("evaluate", files / "renamed.csv", "-m", model, "--weights", "ratio").exit_code == 0


def test_a_negative_weight_is_named_by_its_row(files):
    table = pd.read_csv(files / "cal.csv")
    table.loc[4, "w"] = -1.0
    table.to_csv(files / "bad.csv", index=False)
    said = run(
        "fit", files / "bad.csv", "--target", "y", "--point", "f", "--weights", "w", "-o", files / "m.safetensors"
    )
    assert said.exit_code != 0
    assert "column 'w' is negative in row 4" in " ".join(said.output.split())


def known(odds, prior=1.0):
    """What is found of training rows whose odds the classifier knows."""

    class Known:
        def predict_proba(self, X):
            odds = np.asarray(X, dtype=float)[:, 0]
            return np.stack([1 / (1 + odds), odds / (1 + odds)], axis=1)

    return FittedRatio(Known(), prior, 1e6).evaluated_on(np.asarray(odds, dtype=float)[:, None])


def test_the_rows_that_carry_half_of_the_weight_are_counted():
    with pytest.warns(UserWarning, match="effective size of 8: 3 of them carry half of the weight"):
        found = known([200] * 3 + [1] * 397)
    assert (found.rows, found.largest_share) == (400, pytest.approx(200 / 997))


def test_thirty_equal_rows_are_enough_and_so_is_a_mean_of_one_half():
    found = known([1, 1, 2] * 20)
    assert (found.rows, found.effective_size) == (60, pytest.approx(80**2 / 120))
    assert found.largest_share == pytest.approx(2 / 80)
    assert known(np.ones(30)).effective_size == pytest.approx(30)
    assert known(np.ones(40), prior=0.5).rows == 40
    with pytest.warns(UserWarning, match="give 29 training rows an effective size of 29: 15 of them carry half"):
        known(np.ones(29))
    with pytest.warns(UserWarning, match="the ratios have the mean 0.49 on training rows"):
        known(np.ones(40), prior=0.49)
    with pytest.warns(UserWarning, match="give 2000 training rows an effective size of 80: 41 of them carry half"):
        known(np.r_[np.full(80, 1e5), np.full(1920, 1e-3)])


def test_a_row_for_each_fold_and_a_largest_ratio_above_one_are_enough():
    assert DensityRatio(LogisticRegression(), largest=1.5).largest == 1.5
    rows = np.arange(5.0)[:, None]
    with pytest.warns(UserWarning, match="the ratios"):
        assert DensityRatio(LogisticRegression()).fit(rows, rows).rows == 5
