"""What kind of number a label is: bounds, transforms, and both."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

import calibrant
from calibrant import (
    Calibrator,
    CrossCalibrated,
    Ensemble,
    Interval,
    LogNormal,
    Mixture,
    Normal,
    Point,
    Quantiles,
    Samples,
    StudentT,
    concatenate,
    evaluate,
    report,
)
from calibrant.distributions import LocationScale, PiecewiseLinear
from calibrant.interpolators import NAF, InfiniteTails, Linear, Naive, Random
from calibrant.interpolators.support import BoundedTails
from calibrant.labels import Counts, Labels, Real, Transformed
from calibrant.labels.base import Chained
from calibrant.scores import CDFScore, LogScore
from calibrant.testing import check_labels

N = 60
RNG = np.random.default_rng(0)
F = RNG.uniform(0.0, 3.0, N)
Y = np.clip(F + RNG.normal(size=N), 0.0, 5.0)


CALIBRATORS = {
    "linear": (Point, Calibrator()),
    "naive": (Point, Calibrator(None, Naive())),
    "naf": (Point, Calibrator(None, NAF())),
    "quantiles": (lambda f: Quantiles([0.1, 0.5, 0.9], f[:, None] + [-1.0, 0.1, 1.5]), Calibrator()),
    "cdf": (lambda f: StudentT(4.0, f, 0.5 + abs(f)), Calibrator(CDFScore())),
    "normal": (lambda f: Normal(f, 0.5 + abs(f)), Calibrator()),
}


CLIPPED = {
    **{name: calibrator.fit(kind(F), Y)(kind(F[:3])) for name, (kind, calibrator) in CALIBRATORS.items()},
    "joined": concatenate([Normal([0.5], 1.0), Calibrator().fit(F, Y)([1.0, 0.0])]),
    "mixed": Mixture((Normal([0.5, 1.0, 0.0], 1.0), Normal([1.0, 1.0, 1.0], 0.3)), (0.4, 0.6)),
    "random": Calibrator(None, Random(BoundedTails())).fit(F, Y)([1.0, 2.0, 0.5], seed=3),
    "folds": CrossCalibrated((Calibrator().fit(F[:30], Y[:30]), Calibrator().fit(F[30:], Y[30:])))([F[:3], F[:3]]),
}


@pytest.mark.parametrize("name", CLIPPED)
def test_a_distribution_clipped_by_row_is_each_row_clipped(name):
    distribution, low, high = CLIPPED[name], np.array([0.0, 1.0, -np.inf]), np.array([2.0, 1.5, 1.0])
    C, y = distribution.clip(low, high), np.array([[-2.0, 0.9, 1.0]])
    for row in range(3):
        alone = distribution[row : row + 1].clip(float(low[row]), float(high[row]))
        for method in ("cdf", "cdf_left", "sf", "logpdf"):
            np.testing.assert_array_equal(getattr(C, method)(y)[row], getattr(alone, method)(y)[0], err_msg=method)
        np.testing.assert_allclose(C.crps(y)[row], alone.crps(y)[0], rtol=1e-12)
        np.testing.assert_allclose(C.std()[row], alone.std()[0], rtol=1e-9, atol=1e-12)
    tighter = distribution.clip([-1.0, 0.5, -2.0], 4.0).clip(low, high)
    np.testing.assert_allclose(tighter[:2].crps(1.0), C[:2].crps(1.0), rtol=1e-14)
    np.testing.assert_array_equal(C[[2, 1]].mean(), C.mean()[[2, 1]])


def test_a_clip_by_row_says_what_is_wrong():
    H = Normal([0.0, 1.0], 1.0)
    with pytest.raises(ValueError, match=r"clip's lower is above its upper in row 1 \(the only such row\)"):
        H.clip([0.0, 3.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="clip's upper must have one row for each of the 2 rows of the batch, got 3"):
        H.clip(upper=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="a single distribution takes two numbers"):
        H[0].clip([0.0], [1.0])
    with pytest.raises(ValueError, match=r"the lower bound of .* is above the upper one in row 1 \(the only"):
        Real("low", "high").collapse(H, bound={"low": np.array([0.0, 3.0]), "high": np.array([1.0, 2.0])})


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("kind", ["torch", "array_api_strict"])
def test_labels_of_other_array_libraries(kind, by_row):
    library = pytest.importorskip(kind)
    kinds = [(Real(0, "top"), Y)] if by_row else [(Real(0, 5) | Transformed("log1p"), Y), (Transformed("sqrt"), Y)]
    for labels, y in kinds:
        top = Y + 0.5 if by_row else None
        f, there, bound = (None if each is None else library.asarray(each) for each in (F, y, top))
        H = Calibrator(labels=labels).fit(f, there, bound=bound)(f, bound=bound)
        wanted = Calibrator(labels=labels).fit(F, y, bound=top)(F, bound=top)
        np.testing.assert_allclose(np.asarray(H.crps(there)), wanted.crps(y), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(np.asarray(H.mean()), wanted.mean(), rtol=1e-9)


def test_gradients_reach_predictions_through_labels():
    torch = pytest.importorskip("torch")
    y = torch.tensor(Y)
    for labels in (Real(0, 5), Transformed("log1p"), Transformed("sqrt")):
        f = torch.tensor(F, requires_grad=True)
        Calibrator(labels=labels).fit(torch.tensor(F), y)(f).crps(y).sum().backward()
        assert torch.isfinite(f.grad).all()
        assert (f.grad != 0).any()


# ---- Real ------------------------------------------------------------------------------------------------------------


def test_without_labels_not_one_bit_changes():
    plain, free = Calibrator().fit(F, Y), Calibrator(labels=Real()).fit(F, Y)
    np.testing.assert_array_equal(plain.q.knots, free.q.knots)
    np.testing.assert_array_equal(plain(F).crps(Y), free(F).crps(Y))
    assert plain.labels is None
    assert "Real(None, None)" in repr(free)


@pytest.mark.parametrize("name", CALIBRATORS)
def test_all_that_a_bounded_distribution_says_lies_inside(name):
    kind, calibrator = CALIBRATORS[name]
    H = replace(calibrator, labels=Real(0, 5)).fit(kind(F), Y)(kind(np.r_[F, -2.0, 6.0]))
    draws = H.sample(200, np.random.default_rng(1))
    for values in (*H.quantiles([0.005, 0.995]).T, H.mean(), H.median(), draws):
        assert np.all((values >= 0) & (values <= 5))
    free = calibrator.fit(kind(F), Y)(kind(F))
    np.testing.assert_array_equal(H.cdf(2.0)[:N], free.cdf(2.0))  # calibration is what it was
    assert np.all(H.crps(1.0)[:N] <= free.crps(1.0) + 1e-12)


def test_a_bound_by_row_is_given_at_every_call():
    rng = np.random.default_rng(2)
    capacity = rng.uniform(1, 4, N)
    y = np.minimum(Y, capacity)
    table = {"capacity": capacity, "floor": np.minimum(y, 0.1)}
    by_array = Calibrator(labels=Real(0, "capacity")).fit(F, y, bound=capacity)
    by_name = Calibrator(labels=Real(0, "capacity")).fit(F, y, bound=table)
    by_function = Calibrator(labels=Real(0, lambda rows: rows["capacity"])).fit(F, y, bound=table)
    both = Calibrator(labels=Real("floor", "capacity")).fit(F, y, bound=table)
    for calibrated, bound in ((by_array, capacity), (by_name, table), (by_function, table), (both, table)):
        H = calibrated(F, bound=bound)
        np.testing.assert_array_equal(H.cdf(capacity), 1.0)
        assert np.all(H.ppf(1 - 1e-12) <= capacity)
    np.testing.assert_array_equal(by_array(F, bound=capacity).crps(y), by_name(F, bound=table).crps(y))
    cross = CrossCalibrated((by_array, by_name))([F, F], bound=capacity)
    np.testing.assert_array_equal(cross.cdf(capacity), 1.0)


@pytest.mark.parametrize(
    ("error", "words", "action"),
    [
        (ValueError, r"y is -0.5 in row 1 \(2 rows in all\), below the bound 0 of Real\(0, 1\)",
         lambda: held(Real(0, 1), [0.0, -0.5, 1.0, -1.0])),
        (ValueError, "y is 2 in row 2 .the only such row., above the bound 1", lambda: held(Real(0, 1), [0, 0, 2.0])),
        (ValueError, "Real needs lower < upper, got 1 and 0", lambda: Real(1, 0)),
        (TypeError, "Real.lower must be one number", lambda: Real([0.0])),
        (ValueError, "Real.upper must be a number, got nan", lambda: Real(0, np.nan)),
        (TypeError, r"bound= is for labels that are bounded row by row, got labels=Real\(0, 1\)",
         lambda: held(Real(0, 1), [0.0], bound=[1.0])),
        (TypeError, "bound= is for labels that are bounded row by row, got labels=None",
         lambda: Calibrator().fit(F, Y)(F, bound=F)),
        (TypeError, r"Real\(0, 'cap'\) needs bound=", lambda: held(Real(0, "cap"), Y)),
        (KeyError, "needs a column 'cap', which bound= does not", lambda: held(Real(0, "cap"), Y, bound={"hat": F})),
        (ValueError, "must have one row for each of the 60 rows of the prediction, got 1",
         lambda: held(Real(0, "cap"), Y, bound=[9.0])),
        (ValueError, r"y is .* in row \d+ \(\d+ rows in all\), above the bound 0.1",
         lambda: held(Real(0, "cap"), Y, bound=np.full(N, 0.1))),
    ],
)  # fmt: skip
def test_what_real_refuses(error, words, action):
    with pytest.raises(error, match=words) as found:
        action()
    assert "\n" not in str(found.value)


def held(labels, y, **bound):
    return Calibrator(labels=labels).fit(np.zeros(len(y)), y, **bound)


def test_labels_are_kept_in_the_file(tmp_path):
    path = tmp_path / "model.safetensors"
    chained = Real(0) | Real(-1, 9), Real(0) | Transformed("yeo-johnson:0.5")
    for labels in (Real(0), Real(None, 7.5), Real(0, "capacity"), Transformed("log1p"), *chained, None):
        calibrated = Calibrator(labels=labels).fit(F, Y, bound=F + 9 if labels and labels.by_row else None)
        calibrated.save(path)
        again = calibrant.load(path)
        assert again.labels == labels == pickle.loads(pickle.dumps(calibrated)).labels
        assert calibrant.files.read(path).about["labels"] == (None if labels is None else repr(labels))


@dataclass(frozen=True)
class Cut(Labels):
    at: float

    def collapse(self, distribution, *, bound=None):
        return distribution.clip(upper=self.at)


def test_labels_of_your_own_are_kept_by_their_class(tmp_path):
    path = tmp_path / "model.safetensors"
    Calibrator(labels=Cut(3.0)).fit(F, Y).save(path)
    assert calibrant.load(path, classes=[Cut]).labels == Cut(3.0)
    assert float(calibrant.load(path, classes=[Cut])([9.0]).ppf(0.5)[0]) == 3.0


def test_kinds_chain_from_the_label_inwards():
    chained = Real(0, 5) | Cut(3.0) | Real(-1)
    assert chained == Chained((Real(0, 5), Cut(3.0), Real(-1)))
    H = Calibrator(labels=chained).fit(F, Y)(F)
    np.testing.assert_array_equal(H.crps(Y), Calibrator().fit(F, Y)(F).clip(-1.0).clip(upper=3.0).clip(0, 5).crps(Y))
    with pytest.raises(TypeError):
        Real(0) | "log"


# ---- Transformed -----------------------------------------------------------------------------------------------------

S = RNG.normal(size=N)  # what a model predicts of t(y), and what t(y) is
T = S + 0.4 * RNG.normal(size=N)


def cubic(y):
    return np.cbrt(y)


def cube(s):
    return s**3


QUANTILES = Quantiles([0.1, 0.5, 0.9], np.exp(S[:, None] + [-0.3, 0.02, 0.5]))


@pytest.mark.parametrize("own", [Point(np.exp(S)), Interval(np.exp(S - 0.3), np.exp(S + 0.5)), QUANTILES])
def test_a_log_with_a_tail_too_heavy_for_a_mean_says_infinite(own):
    H = Calibrator(labels=Transformed("log")).fit(own, np.exp(S + 2.0 * RNG.standard_t(4, N)))(own)
    assert np.isposinf(H.mean()).all()
    assert np.isposinf(H.std()).all()
    assert np.isfinite(H.median()).all()


def test_the_guarantee_holds_with_labels():
    """sup_c |P(H(Y) <= c) - c| <= 1 / (n + 1), n = 9, by 1000 calibration sets: four standard errors are 0.063."""
    rng, labels = np.random.default_rng(7), Real(0, 40) | Transformed("log")
    pits = np.empty(1000)
    for k in range(pits.size):
        f = np.exp(rng.normal(size=10))
        y = np.minimum(f * np.exp(rng.normal(size=10)), 39.0)
        pits[k] = Calibrator(labels=labels).fit(f[:9], y[:9])(f[9:]).cdf(y[9:])[0]
    for c in (0.1, 0.3, 0.5, 0.7, 0.9):
        assert abs(np.mean(pits <= c) - c) <= 0.1 + 4 * np.sqrt(c * (1 - c) / pits.size)


def test_a_log_of_points_is_the_log_score():
    f, y = np.exp(S), np.exp(T)
    by_labels, by_score = (each.fit(f, y)(f) for each in (Calibrator(labels="log"), Calibrator(LogScore())))
    for method in ("mean", "std", "median"):
        np.testing.assert_allclose(getattr(by_labels, method)(), getattr(by_score, method)(), rtol=1e-9)


def test_a_distribution_of_y_becomes_the_distribution_of_its_transform():
    sigma = 0.3 + 0.1 * abs(S)
    found = Transformed("log").spread_prediction(LogNormal(S, sigma))
    np.testing.assert_allclose(found.std(), sigma)
    shifted = Transformed("log1p").spread_prediction(LogNormal(S, sigma))  # which has no closed form
    np.testing.assert_allclose(shifted.cdf(0.7), LogNormal(S, sigma).cdf(np.expm1(0.7)), rtol=1e-12)
    H = Calibrator(labels=Transformed("log")).fit(LogNormal(S, sigma), np.exp(T))(LogNormal(S, sigma))
    plain = Calibrator().fit(Normal(S, sigma), T)(Normal(S, sigma))
    np.testing.assert_allclose(H.cdf(np.exp(T)), plain.cdf(T), rtol=1e-9)
    held = (Real(0) | Transformed("log1p")).spread_prediction(Normal(S, 1.0))
    np.testing.assert_allclose(held.cdf_left(0.0), 0.0)
    np.testing.assert_allclose(held.cdf(0.5), Normal(S, 1.0).cdf(np.expm1(0.5)))


def test_the_logarithm_of_a_moved_distribution_is_its_logarithm():
    q = PiecewiseLinear.through(np.array([-1.0, 1.0]), np.array([0.0, 1.0]))
    moved = LocationScale(np.array([10.0, 20.0]), np.ones(2), q)
    np.testing.assert_allclose(Transformed("log").spread_prediction(moved).ppf(0.5), np.log([10.0, 20.0]))


def test_a_distribution_with_mass_outside_the_domain_is_taken_given_that_it_lies_inside():
    distribution, inside = Normal(S, 1.0), scipy.stats.truncnorm(-S, np.inf, loc=S, scale=1.0)
    found = Transformed("log").spread_prediction(distribution)
    np.testing.assert_allclose(found.cdf(0.3), inside.cdf(np.exp(0.3)), rtol=1e-10)
    np.testing.assert_allclose(found.ppf(0.01), np.log(inside.ppf(0.01)), rtol=1e-8)
    np.testing.assert_allclose(found.logpdf(0.3), inside.logpdf(np.exp(0.3)) + 0.3, rtol=1e-10)
    rng = np.random.default_rng(1)
    H = Calibrator(labels=Transformed("log")).fit(distribution, inside.rvs(random_state=rng))(distribution)
    assert np.all(H.ppf(1e-6) > 0)


def test_all_kinds_of_predictions_are_transformed():
    values = np.exp(S)
    log = Transformed("log").spread_prediction
    np.testing.assert_allclose(log(Interval(values, 2 * values)).upper, S + np.log(2))
    np.testing.assert_allclose(log(Samples(values[:, None] * [1.0, 2.0])).values[:, 1], S + np.log(2))
    both = log(Ensemble([Point(values), LogNormal(S, 1.0)], weights=[1, 2]))
    assert both.weights == (1.0, 2.0)
    np.testing.assert_allclose(both.members[0].values, S)
    H = Calibrator(labels=Transformed("log")).fit(Samples(values[:, None] * [0.5, 1.0, 2.0]), np.exp(T))(
        Samples(values[:, None] * [0.5, 1.0, 2.0])
    )
    assert np.all(H.ppf(0.005) > 0)


def test_transforms_chain_with_bounds():
    y = np.maximum(np.expm1(T), 0.0)
    own = np.expm1(S)  # of which some are negative
    H = Calibrator(labels=Real(0) | Transformed("log1p")).fit(own, y)(own)
    assert np.all(H.sample(100, np.random.default_rng(0)) >= 0)
    inner = Calibrator().fit(np.maximum(S, 0), np.log1p(y))(np.maximum(S, 0))
    np.testing.assert_allclose(H.cdf(0.7), inner.cdf(np.log1p(0.7)), rtol=1e-12)
    np.testing.assert_array_equal(H.cdf_left(0.0), 0.0)


@pytest.mark.parametrize("interpolator", [Linear(InfiniteTails()), Random()], ids=["infinite", "random"])
def test_mass_at_infinity_lies_on_the_ends_of_the_labels(interpolator):
    own, y = 1 / (1 + np.exp(-S)), 1 / (1 + np.exp(-T))
    H = Calibrator(None, interpolator, Transformed("logit")).fit(own, y)(own, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(H.cdf(-0.1), 0.0)
    np.testing.assert_array_equal(H.cdf(1.0), 1.0)
    assert np.all((H.ppf(1e-9) == 0) & (H.ppf(1 - 1e-9) == 1))
    assert np.isfinite(H.crps(y)).all()


def test_mass_at_minus_infinity_that_lands_on_a_finite_label_is_an_atom_there():
    calibrator = Calibrator(None, Linear(InfiniteTails()), Transformed("log"))
    H = calibrator.fit(np.ones(4), np.exp([-1.0, 0.0, 1.0, 2.0]))(np.ones(2))
    for y, left, right in ((-1.0, 0.0, 0.0), (0.0, 0.0, 0.2), (1e-300, 0.2, 0.2), (1.0, 0.4, 0.4)):
        np.testing.assert_allclose([H.cdf_left(y), H.cdf(y), H.sf(y)], [[left] * 2, [right] * 2, [1 - right] * 2])
    np.testing.assert_allclose(H.pmf(0.0), 0.2)
    np.testing.assert_allclose(H.pit([0.0, 0.0], [0.0, 0.5]), [0.0, 0.1])


def logs(y, prediction=(1.0, 1.0), by="log"):
    return Calibrator(labels=Transformed(by)).fit(prediction, y)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda: Transformed("lag"), "takes one of log, log1p, sqrt, logit, yeo-johnson:0.5, or a pair .* got 'lag'"),
        (lambda: Transformed("yeo-johnson:2.5"), r"a power of \[0, 2\]"),
        (lambda: Transformed(np.log), "takes a name, or a pair"),
        (lambda: logs([1.0, 0.0]), r"y is 0 in row 1 \(the only such row\), outside the domain of Transformed\(log\)"),
        (lambda: logs([1.0, 1.0], [1.0, -1.0]), r"Point.values is -1 in row 1"),
        (lambda: logs([1.0], [0.5], "logit"), "y is 1 in row 0"),
        (lambda: logs([-1.0], [0.5], "sqrt"), "y is -1 in row 0"),
        (lambda: logs([1.0, 1.0], Normal([1.0, -9.0], 1.0)), "hardly any of its mass inside the domain of .* in row 1"),
        (lambda: logs([1.0, 1.0], [1.0, -1.0], "log1p"), r"'0:,log1p', it takes forecasts"),
    ],
)
def test_what_transformed_refuses(action, words):
    with pytest.raises((ValueError, TypeError), match=words):
        action()


@pytest.mark.parametrize(
    ("labels", "y"),
    [
        (Real(), Y),
        (Real(0, 5), Y),
        (Real(0, "capacity"), Y),
        (Transformed("log1p"), Y),
        (Transformed("sqrt"), Y),
        (Transformed("logit"), (Y + 0.01) / 6),
        (Transformed("yeo-johnson:1.5"), Y - 2),
        (Real(0, 5) | Transformed("log1p"), Y),
        (Cut(6.0), Y),
    ],
    ids=lambda value: "" if isinstance(value, np.ndarray) else repr(value),
)
def test_labels_keep_the_distributions_of_labels(labels, y):
    check_labels(labels, y, bound={"capacity": Y + 0.5 + np.arange(N) / N} if labels.by_row else None)


@dataclass(frozen=True)
class Doubled(Labels):
    """Whose collapse forgot that its labels are halves."""

    def spread(self, y, prediction, *, bound=None, rng=None):
        return y / 2

    def collapse(self, distribution, *, bound=None):
        return distribution


@dataclass(frozen=True)
class Upside(Labels):
    def spread(self, y, prediction, *, bound=None, rng=None):
        return -y

    def collapse(self, distribution, *, bound=None):
        return distribution


@dataclass(frozen=True)
class Shy(Labels):
    """Whose distribution is too narrow, but right for points."""

    def collapse(self, distribution, *, bound=None):
        return Normal(distribution.median(), 0.5 * distribution.std())


@dataclass(frozen=True)
class Secret(Counts):
    """Which does not say that it draws."""

    @property
    def draws(self):
        return False


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (Doubled(), "must take spread back"),
        (Upside(), "must rise with the labels"),
        (Shy(), "the quantile of H collapses to"),
        (Secret(), "`draws` must be True"),
        (Transformed((cubic, cube)), "must fit into a file"),
    ],
    ids=repr,
)
def test_labels_that_break_a_distribution_are_told_so(labels, words):
    with pytest.raises(AssertionError, match=words):
        check_labels(labels, np.round(Y) if isinstance(labels, Counts) else Y)


def test_evaluate_and_report_take_such_distributions():
    H = Calibrator(labels=Real(0) | Transformed("log1p")).fit(F, Y)(F)
    found = evaluate(H, Y)
    assert np.isfinite(found.crps)
    assert 0.7 < found.coverage <= 1
    assert "intervals hold" in report(H, Y, base=Point(F)).verdict[1].text
