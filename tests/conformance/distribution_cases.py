"""Distributions, scores: scipy.stats, torch.distributions, scoringrules, properscoring, uncertainty-toolbox, skpro."""

from __future__ import annotations

import numpy as np
from comparisons import Agreement, Pairs, heteroscedastic
from scipy import stats

from calibrant import (
    Calibrator,
    GaussianMixture,
    Laplace,
    Logistic,
    LogNormal,
    Normal,
    Samples,
    StudentT,
    from_scipy,
    from_torch,
    metrics,
)
from calibrant.distributions import Binomial, NegativeBinomial, Poisson
from calibrant.interpolators import Naive
from calibrant.scores import CDFScore
from calibrant.several import energy_score

LOC, SCALE, Y = heteroscedastic(0, 400)
DF = 2.5 + 10 * np.random.default_rng(1).random(400)
P = np.array([1e-12, 1e-6, 0.01, 0.2, 0.5, 0.9, 0.999, 1 - 1e-9])
K = np.random.default_rng(2).integers(0, 12, 400).astype(float)

CONTINUOUS = {
    "normal": (Normal(LOC, SCALE), stats.norm(LOC, SCALE), Y),
    "laplace": (Laplace(LOC, SCALE), stats.laplace(LOC, SCALE), Y),
    "logistic": (Logistic(LOC, SCALE), stats.logistic(LOC, SCALE), Y),
    "student t": (StudentT(DF, LOC, SCALE), stats.t(DF, LOC, SCALE), Y),
    "log-normal": (LogNormal(LOC, SCALE), stats.lognorm(SCALE, scale=np.exp(LOC)), np.exp(Y)),
}
COUNTS = {
    "poisson": (Poisson(4 * SCALE), stats.poisson(4 * SCALE)),
    "negative binomial": (NegativeBinomial(4 * SCALE, DF), stats.nbinom(1 / DF, 1 / (1 + DF * 4 * SCALE))),
    "binomial": (Binomial(np.full(400, 20.0), SCALE / 3), stats.binom(20, SCALE / 3)),
}


def scipy_distributions() -> Pairs:
    for distribution, scipy, y in CONTINUOUS.values():
        yield distribution.cdf(y), scipy.cdf(y)
        yield distribution.sf(y), scipy.sf(y)
        yield distribution.logpdf(y), scipy.logpdf(y)
        yield distribution.quantiles(P), np.stack([scipy.ppf(p) for p in P], axis=1)
        yield distribution.mean(), scipy.mean()
        yield distribution.std(), scipy.std()


def scipy_counts() -> Pairs:
    for distribution, scipy in COUNTS.values():
        yield distribution.pmf(K), scipy.pmf(K)
        yield distribution.cdf(K), scipy.cdf(K)
        yield distribution.quantiles(P[1:-1]), np.stack([scipy.ppf(p) for p in P[1:-1]], axis=1)
        yield distribution.mean(), scipy.mean()
        yield distribution.std(), scipy.std()


def scipy_test() -> Pairs:
    """Ours is exact below 0.05, and else within 3e-4."""
    for rows in (50, 200, 400):
        found = metrics.pit_uniformity_test(Normal(LOC, SCALE)[:rows], Y[:rows])
        theirs = stats.kstest(stats.norm(LOC, SCALE).cdf(Y)[:rows], "uniform", method="exact")
        yield [found.statistic, found.pvalue], [theirs.statistic, theirs.pvalue]


def torch_distributions() -> Pairs:
    import torch

    D = torch.distributions
    loc, scale, y = (torch.from_numpy(values) for values in (LOC, SCALE, Y))
    weights, means = torch.full((400, 2), 0.5, dtype=torch.float64), torch.stack([loc, loc + 1], dim=1)
    mixture = D.MixtureSameFamily(D.Categorical(weights), D.Normal(means, torch.stack([scale, 2 * scale], dim=1)))
    for theirs, at in (
        (D.Normal(loc, scale), y),
        (D.Laplace(loc, scale), y),
        (D.LogNormal(loc, scale), torch.exp(y)),
        (mixture, y),
    ):
        ours = from_torch(theirs)
        yield ours.cdf(at), theirs.cdf(at)
        yield ours.logpdf(at), theirs.log_prob(at)
        yield ours.mean(), theirs.mean
        yield ours.std(), theirs.stddev
    student = D.StudentT(torch.from_numpy(DF), loc, scale)  # it has no cdf
    yield from_torch(student).logpdf(y), student.log_prob(y)
    counts = D.Poisson(4 * scale)
    yield from_torch(counts).logpmf(torch.from_numpy(K)), counts.log_prob(torch.from_numpy(K))


