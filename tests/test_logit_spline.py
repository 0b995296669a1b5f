"""NAF's law is the spline of its mixture's logit: the same law, as far as anybody can tell."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant.distributions import LogisticMixture
from calibrant.distributions.guarded import Guarded
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
    "one of 1e100": np.r_[RNG.normal(size=99), 1e100],
}
every_kind = pytest.mark.parametrize("name", SCORES)


def spline(name):
    q = NAF().fit(SCORES[name])
    return q.law if isinstance(q, Guarded) else q


def mixture(name):
    return LogisticMixture(*fit_logistic_mixture(np.sort(SCORES[name])))


@every_kind
def test_the_cdf_is_that_of_the_mixture_to_1e_7(name):
    law, true = spline(name), mixture(name)
    assert isinstance(law, LogitSpline)
    y = true.ppf(np.linspace(0.0005, 0.9995, 2000))
    np.testing.assert_allclose(law.cdf(y), true.cdf(y), rtol=0, atol=1e-7)
    np.testing.assert_allclose(law.sf(y), true.sf(y), rtol=0, atol=1e-7)


@every_kind
def test_the_inverse_is_that_of_the_spline_itself(name):
    law, p = spline(name), np.linspace(1e-6, 1 - 1e-6, 4001)
    np.testing.assert_allclose(law.cdf(law.ppf(p)), p, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", ["student t", "few", "clumps", "tiny"])
def test_mean_std_and_crps_are_those_of_the_mixture(name):
    law, true = spline(name), mixture(name)
    y = np.median(SCORES[name])
    np.testing.assert_allclose(law.mean(), true.mean(), rtol=0, atol=1e-8 * true.std())
    np.testing.assert_allclose(law.std(), true.std(), rtol=1e-8)
    np.testing.assert_allclose(law.crps(y), true.crps(y), rtol=1e-8)


def test_the_tails_reach_as_far_as_the_mixtures():
    law, true = spline("student t"), mixture("student t")
    far = true.ppf(np.array([1e-12, 1e-9]))
    np.testing.assert_allclose(law.cdf(far), [1e-12, 1e-9], rtol=1e-4)


def test_the_slopes_of_a_spline_are_held_so_that_it_rises():
    law = spline("clumps")
    y = np.sort(np.concatenate([np.linspace(law.knots[0], law.knots[-1], 20001), law.knots]))
    assert np.all(np.diff(law.cdf(y)) >= 0)


@pytest.mark.parametrize("beyond", [0.3, 0.9, 5.0])
def test_beyond_its_knots_the_logit_goes_on_with_the_slope_of_that_end(beyond):
    law = LogitSpline(np.array([0.0, 1.0, 3.0]), np.array([-2.0, 0.0, 1.0]), np.array([3.0, 1.0, 0.4]))
    logit = [np.log(law.cdf(s) / law.sf(s)) for s in (-beyond, 3.0 + beyond)]
    np.testing.assert_allclose(logit, [-2.0 - 3.0 * beyond, 1.0 + 0.4 * beyond], rtol=1e-12)
