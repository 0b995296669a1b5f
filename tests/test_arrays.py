"""The same numbers in every array library, of the same type, dtype and device; and gradients where there are any."""

from __future__ import annotations

from functools import partial

import array_api_compat
import array_api_strict
import numpy as np
import pytest
import torch
from catalogue import (
    CALIBRATION,
    COMBINATIONS,
    DATA,
    DISTRIBUTIONS,
    HERE,
    INTERPOLATORS,
    LOC,
    MEANS,
    NUMPY_ONLY,
    PAIRS,
    PREDICTIONS,
    QUICK,
    SCALE,
    SPLIT,
    STDS,
    H,
    World,
    Y,
    calibrated,
    predicted,
)
from reference.tolerances import TOLERANCES

from calibrant import Calibrator, Laplace, Mixture, Normal, Point
from calibrant.distributions.mixture import GaussianMixture
from calibrant.interpolators import BoundedTails, Linear, Naive, Random
from calibrant.scores import CDFScore

LIBRARIES = {
    "torch": (partial(torch.as_tensor, dtype=torch.float64), 1e-12),
    "torch float32": (partial(torch.as_tensor, dtype=torch.float32), 1e-4),
    "array-api-strict": (partial(array_api_strict.asarray, dtype=array_api_strict.float64), 1e-12),
}
every_library = pytest.mark.parametrize("library", LIBRARIES)


def numbers(array):
    return array.detach().cpu().numpy() if isinstance(array, torch.Tensor) else np.asarray(array)


def of_the_same_kind(result, like):
    assert type(result) is type(like)
    assert result.dtype == like.dtype
    assert array_api_compat.device(result) == array_api_compat.device(like)


def results(distribution, array, p=0.37):
    """Every method of a distribution, at points given in its own array library."""
    y = distribution.ppf(p)
    finite = array_api_compat.array_namespace(y).isfinite(y)
    y = array_api_compat.array_namespace(y).where(finite, y, array(20.0)) + array(0.0123)
    found = {
        "ppf": distribution.ppf(p),
        "quantiles": distribution.quantiles(array([0.2, 0.81])),
        "interval": distribution.interval(0.8)[1],
        "sample": distribution.sample(3, rng=np.random.default_rng(0)),
        **{
            name: getattr(distribution, name)(y)
            for name in ("cdf", "sf", *(("logpdf", "pdf") if distribution.lattice is None else ("logpmf", "pmf")))
        },
    }
    clipped = distribution.clip(18.0, 22.0)
    return found | {
        "mean": distribution.mean(),
        "std": distribution.std(),
        "crps": distribution.crps(y),
        "clipped mean": clipped.mean(),
    }


def same_results(there, here, array, tolerance):
    expected = results(here, np.asarray)
    for name, result in results(there, array).items():
        if array_api_compat.is_array_api_obj(result) or name not in ("mean", "std"):  # a constant is a number
            of_the_same_kind(result, array(0.0))
        scale = 20.0 if tolerance > 1e-6 and name in ("ppf", "quantiles", "interval", "mean", "sample") else 1.0
        np.testing.assert_allclose(
            numbers(result), expected[name], rtol=10 * tolerance, atol=10 * tolerance * scale, err_msg=name
        )


@every_library
@pytest.mark.parametrize("name", [name for name in DISTRIBUTIONS if name not in {*NUMPY_ONLY, "student t"}])
def test_distributions_give_numpys_numbers(name, library):
    array, tolerance = LIBRARIES[library]
    if "poisson" in name and library == "torch":
        tolerance = 1e-9  # torch's incomplete gamma function is off by 1.7e-9 at (31, 40)
    same_results(DISTRIBUTIONS[name](World(array)), DISTRIBUTIONS[name](HERE), array, tolerance)


CHOSEN = {
    "torch": {"naive", "linear", "linear, infinite", "random, bounded"},
    "torch float32": {"linear"},
    "array-api-strict": {"naive", "linear"},
}
CASES = [
    pytest.param(name, library, marks=[pytest.mark.slow] * (name not in QUICK))
    for library, chosen in CHOSEN.items()
    for name, (pair, interpolator) in COMBINATIONS.items()
    if interpolator in chosen
    and pair not in NUMPY_ONLY
    and not (library == "array-api-strict" and "student" in pair)  # a minute, for plain arithmetic
]


@pytest.mark.parametrize(("name", "library"), CASES)
def test_calibrated_distributions_give_numpys_numbers(name, library):
    array, tolerance = LIBRARIES[library]
    pair, interpolator = COMBINATIONS[name]
    there = predicted(pair, interpolator, world=World(array))
    same_results(there, H(pair, interpolator), array, tolerance)


