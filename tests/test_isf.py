"""`isf`, the inverse of `sf`."""

import numpy as np
import scipy.stats

from calibrant import Calibrator, Normal
from calibrant.distributions import Poisson


def test_isf_reaches_where_one_minus_p_is_one():
    tiny = np.array([1e-300, 1e-30, 1e-17])
    np.testing.assert_allclose(Normal(0.0, 1.0).isf(tiny), scipy.stats.norm.isf(tiny), rtol=1e-12)
    H = Calibrator().fit(np.zeros(50), np.random.default_rng(0).normal(size=50))([0.0])
    np.testing.assert_allclose(H.sf(H.isf(tiny[None, 1:])), tiny[None, 1:], rtol=1e-9)


def test_isf_is_the_quantile_at_the_rest():
    p = np.linspace(0.01, 0.99, 99)[None, :]
    H = Normal([0.0, 3.0], [1.0, 0.1])
    np.testing.assert_allclose(H.isf(p), H.ppf(1 - p), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(Poisson([0.5, 4.0]).isf(p), Poisson([0.5, 4.0]).ppf(1 - p))
    np.testing.assert_array_equal(H.isf(0.0), [np.inf, np.inf])


def test_the_repr_of_what_was_calibrated_has_no_arrays_in_it():
    found = repr(Calibrator().fit(np.zeros(50), np.random.default_rng(0).normal(size=50)))
    assert "history=History(50 scores)" in found
    assert "array" not in found
