"""The kernels give the numbers of the array operations; in Triton's interpreter where there is no GPU."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="the kernels are written in Triton")

from calibrant import Calibrator, Normal  # noqa: E402
from calibrant.distributions import gpu  # noqa: E402
from calibrant.distributions.gpu import METHODS, by_kernel  # noqa: E402
from calibrant.distributions.location_scale import LocationScale  # noqa: E402
from calibrant.distributions.piecewise_linear import PiecewiseLinear  # noqa: E402

RNG = np.random.default_rng(0)
GPU = torch.cuda.is_available()
DEVICE = "cuda" if GPU else "cpu"


def tensor(values, dtype=torch.float64):
    return torch.as_tensor(np.asarray(values), dtype=dtype, device=DEVICE)


def distribution(knots, probs, left=math.inf, right=math.inf, dtype=torch.float64):
    return PiecewiseLinear.through(tensor(knots, dtype), tensor(probs, dtype), left, right)


def level(n):
    return np.arange(1, n + 1) / (n + 1)


DISTRIBUTION_CASES = {
    "one knot": distribution([0.5], [0.5], 1.0, 2.0),
    "two knots": distribution([0.0, 1.0], [0.3, 0.6], 1.0, 2.0),
    "no tails": distribution(np.sort(RNG.normal(size=33)), np.linspace(0, 1, 33)),
    "both tails": distribution(np.sort(RNG.normal(size=1000)), level(1000), 0.4, 0.7),
    "1,023 knots": distribution(np.sort(RNG.normal(size=1023)), level(1023), 0.4, 0.7),
    "1,024 knots": distribution(np.sort(RNG.normal(size=1024)), level(1024), 0.4, 0.7),
    "an outlier": distribution(np.sort(np.append(RNG.normal(size=5000), 1e9)), level(5001), 0.4, 0.7),
    "wild": distribution(np.sort(RNG.standard_cauchy(size=20_000)), level(20_000), 40.0, 70.0),
    "equal knots": distribution(np.full(9, 2.0), level(9), 1.0, 1.0),
    "jumps": distribution(np.repeat([-1.0, 0.0, 2.0], [1, 2, 3]), level(6), 0.5, 0.5),
}


def arguments(base, rows=777, dtype=torch.float64):
    loc, scale = tensor(RNG.normal(size=rows), dtype), tensor(RNG.uniform(0.2, 3.0, rows), dtype)
    z = RNG.normal(size=rows) * 2
    z[: rows // 4] = RNG.choice(base.knots.cpu().numpy(), rows // 4)
    z[rows // 4 : rows // 4 + 4] = [-300.0, 300.0, -40.0, 40.0]
    return loc, scale, (loc + scale * tensor(z, dtype))[:, None]


def by_arrays(method, base, loc, scale, y):
    return getattr(LocationScale(loc, scale, base), method)(y)


@pytest.mark.gpu
@pytest.mark.skipif(not GPU, reason="there is no CUDA device here")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", DISTRIBUTION_CASES)
def test_a_kernel_gives_the_numbers_of_the_arrays(name, method):
    compared(name, method)


@pytest.mark.skipif(GPU, reason="the kernels run on the GPU itself")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", DISTRIBUTION_CASES)
def test_an_interpreted_kernel_gives_the_numbers_of_the_arrays(name, method, interpreted):
    compared(name, method)


@pytest.fixture
def interpreted(monkeypatch):
    import triton

    if not triton.knobs.runtime.interpret:
        pytest.skip("Triton's interpreter is off: set TRITON_INTERPRET=1")


def compared(name, method):
    base = DISTRIBUTION_CASES[name]
    given = arguments(base)
    expected = by_arrays(method, base, *given)
    found = by_kernel(method, base, *given)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.gpu
@pytest.mark.skipif(not GPU, reason="there is no CUDA device here")
@pytest.mark.parametrize("method", METHODS)
def test_a_calibrated_distribution_uses_the_kernel_unless_gradients_are_asked_for(method, monkeypatch):
    used = []
    own = gpu.one_pass
    monkeypatch.setattr(gpu, "one_pass", lambda *given: used.append(own(*given)) or used[-1])
    f, y = tensor(RNG.normal(size=500)), tensor(RNG.normal(size=500))
    q = Calibrator().fit(Normal(f, tensor(np.ones(500))), y)
    plain = getattr(q(Normal(f, tensor(np.ones(500)))), method[1:])(y)
    assert used.pop() is not None
    asked = f.clone().requires_grad_()
    with_gradient = getattr(q(Normal(asked, tensor(np.ones(500)))), method[1:])(y)
    assert used.pop() is None
    torch.testing.assert_close(plain, with_gradient.detach(), rtol=1e-12, atol=1e-14)
    with_gradient.sum().backward()
    assert asked.grad is not None
    with torch.no_grad():
        getattr(q(Normal(asked, tensor(np.ones(500)))), method[1:])(y)
    assert used.pop() is not None


@pytest.mark.gpu
@pytest.mark.skipif(not GPU, reason="there is no CUDA device here")
def test_one_scale_for_all_rows_is_read_as_it_is_stored():
    f, y = tensor(RNG.normal(size=500)), tensor(RNG.normal(size=500))
    q = Calibrator().fit(f, y)
    H, home = q(f), q(f.cpu().numpy())
    assert np.max(np.abs(H.cdf(y).cpu().numpy() - home.cdf(y.cpu().numpy()))) < 1e-12


@pytest.mark.gpu
@pytest.mark.skipif(not GPU, reason="there is no CUDA device here")
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_named(value):
    f, y = tensor(RNG.normal(size=500)), tensor(RNG.normal(size=500))
    H = Calibrator().fit(f, y)(f)
    y[7] = value
    with pytest.raises(ValueError, match="row 7"):
        H.crps(y)
    if math.isnan(value):
        with pytest.raises(ValueError, match="row 7"):
            H.cdf(y)
    else:
        assert float(H.cdf(y)[7]) == (value > 0)