# ---- from one library to another -------------------------------------------------------------------------------------


@every_library
@pytest.mark.parametrize("interpolator", ["naive", "linear", "random, bounded", "naf", "naf, guarded"])
@pytest.mark.parametrize("pair", ["residual", "quantile", "cdf of normal", "ensemble of broken lines"])
def test_a_calibrator_fitted_in_numpy_predicts_in_any_library(pair, interpolator, library):
    array, tolerance = LIBRARIES[library]
    prediction = PREDICTIONS[PAIRS[pair].prediction](World(array))[CALIBRATION:]
    there = calibrated(pair, interpolator)(prediction, rng=np.random.default_rng(3))
    result = there.cdf(array(Y[CALIBRATION:]))
    of_the_same_kind(result, array(0.0))
    np.testing.assert_allclose(numbers(result), H(pair, interpolator).cdf(Y[CALIBRATION:]), atol=10 * tolerance)


def test_labels_of_numpy_meet_predictions_of_torch():
    distribution = predicted("z of normal", "linear", world=World(LIBRARIES["torch"][0]))
    np.testing.assert_allclose(
        numbers(distribution.cdf(Y[CALIBRATION:])), H("z of normal", "linear").cdf(Y[CALIBRATION:])
    )


def test_a_list_becomes_a_numpy_array_of_doubles():
    result = Calibrator().fit([1.0, 2.0, 4.0], [1.5, 2.5, 3.0])([2]).cdf([3])
    assert isinstance(result, np.ndarray)
    assert result.dtype == np.float64


# ---- gradients -------------------------------------------------------------------------------------------------------

ROW = slice(CALIBRATION, CALIBRATION + 3)
LABELS = torch.as_tensor(Y[ROW] + 0.05)


def leaf(values):
    return torch.tensor(np.asarray(values), dtype=torch.float64, requires_grad=True)


def parameters(name, rows):
    """What a prediction of the catalogue has a row of for each row, as leaves of gradients; but for weights."""
    found = []

    def array(values):
        if np.shape(values)[:1] == (len(Y),) and values is not SPLIT:
            found.append(leaf(values[rows]))
        return values

    PREDICTIONS[name](World(array))
    return found


def built(name, leaves, rows):
    left = iter(leaves)

    def array(values):
        if np.shape(values)[:1] == (len(Y),) and values is not SPLIT:
            return next(left)
        return torch.as_tensor(values[rows] if values is SPLIT else values)

    return PREDICTIONS[name](World(array))


CURVED = ["cdf of normal", "cdf of logistic", "cdf of laplace", "cdf of student t", "cdf of log-normal"]
MIXED = ["z of gaussian mixture", "cdf of gaussian mixture", "ensemble of broken lines", "ensemble of z and cdf"]
LEARNED = ["residual", "quantile", "z of normal", "cdf of normal"]
LINES = ["residual", "relative", "sqrt", "interval", "quantile", "samples", "z of normal", "ensemble of points"]
LINEAR = [*LINES, "log", *CURVED, *MIXED]


@pytest.mark.parametrize("method", ["cdf", "logpdf", "crps"])
@pytest.mark.parametrize(
    ("pair", "interpolator"), [*((pair, "linear") for pair in LINEAR), *((pair, "naf") for pair in LEARNED)]
)
def test_gradients_reach_the_predictions(pair, interpolator, method):
    name, distribution = PAIRS[pair].prediction, calibrated(pair, interpolator)
    rows = slice(CALIBRATION, CALIBRATION + (1 if method == "crps" else 3))
    labels = torch.as_tensor(Y[rows] + 0.05)

    def function(*leaves):
        return getattr(distribution(built(name, leaves, rows)), method)(labels)

    leaves = parameters(name, rows)
    tabled = method == "crps" and "mixture" in pair
    atol = TOLERANCES["bimodal"].integrals if tabled else 2e-5
    assert torch.autograd.gradcheck(function, leaves, eps=1e-6, atol=atol, rtol=1e-4)
    gradients = torch.autograd.grad(function(*leaves).sum(), leaves)
    if method != "logpdf":
        assert any(bool(torch.any(g != 0)) for g in gradients)


@pytest.mark.parametrize("bounds", [(None, None), (18.0, 22.0)], ids=["whole", "clipped"])
@pytest.mark.parametrize("method", ["mean", "std", "median"])
@pytest.mark.parametrize("pair", ["z of normal", "quantile", "cdf of normal"])
def test_gradients_reach_the_predictions_through_summaries(pair, method, bounds):
    name, distribution = PAIRS[pair].prediction, calibrated(pair, "linear")

    def function(*leaves):
        H = distribution(built(name, leaves, ROW))
        return getattr(H if bounds[0] is None else H.clip(*bounds), method)()

    assert torch.autograd.gradcheck(function, parameters(name, ROW), atol=1e-5)


