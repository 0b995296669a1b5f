"""The maps from labels to scores, row by row: what each says of itself agrees with the map."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import Calibrator, Ensemble, LogNormal, Normal
from calibrant.intervals import Centred
from calibrant.predictions import WithAtom
from calibrant.predictions.with_atom import atom_line
from calibrant.scores import CDFScore, EnsembleScore, LogScore, ResidualScore, SqrtScore, signed
from calibrant.scores.quantile import AtomScore
from calibrant.scores.transforms.base import Affine
from calibrant.scores.transforms.combined import Composed, Sum
from calibrant.scores.transforms.curves import CDF, Logarithm

LOC, SCALE = np.array([0.3, -1.0, 2.0]), np.array([0.5, 1.0, 2.0])


def test_a_sum_is_inverted_at_many_scores_by_cubics_between_places():
    log = Composed(Affine(LOC - 20.0, SCALE), Logarithm())
    transform = Sum(((CDF(Normal(LOC, SCALE)), 2.0), (log, 1.0), (Affine(LOC, SCALE), 0.5)))
    s = np.linspace(0.1, 0.9, 98)[None, :] + np.zeros((3, 1))
    np.testing.assert_allclose(transform.inverse_with_width(s)[0], transform.inverse(s), rtol=1e-5, atol=1e-5)


def test_a_score_that_is_no_probability_is_taken_to_an_end():
    cdf = CDF(Normal(LOC, SCALE).clip(-1.5, 7.0))
    np.testing.assert_array_equal(cdf.inverse(np.array([[-0.5, 1.5]])), [[-1.5, 7.0]] * 3)


def test_an_ensemble_inside_an_ensemble_counts_with_both_weights():
    inner, y = Ensemble([Normal(LOC, SCALE), LOC + 1.0], [0.25, 0.75]), np.array([0.5, -3.0, 2.5])
    score = EnsembleScore([EnsembleScore([CDFScore(), ResidualScore()]), ResidualScore()])
    with pytest.warns(UserWarning, match="which have the unit of y"):
        found = score(Ensemble([inner, LOC - 1.0], [0.6, 0.4]), y)
    F = Normal(LOC, SCALE).cdf(y)
    np.testing.assert_allclose(found, 0.6 * (0.25 * F + 0.75 * (y - LOC - 1)) + 0.4 * (y - LOC + 1), rtol=1e-12)


@pytest.mark.parametrize("score", [LogScore(c=1.0), SqrtScore(c=1.0), ResidualScore()])
def test_scores_that_start_at_the_point_prediction_have_it_as_their_middle(score):
    f = np.array([0.5, 2.0, 30.0])
    np.testing.assert_allclose(Centred(score).minimiser(f), f, rtol=1e-13)


def test_the_middle_of_a_distribution_with_an_atom_is_its_median():
    """Where the atom has less than half of the mass, what the distribution above it says."""
    share, distribution = np.array([0.1, 0.2, 0.45]), LogNormal([0.0, 1.0, 2.0], 0.5)
    line = atom_line(WithAtom(distribution, share), 0.0)
    median = distribution.ppf((0.5 - share) / (1 - share))
    np.testing.assert_allclose(Centred(AtomScore()).minimiser(line), median, rtol=0.01)


def test_a_signed_distance_from_another_centre_has_the_density_that_is_the_slope_of_its_cdf():
    rng = np.random.default_rng(1)
    f = rng.uniform(1.0, 5.0, 60)
    score = signed(Centred(LogScore(), centre=0.2), scale=0.3)
    H = Calibrator(score).fit(f, f * np.exp(rng.normal(0.2, 0.5, 60)))([1.0, 3.0])
    y, h = np.array([[0.71, 1.13, 1.9], [2.03, 4.41, 5.7]]), 1e-7
    np.testing.assert_allclose(H.pdf(y), (H.cdf(y + h) - H.cdf(y - h)) / (2 * h), rtol=1e-5)
