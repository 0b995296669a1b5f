"""The metrics: oracles, invariances, and what each kind of forecast can and cannot say."""

import itertools
import math
import re
import subprocess
import sys
import time

import array_api_strict
import numpy as np
import pytest
import scipy.stats
import scoringrules
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mean_absolute_error, mean_pinball_loss

from calibrant import Calibrator, Ensemble, Interval, Normal, Point, Quantiles, Samples, metrics
from calibrant.distributions import Poisson
from calibrant.interpolators import Naive, Random
from calibrant.metrics.calibration import expected_ece, kolmogorov_pvalue, pit
from calibrant.scores import ResidualScore

KEYS = [
    "nll",
    "crps",
    "std",
    "ci_width",
    "ece",
    "debiased_ece",
    "sup_calibration_error",
    "coverage",
    "interval_score",
    "interval_width",
    "ci_coverage",
    "pinball",
    "pit_pvalue",
    "n",
]
RNG = np.random.default_rng(7)
LOC, SCALE = RNG.normal(size=300), RNG.uniform(0.5, 2.0, 300)
Y = LOC + 1.3 * SCALE * RNG.standard_t(5, 300)
H = Normal(LOC, SCALE)


def normal_with_pits(p):
    return Normal(np.zeros(len(p)), 1.0), scipy.stats.norm.ppf(p)


# ---- oracles ---------------------------------------------------------------------------------------------


def test_nll_is_that_of_scipy():
    assert metrics.nll(H, Y) == pytest.approx(-scipy.stats.norm.logpdf(Y, LOC, SCALE).mean(), rel=1e-12)


def test_crps_is_that_of_scoringrules():
    assert metrics.crps(H, Y) == pytest.approx(scoringrules.crps_normal(Y, LOC, SCALE).mean(), rel=1e-10)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_interval_score_is_that_of_scoringrules(level):
    lower, upper = scipy.stats.norm.interval(level, LOC, SCALE)
    oracle = scoringrules.interval_score(Y, lower, upper, 1 - level).mean()
    assert metrics.interval_score(H, Y, level) == pytest.approx(oracle, rel=1e-10)
    assert metrics.interval_score(Interval(lower, upper), Y, level) == pytest.approx(oracle, rel=1e-10)


def test_pinball_is_that_of_scoringrules_and_scikit_learn():
    levels = [0.1, 0.35, 0.8]
    quantiles = scipy.stats.norm.ppf(levels, LOC[:, None], SCALE[:, None])
    ours = metrics.pinball(H, Y, levels)
    assert ours == pytest.approx(
        np.mean([mean_pinball_loss(Y, quantiles[:, k], alpha=a) for k, a in enumerate(levels)]), rel=1e-10
    )
    assert ours == pytest.approx(
        np.mean([scoringrules.quantile_score(Y, quantiles[:, k], a).mean() for k, a in enumerate(levels)]),
        rel=1e-10,
    )
    assert metrics.pinball(Quantiles(levels, quantiles), Y) == pytest.approx(ours, rel=1e-12)


def test_twice_the_pinball_loss_over_many_levels_is_the_crps():
    levels = (np.arange(2000) + 0.5) / 2000
    assert 2 * metrics.pinball(H[:20], Y[:20], levels) == pytest.approx(metrics.crps(H[:20], Y[:20]), rel=1e-5)


def test_crps_of_a_point_is_the_mean_absolute_error():
    assert metrics.crps(Point(LOC), Y) == pytest.approx(mean_absolute_error(Y, LOC), rel=1e-12)
    assert metrics.crps(LOC, Y) == metrics.crps(Point(LOC), Y)


def test_crps_of_samples_is_that_of_their_empirical_distribution():
    draws = RNG.normal(size=(300, 17))
    oracle = scoringrules.crps_ensemble(Y, draws, estimator="nrg").mean()
    assert metrics.crps(Samples(draws), Y) == pytest.approx(oracle, rel=1e-12)
    assert metrics.std(Samples(draws)) == pytest.approx(draws.std(axis=1).mean(), rel=1e-12)


