"""Oracles for the laws that come as forecasts: scipy, mpmath, scoringrules, slow integrals, differences."""

import warnings

import mpmath
import numpy as np
import pytest
import scipy.stats as st
import scoringrules
from reference.tolerances import TOLERANCES
from scipy import integrate

from calibrant import Calibrator, concatenate
from calibrant.distributions import (
    GaussianMixture,
    Laplace,
    Logistic,
    LogNormal,
    Mixture,
    Normal,
    PiecewiseLinear,
    StudentT,
    from_scipy,
    from_torch,
)
from calibrant.distributions.scipy_distributions import ScipyDistribution
from calibrant.distributions.student_t import StandardT
from calibrant.distributions.table import ONCE, SQUARE, TWICE
from calibrant.distributions.torch_distributions import TorchDistribution
from calibrant.interpolators import NAF
from calibrant.scores import CDFScore

LOC, SCALE = np.array([-1.0, 0.0, 2.5]), np.array([0.5, 1.0, 3.0])
Y = np.array([[-9.0, -1.2, -0.1, 0.3, 1.7, 14.0]])
P = np.array([[1e-12, 1e-3, 0.2, 0.5, 0.77, 1 - 1e-6]])
DF = np.array([3.0, 8.0, 40.0])
WEIGHTS = np.array([0.2, 0.5, 0.3])
MEANS = np.array([[-1.0, 0.0, 2.0], [5.0, 5.5, -3.0], [0.0, 0.0, 0.0]])
STDS = np.array([[0.5, 1.0, 2.0], [0.1, 1.0, 0.3], [1.0, 2.0, 4.0]])

AGAINST_SCIPY = {
    "normal": (Normal(LOC, SCALE), st.norm(LOC[:, None], SCALE[:, None])),
    "logistic": (Logistic(LOC, SCALE), st.logistic(LOC[:, None], SCALE[:, None])),
    "laplace": (Laplace(LOC, SCALE), st.laplace(LOC[:, None], SCALE[:, None])),
    "t": (StudentT(DF, LOC, SCALE), st.t(DF[:, None], LOC[:, None], SCALE[:, None])),
    "t with one df": (StudentT(5, LOC, SCALE), st.t(5, LOC[:, None], SCALE[:, None])),
    "log-normal": (LogNormal(LOC, SCALE), st.lognorm(SCALE[:, None], 0, np.exp(LOC)[:, None])),
    "scipy gamma": (from_scipy(st.gamma(SCALE, LOC)), st.gamma(SCALE[:, None], LOC[:, None])),
    "scipy gumbel": (from_scipy(st.gumbel_r(LOC, SCALE)), st.gumbel_r(LOC[:, None], SCALE[:, None])),
}
LAWS = {name: law for name, (law, _) in AGAINST_SCIPY.items()} | {
    "gaussian mixture": GaussianMixture(WEIGHTS, MEANS, STDS),
    "pool": Mixture((Normal(LOC, SCALE), Logistic(LOC + 1, SCALE)), (0.3, 0.7)),
}
SINGLE = {
    "normal": Normal(0.3, 2.0),
    "logistic": Logistic(0.3, 2.0),
    "laplace": Laplace(0.3, 2.0),
    "t": StudentT(2.5, 0.3, 2.0),
    "log-normal": LogNormal(0.3, 0.6),
    "gaussian mixture": GaussianMixture(WEIGHTS, MEANS[0], STDS[0]),
    "separated gaussian mixture": GaussianMixture([0.5, 0.5], [0.0, 60.0], [1.0, 0.1]),
    "scipy gamma": from_scipy(st.gamma(2.3)),
}


GAUSS = tuple(45 * x for x in np.polynomial.legendre.leggauss(400))


def named(laws):
    return pytest.mark.parametrize("law", list(laws.values()), ids=list(laws))


def crps_integral(law, y):
    """The integral of (F(t) - 1{y <= t})^2 over t, piece by piece."""
    grid = np.unique(np.asarray(law.quantiles(st.logistic.cdf(np.linspace(-36, 36, 73)))))
    grid = np.union1d(grid, np.linspace(max(grid[0], -100), min(grid[-1], 100), 2000))
    x, w = np.polynomial.legendre.leggauss(10)

    def integral(square, edges):
        low, width = edges[:-1, None], np.diff(edges)[:, None]
        return float(np.sum(square(low + width * (x + 1) / 2) * width * w / 2))

    below = integral(lambda t: law.cdf(t) ** 2, np.append(grid[grid < y], y))
    above = integral(lambda t: law.sf(t) ** 2, np.insert(grid[grid > y], 0, y))
    # what is left beyond the grid, for tails that fall like a power
    rest = integrate.quad(lambda t: float(law.sf(t)) ** 2, max(grid[-1], y), np.inf)[0]
    rest += integrate.quad(lambda t: float(law.cdf(t)) ** 2, -np.inf, min(grid[0], y))[0]
    return below + above + rest


