"""Distributions on the real line: what base forecasts, interpolations q and calibrated predictions H are."""

from calibrant.distributions.base import Context, Distribution
from calibrant.distributions.counts import Binomial, NegativeBinomial, Poisson, ZeroInflated
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.mixture import GaussianMixture, Mixture
from calibrant.distributions.piecewise_linear import PiecewiseLinear
from calibrant.distributions.scipy_distributions import from_scipy
from calibrant.distributions.standard_families import Laplace, Logistic, LogNormal, Normal
from calibrant.distributions.student_t import StudentT
from calibrant.distributions.torch_distributions import from_torch

__all__ = [
    "Binomial",
    "Context",
    "Distribution",
    "GaussianMixture",
    "Laplace",
    "LocationScale",
    "LogNormal",
    "Logistic",
    "Mixture",
    "NegativeBinomial",
    "Normal",
    "PiecewiseLinear",
    "Poisson",
    "StudentT",
    "ZeroInflated",
    "from_scipy",
    "from_torch",
]