def scoringrules_distributions() -> Pairs:
    import scoringrules

    yield Normal(LOC, SCALE).crps(Y), scoringrules.crps_normal(Y, LOC, SCALE)
    yield Logistic(LOC, SCALE).crps(Y), scoringrules.crps_logistic(Y, LOC, SCALE)
    yield Laplace(LOC, SCALE).crps(Y), scoringrules.crps_laplace(Y, LOC, SCALE)
    yield StudentT(DF, LOC, SCALE).crps(Y), scoringrules.crps_t(Y, DF, LOC, SCALE)
    yield LogNormal(LOC, SCALE).crps(np.exp(Y)), scoringrules.crps_lognormal(np.exp(Y), LOC, SCALE)
    yield Poisson(4 * SCALE).crps(K), scoringrules.crps_poisson(K, 4 * SCALE)
    yield from_scipy(stats.gamma(DF)).crps(np.abs(Y)), scoringrules.crps_gamma(np.abs(Y), DF, 1.0)
    means, stds, weights = LOC[:, None] + [0.0, 3.0], SCALE[:, None] * [1.0, 0.5], np.tile([0.3, 0.7], (400, 1))
    mixture = GaussianMixture(weights, means, stds)
    yield mixture.crps(Y), scoringrules.crps_mixnorm(Y, means, stds, weights)


def scoringrules_ensemble() -> Pairs:
    import scoringrules

    for n in (1, 2, 100):
        H = Calibrator(interpolator=Naive()).fit(LOC[:n], Y[:n])(LOC[n:])
        atoms = LOC[n:, None] + np.sort(Y[:n] - LOC[:n])
        for estimator in ("qd", "nrg", "int"):
            yield H.crps(Y[n:]), scoringrules.crps_ensemble(Y[n:], atoms, estimator=estimator)


def scoringrules_intervals() -> Pairs:
    import scoringrules

    distribution = Normal(LOC, SCALE)
    for coverage in (0.5, 0.9):
        lower, upper = distribution.interval(coverage)
        theirs = scoringrules.interval_score(Y, lower, upper, 1 - coverage)
        yield metrics.interval_score(distribution, Y, coverage=coverage), np.mean(theirs)
    levels = [0.1, 0.5, 0.8]
    theirs = [scoringrules.quantile_score(Y, distribution.ppf(level), level) for level in levels]
    yield metrics.pinball(distribution, Y, levels=levels), np.mean(theirs)


def scoringrules_energy() -> Pairs:
    import scoringrules

    draws, labels = np.random.default_rng(3).normal(size=(50, 30, 3)), np.random.default_rng(4).normal(size=(50, 3))
    yield energy_score(draws, labels), scoringrules.es_ensemble(labels, draws, estimator="fair")


def properscoring_scores() -> Pairs:
    import properscoring

    yield Normal(LOC, SCALE).crps(Y), properscoring.crps_gaussian(Y, LOC, SCALE)
    H = Calibrator(interpolator=Naive()).fit(LOC[:100], Y[:100])(LOC[100:])
    atoms = LOC[100:, None] + np.sort(Y[:100] - LOC[:100])
    yield H.crps(Y[100:]), properscoring.crps_ensemble(Y[100:], atoms)


def toolbox_scores() -> Pairs:
    import uncertainty_toolbox

    distribution = Normal(LOC, SCALE)
    yield metrics.crps(distribution, Y), uncertainty_toolbox.crps_gaussian(LOC, SCALE, Y)
    yield metrics.nll(distribution, Y), uncertainty_toolbox.nll_gaussian(LOC, SCALE, Y)
    levels = np.linspace(0.01, 0.99, 99)
    yield metrics.pinball(distribution, Y, levels=levels), uncertainty_toolbox.check_score(LOC, SCALE, Y)


def isotonic() -> Pairs:
    """Between the smallest and the largest PIT; outside, theirs stays at 1/n and at 1, ours goes on to 0 and 1."""
    from sklearn.isotonic import IsotonicRegression

    for n in (10, 100, 300):
        forecast = Normal(LOC, SCALE)
        pits = forecast.cdf(Y)
        known, u = np.sort(pits[:n]), pits[n:]
        theirs = IsotonicRegression(out_of_bounds="clip").fit(known, np.arange(1, n + 1) / n).predict(u)
        inside = (known[0] <= u) & (u <= known[-1])
        ours = Calibrator(CDFScore()).fit(forecast[:n], Y[:n])(forecast[n:]).cdf(Y[n:])
        yield ours[inside], theirs[inside] * n / (n + 1)


def tiny() -> Pairs:
    """Between the smallest and the largest score; what it says beyond is among the faults."""
    from comparisons import Given
    from tinyconformal.distribution.cross.distribution import ContinuousConformalDistribution

    from calibrant.interpolators import Random

    for n in (20, 99, 300):
        theirs = ContinuousConformalDistribution(LOC[n:], (Y - LOC)[:n] / SCALE[:n], scales=SCALE[n:])
        forecast = Normal(LOC, SCALE)
        calibrated = Calibrator(interpolator=Random()).fit(forecast[:n], Y[:n])
        H = calibrated(forecast[n:], rng=Given(np.full(400 - n, 1e-9)))
        levels = np.array([0.08, 0.31, 0.5, 0.77, 0.9])
        yield H.quantiles(levels), theirs.ppf(levels)
        cdf = theirs.cdf(Y[n:, None])
        yield (H.cdf(Y[n:]) - 1e-9 / (n + 1))[cdf < 1], cdf[cdf < 1]


