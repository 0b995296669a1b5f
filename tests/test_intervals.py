"""Conformal intervals, Proposition 1 and Theorem 2 (as corrected), and the signed score."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import array_api_strict
import numpy as np
import pytest

from calibrant import Calibrator, Ensemble, Interval, Normal, Point, Quantiles, Samples
from calibrant.guarantee import required_n_for_interval
from calibrant.interpolators import Linear
from calibrant.intervals import (
    CQR,
    AbsoluteResidual,
    Centred,
    ConformalInterval,
    IntervalGuarantee,
    Nonconformity,
    NormalizedResidual,
    standard_rank,
)
from calibrant.scores import (
    CDFScore,
    EnsembleScore,
    IntervalScore,
    MonotoneScore,
    QuantileScore,
    SamplesScore,
    ZScore,
    signed,
)
from calibrant.testing import check_nonconformity

LEVELS = [0.05, 0.3, 0.5, 0.9]


@dataclass(frozen=True)
class SquaredCQR(Nonconformity):
    """A user's own: (y - f)^2 - 1, which is neither |phi - centre| nor positive."""

    def value(self, prediction, y):
        return (y - prediction.values) ** 2 - 1

    def minimiser(self, prediction):
        return prediction.values

    def level_set(self, prediction, t):
        root = np.sqrt(np.maximum(np.asarray(t) + 1, 0))
        return prediction.values - root, prediction.values + root

    def log_slope(self, prediction, y):
        return np.log(2 * np.abs(y - prediction.values))


class Data:
    """Rows with unequal spread, and a prediction of each kind for them."""

    def __init__(self, n, rng, unit=1.0):
        f, self.spread = rng.normal(size=n), np.exp(0.5 * rng.normal(size=n))
        self.y = unit * (f + self.spread * rng.standard_t(5, size=n))
        values = f[:, None] + self.spread[:, None] * np.array([-1.7, -0.4, 0.1, 1.5])
        f, spread = unit * f, unit * self.spread
        self.point = Point(f)
        self.interval = Interval(f - spread, f + 1.2 * spread)
        self.normal = Normal(f, spread)
        self.quantiles = Quantiles(LEVELS, unit * values)
        self.samples = Samples(unit * values[:, ::-1])
        self.ensemble = Ensemble([Normal(f, spread), Normal(f + 0.3 * spread, 2 * spread)], [2, 1])
        self.mixed = Ensemble([self.quantiles, self.interval], [1, 3])


CASES = {
    "absolute residual": (AbsoluteResidual(), "point"),
    "normalised residual": (NormalizedResidual(), "normal"),
    "CQR of an interval": (CQR(), "interval"),
    "CQR of quantiles": (CQR(), "quantiles"),
    "centred interval": (Centred(IntervalScore()), "interval"),
    "centred cdf": (Centred(CDFScore()), "normal"),
    "centred quantile": (Centred(QuantileScore()), "quantiles"),
    "centred samples": (Centred(SamplesScore()), "samples"),
    "centred ensemble": (Centred(EnsembleScore()), "ensemble"),
    "centred ensemble of quantiles": (Centred(EnsembleScore()), "mixed"),
    "centred ensemble of cdfs": (Centred(EnsembleScore(CDFScore())), "ensemble"),
    "centred elsewhere": (Centred(IntervalScore(), 0.2), "interval"),
    "centred signed score": (Centred(signed(AbsoluteResidual())), "point"),
    "a user's own": (SquaredCQR(), "point"),
}
PAPER = ["absolute residual", "normalised residual", "CQR of an interval", "centred cdf"]


def case(name, n, rng, unit=1.0):
    nonconformity, kind = CASES[name]
    data = Data(n, rng, unit)
    return nonconformity, getattr(data, kind), data.y


def test_the_same_interval_by_another_name():
    data = Data(60, np.random.default_rng(2))
    pairs = [
        # |Phi(z) - 1/2| orders labels as |z| does
        (NormalizedResidual(), Centred(CDFScore()), data.normal),
        (CQR(), Centred(signed(CQR())), data.interval),
    ]
    for one, other, prediction in pairs:
        fitted = [ConformalInterval(a, 0.8).fit(prediction[:40], data.y[:40])(prediction[40:]) for a in (one, other)]
        np.testing.assert_allclose(*fitted, rtol=1e-10, atol=1e-10)


