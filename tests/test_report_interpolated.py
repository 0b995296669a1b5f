"""Quantiles and draws, judged without calibration."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from calibrant import Ensemble, Interval, Normal, Point, Quantiles, Samples, metrics, report
from calibrant.distributions import Mixture, Poisson
from calibrant.metrics.interpolated import interpolated
from calibrant.metrics.label_kinds import HINT, distribution_for_labels
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


def test_draws_of_the_true_distribution_are_called_calibrated_and_narrow_ones_not():
    good = report(*drawn(), rows=[0])
    assert good.headline.kind == "good"
    assert good.headline.step == "They can be used as they are, on data like these."
    (said,) = [each.text for each in good.verdict if "interpolated linearly" in each.text]
    assert said.startswith(
        "The forecasts are draws. They are evaluated as distributions interpolated linearly between the sorted draws"
    )
    for bad in (drawn(factor=0.4), drawn(draws=8)):  # few draws of the true distribution do not reach its tails
        assert report(*bad, rows=[0]).headline.text == "Not calibrated: the forecasts are too narrow."


def test_quantiles_are_judged_too():
    rng = np.random.default_rng(2)
    f = rng.normal(size=2000)
    levels = np.arange(1, 40) / 40
    page = report(Quantiles(levels, f[:, None] + stats.norm.ppf(levels)), f + rng.normal(size=2000), rows=[0])
    assert page.headline.kind == "good"
    assert any(each.text.startswith("The forecasts are quantiles.") for each in page.verdict)
    assert "interpolated" not in " ".join(each.text for each in report(Normal(f, 1.0), f, rows=[0]).verdict)


def test_few_quantiles_that_are_right_at_their_levels_are_not_blamed_for_the_lines_between():
    rng = np.random.default_rng(3)
    f, noise = rng.normal(size=(2, 3000))
    levels = [0.1, 0.9]
    right = Quantiles(levels, f[:, None] + stats.norm.ppf(levels))
    page = report(right, f + noise, rows=[0])
    assert page.headline.kind == "warn"
    assert page.headline.text.startswith("The quantiles are right at their levels; linear interpolation between them")
    assert page.verdict[0].kind == "warn"
    assert page.verdict[0].text.startswith("At the levels that the quantiles name, they are right as far as 3,000 rows")
    narrow = Quantiles(levels, f[:, None] + 0.7 * stats.norm.ppf(levels))
    assert report(narrow, f + noise, rows=[0]).headline.kind == "bad"


def test_rows_of_equal_draws_do_not_break_it():
    prediction, y = drawn(400, 5)
    values = np.array(prediction.values)
    values[::4] = values[::4, :1]
    values[1::4, :2] = values[1::4, :1]  # an atom at one end
    y[0] = values[0, 0]  # on the atom
    page = report(Samples(values), y, rows=np.arange(100))
    assert "not calibrated" in page.verdict[0].text
    found = re.search(r'id="data">(.*?)</script>', page.html, re.DOTALL)[1]
    rows = json.loads(found, parse_constant=pytest.fail)["rows"]
    assert {row["pit"] for row in rows if row["row"] in range(4, 100, 4)} <= {0.0, 1.0}


@pytest.mark.parametrize(
    "H",
    [
        Point([1.0, 2.0]),
        Interval([0.0, 1.0], [1.0, 2.0]),
        Samples([[1.0], [2.0]]),
        Quantiles([0.5], [[1.0], [2.0]]),
        Ensemble([Point([1.0, 2.0]), Point([1.0, 2.0])]),
    ],
    ids=lambda H: type(H).__name__,
)
def test_what_is_no_distribution_is_told_the_way_out(H):
    with pytest.raises(
        TypeError, match=r"H must be a distribution for each row, got \w+\(.*calibrate it, with Calibrator\(\).fit"
    ):
        report(H, [1.0, 2.0])


# ---- evaluate and report are of one mind -----------------------------------------------------------------------------


def _alike(forecast, y, **known):
    """What `evaluate` and `report` say of the same forecasts, by the names of `evaluate`."""
    found = metrics.evaluate(forecast, y, **known)
    page = report(forecast, y, **known)
    data = json.loads(re.search(r'id="data">(.*?)</script>', page.html, re.DOTALL)[1])
    after = {row[0].split(",")[0]: row[data["measures"]["head"].index("after")] for row in data["measures"]["rows"]}
    return found, after


def _of_counts(kind):
    rng = np.random.default_rng(3)
    rate = np.exp(rng.normal(size=400))
    draws = rng.gamma(4.0, rate[:, None] / 4, size=(400, 40))  # means of leaves: between the whole numbers
    levels = [0.05, 0.25, 0.5, 0.75, 0.95]
    made = Samples(draws) if kind == "draws" else Quantiles(levels, np.quantile(draws, levels, axis=1).T)
    return made, rng.poisson(rate).astype(float)


@pytest.mark.parametrize("kind", ["draws", "quantiles"])
@pytest.mark.parametrize("labels", [None, "counts"])
def test_evaluate_and_report_give_one_coverage_and_width_of_the_same_forecasts(kind, labels):
    found, after = _alike(*_of_counts(kind), labels=labels)
    assert found.coverage == pytest.approx(after["90% interval coverage"], rel=1e-4)
    assert found.interval_width == pytest.approx(after["90% interval width"], rel=1e-4)
    assert found.interval_score == pytest.approx(after["90% interval score"], rel=1e-4)
    if kind == "quantiles" or labels:
        assert found.crps == pytest.approx(after["CRPS"], rel=1e-4)
        assert found.nll == pytest.approx(after[found.labels["nll"]], rel=1e-4) or np.isinf(found.nll)
        words = f"Evaluated as distributions interpolated linearly between the {kind}, with exponential tails beyond."
        assert found.note == (words if labels else f"{words} {HINT.format('labels=Counts()')}")


def test_an_interval_of_counts_by_draws_ends_on_whole_numbers():
    found, _ = _alike(*_of_counts("draws"), labels="counts")
    assert (found.interval_width * found.n).is_integer()


def test_an_ensemble_of_distributions_is_judged_as_their_mixture():
    rng = np.random.default_rng(4)
    f = rng.normal(size=500)
    y = f + rng.normal(size=500)
    one, other = Normal(f, 1.0), Normal(f + 1, 2.0)
    ensemble, mixture = Ensemble([one, other], [3, 1]), Mixture((one, other), (0.75, 0.25))
    assert metrics.evaluate(ensemble, y).to_dict() == metrics.evaluate(mixture, y).to_dict()
    assert str(report(ensemble, y)) == str(report(mixture, y))
    assert "mixture of the members" in metrics.evaluate(ensemble, y).note


def test_an_ensemble_of_distributions_of_counts_is_one_of_counts():
    ensemble, y = Ensemble([Rates([1.0, 2.0, 3.0]), Normal([1.0, 2.0, 3.0], 1.0)]), np.array([1.0, 0.0, 4.0])
    found = metrics.evaluate(ensemble, y, labels="counts")
    assert found.labels["nll"] == "NLL of the counts"
    mixed = 0.5 * Poisson([1.0, 2.0, 3.0]).pmf(y) + 0.5 * distribution_for_labels(ensemble.members[1], y, "counts").pmf(
        y
    )
    assert found.nll == pytest.approx(-np.log(mixed).mean(), rel=1e-12)
