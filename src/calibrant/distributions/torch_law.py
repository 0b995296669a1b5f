"""Forecasts that come as torch distributions.

Families that are ours too become ours: exact and fast. The rest, if torch has their cdf, are wrapped.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from array_api_compat import is_torch_array

from calibrant._arrays import clip, namespace
from calibrant._roots import solve_increasing
from calibrant._special import logit, sigmoid
from calibrant.distributions.base import Distribution, Moments, drawn_in
from calibrant.distributions.binomial import Binomial
from calibrant.distributions.gaussian_mixture import GaussianMixture
from calibrant.distributions.laplace import Laplace
from calibrant.distributions.log_normal import LogNormal
from calibrant.distributions.negative_binomial import NegativeBinomial
from calibrant.distributions.normal import Normal
from calibrant.distributions.poisson import Poisson
from calibrant.distributions.scipy_law import ASKED, evenly_between
from calibrant.distributions.student_t import StudentT
from calibrant.forecast import SupportsCDF

Tensor = Any
"""A torch.Tensor; torch itself is imported only where one is at hand."""


def from_torch(dist: SupportsCDF) -> Distribution:
    """A torch distribution of scalars, batch shape () or (n,), as one of ours; gradients flow through it.

    Normal, Laplace, StudentT, Cauchy, LogNormal, mixtures of Normals, Poisson, NegativeBinomial and Binomial become our
    own; the rest, if torch has their cdf, `TorchDistribution`s.

    >>> import torch
    >>> from_torch(torch.distributions.StudentT(torch.tensor([3.0, 5.0])))
    LocationScale(n=2, base=StandardT(n=2))
    >>> from_torch(torch.distributions.Gumbel(torch.tensor(0.0), torch.tensor(1.0))).median()
    tensor(0.3665)
    """
    import torch.distributions as td

    if not isinstance(dist, td.Distribution):
        raise TypeError(f"from_torch takes a torch.distributions.Distribution, got {type(dist).__name__}")
    name = type(dist).__name__
    if len(dist.event_shape) or len(dist.batch_shape) > 1:
        shapes = f"{tuple(dist.batch_shape)} and {tuple(dist.event_shape)}"
        raise TypeError(f"from_torch takes scalars with batch shape () or (n,), got batch and event shapes {shapes}")
    counts = _COUNTS.get(name) if type(dist).__module__.startswith("torch.") else None
    if counts is not None:
        return counts(dist)
    if getattr(dist.support, "is_discrete", False):
        known = ", ".join(_COUNTS)
        raise TypeError(f"from_torch takes a continuous distribution, or one of {known}, got the discrete {name}")
    if type(dist) is td.MixtureSameFamily and type(dist.component_distribution) is td.Normal:
        normal, weights = dist.component_distribution, dist.mixture_distribution.probs
        return GaussianMixture(weights, normal.loc, normal.scale)
    ours = _TORCH.get(name) if type(dist).__module__.startswith("torch.") else None
    return TorchDistribution.of(dist) if ours is None else ours(dist)


_COUNTS: dict[str, Callable[[Any], Distribution]] = {
    "Binomial": lambda d: Binomial(d.total_count, d.probs),
    "NegativeBinomial": lambda d: NegativeBinomial(d.mean, 1 / d.total_count),
    "Poisson": lambda d: Poisson(d.rate),
}

_TORCH: dict[str, Callable[[Any], Distribution]] = {
    "Normal": lambda d: Normal(d.loc, d.scale),
    "Laplace": lambda d: Laplace(d.loc, d.scale),
    "StudentT": lambda d: StudentT(d.df, d.loc, d.scale),
    "Cauchy": lambda d: StudentT(1.0, d.loc, d.scale),
    "LogNormal": lambda d: LogNormal(d.loc, d.scale),
}


@dataclass(frozen=True, eq=False, repr=False)
class TorchDistribution(Distribution):
    """A torch distribution taken apart: `skeleton` is the object, `leaves` are its tensors, one entry per row.

    cdf and log_prob are torch's; quantiles are too where torch has icdf, else searched for; mean and std where torch
    has them, else from a table, as the crps is. torch has no survival functions: beyond cdf = 1 - 1e-16 (1e-7 for
    float32) the upper tail is 0.
    """

    anchor: Tensor
    leaves: tuple[Tensor, ...]
    skeleton: Any = field(metadata={"shared": True})

    @classmethod
    def of(cls, dist: Any) -> TorchDistribution:
        """The distribution, if torch has its cdf."""
        leaves = tuple(_tensors(dist, tuple(dist.batch_shape)))
        like = next(leaf for leaf in leaves if leaf.is_floating_point())
        law = cls(like.new_zeros(dist.batch_shape), leaves, dist)
        try:
            law._dist.cdf(law._bounds[2])
        except NotImplementedError:
            name = type(dist).__name__
            raise TypeError(f"torch has no cdf for {name}: pass scipy.stats' distribution through from_scipy") from None
        return law

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.anchor.shape)

    @property
    def _dist(self) -> Any:
        old = tuple(self.skeleton.batch_shape)
        return self.remember("_kept_dist", lambda: _rebuilt(self.skeleton, old, self.shape, iter(self.leaves)))

    @property
    def _bounds(self) -> tuple[Tensor, Tensor, Tensor]:
        """The ends of the support and a point inside, one per row."""
        xp, support, inf = namespace(self.anchor), self._dist.support, float("inf")
        lower = self.anchor + getattr(support, "lower_bound", -inf)
        upper = self.anchor + getattr(support, "upper_bound", inf)
        a = xp.where(xp.isfinite(lower), lower, xp.where(xp.isfinite(upper), upper - 2, self.anchor - 1))
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
        return xp.where(inside, value, xp.where(y <= lower, xp.full_like(value, below), xp.full_like(value, above)))

    def _cdf(self, y: Tensor) -> Tensor:
        return self._within(self._dist.cdf, y, 0.0, 1.0)

    def _logpdf(self, y: Tensor) -> Tensor:
        return self._within(self._dist.log_prob, y, -float("inf"), -float("inf"))

    def _ppf(self, p: Tensor) -> Tensor:
        return self._ppf_logit(logit(p))

    def _ppf_logit(self, s: Tensor) -> Tensor:
        """The quantile at sigmoid(s), s held where the cdf still tells it from 0 and 1."""
        xp = namespace(s)
        lower, upper, _ = (self._lift(bound) for bound in self._bounds)
        limits = xp.finfo(s.dtype)
        held = clip(s, float(np.log(limits.tiny)), -float(np.log(limits.eps)))
        try:
            y = self._call(self._dist.icdf, sigmoid(held))
        except NotImplementedError:
            y = self._searched(held)
        return xp.where(xp.isfinite(s), y, xp.where(s < 0, lower, upper))

    def _searched(self, s: Tensor) -> Tensor:
        """Between the ends of the support, or points that are doubled until the quantile lies between them."""
        xp = namespace(s)
        lower, upper, middle = (self._lift(bound) for bound in self._bounds)
        s = s + xp.zeros_like(middle)
        low, high, width = (xp.zeros_like(s) + end for end in (lower, upper, 1.0))
        low, high = (xp.where(xp.isfinite(end), end, middle + 0 * s) for end in (low, high))
        for _ in range(int(np.log2(xp.finfo(s.dtype).max)) - 1):
            short = xp.isinf(lower) & (self._logit(low)[0] > s), xp.isinf(upper) & (self._logit(high)[0] < s)
            if not bool(xp.any(short[0] | short[1])):
                break
            low, high = xp.where(short[0], middle - width, low), xp.where(short[1], middle + width, high)
            width = 2 * width
        return solve_increasing(self._logit, s, low, high)

    def _places(self, s: Tensor) -> Tensor:
        """Some quantiles, and even steps from one to the next."""
        step = max(1, s.shape[1] // ASKED)
        return evenly_between(drawn_in(self._ppf_logit(s[:, ::step])), step)

    def _moments(self) -> Moments:
        mean, std, shift = super()._moments()
        try:
            mean = self._dist.mean + self.anchor
            std = self._dist.stddev + self.anchor
        except NotImplementedError:
            pass
        xp = namespace(mean)
        return Moments(mean, std, xp.where(xp.isfinite(mean), shift, xp.full_like(shift, xp.inf)))

    def _describe(self) -> str:
        return type(self.skeleton).__name__


def _tensors(part: Any, shape: tuple[int, ...], seen: set[int] | None = None) -> Iterator[Tensor]:
    """The tensors inside a torch distribution with one entry per row; all of them in a single one."""
    seen = set() if seen is None else seen
    if is_torch_array(part):
        if part.shape[: len(shape)] == shape:
            yield part
    elif type(part) in (list, tuple):
        for item in part:
            yield from _tensors(item, shape, seen)
    elif _is_part(part) and id(part) not in seen:
        seen.add(id(part))
        for item in vars(part).values():
            yield from _tensors(item, shape, seen)


def _rebuilt(
    part: Any, old: tuple[int, ...], new: tuple[int, ...], leaves: Iterator[Tensor], memo: dict[int, Any] | None = None
) -> Any:
    """The same object with those tensors replaced, in the order of `_tensors`, and its batch shapes too."""
    memo = {} if memo is None else memo
    if is_torch_array(part):
        return next(leaves) if part.shape[: len(old)] == old else part
    if type(part) in (list, tuple):
        return type(part)([_rebuilt(item, old, new, leaves, memo) for item in part])
    if not _is_part(part):
        return None if isinstance(part, weakref.ref) else part  # a transform's own cache of its inverse
    if id(part) not in memo:
        whole = memo[id(part)] = copy.copy(part)
        for name, item in vars(part).items():
            whole.__dict__[name] = _rebuilt(item, old, new, leaves, memo)
        if hasattr(whole, "_batch_shape"):
            whole._batch_shape = type(whole._batch_shape)((*new, *whole._batch_shape[len(old) :]))
            whole._validate_args = False  # what lies outside the support is answered here
    return memo[id(part)]


def _is_part(part: Any) -> bool:
    """Whether it is a distribution or a transform, which hold tensors."""
    return type(part).__module__.startswith("torch.distributions") and hasattr(part, "__dict__")