def test_the_default_centres():
    data = Data(30, np.random.default_rng(3))
    for nonconformity, prediction, where in [
        (Centred(IntervalScore()), data.interval, CQR().minimiser(data.interval)),
        (Centred(QuantileScore()), data.quantiles, data.quantiles.values[:, 2]),
        (Centred(CDFScore()), data.normal, data.normal.mean()),
        (Centred(EnsembleScore(CDFScore())), Ensemble([data.normal, data.normal]), data.normal.mean()),
        (Centred(EnsembleScore()), Ensemble([data.interval, data.interval], [1, 4]), CQR().minimiser(data.interval)),
    ]:
        np.testing.assert_allclose(nonconformity.minimiser(prediction), where, rtol=1e-9, atol=1e-9)


# ---- ranks and the guarantee -----------------------------------------------------------------------------------------


def paper_rank(n, coverage):
    """The paper's I_c, as a rank of one's own."""
    return math.floor(round(n * coverage, 9)) + 1


def test_the_rank_knows_no_round_off():
    for k in range(1, 100):
        assert standard_rank(99, k / 100) == k
    assert [standard_rank(99, c) for c in (0.29, 0.57, 0.58)] == [29, 57, 58]
    # in floats the same formula goes wrong
    assert any(math.ceil(100 * (k / 100)) != k for k in range(1, 100))


@pytest.mark.parametrize("name", list(CASES))
def test_a_rank_above_n_gives_infinite_bounds(name):
    nonconformity, prediction, y = case(name, 12, np.random.default_rng(0))
    fitted = ConformalInterval(nonconformity, 0.9).fit(prediction[:8], y[:8])
    lower, upper = fitted(prediction[8:])
    assert fitted.threshold == math.inf
    assert (fitted.guarantee.rank, fitted.guarantee.n) == (9, 8)
    np.testing.assert_array_equal(lower, np.full(4, -np.inf))
    np.testing.assert_array_equal(upper, np.full(4, np.inf))
    assert fitted.guarantee.lower == fitted.guarantee.conditional() == 1
    assert "whole line" in str(fitted.guarantee)
    assert required_n_for_interval(0.9) == 9
    assert math.isfinite(ConformalInterval(nonconformity, 0.9).fit(prediction[:9], y[:9]).threshold)


@pytest.mark.parametrize("rank", [standard_rank, paper_rank])
@pytest.mark.parametrize(("n", "name"), [(1, "absolute residual"), (15, "CQR of an interval")])
@pytest.mark.filterwarnings("ignore:.* intervals are empty")
def test_proposition_1_coverage_is_rank_over_n_plus_1(name, n, rank):
    sets, tests = 250, 40
    nonconformity, prediction, y = case(name, sets * (n + tests), np.random.default_rng(n))
    for coverage in (0.45, 0.9):
        covered = np.empty(sets)
        for i in range(sets):
            start = i * (n + tests)
            train, test = slice(start, start + n), slice(start + n, start + n + tests)
            fitted = ConformalInterval(nonconformity, coverage, rank=rank).fit(prediction[train], y[train])
            lower, upper = fitted(prediction[test])
            covered[i] = np.mean((y[test] >= lower) & (y[test] <= upper))
        claim = fitted.guarantee
        assert claim.lower == claim.upper == min(rank(n, coverage), n + 1) / (n + 1)
        assert abs(np.mean(covered) - claim.lower) <= 4.5 * np.std(covered) / np.sqrt(sets) + 1e-12
        if rank is standard_rank:
            assert coverage - 1e-12 <= claim.lower < coverage + 1 / (n + 1)
        else:
            assert coverage - coverage / (n + 1) < claim.lower <= coverage + (1 - coverage) / (n + 1) + 1e-12


def test_with_ties_the_claim_is_a_lower_bound():
    rng = np.random.default_rng(5)
    n, sets, covered = 20, 1500, []
    for _ in range(sets):
        y = rng.integers(0, 4, size=n + 10).astype(float)
        fitted = ConformalInterval(AbsoluteResidual(), 0.8).fit(np.zeros(n), y[:n])
        lower, upper = fitted(np.zeros(10))
        covered.append(np.mean((y[n:] >= lower) & (y[n:] <= upper)))
    assert np.mean(covered) >= 0.8
    guarantee = fitted.guarantee
    assert guarantee.kind == "lower bound"
    assert (guarantee.lower, guarantee.upper) == (17 / 21, 1.0)
    assert str(guarantee).startswith("P(Y in I) >= 0.809524 (0.8 asked for, rank 17 of n = 20; up to ")