def test_std_width_and_coverage_are_those_of_scipy():
    lower, upper = scipy.stats.norm.interval(0.8, LOC, SCALE)
    assert metrics.std(H) == pytest.approx(SCALE.mean(), rel=1e-12)
    assert metrics.ci_width(H, 0.8) == pytest.approx((upper - lower).mean(), rel=1e-12)
    assert metrics.coverage(H, Y, 0.8) == ((lower <= Y) & (upper >= Y)).mean()


def test_a_label_on_a_bound_is_covered():
    assert metrics.coverage(Interval([0.0, 0.0], [1.0, 1.0]), [0.0, 1.0]) == 1.0


def test_pit_is_the_cdf_at_the_label_row_by_row():
    np.testing.assert_allclose(metrics.pit(H, Y), scipy.stats.norm.cdf(Y, LOC, SCALE), rtol=1e-12)


def test_sup_calibration_error_and_its_p_value_are_those_of_kstest():
    for m, y in itertools.product((50, 120, 300), (Y, 2 * LOC - Y, Y + 0.3, Y - 0.3)):  # either side is the larger
        oracle = scipy.stats.kstest(metrics.pit(H[:m], y[:m]), "uniform")
        test = metrics.pit_uniformity_test(H[:m], y[:m])
        assert metrics.sup_calibration_error(H[:m], y[:m]) == pytest.approx(oracle.statistic, abs=1e-15)
        assert test.statistic == pytest.approx(oracle.statistic, abs=1e-15)
        assert test.pvalue == pytest.approx(oracle.pvalue, abs=1e-3)


@pytest.mark.parametrize(("m", "error"), [(1, 1e-12), (2, 0.07), (10, 3e-3), (50, 3e-4), (1000, 3e-5), (20_000, 3e-5)])
def test_the_p_value_is_as_close_to_the_exact_one_as_its_docstring_says(m, error):
    distances = np.linspace(0.5 / m, min(1.0, 6 / math.sqrt(m)), 50)
    ours = [kolmogorov_pvalue(D, m) for D in distances]
    np.testing.assert_allclose(ours, scipy.stats.kstwo.sf(distances, m), atol=error, rtol=0)


