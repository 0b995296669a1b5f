"""Forecasts that come as torch distributions: as our own families, or wrapped."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import is_torch_array

from calibrant._arrays import clip, namespace
from calibrant._batch import shared
from calibrant._display import in_words
from calibrant._search import solve_increasing
from calibrant._special import sigmoid
from calibrant.distributions.base import ByLogit, ClosedMoments, Distribution
from calibrant.distributions.counts import Binomial, NegativeBinomial, Poisson
from calibrant.distributions.mixture import GaussianMixture
from calibrant.distributions.scipy_distributions import few_places
from calibrant.distributions.standard_families import Laplace, LogNormal, Normal
from calibrant.distributions.student_t import StudentT
from calibrant.forecast import SupportsCDF

Tensor = Any
"""A torch.Tensor; torch itself is imported only where one is at hand."""


def from_torch(dist: SupportsCDF) -> Distribution:
    """A torch distribution of scalars, batch shape () or (n,), as one of ours; gradients flow through it.

    Normal, Laplace, StudentT, Cauchy, LogNormal, mixtures of Normals, Poisson, NegativeBinomial and Binomial become our
    own; the rest, if torch has their cdf, `TorchDistribution`s.

    Args:
        dist: A torch distribution of scalars, with the batch shape () or (n,).

    >>> import torch
    >>> from_torch(torch.distributions.StudentT(torch.tensor([3.0, 5.0])))
    Student's t distribution of 2 rows, 90% interval 4.03 to 4.71 wide
    >>> from_torch(torch.distributions.Gumbel(torch.tensor(0.0), torch.tensor(1.0))).median()
    tensor(0.3665)
    """
    import torch.distributions as td

    name = type(dist).__name__
    if not isinstance(dist, td.Distribution):
        raise TypeError(f"from_torch takes a torch.distributions.Distribution, got {name}")
    if len(dist.event_shape) or len(dist.batch_shape) > 1:
        shapes = f"{tuple(dist.batch_shape)} and {tuple(dist.event_shape)}"
        raise TypeError(f"from_torch takes scalars with batch shape () or (n,), got batch and event shapes {shapes}")
    if type(dist) is td.MixtureSameFamily and type(dist.component_distribution) is td.Normal:
        normal, weights = dist.component_distribution, dist.mixture_distribution.probs
        return GaussianMixture(weights, normal.loc, normal.scale)
    if name in _OURS and type(dist).__module__.startswith("torch."):
        return _OURS[name](dist)
    if getattr(dist.support, "is_discrete", False):
        known = "Binomial, NegativeBinomial, Poisson"
        raise TypeError(f"from_torch takes a continuous distribution, or one of {known}, got the discrete {name}")
    return TorchDistribution.of(dist)


_OURS: dict[str, Callable[[Any], Distribution]] = {
    "Normal": lambda d: Normal(d.loc, d.scale),
    "Laplace": lambda d: Laplace(d.loc, d.scale),
    "StudentT": lambda d: StudentT(d.df, d.loc, d.scale),
    "Cauchy": lambda d: StudentT(1.0, d.loc, d.scale),
    "LogNormal": lambda d: LogNormal(d.loc, d.scale),
    "Binomial": lambda d: Binomial(d.total_count, d.probs),
    "NegativeBinomial": lambda d: NegativeBinomial(d.mean, 1 / d.total_count),
    "Poisson": lambda d: Poisson(d.rate),
}


@dataclass(frozen=True, eq=False, repr=False)
class TorchDistribution(ByLogit, ClosedMoments):
    """A torch distribution taken apart: `whole` is the object, `tensors` are those inside it, one entry per row.

    cdf and log_prob are torch's; quantiles are too where torch has icdf, else searched for; mean and std where torch
    has them, else from a table, as the crps is. torch has no survival functions: beyond cdf = 1 - 1e-16 (1e-7 for
    float32) the upper tail is 0.
    """

    zeros: Tensor
    """One for each row."""
    tensors: tuple[Tensor, ...]
    whole: Any = shared()

    @classmethod
    def of(cls, dist: Any) -> TorchDistribution:
        """The distribution, if torch has its cdf."""
        found: list[Tensor] = []
        _replaced(dist, found.append, lambda shape: shape)
        like = next(tensor for tensor in found if tensor.is_floating_point())
        distribution = cls(like.new_zeros(dist.batch_shape), tuple(found), dist)
        try:
            distribution._dist.cdf(distribution._bounds[2])
        except NotImplementedError:
            name = type(dist).__name__
            raise TypeError(f"torch has no cdf for {name}: pass scipy.stats' distribution through from_scipy") from None
        return distribution

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.zeros.shape)

    @property
    def _dist(self) -> Any:
        """The torch distribution of these rows."""
        tensors, old = iter(self.tensors), len(self.shape)

        def rows(shape: Any) -> Any:
            return type(shape)((*self.shape, *shape[old:]))

        return self.remember("_kept_dist", lambda: _replaced(self.whole, lambda _: next(tensors), rows))

    @property
    def _bounds(self) -> tuple[Tensor, Tensor, Tensor]:
        """The ends of the support and a point inside, one per row."""
        xp, support, inf = namespace(self.zeros), self._dist.support, float("inf")
        lower = self.zeros + getattr(support, "lower_bound", -inf)
        upper = self.zeros + getattr(support, "upper_bound", inf)
        a = xp.where(xp.isfinite(lower), lower, xp.where(xp.isfinite(upper), upper - 2, self.zeros - 1))
        b = xp.where(xp.isfinite(upper), upper, a + 2)
        return lower, upper, 0.5 * a + 0.5 * b

    def _call(self, function: Callable[[Tensor], Tensor], argument: Tensor) -> Tensor:
        """A torch method wants the rows last."""
        if not self.shape:
            return function(argument)
        rows: Tensor = namespace(argument).broadcast_to(argument, (self.shape[0], argument.shape[1]))
        return function(rows.mT).mT

    def _within(self, function: Callable[[Tensor], Tensor], y: Tensor, below: float, above: float) -> Tensor:
        xp = namespace(y)
        lower, upper, middle = (self._lift(bound) for bound in self._bounds)
        inside = (y > lower) & (y < upper)
        value = self._call(function, xp.where(inside, y, middle))
        return xp.where(inside, value, xp.where(y <= lower, below, above + 0 * value))

    def _cdf(self, y: Tensor) -> Tensor:
        return self._within(self._dist.cdf, y, 0.0, 1.0)

    def _logpdf(self, y: Tensor) -> Tensor:
        return self._within(self._dist.log_prob, y, -float("inf"), -float("inf"))

    def _ppf_logit(self, s: Tensor) -> Tensor:
        """The quantile at sigmoid(s), s clipped to where the cdf is neither 0 nor 1; searched for without icdf."""
        xp = namespace(s)
        lower, upper, _ = (self._lift(bound) for bound in self._bounds)
        limits = xp.finfo(s.dtype)
        inner = clip(s, float(np.log(limits.tiny)), -float(np.log(limits.eps)))
        try:
            y = self._call(self._dist.icdf, sigmoid(inner))
        except NotImplementedError:
            low, high = (clip(end, -_FAR, _FAR) for end in (lower, upper))
            y = solve_increasing(self._logit, inner + xp.zeros_like(low), low, high)
        return xp.where(xp.isfinite(s), y, xp.where(s < 0, lower, upper))

    def _places(self, s: Tensor) -> Tensor:
        return few_places(self, s)

    def _mean_std(self) -> tuple[Tensor, Tensor]:
        try:
            return self._dist.mean + self.zeros, self._dist.stddev + self.zeros
        except NotImplementedError:
            return Distribution._moments(self)[:2]

    def _family(self) -> str:
        return in_words(type(self.whole).__name__)


_FAR = 1e30  # beyond any quantile that is searched for


def _replaced(part: Any, tensor: Callable[[Tensor], Any], shape: Callable[[Any], Any]) -> Any:
    """The same distribution, transform or list of them, with other tensors and batch shapes inside."""
    if is_torch_array(part):
        return tensor(part)
    if type(part) in (list, tuple):
        return type(part)([_replaced(item, tensor, shape) for item in part])
    if not type(part).__module__.startswith("torch.distributions") or not hasattr(part, "__dict__"):
        return part
    whole = copy.copy(part)
    for name, item in vars(part).items():
        if name == "_inv" and type(part).__name__ != "_InverseTransform":
            whole._inv = None  # a transform's own memory of its inverse
        else:
            whole.__dict__[name] = shape(item) if name == "_batch_shape" else _replaced(item, tensor, shape)
    if hasattr(whole, "_batch_shape"):
        whole._validate_args = False  # what lies outside the support is answered here
    return whole