def skpro_steps() -> Pairs:
    """Its energy is E|X - y|, and without an argument E|X - X'|."""
    import pandas
    from skpro.distributions import Empirical

    n, m = 20, 30
    H = Calibrator(interpolator=Naive()).fit(LOC[:n], Y[:n])(LOC[n : n + m])
    atoms = np.sort(Y[:n] - LOC[:n])[:, None] + LOC[n : n + m]
    rows = pandas.MultiIndex.from_product([range(n), range(m)])
    theirs, y = Empirical(pandas.DataFrame({"y": atoms.ravel()}, index=rows)), Y[n : n + m]
    labels, levels = pandas.DataFrame({"y": y}), [0.11, 0.52, 0.93]
    yield H.cdf(y), theirs.cdf(labels)["y"]
    yield H.quantiles(levels), theirs.quantile(levels)
    yield H.mean(), theirs.mean()["y"]
    yield H.std() ** 2, theirs.var()["y"]
    yield H.crps(y), (theirs.energy(labels) - theirs.energy() / 2)["energy"]


def samples() -> Pairs:
    """The CRPS of draws, judged by rank."""
    import scoringrules

    draws = LOC[:, None] + np.random.default_rng(5).normal(size=(400, 20))
    yield metrics.crps(Samples(draws), Y), np.mean(scoringrules.crps_ensemble(Y, draws, estimator="nrg"))


CASES = (
    Agreement(
        "scikit-learn",
        "isotonic calibration between the smallest and the largest PIT; theirs times n / (n + 1)",
        "IsotonicRegression of the PITs",
        "Calibrator(CDFScore())",
        1e-9,
        isotonic,
    ),
    Agreement(
        "scoringrules",
        "CRPS of eight families",
        "crps_normal, crps_t, ...",
        "Normal, StudentT, ...: crps",
        1e-8,
        scoringrules_distributions,
    ),
    Agreement(
        "scoringrules",
        "CRPS of calibrated step distributions",
        "crps_ensemble: qd, nrg, int",
        "ResidualScore, Naive, crps",
        1e-9,
        scoringrules_ensemble,
    ),
    Agreement(
        "scoringrules",
        "interval and quantile scores",
        "interval_score, quantile_score",
        "metrics.interval_score, pinball",
        1e-12,
        scoringrules_intervals,
    ),
    Agreement("scoringrules", "energy score", 'es_ensemble("fair")', "energy_score", 1e-12, scoringrules_energy),
    Agreement("scoringrules", "CRPS of samples", 'crps_ensemble("nrg")', "metrics.crps(Samples)", 1e-12, samples),
    Agreement(
        "scipy",
        "five continuous families: cdf, sf, logpdf, ppf, mean, std",
        "stats.norm, laplace, logistic, t, lognorm",
        "Normal, Laplace, Logistic, StudentT, LogNormal",
        1e-9,
        scipy_distributions,
    ),
    Agreement(
        "scipy",
        "three families of counts: pmf, cdf, ppf, mean, std",
        "stats.poisson, nbinom, binom",
        "Poisson, NegativeBinomial, Binomial",
        1e-9,
        scipy_counts,
    ),
    Agreement(
        "scipy",
        "statistic and p-value of the test of uniform PITs, the p-value to 3e-4",
        "stats.kstest",
        "metrics.pit_uniformity_test",
        3e-4,
        scipy_test,
    ),
    Agreement(
        "torch",
        "six families: cdf, log_prob, mean, stddev",
        "torch.distributions",
        "from_torch",
        1e-9,
        torch_distributions,
    ),
    Agreement(
        "properscoring",
        "CRPS, Gaussian and ensemble",
        "crps_gaussian, crps_ensemble",
        "crps",
        1e-9,
        properscoring_scores,
    ),
    Agreement(
        "uncertainty-toolbox",
        "CRPS, NLL and check score of Gaussian forecasts",
        "crps_gaussian, nll_gaussian, check_score",
        "metrics.crps, nll, pinball",
        1e-9,
        toolbox_scores,
    ),
    Agreement(
        "skpro",
        "calibrated step distributions: cdf, quantiles, mean, variance, CRPS",
        "Empirical",
        "ResidualScore, Naive",
        1e-9,
        skpro_steps,
    ),
    Agreement(
        "tinyconformal",
        "cdf and quantiles between the smallest and the largest score",
        "ContinuousConformalDistribution",
        "ZScore, Random",
        1e-9,
        tiny,
    ),
)
