"""Many NAFs fitted as one batch: the numbers of one at a time."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the batch is a torch program")

from calibrant.interpolators import NAF, naf_fit  # noqa: E402
from calibrant.interpolators.naf_fit import fit_logistic_mixture, fit_together, splines_together  # noqa: E402
from calibrant.interpolators.weights import in_order  # noqa: E402

DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=[
            pytest.mark.gpu,
            pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here"),
        ],
    ),
]


def sets_of_scores():
    rng = np.random.default_rng(0)
    draw = (
        rng.normal,
        rng.standard_cauchy,
        lambda size: np.round(2 * rng.normal(size=size)),
        lambda size: 1e70 * rng.exponential(size=size),
        lambda size: 1e-70 * rng.normal(size=size),
    )
    return [draw[i % len(draw)](size=size) for i, size in enumerate((2, 3, 5, 20, 100, 101, 300, 999, 1500))]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("at_once", [2**26, 1])
def test_each_gets_the_mixture_that_it_gets_alone(device, at_once, monkeypatch):
    monkeypatch.setattr(naf_fit, "AT_ONCE", at_once)
    many = sets_of_scores()
    for scores, parts in zip(many, fit_together(many, 60, device), strict=True):
        for own, alone in zip(parts, fit_logistic_mixture(scores, 60), strict=True):
            np.testing.assert_allclose(own, alone, rtol=1e-10)


@pytest.mark.parametrize("device", DEVICES)
def test_the_distribution_under_guard_is_that_of_fit(device):
    rng = np.random.default_rng(1)
    many, naf = [rng.normal(size=n) for n in (400, 30)], NAF(units=60)
    for scores, smooth in zip(many, splines_together(many, naf.units, device), strict=True):
        own, alone = naf.guarded(smooth, in_order(scores)), naf.fit(scores)
        at = np.linspace(-4, 4, 99)
        np.testing.assert_allclose(own.cdf(at), alone.cdf(at), rtol=1e-10)
        np.testing.assert_allclose(own.logpdf(at), alone.logpdf(at), rtol=1e-8)