def test_the_conditional_claim_holds_at_its_confidence():
    rng, n, sets = np.random.default_rng(6), 50, 4000
    guarantee = IntervalGuarantee(0.9, n, standard_rank(n, 0.9))
    # |Y| <= t covers t of a uniform distribution on (-1, 1)
    covers = np.sort(rng.random((sets, n)), axis=1)[:, guarantee.rank - 1]
    share = np.mean(covers >= guarantee.conditional(0.9))
    assert abs(share - 0.9) <= 4.5 * math.sqrt(0.09 / sets)


def test_the_guarantee_reads_well():
    guarantee = ConformalInterval(AbsoluteResidual(), 0.9).fit(np.zeros(99), np.arange(99.0)).guarantee
    assert guarantee.largest_tie == 1
    assert str(guarantee).startswith("P(Y in I) = 0.9 (0.9 asked for, rank 90 of n = 99), on average over calibration")
    assert str(guarantee).endswith("a model not trained on the calibration set, and continuous values.")


# ---- Theorem 2 -------------------------------------------------------------------------------------------------------


def credible_mass(name, n, coverage, draws, seed):
    """(n + 1)(H(U) - H(L) - c) with the paper's and the standard rank, where [L, U] is not empty."""
    nonconformity, prediction, y = case(name, draws * (n + 2), np.random.default_rng(seed))
    calibrator = Calibrator(signed(nonconformity))
    methods = [ConformalInterval(nonconformity, coverage, rank=rank) for rank in (paper_rank, standard_rank)]
    excess = [], []
    for i in range(draws):
        start = i * (n + 2)
        train, test = slice(start, start + n), slice(start + n, start + n + 2)
        H = calibrator.fit(prediction[train], y[train])(prediction[test])
        for method, found in zip(methods, excess, strict=True):
            lower, upper = method.fit(prediction[train], y[train])(prediction[test])
            proper = np.isfinite(lower)
            ends = np.stack([np.where(proper, lower, 0.0), np.where(proper, upper, 0.0)], axis=1)
            mass = np.diff(H.cdf(ends), axis=1)[:, 0]
            found.extend((n + 1) * (mass - coverage)[proper])
    return map(np.array, excess)


@pytest.mark.parametrize("name", [*PAPER, "a user's own"])
@pytest.mark.filterwarnings("ignore:.* intervals are empty")
def test_theorem_2_corrected(name):
    coverage = 0.5
    paper, standard = credible_mass(name, 20, coverage, 100, 20)
    assert min(len(paper), len(standard)) >= 100
    slack = 1e-9
    assert np.min(paper) >= -(1 + coverage) - slack
    assert np.max(paper) <= 1 - coverage + slack
    assert np.max(np.abs(standard)) <= 1 + slack


def test_theorem_2_as_printed_fails_in_most_draws():
    paper, _ = credible_mass("absolute residual", 20, 0.9, 400, 7)
    assert abs(np.mean(np.abs(paper) > 1 - 0.9 + 1e-9) - 0.76) < 0.07


# ---- empty intervals -------------------------------------------------------------------------------------------------


def test_empty_rows_are_nan_and_counted_in_one_warning():
    wide, narrow = Interval(-np.full(20, 9.0), np.full(20, 9.0)), Interval([-9.0, -1.0, -2.0], [9.0, 1.0, 2.0])
    fitted = ConformalInterval(CQR(), 0.8).fit(wide, np.linspace(-1, 1, 20))
    with pytest.warns(UserWarning, match="2 of 3 intervals are empty, the first is row 1") as caught:
        lower, upper = fitted(narrow)
    assert len(caught) == 1
    assert fitted.threshold < -2
    np.testing.assert_array_equal(np.isnan(lower), [False, True, True])
    np.testing.assert_array_equal(np.isnan(upper), [False, True, True])
    assert not np.any((lower[1:] <= 0) & (upper[1:] >= 0))
    assert lower[0] <= upper[0]


# ---- non-conformities ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_every_nonconformity_is_proper(name):
    nonconformity, prediction, _ = case(name, 25, np.random.default_rng(8))
    check_nonconformity(nonconformity, prediction, np.linspace(-6, 6.1, 40))


def broken(**methods):
    return type("Broken", (SquaredCQR,), methods)()


BROKEN = {
    r"signed\(Broken\)\(-4.0983\) is .*, but must increase strictly in y, .* \(row 0\)": {
        "value": lambda self, p, y: np.minimum((y - p.values) ** 2 - 1, 3.0)
    },
    r"signed\(Broken\)\(.* must increase strictly in y": {"minimiser": lambda self, p: p.values + 1},
    r"Broken\.minimiser must give one value for each of 4 rows": {"minimiser": lambda self, p: np.zeros(2)},
    r"signed\(Broken\).*ppf at cdf\(.* the inverse must lead back to": {
        "level_set": lambda self, p, t: (p.values - t - 1, p.values + t + 1)
    },
    r"by the log-slope of signed\(Broken\), .*pdf\(.* the slope of the cdf is": {
        "log_slope": lambda self, p, y: np.log(np.abs(y - p.values))
    },
}