def test_the_p_value_is_uniform_for_a_perfect_forecast():
    rng = np.random.default_rng(1)
    pvalues = [metrics.pit_uniformity_test(*normal_with_pits(rng.random(60))).pvalue for _ in range(1500)]
    assert scipy.stats.kstest(pvalues, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("m", [1, 2, 3, 10, 101, 1000])
def test_the_expected_ece_is_that_of_simulated_uniform_pits(m):
    rng = np.random.default_rng(m)
    pits = np.sort(rng.random((4000, m)), axis=1)
    eces = np.abs(pits - (np.arange(m) + 0.5) / m).mean(axis=1)
    assert abs(expected_ece(m) - eces.mean()) < 4.5 * eces.std() / math.sqrt(len(eces))


@pytest.mark.parametrize("m", [1, 2, 7, 40])
def test_the_expected_ece_is_the_integral_of_the_beta_densities(m):
    def absolute(i):
        x = (i - 0.5) / m
        density = scipy.stats.beta(i, m + 1 - i).pdf
        return sum(
            scipy.integrate.quad(lambda b: abs(b - x) * density(b), *ends, epsabs=1e-13)[0] for ends in ((0, x), (x, 1))
        )

    assert expected_ece(m) == pytest.approx(np.mean([absolute(i) for i in range(1, m + 1)]), rel=1e-9)


def test_the_expected_ece_does_not_jump_where_its_expansion_takes_over():
    exact, expansion = expected_ece(100_000), expected_ece(100_001)
    assert expansion == pytest.approx(exact * math.sqrt(100_000 / 100_001), rel=1e-8)


def test_calibration_metrics_take_about_a_second_on_a_million_rows():
    rng = np.random.default_rng(0)
    H, y = Normal(np.zeros(1_000_000), 1.0), rng.normal(size=1_000_000)
    start = time.perf_counter()
    metrics.debiased_ece(H, y)
    metrics.pit_uniformity_test(H, y)
    assert time.perf_counter() - start < 3


def test_debiased_ece_is_zero_on_average_for_a_perfect_forecast():
    rng = np.random.default_rng(2)
    eces = np.array([metrics.debiased_ece(*normal_with_pits(rng.random(30))) for _ in range(1500)])
    assert abs(eces.mean()) < 4 * eces.std() / math.sqrt(len(eces))
    assert eces.min() < 0


# ---- invariances -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 2, 9, 1000])
def test_ece_of_an_exact_uniform_grid_is_zero(m):
    H, y = normal_with_pits((np.arange(m) + 0.5) / m)
    assert metrics.ece(H, y) == pytest.approx(0, abs=1e-14)
    assert metrics.debiased_ece(H, y) == pytest.approx(-expected_ece(m), rel=1e-9)
    assert metrics.sup_calibration_error(H, y) == pytest.approx(0.5 / m, rel=1e-9)


def test_ece_of_a_forecast_that_is_always_too_high_is_a_half():
    H, y = Normal(np.full(100, 50.0), 1.0), np.zeros(100)
    assert metrics.ece(H, y) == pytest.approx(0.5)
    assert metrics.sup_calibration_error(H, y) == pytest.approx(1.0)
    assert metrics.pit_uniformity_test(H, y).pvalue == pytest.approx(0, abs=1e-100)


@given(unit=st.floats(1e-6, 1e6), shift=st.floats(-1e3, 1e3))
def test_a_change_of_unit_scales_scores_and_leaves_calibration_alone(unit, shift):
    loc, scale, y = unit * (LOC + shift), unit * SCALE, unit * (Y + shift)
    before, after = metrics.evaluate(H, Y), metrics.evaluate(Normal(loc, scale), y)
    for name in ("crps", "std", "ci_width", "interval_score", "pinball"):
        assert getattr(after, name) == pytest.approx(unit * getattr(before, name), rel=1e-9)
    for name in ("ece", "debiased_ece", "sup_calibration_error", "pit_pvalue"):
        assert getattr(after, name) == pytest.approx(getattr(before, name), rel=1e-7, abs=1e-9)
    assert after.nll == pytest.approx(before.nll + math.log(unit), rel=1e-9, abs=1e-9)


def test_no_metric_depends_on_the_order_of_the_rows():
    order = np.random.default_rng(3).permutation(len(Y))
    before, after = metrics.evaluate(H, Y).to_dict(), metrics.evaluate(H[order], Y[order]).to_dict()
    assert after == pytest.approx(before, rel=1e-12)


def test_a_mean_metric_of_all_rows_is_the_mean_over_single_rows():
    for metric in (
        metrics.nll,
        metrics.crps,
        metrics.interval_score,
        metrics.pinball,
    ):
        rows = [metric(H[i : i + 1], Y[i : i + 1]) for i in range(20)]
        assert metric(H[:20], Y[:20]) == pytest.approx(np.mean(rows), rel=1e-12)


def test_a_single_distribution_stands_for_every_row():
    one, batch = Normal(0.5, 2.0), Normal(np.full(300, 0.5), 2.0)
    assert metrics.evaluate(one, Y).to_dict() == pytest.approx(metrics.evaluate(batch, Y).to_dict(), rel=1e-12)


# ---- step distributions and infinite tails ------------------------------------------------------------------------


def test_nll_of_a_distribution_of_steps_is_infinite():
    calibrated = Calibrator(ResidualScore(), Naive()).fit(LOC, Y)
    assert metrics.nll(calibrated(LOC), Y) == math.inf


def test_metrics_of_a_distribution_with_mass_at_infinity_are_infinite_where_they_must_be():
    H = Calibrator(ResidualScore(), Random()).fit(LOC[:9], Y[:9])(LOC, rng=np.random.default_rng(0))
    result = metrics.evaluate(H, Y)
    for name in ("nll", "crps", "std", "ci_width", "interval_score", "pinball"):
        assert getattr(result, name) == math.inf
    for name in ("ece", "sup_calibration_error", "coverage", "pit_pvalue"):
        assert math.isfinite(getattr(result, name))


def test_calibration_lowers_the_ece_of_an_overconfident_forecast():
    base = Normal(LOC, SCALE / 4)
    calibrated = Calibrator().fit(base[:150], Y[:150])
    assert metrics.debiased_ece(calibrated(base[150:]), Y[150:]) < metrics.debiased_ece(base[150:], Y[150:]) / 4


# ---- evaluate --------------------------------------------------------------------------------------------


def test_evaluate_of_a_distribution_has_every_metric_under_its_name():
    result = metrics.evaluate(H, Y, coverage=0.8, ci=0.9).to_dict()
    assert list(result) == KEYS
    assert result == {
        "nll": metrics.nll(H, Y),
        "crps": metrics.crps(H, Y),
        "std": metrics.std(H),
        "ci_width": metrics.ci_width(H, 0.9),
        "ece": metrics.ece(H, Y),
        "debiased_ece": metrics.debiased_ece(H, Y),
        "sup_calibration_error": metrics.sup_calibration_error(H, Y),
        "coverage": metrics.coverage(H, Y, 0.8),
        "interval_score": metrics.interval_score(H, Y, 0.8),
        "interval_width": metrics.ci_width(H, 0.8),
        "ci_coverage": metrics.coverage(H, Y, 0.9),
        "pinball": metrics.pinball(H, Y),
        "pit_pvalue": metrics.pit_uniformity_test(H, Y).pvalue,
        "n": 300,
    }


INTERVALS = {"coverage", "interval_width", "ci_coverage", "ci_width"}
BY_RANK = ["ece", "debiased_ece", "sup_calibration_error", "pit_pvalue"]
FIVE = [0.025, 0.05, 0.5, 0.95, 0.975]
WHOLE = INTERVALS | {"interval_score", "pinball", "crps", "std", "nll", *BY_RANK}
SAYS = {
    "point": (Point(LOC), {"crps"}),
    "interval": (Interval(LOC - 1, LOC + 1), INTERVALS),
    "quantiles with the levels": (
        Quantiles(FIVE, scipy.stats.norm.ppf(FIVE, LOC[:, None], SCALE[:, None])),
        WHOLE,
    ),
    "other quantiles": (
        Quantiles([0.1, 0.9], np.stack([LOC - 1, LOC + 1], axis=1)),
        WHOLE,
    ),
    "quantiles on one side": (Quantiles([0.1, 0.3], np.stack([LOC - 2, LOC - 1], axis=1)), WHOLE),
    "a single quantile": (Quantiles([0.1], LOC[:, None] - 2), {"pinball"}),
    "a few samples": (Samples(RNG.normal(size=(300, 7))), {"crps", "std", "pinball", *BY_RANK}),
    "samples": (
        Samples(RNG.normal(size=(300, 17))),
        {"crps", "std", "coverage", "interval_score", "interval_width", "pinball", *BY_RANK},
    ),
    "ensemble": (Ensemble([LOC, LOC + 1]), set()),
    "ensemble of distributions": (Ensemble([Normal(LOC, 1.0), Quantiles(FIVE, LOC[:, None] + FIVE)]), WHOLE),
}


@pytest.mark.parametrize(("prediction", "said"), SAYS.values(), ids=SAYS)
def test_evaluate_of_a_base_prediction_has_only_what_it_says(prediction, said):
    result = metrics.evaluate(prediction, Y)
    assert set(result.to_dict()) == said | {"n"}
    _, *lines, note = str(result).splitlines()
    assert note.startswith("Evaluated as " if said == WHOLE else "A dash: ")
    shown = {result.labels[name] for name in KEYS}  # where both intervals are the same one, they share rows
    assert len(lines) == len(shown)
    assert sum("–" in line for line in lines) == len(shown - {result.labels[name] for name in said | {"n"}})


def test_quantiles_at_the_bounds_are_scored_as_the_distribution_they_come_from():
    result, distribution = (
        metrics.evaluate(SAYS["quantiles with the levels"][0], Y, levels=FIVE),
        metrics.evaluate(H, Y, levels=FIVE),
    )
    at_its_levels = [*INTERVALS, "interval_score", "pinball"]
    assert {name: getattr(result, name) for name in at_its_levels} == pytest.approx(
        {name: getattr(distribution, name) for name in at_its_levels}, rel=1e-12
    )


def test_other_quantiles_are_judged_by_the_widest_interval_they_have_and_the_table_says_so():
    prediction = SAYS["other quantiles"][0]
    result = metrics.evaluate(prediction, Y)
    assert result.coverage == metrics.coverage(prediction, Y, 0.8)
    assert "80% interval coverage" in str(result)
    assert "80% interval width" in str(result)
    three = Quantiles([0.1, 0.2, 0.8, 0.9], np.stack([LOC - 2, LOC - 1, LOC + 1, LOC + 2], axis=1))
    assert metrics.evaluate(three, Y, coverage=0.7).coverage == metrics.coverage(three, Y, 0.6)


def test_samples_of_the_true_distribution_are_calibrated_by_rank_and_cover_between_their_draws():
    rng = np.random.default_rng(5)
    loc = rng.normal(size=4000)
    y = rng.normal(loc, 1.0)
    true = metrics.evaluate(Samples(rng.normal(loc[:, None], 1.0, (4000, 50))), y)
    assert true.pit_pvalue > 0.01
    assert abs(true.coverage - 0.9) < 0.03  # 50 draws leave the ends a little short
    narrow = metrics.evaluate(Samples(rng.normal(loc[:, None], 0.5, (4000, 50))), y)
    assert narrow.pit_pvalue < 1e-9
    draws = np.sort(rng.normal(size=(1, 50)), axis=1)
    hazen = np.quantile(draws[0], [0.05, 0.333, 0.95], method="hazen")
    found = [float(Samples(draws).quantile(level)[0]) for level in (0.05, 0.333, 0.95)]
    np.testing.assert_allclose(found, hazen, rtol=1e-12)
    tied = Samples(np.zeros((4000, 3)))
    pits = metrics.pit(tied, np.zeros(4000))
    assert scipy.stats.kstest(pits, "uniform").pvalue > 0.01


def test_quantiles_have_a_pinball_loss_at_levels_they_lack_only_as_distributions_straight_between_them():
    prediction = SAYS["other quantiles"][0]
    between = metrics.pinball(Quantiles([0.1, 0.5], np.stack([LOC - 1, LOC], axis=1)), Y)
    assert metrics.evaluate(prediction, Y, levels=[0.1, 0.5]).pinball == pytest.approx(between, rel=1e-12)
    with pytest.raises(TypeError, match=re.escape("does not give the quantile at level 0.5")):
        metrics.pinball(prediction, Y, [0.1, 0.5])


def test_an_interval_is_taken_by_its_own_bounds_and_says_so():
    result = metrics.evaluate(Interval(LOC - 1, LOC + 2), Y)
    assert result.ci_width == pytest.approx(3.0)
    assert result.coverage == ((LOC - 1 <= Y) & (LOC + 2 >= Y)).mean()
    assert "given interval width" in str(result)


def cells(table):
    """The rows of a printed table by their labels."""
    return {row[0]: row[1:] for line in table.splitlines() if (row := re.split(r"\s{2,}", line))}


def test_the_table_groups_what_belongs_together_and_says_what_is_better_and_in_which_unit():
    result = metrics.evaluate(H, Y, coverage=0.8, ci=0.975)
    lines = str(result).splitlines()
    places = [line.index(word) for line in lines for word in ("better", "lower", "near", "narrower") if word in line]
    assert len(set(places)) == 1
    names = list(rows := cells(str(result)))
    first = names.index("80% interval coverage")
    assert names[first : first + 5] == [
        "80% interval coverage",
        "80% interval width",
        "80% interval score",
        "97.5% interval coverage",
        "97.5% interval width",
    ]
    assert rows[""] == ["value", "better", "in units of"]
    assert rows["80% interval coverage"] == [f"{100 * result.coverage:.4g}%", "near 80%"]
    assert rows["80% interval width"] == [f"{metrics.ci_width(H, 0.8):.4g}", "narrower", "y"]
    assert rows["97.5% interval coverage"] == [f"{100 * metrics.coverage(H, Y, 0.975):.4g}%", "near 97.5%"]
    assert rows["CRPS"] == [f"{result.crps:.4g}", "lower", "y"]
    assert rows["NLL"] == [f"{result.nll:.4g}", "lower", "nats"]
    assert rows["debiased ECE"][1:] == ["near 0"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_unit_is_the_name_of_the_labels_where_they_have_one(library):
    series = pytest.importorskip(library).Series
    named = series(Y, name="demand") if library == "pandas" else series("demand", Y)
    assert cells(str(metrics.evaluate(H, named)))["CRPS"][2:] == ["demand"]
    assert cells(str(metrics.evaluate(H, series(Y))))["CRPS"][2:] == ["y"]


def test_a_coverage_of_nothing_has_its_row():
    rows = cells(str(metrics.evaluate(Interval([0.0], [1.0]), [2.0])))
    assert rows["given interval coverage"] == ["0%"]


def test_intervals_of_one_level_share_their_rows():
    lines = str(metrics.evaluate(H, Y, coverage=0.9, ci=0.9)).splitlines()
    assert sum("90% interval width" in line for line in lines) == 1


def test_compare_puts_evaluations_side_by_side():
    before, after = metrics.evaluate(LOC, Y), metrics.evaluate(H, Y)
    rows = cells(metrics.compare({"base": before, "calibrated": after}))
    assert rows[""] == ["base", "calibrated", "better", "in units of"]
    assert rows["CRPS"] == [f"{before.crps:.4g}", f"{after.crps:.4g}", "lower", "y"]
    assert rows["NLL"] == ["–", f"{after.nll:.4g}", "lower", "nats"]


def test_compare_never_sets_unlike_intervals_beside_each_other():
    given, distribution = metrics.evaluate(Interval(LOC - 1, LOC + 1), Y), metrics.evaluate(H, Y)
    rows = cells(metrics.compare({"a": given, "b": distribution}))
    assert rows["given interval width"][:2] == ["2", "–"]
    assert rows["given interval coverage"] == [f"{100 * given.coverage:.4g}%", "–"]
    assert rows["95% interval width"][0] == "–"
    assert "given interval score" not in rows
    wider = metrics.evaluate(H, Y, coverage=0.95, ci=0.99)
    rows = cells(metrics.compare({"a": distribution, "b": wider}))
    assert rows["95% interval width"][:2] == [f"{distribution.ci_width:.4g}"] * 2
    assert rows["99% interval width"][:2] == ["–", f"{wider.ci_width:.4g}"]


def test_compare_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one evaluation"):
        metrics.compare({})


def test_repr_of_an_evaluation_shows_what_is_there():
    found = metrics.evaluate([0.0, 1.0], [1.0, 1.0])
    assert repr(found) == str(found)
    assert "<td" in found._repr_html_()


# ---- arrays ----------------------------------------------------------------------------------------------


def test_numpy_metrics_are_python_floats():
    for metric in (
        metrics.nll,
        metrics.crps,
        metrics.ece,
        metrics.debiased_ece,
        metrics.coverage,
        metrics.pinball,
    ):
        assert type(metric(H, Y)) is float
    for metric in (metrics.std, metrics.ci_width):
        assert type(metric(H)) is float


@pytest.mark.parametrize("xp", [torch, array_api_strict], ids=["torch", "strict"])
def test_other_arrays_give_the_values_of_numpy_in_their_own_namespace(xp):
    theirs, y = Normal(xp.asarray(LOC), xp.asarray(SCALE)), xp.asarray(Y)
    for name in ("nll", "crps", "ece", "debiased_ece", "sup_calibration_error"):
        value = getattr(metrics, name)(theirs, y)
        assert value.shape == ()
        assert type(value) is type(y)
        assert float(value) == pytest.approx(getattr(metrics, name)(H, Y), rel=1e-7)
    assert metrics.pit(theirs, y).shape == (300,)
    assert metrics.evaluate(theirs, y).to_dict() == pytest.approx(metrics.evaluate(H, Y).to_dict(), rel=1e-7)
    for prediction, _ in SAYS.values():
        if not isinstance(prediction, Ensemble):
            moved = type(prediction)(*(xp.asarray(getattr(prediction, f)) for f in _array_fields(prediction)))
            expected = metrics.evaluate(prediction, Y).to_dict()
            assert metrics.evaluate(moved, y).to_dict() == pytest.approx(expected, rel=1e-9)


def _array_fields(prediction):
    return list(prediction.__dataclass_fields__)


@pytest.mark.parametrize("metric", [metrics.crps, metrics.nll, metrics.interval_score, metrics.pinball, metrics.ece])
def test_torch_gradients_flow_through_a_metric(metric):
    loc = torch.tensor(LOC[:8], requires_grad=True)
    scale = torch.tensor(SCALE[:8], requires_grad=True)
    y = torch.tensor(Y[:8])
    assert torch.autograd.gradcheck(lambda loc, scale: metric(Normal(loc, scale), y), (loc, scale), atol=1e-6)


def test_crps_can_be_minimised_by_gradient_descent():
    scale = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    y, optimiser = torch.tensor(Y), torch.optim.Adam([scale], lr=0.05)
    start = float(metrics.crps(Normal(torch.tensor(LOC), scale * torch.ones(300)), y).detach())
    for _ in range(60):
        optimiser.zero_grad()
        loss = metrics.crps(Normal(torch.tensor(LOC), scale * torch.ones(300)), y)
        loss.backward()
        optimiser.step()
    assert float(loss.detach()) < start
    assert scale.item() == pytest.approx(np.std(Y - LOC), rel=0.3)


def test_evaluate_of_a_distribution_with_gradients_gives_plain_floats():
    distribution = Normal(torch.tensor(LOC, requires_grad=True), torch.tensor(SCALE))
    assert all(
        type(value) in (float, int) for value in metrics.evaluate(distribution, torch.tensor(Y)).to_dict().values()
    )


def test_float32_labels_give_the_metrics_of_float64_to_its_own_digits():
    single = metrics.evaluate(Normal(LOC.astype("f4"), SCALE.astype("f4")), Y.astype("f4")).to_dict()
    double = metrics.evaluate(H, Y).to_dict()
    assert single == pytest.approx(double, rel=1e-4, abs=1e-5)


def test_metrics_import_neither_scipy_stats_nor_torch():
    code = "import sys, calibrant.metrics; print({'scipy.stats', 'torch', 'sklearn'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# ---- bad input -------------------------------------------------------------------------------------------

WITH_LABELS = [
    metrics.nll,
    metrics.crps,
    metrics.coverage,
    metrics.interval_score,
    metrics.pinball,
    metrics.pit,
    metrics.ece,
    metrics.debiased_ece,
    metrics.sup_calibration_error,
    metrics.pit_uniformity_test,
    metrics.evaluate,
]


@pytest.mark.parametrize("metric", WITH_LABELS)
def test_labels_that_are_not_finite_are_named_by_row_and_count(metric):
    y = Y.copy()
    y[[5, 9]] = np.nan, np.inf
    with pytest.raises(ValueError, match=re.escape("y is NaN or infinite in row 5 (2 rows in all)")):
        metric(H, y)


@pytest.mark.parametrize("metric", WITH_LABELS)
def test_labels_of_another_length_are_refused(metric):
    with pytest.raises(ValueError, match="y must have one row for each of the 300 rows of the forecast, got 299"):
        metric(H, Y[1:])


@pytest.mark.parametrize("metric", WITH_LABELS)
def test_labels_of_the_wrong_kind_or_shape_are_refused(metric):
    with pytest.raises(TypeError, match="y must hold real numbers"):
        metric(H, ["a"] * 300)
    with pytest.raises(ValueError, match="y must be 1-d, got shape"):
        metric(H, Y[:, None])


@pytest.mark.parametrize("metric", WITH_LABELS)
def test_zero_rows_are_refused(metric):
    with pytest.raises(ValueError, match="at least one row, got none"):
        metric(H[:0], Y[:0])


@pytest.mark.parametrize("metric", [metrics.std, metrics.ci_width])
def test_zero_rows_are_refused_without_labels_too(metric):
    with pytest.raises(ValueError, match="at least one row, got none"):
        metric(H[:0])


@pytest.mark.parametrize("level", [0, 1, -0.1, 90, math.nan])
def test_a_coverage_outside_the_unit_interval_is_refused(level):
    for call in (
        lambda: metrics.ci_width(H, level),
        lambda: metrics.coverage(H, Y, level),
        lambda: metrics.interval_score(H, Y, level),
        lambda: metrics.evaluate(H, Y, coverage=level),
    ):
        with pytest.raises(ValueError, match=re.escape("coverage must lie strictly inside (0, 1)")):
            call()
    with pytest.raises(ValueError, match=re.escape("ci must lie strictly inside (0, 1)")):
        metrics.evaluate(H, Y, ci=level)


@pytest.mark.parametrize("levels", [[], [0.0], [0.5, 1.0], [-0.5]])
def test_levels_outside_the_unit_interval_are_refused(levels):
    for metric in (metrics.pinball, metrics.evaluate):
        with pytest.raises(ValueError, match=re.escape("levels must lie strictly inside (0, 1), got [")):
            metric(H, Y, levels=levels)


@pytest.mark.parametrize("metric", [metrics.nll, metrics.pit, metrics.ece])
def test_a_prediction_that_is_no_distribution_has_no_nll_and_no_pit(metric):
    with pytest.raises(TypeError, match=re.escape("Point(n=300) does not give the distribution of y")):
        metric(Point(LOC), Y)


def test_what_is_no_forecast_is_refused():
    with pytest.raises(TypeError, match="a prediction must be a Point"):
        metrics.crps("0.3", [1.0])


def test_the_pit_test_of_labels_on_bounds_has_its_size():
    """One stream of draws for all samples would not do: 4,000 samples, four standard errors."""
    rng = np.random.default_rng(5)
    f = rng.normal(0.5, 1.0, (4000, 200))
    y = np.clip(f + rng.normal(size=f.shape), 0.0, 1.5)
    p = [metrics.pit_uniformity_test(Normal(a, 1.0).clip(0.0, 1.5), b).pvalue for a, b in zip(f, y, strict=True)]
    assert np.mean(np.less(p, 0.2)) == pytest.approx(0.2, abs=4 * math.sqrt(0.16 / 4000))


def test_nothing_is_drawn_for_pits_of_a_continuous_distribution(monkeypatch):
    def refuse(*of):
        raise AssertionError("drawn")

    monkeypatch.setattr("calibrant.metrics.calibration.draws", refuse)
    distribution = Normal([0.0, 1.0], 1.0)
    np.testing.assert_array_equal(pit(distribution, [0.3, 2.0]), distribution.cdf([0.3, 2.0]))
    with pytest.raises(AssertionError, match="drawn"):
        pit(Poisson([1.0, 2.0]), [0.0, 3.0])
