"""Oracles for the distributions that come as forecasts: scipy, mpmath, scoringrules, slow integrals, differences."""

import warnings

import mpmath
import numpy as np
import pytest
import scipy.stats as st
import scoringrules

from calibrant import Calibrator
from calibrant.distributions import (
    GaussianMixture,
    Laplace,
    Logistic,
    LogNormal,
    Mixture,
    Normal,
    Poisson,
    StudentT,
    from_scipy,
    from_torch,
)
from calibrant.distributions.scipy_distributions import ScipyDistribution
from calibrant.distributions.student_t import StandardT
from calibrant.distributions.torch_distributions import TorchDistribution

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


def named(distributions):
    return pytest.mark.parametrize("distribution", list(distributions.values()), ids=list(distributions))


# ---- values ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("distribution", "oracle"), list(AGAINST_SCIPY.values()), ids=list(AGAINST_SCIPY))
def test_values_agree_with_scipy(distribution, oracle):
    np.testing.assert_allclose(distribution.cdf(Y), oracle.cdf(Y), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(distribution.sf(Y), oracle.sf(Y), rtol=1e-12, atol=1e-300)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(distribution.logpdf(Y), oracle.logpdf(Y), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(distribution.ppf(P), oracle.ppf(P), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(distribution.mean(), oracle.mean()[:, 0], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(distribution.std(), oracle.std()[:, 0], rtol=1e-12)


def test_crps_agrees_with_scoringrules():
    y = np.array([-3.0, 0.4, 6.0])
    for distribution, expected in [
        (Normal(LOC, SCALE), scoringrules.crps_normal(y, LOC, SCALE)),
        (Logistic(LOC, SCALE), scoringrules.crps_logistic(y, LOC, SCALE)),
        (Laplace(LOC, SCALE), scoringrules.crps_laplace(y, LOC, SCALE)),
        (StudentT(DF, LOC, SCALE), scoringrules.crps_t(y, DF, LOC, SCALE)),
        (GaussianMixture(WEIGHTS, MEANS, STDS), scoringrules.crps_mixnorm(y, MEANS, STDS, np.tile(WEIGHTS, (3, 1)))),
    ]:
        np.testing.assert_allclose(distribution.crps(y), expected, rtol=1e-12)
    distribution = LogNormal(LOC, SCALE)
    np.testing.assert_allclose(
        distribution.crps(np.abs(y)), scoringrules.crps_lognormal(np.abs(y), LOC, SCALE), rtol=1e-12
    )
    np.testing.assert_allclose(distribution.crps(-2.0), distribution.crps(0.0) + 2, rtol=1e-14)


@pytest.mark.parametrize(
    ("frozen", "expected"),
    [
        (st.gamma(SCALE), scoringrules.crps_gamma(0.4, SCALE, 1.0)),
        (st.beta([2.0, 0.7, 4.0], 3.5), scoringrules.crps_beta(0.4, np.array([2.0, 0.7, 4.0]), 3.5)),
        (st.uniform([0, 0, 0], 2), scoringrules.crps_uniform(0.4, np.zeros(3), 2.0)),
        (st.genpareto([0.3, 0.1, 0.2]), scoringrules.crps_gpd(0.4, np.array([0.3, 0.1, 0.2]))),
        (st.expon(scale=SCALE), scoringrules.crps_exponential(0.4, 1 / SCALE)),
    ],
    ids=lambda value: getattr(getattr(value, "dist", None), "name", ""),
)
def test_crps_of_scipy_families_agrees_with_scoringrules(frozen, expected):
    np.testing.assert_allclose(from_scipy(frozen).crps(0.4), expected, rtol=1e-7)


# ---- tails -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("df", [0.5, 1.0, 1.7, 2.0, 5.0, 12.5, 100.0, 1e4])
def test_tails_of_t_agree_with_mpmath(df):
    distribution = StandardT(np.asarray(df))
    with mpmath.workdps(40):
        for t in (1e-3, 0.5, 1.0, 1.9, 2.19, 2.21, 4.0, 12.0, 1e3, 1e8):
            x = mpmath.mpf(df) / (df + mpmath.mpf(t) ** 2)
            tail = mpmath.betainc(mpmath.mpf(df) / 2, mpmath.mpf(1) / 2, 0, x, regularized=True) / 2
            logit = float(mpmath.log(tail) - mpmath.log1p(-tail))
            np.testing.assert_allclose(distribution._logit(np.asarray(-t))[0], logit, rtol=1e-10, atol=1e-13)
            np.testing.assert_allclose(distribution.cdf(-t), float(tail), rtol=2e-13, atol=1e-300)
            if tail > 1e-300:
                np.testing.assert_allclose(distribution._ppf_logit(np.asarray(logit)), -t, rtol=1e-12, atol=1e-13)


def test_heavy_t_has_no_mean_infinite_std_and_at_last_infinite_crps():
    distribution = StudentT([0.5, 1.0, 1.5, 2.0, 3.0], 0.0, 1.0)
    np.testing.assert_array_equal(distribution.mean(), [np.nan, np.nan, 0, 0, 0])
    np.testing.assert_array_equal(distribution.std()[:4], [np.nan, np.nan, np.inf, np.inf])
    np.testing.assert_array_equal(np.isinf(distribution.crps(0.0)), [True, False, False, False, False])
    np.testing.assert_allclose(
        distribution.crps(0.0)[1], 2 * np.log(2) / np.pi, rtol=1e-7
    )  # the integral of 2 F^2 up to 0


@pytest.mark.parametrize("s", [-690.0, -80.0, -37.0, 37.0, 80.0, 690.0])
@named(SINGLE)
def test_quantiles_at_a_logit_do_not_saturate(distribution, s):
    y = distribution._ppf_logit(np.asarray(s))
    np.testing.assert_allclose(distribution._logit(y)[0], s, rtol=1e-9)


@pytest.mark.parametrize("y", [-20.0, 0.0, 20.0])
def test_tails_of_a_mixture_agree_with_mpmath(y):
    gaussian = SINGLE["gaussian mixture"]
    with mpmath.workdps(40):
        z = [(mpmath.mpf(y) - m) / s for m, s in zip(MEANS[0].tolist(), STDS[0].tolist(), strict=True)]
        w = [mpmath.mpf(weight) for weight in gaussian.weights.tolist()]
        normal = mpmath.fsum(a * mpmath.erfc(-b / mpmath.sqrt(2)) / 2 for a, b in zip(w, z, strict=True))
        rest = mpmath.fsum(a * mpmath.erfc(b / mpmath.sqrt(2)) / 2 for a, b in zip(w, z, strict=True))
        logit = float(mpmath.log(normal) - mpmath.log(rest))
    np.testing.assert_allclose(gaussian._logit(np.asarray(y))[0], logit, rtol=1e-13, atol=1e-15)


def test_log_normal_has_no_mass_up_to_zero():
    distribution = LogNormal([0.0, 1.0], [1.0, 2.0])
    np.testing.assert_array_equal(distribution.cdf([[-3.0, 0.0]]), np.zeros((2, 2)))
    np.testing.assert_array_equal(distribution.logpdf([[-3.0, 0.0]]), np.full((2, 2), -np.inf))
    np.testing.assert_array_equal(distribution.ppf([0.0, 1.0]), [0.0, np.inf])


def test_isf_reaches_where_one_minus_p_is_one():
    tiny = np.array([1e-300, 1e-30, 1e-17])
    np.testing.assert_allclose(Normal(0.0, 1.0).isf(tiny), st.norm.isf(tiny), rtol=1e-12)
    H = Calibrator().fit(np.zeros(50), np.random.default_rng(0).normal(size=50))([0.0])
    np.testing.assert_allclose(H.sf(H.isf(tiny[None, 1:])), tiny[None, 1:], rtol=1e-9)


def test_isf_is_the_quantile_at_the_rest():
    p = np.linspace(0.01, 0.99, 99)[None, :]
    H = Normal([0.0, 3.0], [1.0, 0.1])
    np.testing.assert_allclose(H.isf(p), H.ppf(1 - p), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(Poisson([0.5, 4.0]).isf(p), Poisson([0.5, 4.0]).ppf(1 - p))
    np.testing.assert_array_equal(H.isf(0.0), [np.inf, np.inf])


# ---- mixtures ----------------------------------------------------------------------------------------------


def test_a_gaussian_mixture_is_the_pool_of_its_components():
    distribution = GaussianMixture(WEIGHTS, MEANS, STDS)
    pool = Mixture(tuple(Normal(MEANS[:, k], STDS[:, k]) for k in range(3)), tuple(WEIGHTS))
    for method, argument in [("cdf", Y), ("sf", Y), ("logpdf", Y), ("ppf", P)]:
        np.testing.assert_allclose(getattr(distribution, method)(argument), getattr(pool, method)(argument), rtol=1e-9)
    np.testing.assert_allclose(distribution.mean(), pool.mean(), rtol=1e-12)
    np.testing.assert_allclose(distribution.std(), pool.std(), rtol=1e-12)


def test_a_component_of_weight_zero_changes_nothing():
    distribution = GaussianMixture([0.0, 1.0], [500.0, 0.0], [1e-3, 1.0])
    for method, argument in [("cdf", Y), ("logpdf", Y), ("crps", Y), ("ppf", P)]:
        np.testing.assert_allclose(
            getattr(distribution, method)(argument), getattr(Normal(0.0, 1.0), method)(argument), rtol=1e-9, atol=1e-12
        )


# ---- rows --------------------------------------------------------------------------------------------------


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
    distribution = from_scipy(frozen)
    assert not isinstance(distribution, ScipyDistribution)
    y = np.array([0.2, 0.4, 3.0])
    np.testing.assert_allclose(distribution.cdf(y), frozen.cdf(y), rtol=1e-12)
    np.testing.assert_allclose(distribution.logpdf(y), frozen.logpdf(y), rtol=1e-12)


def test_a_shifted_log_normal_stays_with_scipy():
    assert isinstance(from_scipy(st.lognorm(0.5, loc=1.0)), ScipyDistribution)


def test_crps_of_a_scipy_distribution_without_mean_is_infinite():
    distribution = from_scipy(st.levy([0.0, 1.0]))
    np.testing.assert_array_equal(distribution.crps([2.0, 3.0]), [np.inf, np.inf])


def test_a_loose_scipy_distribution_raises():
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
    distribution = from_torch(make(torch.distributions, torch.as_tensor(LOC), torch.as_tensor(SCALE)))
    y = np.stack([oracle.ppf(p) for p in (0.05, 0.5, 0.9)], axis=1)
    np.testing.assert_allclose(distribution.cdf(torch.as_tensor(y)), np.tile([0.05, 0.5, 0.9], (3, 1)), rtol=1e-9)
    np.testing.assert_allclose(distribution.quantiles([0.05, 0.5, 0.9]), y, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(
        distribution.logpdf(torch.as_tensor(y[:, 1])), oracle.logpdf(y[:, 1]), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(
        distribution.cdf(torch.full((3, 1), -20.0)), oracle.cdf(-20.0)[:, None], atol=1e-15, rtol=1e-9
    )
    if name not in ("cauchy", "log-normal"):
        np.testing.assert_allclose(distribution.mean(), oracle.mean(), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(distribution.std(), oracle.std(), rtol=1e-9)
        expected = from_scipy(oracle).crps(y[:, 1])
        np.testing.assert_allclose(distribution.crps(torch.as_tensor(y[:, 1])), expected, rtol=1e-6)


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
    distribution = from_torch(torch.distributions.Gamma(shape, rate))
    distribution.crps(torch.tensor([1.0, 4.0], dtype=torch.float64)).sum().backward()

    def total(r):
        return scoringrules.crps_gamma(np.array([1.0, 4.0]), np.array([2.0, 3.0]), r).sum()

    slope = (total(np.array([1.0 + 1e-5, 0.5])) - total(np.array([1.0 - 1e-5, 0.5]))) / 2e-5
    np.testing.assert_allclose(rate.grad[0].item(), slope, rtol=1e-5)


def test_a_torch_distribution_that_cannot_serve_raises():
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


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: StudentT([0.0, 1.0], 0.0, 1.0), r"StudentT.df is not positive in row 0 \(the only such row\)"),
        (lambda: StudentT([1.0, 1.0], [0.0] * 3, 1.0), r"df must have one row for each of the 3 rows of .*loc, got 2"),
        (lambda: mixed(weights=[[0.5, 0.5], [0.5, 0.6]]), r"weights does not sum to 1 in row 1 \(the only such row\)"),
        (lambda: mixed(weights=[-0.5, 1.5]), r"GaussianMixture.weights is negative in row 0"),
        (lambda: mixed(stds=[[1.0, 0.0], [1.0, 1.0]]), r"stds is not positive in row 0 \(the only such row\)"),
        (lambda: mixed(stds=[[1.0] * 3] * 2), "stds must have a column for each of 2 components, got 3"),
        (lambda: mixed(stds=[[1.0, 1.0]] * 3), "one row for each of the 2 rows of GaussianMixture.means, got 3"),
        (lambda: mixed(means=[[0.0, 1.0], [0.0, np.nan]]), "GaussianMixture.means is NaN or infinite in row 1"),
    ],
)
def test_bad_parameters_raise(made, said):
    with pytest.raises(ValueError, match=said):
        made()


def mixed(weights=(0.5, 0.5), means=((0.0, 1.0),) * 2, stds=((1.0, 1.0),) * 2):
    return GaussianMixture(weights, means, stds)


def test_weights_that_sum_to_one_within_a_millionth_are_made_exact():
    distribution = GaussianMixture([0.3, 0.7 + 5e-7], [[0.0, 1.0]], [[1.0, 1.0]])
    np.testing.assert_allclose(distribution.weights.sum(), 1, rtol=1e-15)


def test_quantiles_of_a_large_mixture_are_those_of_its_rows_also_far_out():
    """Rows leave the search one by one; the upper tail, where a CDF near 1 has no digits, is searched from above."""
    rng = np.random.default_rng(0)
    folds = [Calibrator().fit(np.zeros(50), rng.standard_t(3, 50)) for _ in range(3)]
    distribution = Mixture([fold(rng.normal(size=1500)) for fold in folds], [0.5, 0.3, 0.2])
    levels = [1e-12, 1e-5, 0.05, 0.5, 0.97, 1 - 1e-6, 1 - 1e-14]
    few = slice(0, 40)
    np.testing.assert_array_equal(distribution.quantiles(levels)[few], distribution[few].quantiles(levels))


# ---- how far out the logarithms reach --------------------------------------------------------------------------------


def test_a_distribution_of_torch_without_moments_has_them_by_quadrature():
    """torch knows those of no logit-normal distribution."""
    torch = pytest.importorskip("torch")
    td, loc = torch.distributions, np.array([0.0, 1.0])
    distribution = from_torch(td.TransformedDistribution(td.Normal(torch.as_tensor(loc), 0.5), [td.SigmoidTransform()]))
    z = st.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    values = 1 / (1 + np.exp(-(loc[:, None] + 0.5 * z)))
    np.testing.assert_allclose(distribution.mean(), values.mean(axis=1), rtol=1e-6)
    np.testing.assert_allclose(distribution.std(), values.std(axis=1), rtol=1e-4)


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
    distribution = from_scipy(Muttering(a=0.0, b=1.0, name="muttering")(loc=[0.0, 1.0]))
    np.testing.assert_allclose(distribution.mean(), [0.5, 1.5])
    np.testing.assert_allclose(distribution.std(), [12**-0.5] * 2)
    np.testing.assert_allclose(distribution.ppf(0.25), [0.25, 1.25])


def test_many_weights_in_single_precision_may_miss_one_by_their_rounding():
    weights = np.full(100, 0.01, np.float32)
    weights[0] += np.float32(1e-5)
    assert GaussianMixture(weights, np.zeros(100, np.float32), np.ones(100, np.float32)).cdf(0.0) > 0.5
    with pytest.raises(ValueError, match="sum"):
        GaussianMixture(weights.astype(np.float64), np.zeros(100), np.ones(100))