@pytest.mark.parametrize("words", BROKEN)
def test_a_broken_nonconformity_is_refused(words):
    with pytest.raises(AssertionError, match=words):
        check_nonconformity(broken(**BROKEN[words]), [0.0, 0.5, 1.0, -1.0], np.linspace(-5, 5, 41))


# ---- the signed score ------------------------------------------------------------------------------------------------


def calibrated(name, unit, interpolator, n=40, rows=6, seed=10):
    nonconformity, prediction, y = case(name, n + rows, np.random.default_rng(seed), unit)
    fitted = Calibrator(signed(nonconformity), interpolator).fit(prediction[:n], y[:n])
    return fitted, prediction[n:], y[n:]


@pytest.mark.parametrize(("name", "unit"), [("absolute residual", 1e20), ("CQR of quantiles", 1e-20)])
def test_a_change_of_unit_changes_the_signed_h_by_that_unit(name, unit):
    near = partial(np.testing.assert_allclose, rtol=1e-9)
    fitted, prediction, y = calibrated(name, 1.0, Linear())
    other, there, small = calibrated(name, unit, Linear())
    H, h = fitted(prediction), other(there)
    near(other.q.cdf(fitted.q.knots), fitted.q.cdf(fitted.q.knots))
    near(h.cdf(small), H.cdf(y))
    near(h.quantiles([0.05, 0.5, 0.9]) / unit, H.quantiles([0.05, 0.5, 0.9]))
    for method in ("mean", "std"):
        near(getattr(h, method)() / unit, getattr(H, method)())
    near(h.crps(small) / unit, H.crps(y))
    near(h.logpdf(small) + np.log(unit), H.logpdf(y), atol=1e-9)


def test_the_scale_of_a_signed_score_is_the_median_size_unless_it_is_given():
    f, y = [0.0, 0.0, 0.0, 0.0], [0.0, -2.0, 3.0, 5.0]
    assert Calibrator(signed(AbsoluteResidual())).fit(f, y).score == signed(AbsoluteResidual(), scale=3.0)
    assert Calibrator(signed(AbsoluteResidual(), scale=0.5)).fit(f, y).score == signed(AbsoluteResidual(), scale=0.5)
    with pytest.warns(UserWarning, match="all scores are equal"):
        assert Calibrator(signed(AbsoluteResidual())).fit(f, f).score == signed(AbsoluteResidual())
    np.testing.assert_array_equal(signed(AbsoluteResidual(), scale=2.0)([0.0], [1.5]), [2.0])
    for wrong in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="the scale of a signed score must be positive and finite"):
            signed(AbsoluteResidual(), scale=wrong)


# ---- bad input -------------------------------------------------------------------------------------------------------


def fit(prediction, y, nonconformity=AbsoluteResidual(), **how):  # noqa: B008
    return ConformalInterval(nonconformity, 0.9, **how).fit(prediction, y)


BAD = {
    "coverage must lie strictly inside": lambda: ConformalInterval(AbsoluteResidual(), 1.5),
    r"y is NaN or infinite in row 1 \(the only such row": lambda: fit([1.0, 2.0], [1.0, math.nan]),
    "y must have one row for each of the 2 rows of the prediction": lambda: fit([1.0, 2.0], [1.0]),
    "calibration needs at least one row, got none": lambda: fit(np.zeros(0), np.zeros(0)),
    "takes Point, got Interval": lambda: fit(Interval([0.0], [1.0]), [0.5]),
    "y must hold real numbers": lambda: fit([1.0], ["a"]),
    "CQR takes an Interval or Quantiles, got": lambda: fit([1.0], [1.0], CQR()),
    "must be a Nonconformity": lambda: ConformalInterval(AbsoluteResidual, 0.9),
    "rank must be a function": lambda: fit([1.0], [1.0], rank=3),
    "rank must give at least 1, got 0 for n = 1": lambda: fit([1.0], [1.0], rank=lambda n, c: 0),
    "signed takes a Nonconformity": lambda: signed(AbsoluteResidual),
    "must be a calibration score": lambda: Centred(CQR()),
    r"Centred\.centre is NaN": lambda: Centred(ZScore(), math.nan),
    "the value of .* is not finite in row 0": lambda: fit([1.0], [1.0], broken(value=lambda self, p, y: y + np.inf)),
}