@pytest.mark.parametrize("method", ["cdf", "logpdf", "crps"])
def test_gradients_reach_the_weights_of_a_mixture(method):
    def function(weight, means, stds):
        weights = torch.stack([weight, 1 - weight], dim=1)
        return getattr(GaussianMixture(weights, means, stds), method)(torch.as_tensor(Y[ROW]))

    leaves = [leaf(DATA["weight"][ROW]), leaf(MEANS[ROW]), leaf(STDS[ROW])]
    assert torch.autograd.gradcheck(function, leaves, atol=1e-6)


def test_gradients_reach_the_quantiles_of_a_pool():
    def function(loc, scale):
        return Mixture([Normal(loc, scale), Laplace(loc + 1, 2 * scale)], [0.3, 0.7]).ppf(0.8)

    assert torch.autograd.gradcheck(function, [leaf(LOC[ROW]), leaf(SCALE[ROW])], atol=1e-6)


def test_a_model_can_be_trained_through_a_calibrated_crps():
    """The gradient of the mean crps in the locations points from the prediction to the label."""
    distribution = calibrated("residual", "linear")
    point = leaf(LOC[ROW] - 10)
    distribution(Point(point)).crps(LABELS).mean().backward()
    assert bool(torch.all(point.grad < 0))


# ---- CUDA ------------------------------------------------------------------------------------------------------------

cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")


@pytest.mark.gpu
@cuda
@pytest.mark.parametrize("interpolator", ["naive", "linear", "random, bounded", "naf"])
@pytest.mark.parametrize("pair", ["residual", "quantile", "z of normal", "cdf of normal", "cdf of laplace"])
def test_cuda_gives_numpys_numbers_on_the_device(pair, interpolator):
    array = partial(torch.as_tensor, dtype=torch.float64, device="cuda")
    same_results(predicted(pair, interpolator, world=World(array)), H(pair, interpolator), array, 1e-10)


@pytest.mark.gpu
@cuda
@pytest.mark.parametrize("method", ["cdf", "logpdf", "crps"])
def test_gradients_reach_the_predictions_on_cuda(method):
    distribution = calibrated("cdf of normal", "linear")
    loc, scale = (torch.tensor(v[ROW], device="cuda", requires_grad=True) for v in (LOC, SCALE))
    labels = LABELS.cuda()
    assert torch.autograd.gradcheck(
        lambda m, s: getattr(distribution(Normal(m, s)), method)(labels), [loc, scale], atol=1e-5
    )


@pytest.mark.gpu
@cuda
def test_a_calibrator_fitted_in_numpy_predicts_on_cuda():
    distribution = Calibrator(CDFScore(), INTERPOLATORS["linear"]).fit(Normal(LOC[:50], SCALE[:50]), Y[:50])
    there = distribution(Normal(*(torch.as_tensor(v[ROW], device="cuda") for v in (LOC, SCALE))))
    here = distribution(Normal(LOC[ROW], SCALE[ROW]))
    result = there.crps(LABELS.cuda())
    assert result.device.type == "cuda"
    np.testing.assert_allclose(numbers(result), here.crps(LABELS.numpy()), rtol=1e-10)


def test_torch_rows_are_chosen_by_a_reversed_index_of_numpy_too():
    backwards = np.arange(3)[::-1]  # a view with a negative stride
    assert Point(torch.tensor([1.0, 2.0, 3.0]))[backwards].values.tolist() == [3.0, 2.0, 1.0]


@pytest.mark.parametrize("interpolator", [Random(), Random(BoundedTails()), Naive(), Linear()])
def test_gradients_of_a_clip_are_numbers_also_where_a_row_lies_on_its_bound_and_tails_at_infinity(interpolator):
    calibrated = Calibrator(CDFScore(), interpolator).fit(Normal(np.zeros(30), 1.0), np.linspace(-2, 2, 30))
    leaves = [torch.tensor(part, dtype=torch.float64, requires_grad=True) for part in ([0.0, 90.0], [1.0, 2.0])]
    H = calibrated(Normal(*leaves), rng=np.random.default_rng(1)).clip(-3.0, 3.0)
    for answer in (H.mean(), H.std(), H.crps(torch.zeros(2, dtype=torch.float64))):
        for gradient in torch.autograd.grad(answer.sum(), leaves, retain_graph=True):
            assert torch.all(torch.isfinite(gradient))
