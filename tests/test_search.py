"""Searching sorted knots, and maps that give their value and their slope at once."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
import torch
from scipy import stats

from calibrant._search import Finder, count_up_to, gather, interpolated
from calibrant._special import ndtri_logit
from calibrant.distributions.student_t import StudentT
from calibrant.scores import CDFScore

LIBRARIES = {"numpy": np.asarray, "torch": torch.asarray, "strict": array_api_strict.asarray}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("columns", [1, 3, 200])
@pytest.mark.parametrize("knots", [1, 2, 9, 64, 300])
@pytest.mark.parametrize("rows", [1, 7])
def test_rows_are_searched_as_one_by_one(rows, knots, columns, library):
    rng, there = np.random.default_rng(knots), LIBRARIES[library]
    table = np.sort(np.round(rng.standard_normal((rows, knots)), 1))  # with ties
    y = np.round(rng.standard_normal((7, columns)), 1)
    y[0, 0], y[-1, -1] = -np.inf, np.inf
    each = np.stack([np.searchsorted(table[i % rows], y[i], side="right") for i in range(7)])
    found = count_up_to(there(table), there(y))
    np.testing.assert_array_equal(np.asarray(found), each)
    index = np.minimum(each, knots - 1)
    taken = np.take_along_axis(np.broadcast_to(table, (7, knots)), index, axis=1)
    np.testing.assert_array_equal(np.asarray(gather(there(table), there(index))), taken)


def test_a_finder_takes_values_as_far_out_as_floats_reach():
    knots = np.sort(np.random.default_rng(1).standard_normal(500)) * 1e-70
    y = np.concatenate([knots, [-np.inf, np.inf, 1e75, -1e75, 0.0], knots / 2])
    finder = Finder(knots)
    np.testing.assert_array_equal(finder.count(y), np.searchsorted(knots, y, side="right"))
    np.testing.assert_array_equal(finder.count(y, left=True), np.searchsorted(knots, y, side="left"))


def test_a_finder_counts_beyond_the_last_knot_also_where_its_cells_end_a_rounding_before_it():
    rng, beyond = np.random.default_rng(0), np.full(100, 1e9)
    for n in rng.integers(100, 300, 1000):
        knots = np.sort(rng.random(n))
        knots[-4:] = knots[-1]  # more than the 1% that lie beyond the cells
        assert (Finder(knots).count(beyond) == n).all()


def test_normal_quantiles_far_out_are_the_same_in_torch_and_have_their_slope_as_gradient():
    s = np.array([-1e5, -2000.0, -300.0, -90.0, -5.0, 5.0, 90.0, 1e4])
    np.testing.assert_allclose(ndtri_logit(torch.asarray(s)).numpy(), ndtri_logit(s), rtol=1e-13)
    there = torch.asarray(np.append(s, 0.0)).requires_grad_()
    ndtri_logit(there).sum().backward()
    slope = (ndtri_logit(1.0001 * s) - ndtri_logit(0.9999 * s)) / (2e-4 * s)
    np.testing.assert_allclose(there.grad.numpy(), np.append(slope, 0.25 * np.sqrt(2 * np.pi)), rtol=1e-6)


def test_the_cdf_score_of_a_student_t_has_its_gradient_at_the_centre_too():
    loc = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    CDFScore()(StudentT(5.0, loc, 1.0), torch.zeros(3, dtype=torch.float64)).sum().backward()
    np.testing.assert_allclose(loc.grad.numpy(), -4 * stats.t(5).pdf(0), rtol=1e-13)


def test_a_broken_line_with_tied_knots_is_read_from_the_right():
    knots, heights, x = np.array([[0.0, 1.0, 1.0]]), np.array([[0.0, 2.0, 5.0]]), np.array([[0.5, 1.0, 2.0]])
    np.testing.assert_array_equal(interpolated(x, knots, heights), [[1.0, 5.0, 5.0]])
