"""The paper's NLL and the rank of its conformal intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from calibrant import Normal, metrics
from calibrant.interpolators import Naive
from calibrant.intervals import standard_rank
from studies.paper.formulas import nll_finite_difference, paper_rank

rng = np.random.default_rng(0)
LOC, SCALE = rng.normal(size=300), rng.uniform(0.5, 2, 300)
Y = LOC + SCALE * rng.normal(size=300)
H = Normal(LOC, SCALE)


def test_the_nll_is_the_authors_formula():
    F = scipy.stats.norm(LOC, SCALE).cdf
    oracle = -np.log((F(Y + 1e-4) - F(Y) + 1e-10) / 1e-4).mean()
    assert nll_finite_difference(H, Y) == pytest.approx(oracle, rel=1e-9)


def test_it_is_close_to_the_exact_nll_where_the_density_is_not_small():
    near = LOC + 0.5 * SCALE
    assert nll_finite_difference(H, near) == pytest.approx(metrics.nll(H, near), abs=1e-4)


def test_a_label_where_the_cdf_is_flat_costs_13_8155_nats():
    distribution = Naive().fit([0.0, 1.0, 2.0])
    assert nll_finite_difference(distribution, np.array([0.5, 1.5])) == pytest.approx(13.8155, abs=1e-4)


def test_the_rank_knows_no_round_off():
    assert [paper_rank(100, k / 100) for k in range(1, 100)] == [k + 1 for k in range(1, 100)]
    assert [paper_rank(99, c) for c in (0.29, 0.57, 0.58)] == [29, 57, 58]
    assert any(math.floor(100 * (k / 100)) != k for k in range(1, 100))  # in floats


def test_the_two_ranks_differ_where_the_notes_say():
    assert (paper_rank(15, 0.9), standard_rank(15, 0.9)) == (14, 15)