# ---- values ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("law", "oracle"), list(AGAINST_SCIPY.values()), ids=list(AGAINST_SCIPY))
def test_values_agree_with_scipy(law, oracle):
    np.testing.assert_allclose(law.cdf(Y), oracle.cdf(Y), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(law.sf(Y), oracle.sf(Y), rtol=1e-12, atol=1e-300)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(law.logpdf(Y), oracle.logpdf(Y), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(law.ppf(P), oracle.ppf(P), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(law.mean(), oracle.mean()[:, 0], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(law.std(), oracle.std()[:, 0], rtol=1e-12)


@named(LAWS)
def test_cdf_undoes_ppf(law):
    np.testing.assert_allclose(law.cdf(law.ppf(P)), np.broadcast_to(P, (3, 6)), rtol=1e-9, atol=1e-12)


@named(LAWS)
def test_infinite_arguments_and_certain_probabilities_go_to_the_ends(law):
    ends = np.array([[-np.inf, np.inf]])
    np.testing.assert_array_equal(law.cdf(ends), np.tile([0.0, 1.0], (3, 1)))
    np.testing.assert_array_equal(law.sf(ends), np.tile([1.0, 0.0], (3, 1)))
    np.testing.assert_array_equal(law.cdf(law.ppf(np.array([[0.0, 1.0]]))), np.tile([0.0, 1.0], (3, 1)))


@named({name: law for name, law in LAWS.items() if name != "gaussian mixture"})  # its quantiles leap
def test_mean_and_std_are_integrals_of_quantiles(law):
    """By Gauss-Legendre in the logit of the probability."""
    s, w = GAUSS
    q = law._ppf_logit(s[None, :])
    density = w * st.logistic.pdf(s)
    mean = np.sum(q * density, axis=1)
    np.testing.assert_allclose(law.mean(), mean, rtol=1e-5, atol=1e-8)
    if not (np.any(law.std() > 1e3) or law is LAWS["t"]):  # the rest of a heavy tail
        np.testing.assert_allclose(law.std(), np.sqrt(np.sum((q - mean[:, None]) ** 2 * density, axis=1)), rtol=1e-5)


@pytest.mark.parametrize("level", [1e-3, 0.1, 0.5, 0.9])
@named(SINGLE)
def test_crps_is_its_integral(law, level):
    y = float(law.ppf(level)) + 0.1
    expected = crps_integral(law, y)
    closed = law is not SINGLE["scipy gamma"]
    allowed = 0.0 if closed else TOLERANCES["curved"].integrals * law.std()
    np.testing.assert_allclose(float(law.crps(y)), expected, rtol=1e-8 if closed else 0.0, atol=allowed)


def test_crps_agrees_with_scoringrules():
    y = np.array([-3.0, 0.4, 6.0])
    for law, expected in [
        (Normal(LOC, SCALE), scoringrules.crps_normal(y, LOC, SCALE)),
        (Logistic(LOC, SCALE), scoringrules.crps_logistic(y, LOC, SCALE)),
        (Laplace(LOC, SCALE), scoringrules.crps_laplace(y, LOC, SCALE)),
        (StudentT(DF, LOC, SCALE), scoringrules.crps_t(y, DF, LOC, SCALE)),
        (
            GaussianMixture(WEIGHTS, MEANS, STDS),
            scoringrules.crps_mixnorm(y, MEANS, STDS, np.tile(WEIGHTS, (3, 1))),
        ),
    ]:
        np.testing.assert_allclose(law.crps(y), expected, rtol=1e-12)
    np.testing.assert_allclose(
        LogNormal(LOC, SCALE).crps(np.abs(y)), scoringrules.crps_lognormal(np.abs(y), LOC, SCALE), rtol=1e-12
    )
    np.testing.assert_allclose(
        from_scipy(st.gamma(SCALE)).crps(np.abs(y)), scoringrules.crps_gamma(np.abs(y), SCALE, 1.0), rtol=1e-8
    )


@pytest.mark.parametrize("level", [0.1, 0.7])
@named({name: SINGLE[name] for name in ("normal", "logistic", "laplace", "t", "log-normal")})
def test_closed_integrals_are_those_of_the_cdf(law, level):
    y, far = (float(law.ppf(p)) for p in (level, 1e-15))
    far = -np.inf if law is SINGLE["t"] else far
    for which, slow in {
        ONCE: lambda t: float(law.cdf(t)),
        TWICE: lambda t: (y - t) * float(law.cdf(t)),
        SQUARE: lambda t: float(law.cdf(t)) ** 2,
    }.items():
        found = law._integrals(np.asarray(y), which)
        np.testing.assert_allclose(found, integrate.quad(slow, far, y, limit=400)[0], rtol=1e-7)


def test_crps_of_a_log_normal_grows_by_the_distance_below_zero():
    law = LogNormal(0.3, 0.6)
    np.testing.assert_allclose(law.crps(-2.0), law.crps(0.0) + 2, rtol=1e-14)


# ---- tails -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("df", [0.5, 1.0, 1.7, 2.0, 5.0, 12.5, 100.0, 1e4])
def test_tails_of_t_agree_with_mpmath(df):
    law = StandardT(np.asarray(df))
    with mpmath.workdps(40):
        for t in (1e-3, 0.5, 1.0, 1.9, 2.19, 2.21, 4.0, 12.0, 1e3, 1e8):
            x = mpmath.mpf(df) / (df + mpmath.mpf(t) ** 2)
            tail = mpmath.betainc(mpmath.mpf(df) / 2, mpmath.mpf(1) / 2, 0, x, regularized=True) / 2
            logit = float(mpmath.log(tail) - mpmath.log1p(-tail))
            np.testing.assert_allclose(law._logit(np.asarray(-t))[0], logit, rtol=1e-10, atol=1e-13)
            np.testing.assert_allclose(law.cdf(-t), float(tail), rtol=2e-13, atol=1e-300)
            if tail > 1e-300:
                np.testing.assert_allclose(law._ppf_logit(np.asarray(logit)), -t, rtol=1e-12, atol=1e-13)


def test_t_approaches_the_normal_law():
    law, y = StudentT(1e12, 0.0, 1.0), np.linspace(-8, 8, 33)
    np.testing.assert_allclose(law.cdf(y), Normal(0.0, 1.0).cdf(y), rtol=1e-8)
    np.testing.assert_allclose(law.crps(y), Normal(0.0, 1.0).crps(y), rtol=1e-8)


def test_heavy_t_has_no_mean_infinite_std_and_at_last_infinite_crps():
    law = StudentT([0.5, 1.0, 1.5, 2.0, 3.0], 0.0, 1.0)
    np.testing.assert_array_equal(law.mean(), [np.nan, np.nan, 0, 0, 0])
    np.testing.assert_array_equal(law.std()[:4], [np.nan, np.nan, np.inf, np.inf])
    np.testing.assert_array_equal(np.isinf(law.crps(0.0)), [True, False, False, False, False])


@pytest.mark.parametrize("s", [-690.0, -80.0, -37.0, 37.0, 80.0, 690.0])
@named(SINGLE)
def test_quantiles_at_a_logit_do_not_saturate(law, s):
    y = law._ppf_logit(np.asarray(s))
    np.testing.assert_allclose(law._logit(y)[0], s, rtol=1e-9)


@pytest.mark.parametrize("y", [-400.0, -20.0, 0.0, 20.0, 400.0])
def test_tails_of_a_mixture_agree_with_mpmath(y):
    gaussian = SINGLE["gaussian mixture"]
    with mpmath.workdps(40):
        z = [(mpmath.mpf(y) - m) / s for m, s in zip(MEANS[0].tolist(), STDS[0].tolist(), strict=True)]
        w = [mpmath.mpf(weight) for weight in gaussian.weights.tolist()]
        normal = mpmath.fsum(a * mpmath.erfc(-b / mpmath.sqrt(2)) / 2 for a, b in zip(w, z, strict=True))
        rest = mpmath.fsum(a * mpmath.erfc(b / mpmath.sqrt(2)) / 2 for a, b in zip(w, z, strict=True))
        logit = float(mpmath.log(normal) - mpmath.log(rest))
    np.testing.assert_allclose(gaussian._logit(np.asarray(y))[0], logit, rtol=1e-13, atol=1e-15)
    assert np.isfinite(gaussian.logpdf(y))


def test_log_normal_has_no_mass_up_to_zero():
    law = LogNormal([0.0, 1.0], [1.0, 2.0])
    np.testing.assert_array_equal(law.cdf([[-3.0, 0.0]]), np.zeros((2, 2)))
    np.testing.assert_array_equal(law.logpdf([[-3.0, 0.0]]), np.full((2, 2), -np.inf))
    np.testing.assert_array_equal(law.ppf([0.0, 1.0]), [0.0, np.inf])


def test_log_normal_with_a_huge_sigma_overflows_to_infinity_in_silence():
    law = LogNormal(0.0, 60.0)
    assert law.mean() == np.inf
    assert law.std() == np.inf
    np.testing.assert_allclose(law.median(), 1.0)


# ---- mixtures ----------------------------------------------------------------------------------------------


def test_a_gaussian_mixture_is_the_pool_of_its_components():
    law = GaussianMixture(WEIGHTS, MEANS, STDS)
    pool = Mixture(tuple(Normal(MEANS[:, k], STDS[:, k]) for k in range(3)), tuple(WEIGHTS))
    for method, argument in [("cdf", Y), ("sf", Y), ("logpdf", Y), ("ppf", P)]:
        np.testing.assert_allclose(getattr(law, method)(argument), getattr(pool, method)(argument), rtol=1e-9)
    np.testing.assert_allclose(law.mean(), pool.mean(), rtol=1e-12)
    np.testing.assert_allclose(law.std(), pool.std(), rtol=1e-12)


def test_a_component_of_weight_zero_changes_nothing():
    law = GaussianMixture([0.0, 1.0], [500.0, 0.0], [1e-3, 1.0])
    for method, argument in [("cdf", Y), ("logpdf", Y), ("crps", Y), ("ppf", P)]:
        np.testing.assert_allclose(
            getattr(law, method)(argument), getattr(Normal(0.0, 1.0), method)(argument), rtol=1e-9, atol=1e-15
        )


# ---- rows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "index", [[2, 0], slice(1, None), np.array([True, False, True])], ids=["list", "slice", "mask"]
)
@named(LAWS)
def test_slicing_commutes_with_every_method(law, index):
    part = law[index]
    for method, argument in [("cdf", Y), ("sf", Y), ("logpdf", Y), ("ppf", P), ("crps", Y)]:
        whole = getattr(law, method)(argument)[index if isinstance(index, slice) else np.asarray(index)]
        np.testing.assert_allclose(getattr(part, method)(argument), whole, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(part.mean(), law.mean()[index], rtol=1e-14)
    assert repr(part).startswith(type(law).__name__)


@named(LAWS)
def test_a_row_is_a_single_law(law):
    row = law[-1]
    assert row.shape == ()
    np.testing.assert_allclose(row.cdf(Y), law.cdf(Y)[-1:], rtol=1e-14)
    np.testing.assert_allclose(row.crps(0.7), law.crps(0.7)[-1], rtol=1e-8)


# ---- other arrays ------------------------------------------------------------------------------------------


GRADIENTS = {
    "normal": (Normal, [LOC, SCALE]),
    "logistic": (Logistic, [LOC, SCALE]),
    "laplace": (Laplace, [LOC, SCALE]),
    "t": (StudentT, [DF, LOC, SCALE]),
    "t with one df": (StudentT, [np.asarray(5.0), LOC, SCALE]),
    "log-normal": (LogNormal, [LOC, SCALE]),
    "gaussian mixture": (lambda m, s: GaussianMixture(WEIGHTS, m, s), [MEANS, STDS]),
}


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("method", ["cdf", "logpdf", "crps", "ppf"])
def test_gradients_to_the_parameters_are_finite_differences(name, method):
    torch = pytest.importorskip("torch")
    make, values = GRADIENTS[name]
    argument = np.array([[0.03, 0.5, 0.9]]) if method == "ppf" else np.array([[-7.0, 0.4, 0.9, 30.0]])
    if name == "log-normal" and method == "logpdf":
        argument = np.abs(argument)
    tensors = [torch.tensor(value, requires_grad=True) for value in values]
    value = getattr(make(*tensors), method)(torch.tensor(argument))
    assert bool(torch.all(torch.isfinite(value)))
    value.sum().backward()
    for k, tensor in enumerate(tensors):
        step = 1e-5

        def total(shift, k=k):
            moved = [v + shift if j == k else v for j, v in enumerate(values)]
            return getattr(make(*moved), method)(argument).sum()

        slope = (total(step) - total(-step)) / (2 * step)
        np.testing.assert_allclose(tensor.grad.sum().item(), slope, rtol=2e-6, atol=1e-7)


# ---- scipy and torch distributions -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frozen",
    [
        st.norm(LOC, SCALE),
        st.laplace(LOC, SCALE),
        st.t(DF, LOC, SCALE),
        st.cauchy(LOC, SCALE),
        st.lognorm(SCALE, scale=2),
    ],
    ids=lambda frozen: frozen.dist.name,
)
def test_known_scipy_families_become_our_own(frozen):
    law = from_scipy(frozen)
    assert not isinstance(law, ScipyDistribution)
    y = np.array([0.2, 0.4, 3.0])
    np.testing.assert_allclose(law.cdf(y), frozen.cdf(y), rtol=1e-12)
    np.testing.assert_allclose(law.logpdf(y), frozen.logpdf(y), rtol=1e-12)


def test_a_shifted_log_normal_stays_with_scipy():
    assert isinstance(from_scipy(st.lognorm(0.5, loc=1.0)), ScipyDistribution)


@pytest.mark.parametrize(
    "frozen",
    [
        st.beta(2.0, 3.5),
        st.uniform(1, 2),
        st.weibull_min(1.5),
        st.fisk(3.0),
        st.genpareto(0.3),
        st.expon(),
    ],
    ids=lambda frozen: frozen.dist.name,
)
def test_crps_of_scipy_families_is_its_integral(frozen):
    law = from_scipy(frozen)
    y = float(frozen.ppf(0.3))
    np.testing.assert_allclose(float(law.crps(y)), crps_integral(law, y), rtol=1e-7)
    many = from_scipy(type(frozen)(frozen.dist, *(np.full(2, a) for a in frozen.args)) if frozen.args else frozen)
    np.testing.assert_allclose(many.crps(y), float(law.crps(y)), rtol=1e-7)


def test_the_logit_of_a_scipy_law_reaches_as_far_as_its_own_logarithms():
    """log F = -exp(-y) for the largest of many, log(1 - F) = -exp(y) for the smallest; both are 0 as floats here."""
    y = np.array([7.0, 8.0, 20.0])
    np.testing.assert_allclose(CDFScore()(from_scipy(st.gumbel_r(np.zeros(3))), -y), -np.exp(y), rtol=1e-14)
    np.testing.assert_allclose(CDFScore()(from_scipy(st.gumbel_l(np.zeros(3))), y), np.exp(y), rtol=1e-14)


def test_mass_of_q_at_minus_infinity_lies_on_the_first_place_of_the_forecast_and_none_below():
    q = PiecewiseLinear.through(np.array([-1.0, 0.0, 2.0]), np.array([0.25, 0.5, 0.75]), np.inf, np.inf)
    H = CDFScore().pull_back(q, from_scipy(st.gamma([2.0, 3.0], [0.0, 5.0])))
    np.testing.assert_array_equal(H.cdf([0.0, 5.0]), 0.25)
    below = np.array([-1.0, 4.0])
    for share in (H.cdf(below), H.cdf_left(below), 1 - H.sf(below), H.pit(below, [0.5, 1.0])):
        np.testing.assert_array_equal(share, 0.0)


def test_crps_of_a_scipy_law_without_mean_is_infinite():
    law = from_scipy(st.levy([0.0, 1.0]))
    np.testing.assert_array_equal(law.crps([2.0, 3.0]), [np.inf, np.inf])


def test_a_loose_scipy_law_raises():
    with pytest.raises(ValueError, match="poisson has a loc that is not whole"):
        from_scipy(st.poisson(3.0, loc=0.5))
    with pytest.raises(TypeError, match="frozen distribution such as"):
        from_scipy(st.gamma)
    with pytest.raises(ValueError, match=r"gamma has parameters outside their domain in row 1 \(the only such row\)"):
        from_scipy(st.gamma([1.0, -1.0]))
    with pytest.raises(ValueError, match=r"gamma.a is NaN or infinite in row 1"):
        from_scipy(st.gamma([1.0, np.nan]))


TORCH_CASES = {
    "normal": (lambda td, loc, scale: td.Normal(loc, scale), st.norm(LOC, SCALE)),
    "laplace": (lambda td, loc, scale: td.Laplace(loc, scale), st.laplace(LOC, SCALE)),
    "t": (lambda td, loc, scale: td.StudentT(loc.new_tensor(DF), loc, scale), st.t(DF, LOC, SCALE)),
    "cauchy": (lambda td, loc, scale: td.Cauchy(loc, scale), st.cauchy(LOC, SCALE)),
    "log-normal": (lambda td, loc, scale: td.LogNormal(loc, scale), st.lognorm(SCALE, scale=np.exp(LOC))),
    "gamma": (lambda td, loc, scale: td.Gamma(scale, 2 * scale), st.gamma(SCALE, scale=0.5 / SCALE)),
    "gumbel": (lambda td, loc, scale: td.Gumbel(loc, scale), st.gumbel_r(LOC, SCALE)),
    "exponential": (lambda td, loc, scale: td.Exponential(scale), st.expon(scale=1 / SCALE)),
    "uniform": (lambda td, loc, scale: td.Uniform(loc, loc + scale), st.uniform(LOC, SCALE)),
    "weibull": (lambda td, loc, scale: td.Weibull(scale, scale + 1), st.weibull_min(SCALE + 1, scale=SCALE)),
    "pareto": (lambda td, loc, scale: td.Pareto(scale, scale + 3), st.pareto(SCALE + 3, scale=SCALE)),
    "half-normal": (lambda td, loc, scale: td.HalfNormal(scale), st.halfnorm(scale=SCALE)),
}


@pytest.mark.parametrize("name", TORCH_CASES)
def test_torch_distributions_agree_with_scipy(name):
    torch = pytest.importorskip("torch")
    make, oracle = TORCH_CASES[name]
    law = from_torch(make(torch.distributions, torch.as_tensor(LOC), torch.as_tensor(SCALE)))
    y = np.stack([oracle.ppf(p) for p in (0.05, 0.5, 0.9)], axis=1)
    np.testing.assert_allclose(law.cdf(torch.as_tensor(y)), np.tile([0.05, 0.5, 0.9], (3, 1)), rtol=1e-9)
    np.testing.assert_allclose(law.quantiles([0.05, 0.5, 0.9]), y, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(law.logpdf(torch.as_tensor(y[:, 1])), oracle.logpdf(y[:, 1]), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(law.cdf(torch.full((3, 1), -20.0)), oracle.cdf(-20.0)[:, None], atol=1e-15, rtol=1e-9)
    if name not in ("cauchy", "log-normal"):
        np.testing.assert_allclose(law.mean(), oracle.mean(), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(law.std(), oracle.std(), rtol=1e-9)
        expected = from_scipy(oracle).crps(y[:, 1])
        np.testing.assert_allclose(law.crps(torch.as_tensor(y[:, 1])), expected, rtol=1e-6)
    part = law[[2, 0]]
    np.testing.assert_allclose(part.cdf(torch.as_tensor(y[[2, 0]])), np.tile([0.05, 0.5, 0.9], (2, 1)), rtol=1e-9)
    np.testing.assert_allclose(law[1].median(), y[1, 1], rtol=1e-8, atol=1e-12)


def test_a_torch_mixture_of_normals_is_a_gaussian_mixture_and_others_are_inverted():
    torch = pytest.importorskip("torch")
    td = torch.distributions
    weights = td.Categorical(torch.as_tensor(np.tile(WEIGHTS, (3, 1))))
    normal = from_torch(td.MixtureSameFamily(weights, td.Normal(torch.as_tensor(MEANS), torch.as_tensor(STDS))))
    assert isinstance(normal, GaussianMixture)
    laplace = from_torch(td.MixtureSameFamily(weights, td.Laplace(torch.as_tensor(MEANS), torch.as_tensor(STDS))))
    pool = Mixture(tuple(Laplace(MEANS[:, k], STDS[:, k]) for k in range(3)), tuple(WEIGHTS))
    np.testing.assert_allclose(laplace.ppf(torch.tensor([0.1, 0.5, 0.99])), pool.ppf([0.1, 0.5, 0.99]), rtol=1e-6)
    np.testing.assert_allclose(
        laplace[[2]].cdf(torch.tensor([0.7], dtype=torch.float64)), pool[[2]].cdf([0.7]), rtol=1e-12
    )


def test_gradients_reach_the_parameters_of_a_torch_distribution():
    torch = pytest.importorskip("torch")
    shape = torch.tensor([2.0, 3.0], dtype=torch.float64)
    rate = torch.tensor([1.0, 0.5], dtype=torch.float64, requires_grad=True)
    law = from_torch(torch.distributions.Gamma(shape, rate))
    law.crps(torch.tensor([1.0, 4.0], dtype=torch.float64)).sum().backward()

    def total(r):
        return scoringrules.crps_gamma(np.array([1.0, 4.0]), np.array([2.0, 3.0]), r).sum()

    slope = (total(np.array([1.0 + 1e-5, 0.5])) - total(np.array([1.0 - 1e-5, 0.5]))) / 2e-5
    np.testing.assert_allclose(rate.grad[0].item(), slope, rtol=1e-5)


def test_a_torch_law_that_cannot_serve_raises():
    torch = pytest.importorskip("torch")
    td = torch.distributions
    with pytest.raises(
        TypeError, match=r"torch has no cdf for Beta: pass scipy.stats' distribution through from_scipy"
    ):
        from_torch(td.Beta(torch.tensor(2.0), torch.tensor(3.0)))
    with pytest.raises(TypeError, match="or one of Binomial, NegativeBinomial, Poisson, got the discrete Geometric"):
        from_torch(td.Geometric(torch.tensor(0.2)))
    with pytest.raises(TypeError, match=r"got batch and event shapes \(\) and \(2,\)"):
        from_torch(td.MultivariateNormal(torch.zeros(2), torch.eye(2)))
    with pytest.raises(TypeError, match=r"takes a torch.distributions.Distribution, got rv_continuous_frozen"):
        from_torch(st.norm())
    assert isinstance(from_torch(td.HalfCauchy(torch.tensor(1.0))), TorchDistribution)


# ---- the door ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [Normal, Logistic, Laplace, LogNormal, lambda *a, **k: StudentT(3, *a, **k)])
def test_bad_locations_and_scales_raise_with_row_and_count(make):
    with pytest.raises(ValueError, match=r"is negative in row 1 \(2 rows in all\)"):
        make([0.0, 0.0, 0.0], [1.0, -1.0, -2.0])
    with pytest.raises(ValueError, match=r"is NaN or infinite in row 2 \(the only such row\)"):
        make([0.0, 0.0, np.nan], 1.0)
    with pytest.raises(ValueError, match="one row for each of the 3 rows"):
        make([0.0, 0.0, 0.0], [1.0, 1.0])
    with pytest.raises(ValueError, match="has zero width as its only value"):
        make(0.0, 0.0, strict=True)
    with pytest.raises(TypeError, match="real numbers"):
        make(["a"], 1.0)


@pytest.mark.parametrize("make", [Normal, Logistic, Laplace, LogNormal, lambda *a, **k: StudentT(3, *a, **k)])
def test_a_zero_scale_warns_and_strict_raises(make):
    with pytest.warns(UserWarning, match="zero width in row 1: it is given"):
        law = make([0.0, 0.0, 0.0], [1.0, 0.0, 2.0])
    assert np.all(np.isfinite(law.logpdf([1.0, 1.0, 1.0])))
    with pytest.raises(ValueError, match="zero width in row 1"):
        make([0.0, 0.0, 0.0], [1.0, 0.0, 2.0], strict=True)


def test_bad_degrees_of_freedom_raise():
    with pytest.raises(ValueError, match=r"StudentT.df is not positive in row 0 \(the only such row\)"):
        StudentT([0.0, 1.0], 0.0, 1.0)
    with pytest.raises(
        ValueError, match=r"StudentT.df must have one row for each of the 3 rows of StudentT.loc, got 2"
    ):
        StudentT([1.0, 1.0], [0.0, 0.0, 0.0], 1.0)
    assert StudentT([1.0, 2.0], 0.0, 1.0).shape == (2,)


def test_bad_components_raise():
    with pytest.raises(ValueError, match=r"GaussianMixture.weights does not sum to 1 in row 1 \(the only such row\)"):
        GaussianMixture([[0.5, 0.5], [0.5, 0.6]], [[0.0, 1.0]] * 2, [[1.0, 1.0]] * 2)
    with pytest.raises(ValueError, match=r"GaussianMixture.weights is negative in row 0"):
        GaussianMixture([[-0.5, 1.5]], [[0.0, 1.0]], [[1.0, 1.0]])
    with pytest.raises(ValueError, match=r"GaussianMixture.stds is not positive in row 0 \(the only such row\)"):
        GaussianMixture([0.5, 0.5], [[0.0, 1.0]], [[1.0, 0.0]])
    with pytest.raises(ValueError, match=r"GaussianMixture.stds must have a column for each of 2 components, got 3"):
        GaussianMixture([0.5, 0.5], [[0.0, 1.0]], [[1.0, 1.0, 1.0]])
    with pytest.raises(ValueError, match=r"one row for each of the 2 rows of GaussianMixture.means, got 3"):
        GaussianMixture([0.5, 0.5], [[0.0, 1.0]] * 2, [[1.0, 1.0]] * 3)
    with pytest.raises(ValueError, match=r"GaussianMixture.means is NaN or infinite in row 1"):
        GaussianMixture([0.5, 0.5], [[0.0, 1.0], [0.0, np.nan]], [[1.0, 1.0]] * 2)


def test_weights_that_sum_to_one_within_a_millionth_are_made_exact():
    law = GaussianMixture([0.3, 0.7 + 5e-7], [[0.0, 1.0]], [[1.0, 1.0]])
    np.testing.assert_allclose(law.weights.sum(), 1, rtol=1e-15)


def test_quantiles_of_a_large_mixture_are_those_of_its_rows_also_far_out():
    """Rows leave the search one by one; the upper tail, where a CDF near 1 has no digits, is searched from above."""
    rng = np.random.default_rng(0)
    folds = [Calibrator().fit(np.zeros(50), rng.standard_t(3, 50)) for _ in range(3)]
    law = Mixture([fold(rng.normal(size=1500)) for fold in folds], [0.5, 0.3, 0.2])
    levels = [1e-12, 1e-5, 0.05, 0.5, 0.97, 1 - 1e-6, 1 - 1e-14]
    few = slice(0, 40)
    np.testing.assert_array_equal(law.quantiles(levels)[few], law[few].quantiles(levels))


# ---- how far out the logarithms reach --------------------------------------------------------------------------------


def residuals_with_ties():
    """So many equal ones that the guard has to bend the law of NAF."""
    return np.concatenate([np.random.default_rng(0).normal(size=30), [0.5] * 30, [5.0] * 10])


FORECASTS = {
    "guarded": lambda: Calibrator(interpolator=NAF()).fit(np.zeros(70), residuals_with_ties())(np.zeros(200)),
    "a spline beside another law": lambda: concatenate(
        [
            Calibrator(interpolator=NAF()).fit(np.zeros(30), residuals_with_ties()[:30])(np.zeros(100)),
            Normal(np.zeros(100), 1.0),
        ]
    ),
    "reweighted": lambda: Calibrator(interpolator=NAF()).fit(
        np.zeros(30), residuals_with_ties()[:30], weights=np.linspace(0.5, 2.0, 30)
    )(np.zeros(200), weights=np.linspace(0.1, 5.0, 200)),
}


@pytest.mark.parametrize("name", FORECASTS)
def test_the_cdf_score_of_a_calibrated_forecast_is_the_logit_of_its_level(name):
    law, p = FORECASTS[name](), np.geomspace(1e-8, 0.5, 100)
    y = law.ppf(np.stack([p, 1 - p], axis=1).reshape(-1))
    np.testing.assert_allclose(CDFScore()(law, y), np.log(law.cdf(y)) - np.log(law.sf(y)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("name", ["guarded", "a spline beside another law"])
def test_the_cdf_score_grows_steadily_far_out(name, sign):
    """Tails that are exponential in y stay straight lines in the logit, down to levels of 1e-280."""
    law = FORECASTS[name]()[:3]
    s = np.stack([CDFScore()(law, sign * np.full(3, y)) for y in (200.0, 400.0, 590.0)])
    np.testing.assert_allclose((s[2] - s[1]) / 190, (s[1] - s[0]) / 200, rtol=1e-9)


def test_the_density_of_a_calibration_of_joined_laws_is_the_slope_of_its_cdf():
    base = concatenate([Normal([0.0, 1.0], 1.0), Laplace([2.0, 0.5], 2.0)])
    H = Calibrator(CDFScore()).fit(base[np.arange(40) % 4], np.random.default_rng(2).normal(1.0, 2.0, 40))(base)
    y, h = np.array([[-0.3, 0.9], [1.2, 2.1], [-1.0, 4.0], [0.1, 0.8]]), 1e-7
    np.testing.assert_allclose(H.pdf(y), (H.cdf(y + h) - H.cdf(y - h)) / (2 * h), rtol=1e-5)


def test_a_law_of_torch_without_moments_has_them_by_quadrature():
    """torch knows those of no logit-normal law."""
    torch = pytest.importorskip("torch")
    td, loc = torch.distributions, np.array([0.0, 1.0])
    law = from_torch(td.TransformedDistribution(td.Normal(torch.as_tensor(loc), 0.5), [td.SigmoidTransform()]))
    z = st.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    values = 1 / (1 + np.exp(-(loc[:, None] + 0.5 * z)))
    np.testing.assert_allclose(law.mean(), values.mean(axis=1), rtol=1e-6)
    np.testing.assert_allclose(law.std(), values.std(axis=1), rtol=1e-4)


class Muttering(st.rv_continuous):
    """A family that warns of how it finds its moments and quantiles."""

    def _cdf(self, x):
        return x

    def _ppf(self, p):
        warnings.warn("a root may be missed", UserWarning, stacklevel=2)
        return p

    def _stats(self):
        warnings.warn("an integral may be divergent", UserWarning, stacklevel=2)
        return 0.5, 1 / 12, 0.0, -1.2


def test_what_scipy_warns_of_on_its_way_to_an_answer_stays_unsaid():
    law = from_scipy(Muttering(a=0.0, b=1.0, name="muttering")(loc=[0.0, 1.0]))
    np.testing.assert_allclose(law.mean(), [0.5, 1.5])
    np.testing.assert_allclose(law.std(), [12**-0.5] * 2)
    np.testing.assert_allclose(law.ppf(0.25), [0.25, 1.25])


def test_in_a_gap_between_components_the_slope_of_the_logit_is_known():
    """f is too small for floats there, and F and 1 - F are the weights of the components."""
    law = GaussianMixture([0.3, 0.7], [0.0, 1000.0], [1.0, 1.0])
    y = np.array([499.0])
    log_f = np.logaddexp(np.log(0.3) + st.norm.logpdf(499), np.log(0.7) + st.norm.logpdf(-501))
    found = law._logit(y)
    np.testing.assert_allclose(found[0], np.log(0.3 / 0.7), rtol=1e-12)
    np.testing.assert_allclose(found[1], log_f - np.log(0.3) - np.log(0.7), rtol=1e-14)


def test_many_weights_in_single_precision_may_miss_one_by_their_rounding():
    weights = np.full(100, 0.01, np.float32)
    weights[0] += np.float32(1e-5)
    assert GaussianMixture(weights, np.zeros(100, np.float32), np.ones(100, np.float32)).cdf(0.0) > 0.5
    with pytest.raises(ValueError, match="sum"):
        GaussianMixture(weights.astype(np.float64), np.zeros(100), np.ones(100))