@pytest.mark.parametrize("words", BAD)
def test_bad_input_is_named(words):
    with pytest.raises((TypeError, ValueError), match=words):
        BAD[words]()


def test_a_score_without_a_known_middle_needs_a_centre():
    class LogRatio(MonotoneScore):
        def score(self, prediction, y):
            return np.log(y / prediction.values)

        def inverse(self, prediction, s):
            return prediction.values * np.exp(s)

        def log_slope(self, prediction, y):
            return -np.log(y)

    with pytest.raises(TypeError, match="no middle is known for LogRatio: pass Centred a centre"):
        Centred(LogRatio()).value([1.0], [2.0])
    lower, upper = ConformalInterval(Centred(LogRatio(), 0.0), 0.5).fit([1.0], [2.0])([10.0])
    np.testing.assert_allclose([lower[0], upper[0]], [5.0, 20.0])


# ---- arrays ----------------------------------------------------------------------------------------------------------


def test_no_rows_have_no_intervals():
    fitted = ConformalInterval(AbsoluteResidual(), 0.5, rank=paper_rank)
    assert repr(fitted).endswith("0.5, rank=paper_rank)")
    lower, upper = fitted.fit([1.0], [3.0])(np.zeros(0))
    assert lower.shape == upper.shape == (0,)


def test_torch_in_torch_out_with_gradients():
    torch = pytest.importorskip("torch")
    data = Data(30, np.random.default_rng(12))
    lower, upper, y = (
        torch.tensor(each, requires_grad=each is not data.y)
        for each in (data.interval.lower, data.interval.upper, data.y)
    )
    for nonconformity in (CQR(), Centred(IntervalScore())):
        one = ConformalInterval(nonconformity, 0.9).fit(data.interval, data.y)(data.interval)
        two = ConformalInterval(nonconformity, 0.9).fit(data.interval, data.y)(Interval(lower, upper))
        np.testing.assert_allclose([each.detach().numpy() for each in two], one, rtol=1e-12, atol=1e-12)
        calibrated = Calibrator(signed(nonconformity)).fit(data.interval, data.y)
        H, ours = calibrated(data.interval), calibrated(Interval(lower, upper))
        np.testing.assert_allclose(ours.crps(y).detach().numpy(), H.crps(data.y), rtol=1e-9, atol=1e-12)
        for leaf in torch.autograd.grad(torch.sum(two[1] - two[0]) + torch.sum(ours.crps(y)), [lower, upper]):
            assert bool(torch.all(torch.isfinite(leaf)))


def test_array_api_strict_works():
    xp = array_api_strict
    f, y = np.linspace(0, 1, 20), np.sin(np.arange(20.0))
    for nonconformity, make in [
        (AbsoluteResidual(), lambda a: Point(a(f))),
        (CQR(), lambda a: Interval(a(f - 1), a(f + 1))),
    ]:
        ours = ConformalInterval(nonconformity, 0.8).fit(make(xp.asarray), xp.asarray(y))(make(xp.asarray))
        theirs = ConformalInterval(nonconformity, 0.8).fit(make(np.asarray), y)(make(np.asarray))
        np.testing.assert_allclose(np.asarray(ours[0]), theirs[0])
        check_nonconformity(nonconformity, make(xp.asarray), xp.asarray(np.linspace(-3, 3, 20)))


def test_at_the_minimiser_h_steps_over_all_that_q_has_between_the_two_branches():
    """g(0) = 1: the scores from -1 to 1 all lead back to m, and from m on the score is that of the upper branch."""
    rng = np.random.default_rng(0)
    f, noise = rng.normal(size=(2, 40))
    fitted = Calibrator(signed(AbsoluteResidual())).fit(f, f + noise)
    m = np.array([-1.0, 0.0, 2.5])
    H, q = fitted(m), fitted.q
    np.testing.assert_array_equal(H.cdf(m), np.full(3, q.cdf(1.0)))
    np.testing.assert_array_equal(H.sf(m), np.full(3, q.sf(1.0)))
    np.testing.assert_array_equal(H.cdf_left(m), np.full(3, q.cdf(-1.0)))
    np.testing.assert_array_equal(fitted.score(m, m), np.ones(3))
    np.testing.assert_allclose(H.cdf(np.nextafter(m, -np.inf)), q.cdf(-1.0), atol=1e-12)
    assert 0.001 < q.cdf(1.0) - q.cdf(-1.0) <= 1 / 41
