"""Stories: what people come with, and what they leave with."""

import json
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import calibrant
from calibrant import CalibratedRegressor, Calibrator, Ensemble, Normal, evaluate, neg_crps, prediction_of

pytestmark = pytest.mark.integration


@pytest.mark.filterwarnings("ignore:.* are copies of others")
def test_gradient_boosting_on_concrete():
    """An engineer has strengths of concrete, a boosting model, and wants bounds that hold."""
    from studies.datasets import load

    table = load("concrete")
    X, X_new, y, y_new = train_test_split(table.X, table.y, test_size=0.3, random_state=0)
    search = GridSearchCV(
        CalibratedRegressor(HistGradientBoostingRegressor(max_iter=60, random_state=0), refine=None, random_state=0),
        {"estimator__max_leaf_nodes": [2, 16]},
        scoring=neg_crps,
        cv=3,
    ).fit(X, y)
    model = search.best_estimator_
    assert search.best_params_ == {"estimator__max_leaf_nodes": 16}
    said = evaluate(model.predict_distribution(X_new), y_new)
    assert abs(said.coverage - 0.9) < 0.06
    assert said.crps < evaluate(model.estimators_[0].predict(X_new), y_new).crps  # the error of the bare point
    lower, upper = model.predict_interval(X_new, coverage=0.9).T
    assert abs(np.mean((lower <= y_new) & (y_new <= upper)) - said.coverage) < 1e-12
    strong = model.predict_distribution(X_new).sf(35.0)  # will it bear 35 MPa?
    assert y_new[strong > 0.9].mean() > 45 > 35 > y_new[strong < 0.1].mean()
    assert model.guarantee_.epsilon == 1 / (1 + model.guarantee_.n)
    folds = CalibratedRegressor(model.estimator, refine=None, cv=5, random_state=0).fit(X, y)  # every row does both
    assert evaluate(folds.predict_distribution(X_new), y_new).crps < said.crps
    assert folds.guarantee_.kind == "no claim"
    assert folds.guarantee_.n == len(np.unique(np.column_stack([X, y]), axis=0))  # some rows are copies


def test_a_gaussian_process_that_is_too_sure():
    """A scientist's Gaussian process assumes too little noise; its shape is kept and its confidence mended."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (2000, 1))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_t(4, 2000)
    kernel = 1.0 * RBF(1.0, "fixed") + WhiteKernel(0.01, "fixed")
    process = make_pipeline(StandardScaler(), GaussianProcessRegressor(kernel)).fit(X[:200], y[:200])
    model = CalibratedRegressor(FrozenEstimator(process)).fit(X[200:1000], y[200:1000])
    base, after = prediction_of(process, X[1000:]), model.predict_distribution(X[1000:])
    before, now = evaluate(base, y[1000:]), evaluate(after, y[1000:])
    assert before.coverage < 0.5
    assert abs(now.coverage - 0.9) < 0.03
    assert now.nll < before.nll - 1
    assert now.crps < before.crps
    # wide where the process is wide: outside the data both grow, and in the same proportion
    far = np.array([[0.0], [6.0]])
    ratio = model.predict_distribution(far).std() / prediction_of(process, far).std()
    np.testing.assert_allclose(ratio[0], ratio[1])
    np.testing.assert_allclose(model.predict(X[1000:]), base.mean(), atol=0.2)


def test_quantiles_of_lightgbm():
    """A forecaster has quantile models that cross and cover too little, for skewed demand."""
    lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 1, (2400, 4))
    y = 10 * X[:, 0] + rng.gamma(2.0, 0.5 + 3 * X[:, 1])
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    models = [
        lightgbm.LGBMRegressor(objective="quantile", alpha=a, n_estimators=100, min_child_samples=5, verbose=-1)
        for a in levels
    ]
    model = CalibratedRegressor(models, refine=None, cv=0.3, random_state=0)
    model.fit(X[:1600], y[:1600])
    raw = model.predict_base(X[1600:])
    H = model.calibrated_(raw)
    quantiles = H.quantiles(levels)
    before, after = evaluate(raw, y[1600:]), evaluate(H, y[1600:], levels=levels)
    assert before.coverage < 0.8
    assert abs(after.coverage - 0.9) < 0.05
    assert after.pinball < before.pinball
    assert np.all(np.diff(quantiles, axis=1) > 0)
    below = np.mean(y[1600:, None] <= quantiles, axis=0)
    np.testing.assert_allclose(below, levels, atol=0.06)
    restock = H.ppf(0.95)  # enough in 95 of 100 weeks, and more where demand is uncertain
    assert restock[X[1600:, 1] > 0.8].mean() > restock[X[1600:, 1] < 0.2].mean() + 5


def test_an_ensemble_in_a_parquet_file_through_the_command_line(tmp_path):
    """A meteorologist has twenty members in a file, too close together; no Python is written."""
    import pyarrow as pa

    rng = np.random.default_rng(2)
    truth, day = rng.normal(15, 6, 3000), np.arange(3000)
    observed = truth + rng.normal(0, 2.0, 3000)
    members = truth[:, None] + 0.8 * rng.normal(size=(3000, 20)) + 1.0  # one degree too warm
    columns = {"day": day, "observed": observed} | {f"member{k:02}": members[:, k] for k in range(20)}
    for name, rows in (("past", slice(0, 2000)), ("new", slice(2000, 3000))):
        pq.write_table(pa.table({key: value[rows] for key, value in columns.items()}), tmp_path / f"{name}.parquet")

    def calibrant_(*words):
        command = [sys.executable, "-m", "calibrant", *words]
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    told = calibrant_("fit", "past.parquet", "--target", "observed", "--samples", "member*", "-o", "m.safetensors")
    assert "2,000 calibration rows" in told
    scores = json.loads(calibrant_("evaluate", "new.parquet", "-m", "m.safetensors", "--target", "observed", "--json"))
    assert scores["metrics"]["crps"] < scores["base"]["crps"]
    assert abs(scores["metrics"]["coverage"] - 0.9) < 0.03
    wanted = ["--quantiles", "0.1,0.5,0.9", "--interval", "0.9", "--keep", "day"]
    calibrant_("predict", "new.parquet", "-m", "m.safetensors", *wanted, "-o", "out.parquet")
    out = pq.read_table(tmp_path / "out.parquet")
    assert out.column_names == ["day", "q0.1", "q0.5", "q0.9", "lower", "upper"]
    bias = np.mean(out["q0.5"].to_numpy() - observed[2000:])
    assert abs(bias) < 0.2  # the degree is gone
    H = calibrant.load(tmp_path / "m.safetensors")(calibrant.Samples(members[2000:]))
    np.testing.assert_array_equal(H.interval(0.9)[1], out["upper"].to_numpy())
    assert "SamplesScore" in calibrant_("inspect", "m.safetensors")


def test_several_models_are_one_forecast():
    """Two teams' models, one sure and one vague, are weighed and calibrated together."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(900, 2))
    y = X.sum(axis=1) + rng.normal(size=900)
    sharp = Normal(X.sum(axis=1) + 0.2, 0.4)
    vague = Normal(Ridge().fit(X[:100, :1], y[:100]).predict(X[:, :1]), 3.0)
    both = Ensemble([sharp, vague])
    H = Calibrator().fit(both[:500], y[:500])(both[500:])
    alone = Calibrator().fit(vague[:500], y[:500])(vague[500:])
    assert abs(evaluate(H, y[500:]).coverage - 0.9) < 0.05
    assert evaluate(H, y[500:]).crps < evaluate(alone, y[500:]).crps
