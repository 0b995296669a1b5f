"""Quantiles and draws as distributions, judged without calibration."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from calibrant import Ensemble, Normal, Quantiles, Samples, metrics, report
from calibrant.distributions import Mixture, Poisson
from calibrant.metrics.interpolated import interpolated
from calibrant.metrics.label_kinds import distribution_for_labels
from calibrant.predictions import Rates
from calibrant.testing import check_distribution


def drawn(m=1500, draws=400, factor=1.0, seed=0):
    rng = np.random.default_rng(seed)
    f = rng.normal(size=m)
    return Samples(f[:, None] + factor * rng.normal(size=(m, draws))), f + rng.normal(size=m)


def test_the_distribution_goes_through_its_quantiles_and_is_exact():
    levels = np.array([0.05, 0.3, 0.6, 0.9])
    values = np.array([[0.0, 1.0, 1.5, 4.0], [-2.0, -2.0, 3.0, 3.5], [1.0, 2.0, 2.0, 2.0], [5.0, 5.0, 5.0, 5.0]])
    distribution = interpolated(Quantiles(levels, values)).as_distribution()
    np.testing.assert_allclose(distribution.quantiles(levels), values)
    y = np.array([2.0, 1.0, 2.5, 4.5])
    for k in range(4):
        # the CRPS by an integral of its own: of (F - 1{z >= y})^2
        points = sorted({*values[k], y[k]})
        grid = [values[k, 0] - 60, *points, values[k, -1] + 60]
        parts = [
            integrate.quad(lambda z, k=k: (float(distribution[k].cdf(z)) - (z >= y[k])) ** 2, a, b, limit=200)[0]
            for a, b in pairwise(grid)
        ]
        assert distribution.crps(y)[k] == pytest.approx(sum(parts), rel=1e-6)
    # a tail falls as the distribution does between its outermost two quantiles
    assert float(distribution[0].cdf(-1.0)) == pytest.approx(0.05 * (0.05 / 0.3))
    assert float(distribution[0].sf(6.5)) == pytest.approx(0.1 * (0.1 / 0.4))
    assert distribution.cdf_left(5.0)[3] == 0  # equal quantiles: a single value
    assert distribution.cdf(5.0)[3] == 1
    assert distribution.cdf(-2.1)[1] == 0  # the atom at the end has the tail's mass
    assert distribution.std()[3] == 0
    for k in (0, -1):
        assert not np.isnan(distribution.logpdf(values[:, k])).any()  # nor a warning, which is an error here


def test_it_keeps_the_distributions_of_a_distribution():
    rng = np.random.default_rng(1)
    check_distribution(interpolated(Samples(rng.normal(size=(4, 9)))).as_distribution())


def test_few_quantiles_that_are_right_at_their_levels_are_not_blamed_for_the_lines_between():
    rng = np.random.default_rng(3)
    f, noise = rng.normal(size=(2, 3000))
    levels = [0.1, 0.9]
    right = Quantiles(levels, f[:, None] + stats.norm.ppf(levels))
    page = report(right, f + noise, rows=[0])
    assert page.headline.kind == "warn"
    assert page.headline.text.startswith("The quantiles are right at their levels; linear interpolation between them")
    assert page.verdict[0].kind == "warn"
    narrow = Quantiles(levels, f[:, None] + 0.7 * stats.norm.ppf(levels))
    assert report(narrow, f + noise, rows=[0]).headline.kind == "bad"


def _of_counts(kind):
    rng = np.random.default_rng(3)
    rate = np.exp(rng.normal(size=400))
    draws = rng.gamma(4.0, rate[:, None] / 4, size=(400, 40))  # means of leaves: between the whole numbers
    levels = [0.05, 0.25, 0.5, 0.75, 0.95]
    made = Samples(draws) if kind == "draws" else Quantiles(levels, np.quantile(draws, levels, axis=1).T)
    return made, rng.poisson(rate).astype(float)


def test_an_interval_of_counts_by_draws_ends_on_whole_numbers():
    found = metrics.evaluate(*_of_counts("draws"), labels="counts")
    assert (found.interval_width * found.n).is_integer()


def test_an_ensemble_of_distributions_of_counts_is_one_of_counts():
    ensemble, y = Ensemble([Rates([1.0, 2.0, 3.0]), Normal([1.0, 2.0, 3.0], 1.0)]), np.array([1.0, 0.0, 4.0])
    found = metrics.evaluate(ensemble, y, labels="counts")
    assert found.labels["nll"] == "NLL of the counts"
    mixed = 0.5 * Poisson([1.0, 2.0, 3.0]).pmf(y) + 0.5 * distribution_for_labels(ensemble.members[1], y, "counts").pmf(
        y
    )
    assert found.nll == pytest.approx(-np.log(mixed).mean(), rel=1e-12)


@pytest.mark.parametrize("kind", ["draws", "quantiles"])
@pytest.mark.parametrize("labels", [None, "counts"])
def test_evaluate_and_report_give_the_same_numbers(kind, labels):
    forecast, y = _of_counts(kind)
    found = metrics.evaluate(forecast, y, labels=labels)
    data = json.loads(re.search(r'id="data">(.*?)</script>', report(forecast, y, labels=labels).html, re.DOTALL)[1])
    table = dict(zip(data["measures"]["head"], data["measures"]["rows"][0], strict=True))
    assert found.coverage == pytest.approx(table["90% interval coverage"], rel=1e-4)
    assert found.interval_width == pytest.approx(table["90% interval width"], rel=1e-4)
    assert found.interval_score == pytest.approx(table["90% interval score"], rel=1e-4)
    if kind == "quantiles" or labels:
        assert found.crps == pytest.approx(table["CRPS"], rel=1e-4)


def test_an_ensemble_of_distributions_is_judged_as_their_mixture():
    f, noise = np.random.default_rng(4).normal(size=(2, 500))
    one, other = Normal(f, 1.0), Normal(f + 1, 2.0)
    ensemble, mixture = Ensemble([one, other], [3, 1]), Mixture((one, other), (0.75, 0.25))
    assert metrics.evaluate(ensemble, f + noise).to_dict() == metrics.evaluate(mixture, f + noise).to_dict()
    said = [[each.text for each in report(H, f + noise, rows=[0]).verdict[:3]] for H in (ensemble, mixture)]
    assert said[0] == said[1]


def test_rows_of_equal_draws_do_not_break_it():
    prediction, y = drawn(400, 5)
    values = np.array(prediction.values)
    values[::4] = values[::4, :1]
    values[1::4, :2] = values[1::4, :1]  # an atom at one end
    y[0] = values[0, 0]  # on the atom
    assert report(Samples(values), y, rows=np.arange(100)).headline.kind == "bad"
