"""The uniform of a row with a seed: a function of the seed, of what was learned and of the row's own forecast."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from catalogue import HERE, PREDICTIONS
from catalogue import Y as LABELS
from scipy import stats
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, Ridge

from calibrant import CalibratedRegressor, Calibrator, CrossCalibrated, Distribution, Normal
from calibrant.distributions import PiecewiseLinear
from calibrant.interpolators import Linear, Random
from calibrant.scores import CDFScore

RNG = np.random.default_rng(3)
X = RNG.normal(size=(300, 4))
Y = X.sum(axis=1) + RNG.normal(size=300)
SEEN, NEW = slice(0, 200), slice(200, 300)
LINE = FrozenEstimator(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]))
CONSTANT = FrozenEstimator(DummyRegressor().fit([[0.0], [1.0]], [0.0, 0.0]))


def randomised(estimator, **parameters):
    chosen = {"interpolator": "random", "refine": None, "random_state": 0, **parameters}
    return CalibratedRegressor(estimator, **chosen).fit(X[SEEN], Y[SEEN])


def uniforms(H):
    return np.concatenate([np.asarray(distribution.uniform) for distribution in getattr(H, "components", [H])])


@pytest.mark.few(1)
@pytest.mark.parametrize("frozen", [LINE, CONSTANT], ids=["forecasts differ", "one forecast for all rows"])
def test_one_seed_is_exact_on_average_over_calibration_sets(frozen):
    """With the same uniform at the first position of every call this was off by up to 0.1."""
    rng, pits = np.random.default_rng(5), []
    for _ in range(800):
        x, noise = rng.normal(size=(2, 6))
        model = CalibratedRegressor(frozen, interpolator="random", random_state=0).fit(x[:5, None], (x + noise)[:5])
        pits.append(model.predict_distribution(x[5:, None]).cdf([x[5] + noise[5]])[0])
    assert stats.kstest(pits, "uniform").pvalue > 0.01


@pytest.mark.parametrize("cv", [0.2, 3])
@pytest.mark.parametrize(
    "base", [Ridge(), RandomForestRegressor(5, min_samples_leaf=5, random_state=0)], ids=["ridge", "forest"]
)
def test_a_row_has_its_uniform_in_any_batch_and_any_order(base, cv):
    model, order = randomised(base, cv=cv), np.random.default_rng(0).permutation(100)

    def answers(rows):
        return model.predict_distribution(rows).cdf([[-1.0, 0.0, 1.5]])

    whole = answers(X[NEW])
    np.testing.assert_allclose(answers(X[NEW][order]), whole[order], rtol=1e-12)
    np.testing.assert_allclose(answers(X[NEW][40:47]), whole[40:47], rtol=1e-12)
    np.testing.assert_allclose(np.concatenate([answers(X[k : k + 1]) for k in range(200, 230)]), whole[:30], rtol=1e-12)
    assert np.unique(uniforms(model.predict_distribution(X[NEW]))).size > 90


PROGRAM = """
import numpy as np
from calibrant import Calibrator, Normal
from calibrant.interpolators import Random
f, noise = np.random.default_rng(0).normal(size=(2, 50))
calibrated = Calibrator(interpolator=Random()).fit(Normal(f, 1.0), f + noise)
print(calibrated(Normal(f, 1.0), seed=7).uniform.tobytes().hex())
"""


@pytest.mark.slow
def test_another_process_draws_the_same():
    runs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout != ""


@pytest.mark.parametrize("name", PREDICTIONS)
def test_every_kind_of_prediction_has_uniforms_of_its_rows(name):
    prediction = PREDICTIONS[name](HERE)
    calibrated = Calibrator(CDFScore() if isinstance(prediction, Distribution) else None, Random())
    calibrated = calibrated.fit(prediction, LABELS)
    U, order = calibrated(prediction, seed=1).uniform, np.random.default_rng(0).permutation(len(prediction))[:7]
    np.testing.assert_array_equal(calibrated(prediction[order], seed=1).uniform, U[order])
    assert np.unique(U).size == len(prediction)
    assert not np.intersect1d(U, calibrated(prediction, seed=2).uniform).size
    assert not np.intersect1d(U, calibrated_elsewhere(calibrated)(prediction, seed=1).uniform).size


def calibrated_elsewhere(calibrated):
    """The same with one score another."""
    lines = calibrated.q.atoms.lines
    knots = lines.knots.copy()
    knots[-1] += 1e-3
    atoms = PiecewiseLinear(replace(lines, knots=knots))
    return replace(calibrated, q=replace(calibrated.q, atoms=atoms))


def test_the_uniforms_are_uniform_and_neighbours_know_nothing_of_each_other():
    calibrated = Calibrator(interpolator=Random()).fit(np.arange(9.0), np.arange(9.0) ** 2)
    for f in (np.arange(20_000.0), np.arange(20_000) / 7, 1 + np.arange(20_000) * 2.0**-28):
        U = calibrated(f, seed=0).uniform
        assert stats.kstest(U, "uniform").pvalue > 0.01
        assert abs(stats.spearmanr(U[1:], U[:-1]).statistic) < 0.03
        other = calibrated(f, seed=1).uniform
        assert abs(stats.spearmanr(U, other).statistic) < 0.03


def test_digits_that_a_model_may_change_from_batch_to_batch_do_not_count():
    calibrated = Calibrator(interpolator=Random()).fit(np.arange(9.0), np.arange(9.0) ** 2)
    f = np.array([0.1, 1.0, 3.0, -1e-300, 0.0, 1e300])
    for near in (np.nextafter(f, np.inf), np.nextafter(f, -np.inf), f * (1 + 1e-14)):
        same = calibrated(near, seed=0).uniform == calibrated(f, seed=0).uniform
        assert same[[0, 1, 2, 3, 5]].all()
    np.testing.assert_array_equal(calibrated([-0.0], seed=0).uniform, calibrated([0.0], seed=0).uniform)
    assert calibrated([1.0], seed=0).uniform != calibrated([1.0 + 1e-8], seed=0).uniform


def test_tensors_have_the_uniforms_of_arrays():
    torch = pytest.importorskip("torch")
    f, y = np.random.default_rng(0).normal(size=(2, 30))
    calibrated = Calibrator(interpolator=Random()).fit(Normal(f, 1.0), y)
    tensors = Normal(torch.tensor(f, requires_grad=True), torch.ones(30, dtype=torch.float64))
    U = calibrated(tensors, seed=0).uniform.numpy()
    np.testing.assert_array_equal(U, calibrated(Normal(f, 1.0), seed=0).uniform)


def test_rows_with_one_forecast_share_their_uniform_and_folds_do_not():
    parts = [Calibrator(interpolator=Random()).fit(np.zeros(20), Y[k : k + 20]) for k in (0, 20)]
    H = CrossCalibrated(tuple(parts))([np.zeros(3), np.zeros(3)], seed=0)
    one, two = (distribution.uniform for distribution in H.components)
    assert np.unique(one).size == np.unique(two).size == 1
    assert one[0] != two[0]


def test_a_seed_changes_no_distribution_that_is_not_random():
    calibrated = Calibrator(interpolator=Linear()).fit(np.zeros(40), Y[:40])
    np.testing.assert_array_equal(calibrated(Y[:5], seed=0).ppf(0.3), calibrated(Y[:5]).ppf(0.3))


@pytest.mark.parametrize("seed", [-1, 1.5, True, "0", np.random.default_rng(0)])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(ValueError, match="seed must be a whole number, 0 or larger"):
        Calibrator(interpolator=Random()).fit(np.zeros(5), np.arange(5.0))([0.0], seed=seed)


def test_a_seed_and_a_generator_are_one_too_many():
    calibrated = Calibrator(interpolator=Random()).fit(np.zeros(5), np.arange(5.0))
    with pytest.raises(TypeError, match=r"takes rng= or seed=, not both"):
        calibrated([0.0], seed=1, rng=np.random.default_rng(1))
