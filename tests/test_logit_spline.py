"""NAF's distribution is the spline of its mixture's logit: the same, as far as anybody can tell."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from calibrant.distributions.logistic_linear import Guarded
from calibrant.distributions.logit_spline import LogitSpline
from calibrant.interpolators import NAF
from calibrant.interpolators.naf_fit import fit_logistic_mixture

RNG = np.random.default_rng(7)
SCORES = {
    "student t": RNG.standard_t(3, 2000),
    "few": RNG.normal(size=12),
    "outliers": np.sinh(6 * RNG.normal(size=60)),
    "clumps": RNG.integers(3, size=60) + 1e-5 * RNG.normal(size=60),
    "tiny": 1e-9 * RNG.normal(size=100),
}
every_kind = pytest.mark.parametrize("name", SCORES)


def spline(name):
    q = NAF().fit(SCORES[name])
    return q.map.distribution if isinstance(q, Guarded) else q


def heights(name, y):
    """F and 1 - F of the mixture, a sum of logistic distributions."""
    weights, locs, scales = fit_logistic_mixture(np.sort(SCORES[name]))
    z = (y[:, None] - locs) / scales
    return expit(z) @ weights, expit(-z) @ weights


@every_kind
def test_the_cdf_is_that_of_the_mixture_to_1e_7(name):
    distribution = spline(name)
    assert isinstance(distribution, LogitSpline)
    y = distribution.ppf(np.linspace(0.0005, 0.9995, 2000))
    F, S = heights(name, y)
    np.testing.assert_allclose(distribution.cdf(y), F, rtol=0, atol=1e-7)
    np.testing.assert_allclose(distribution.sf(y), S, rtol=0, atol=1e-7)


def test_the_tails_reach_as_far_as_the_mixtures():
    far = spline("student t").ppf(np.array([1e-12, 1e-9]))
    np.testing.assert_allclose(heights("student t", far)[0], [1e-12, 1e-9], rtol=1e-4)


def test_the_slopes_of_a_spline_are_held_so_that_it_rises():
    distribution = spline("clumps")
    y = np.sort(np.concatenate([np.linspace(distribution.knots[0], distribution.knots[-1], 20001), distribution.knots]))
    assert np.all(np.diff(distribution.cdf(y)) >= 0)


@pytest.mark.parametrize("beyond", [0.3, 0.9, 5.0])
def test_beyond_its_knots_the_logit_goes_on_with_the_slope_of_that_end(beyond):
    distribution = LogitSpline(np.array([0.0, 1.0, 3.0]), np.array([-2.0, 0.0, 1.0]), np.array([3.0, 1.0, 0.4]))
    logit = [np.log(distribution.cdf(s) / distribution.sf(s)) for s in (-beyond, 3.0 + beyond)]
    np.testing.assert_allclose(logit, [-2.0 - 3.0 * beyond, 1.0 + 0.4 * beyond], rtol=1e-12)
