"""Forecasts that come as frozen scipy or as torch distributions.

Families that are ours too become ours: exact and fast. The rest are wrapped, with the crps by quadrature.
"""

from __future__ import annotations

import copy
import warnings
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from array_api_compat import is_torch_array

from calibrant._arrays import Array, complain, device_like, floats, namespace
from calibrant._roots import solve_increasing
from calibrant._special import logit, sigmoid
from calibrant.distributions.base import Distribution, logit_cdf, logit_cdf_and_log_slope
from calibrant.distributions.gaussian_mixture import GaussianMixture
from calibrant.distributions.laplace import Laplace
from calibrant.distributions.log_normal import LogNormal
from calibrant.distributions.logistic import Logistic
from calibrant.distributions.normal import Normal
from calibrant.distributions.quadrature import as_pull_back
from calibrant.distributions.student_t import StudentT


def from_scipy(frozen: Any) -> Distribution:
    """A frozen continuous distribution of scipy.stats, with parameters of shape () or (n,), as a law of ours.

    norm, laplace, logistic, t, cauchy and lognorm (with loc = 0) become our own laws, the rest
    `ScipyDistribution`s.

    >>> import scipy.stats
    >>> from_scipy(scipy.stats.norm([0.0, 1.0], 2.0))
    LocationScale(n=2, base=StandardNormal())
    >>> from_scipy(scipy.stats.gamma([2.0, 3.0])).crps([1.0, 5.0])
    array([0.45727665, 1.4061353 ])
    """
    law = ScipyDistribution.of(frozen)
    ours = _SCIPY.get(law.family.name)
    return law if ours is None else ours(*law.parameters) or law


_SCIPY: dict[str, Callable[..., Distribution | None]] = {
    "norm": Normal,
    "laplace": Laplace,
    "logistic": Logistic,
    "t": StudentT,
    "cauchy": lambda loc, scale: StudentT(1.0, loc, scale),
    "lognorm": lambda s, loc, scale: None if np.any(loc != 0) else LogNormal(np.log(scale), s),
}


class _ByQuadrature(Distribution):
    """A law known by its CDF, quantiles and density, with E |Y - y| and the like by quadrature.

    The relative error is about 1e-8 where the density is smooth inside its support.
    """

    @cached_property
    def _integrals(self) -> Distribution:
        return as_pull_back(self)

    def _crps(self, y: Array) -> Array:
        """inf where the mean is not finite."""
        with np.errstate(all="ignore"):  # in rows without a mean, which are answered below
            crps = self._integrals._crps(y)
        xp, mean = namespace(crps), self._lift(self._mean())
        return xp.where(xp.isfinite(mean), crps, xp.full_like(crps, xp.inf))

    def _breaks(self) -> Array:
        """The usual quantiles, as far as floats reach, in order."""
        y = super()._breaks()
        return namespace(y).sort(y[namespace(y).isfinite(y)])


@dataclass(frozen=True, eq=False, repr=False)
class ScipyDistribution(_ByQuadrature):
    """A continuous family of scipy.stats, with one value of each parameter a row: shapes, loc and scale.

    cdf, sf, logcdf, logsf, ppf, mean and std are scipy's own; the crps is by quadrature (relative error about
    1e-8 where the density is smooth inside its support), inf where the mean is not finite.
    """

    family: Any = field(metadata={"shared": True})
    parameters: tuple[Array, ...]

    @classmethod
    def of(cls, frozen: Any) -> ScipyDistribution:
        """The parameters of a frozen distribution, checked and brought to one shape."""
        if not all(hasattr(frozen, name) for name in ("dist", "args", "kwds")):
            kind = type(frozen).__name__
            raise TypeError(f"from_scipy takes a frozen distribution such as scipy.stats.gamma(2.0), got {kind}")
        family = frozen.dist
        if not hasattr(family, "logpdf"):
            raise TypeError(f"from_scipy takes a continuous distribution, got the discrete {family.name}")
        shapes, loc, scale = family._parse_args(*frozen.args, **frozen.kwds)
        names = [*(family.shapes or "").replace(",", " ").split(), "loc", "scale"]
        values = (*shapes, loc, scale)
        arrays = [floats(f"{family.name}.{n}", np.asarray(v, dtype=float)) for n, v in zip(names, values, strict=True)]
        arrays = list(np.broadcast_arrays(*arrays))
        if arrays[0].ndim > 1:
            raise ValueError(f"{family.name} must have parameters of shape () or (n,), got {arrays[0].shape}")
        wrong = np.isnan(family(*arrays).support()[0])
        if np.any(wrong):
            complain(family.name, wrong, "has parameters outside their domain")
        return cls(family, tuple(arrays))

    @property
    def shape(self) -> tuple[int, ...]:
        """That of every parameter."""
        return tuple(self.parameters[0].shape)

    @cached_property
    def _columns(self) -> Any:
        return self.family(*(self._lift(parameter) for parameter in self.parameters))

    def _quietly(self, name: str, argument: Array) -> Array:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scipy's far tails overflow on their way to the right answer
            return np.asarray(getattr(self._columns, name)(argument))

    def _cdf(self, y: Array) -> Array:
        return self._quietly("cdf", y)

    def _sf(self, y: Array) -> Array:
        return self._quietly("sf", y)

    def _logcdf(self, y: Array) -> Array:
        return self._logarithm("logcdf", y, self._cdf, self._sf)

    def _logsf(self, y: Array) -> Array:
        return self._logarithm("logsf", y, self._sf, self._cdf)

    def _logarithm(self, name: str, y: Array, mass: Callable[[Array], Array], rest: Callable[[Array], Array]) -> Array:
        """The family's own formula; scipy's general one searches for a median at every y."""
        from scipy.stats import rv_continuous

        if getattr(type(self.family), f"_{name}") is not getattr(rv_continuous, f"_{name}"):
            return self._quietly(name, y)
        p, q = mass(y), rest(y)
        with np.errstate(divide="ignore"):
            return np.where(p < 0.5, np.log(p), np.log1p(-q))

    def _logpdf(self, y: Array) -> Array:
        return self._quietly("logpdf", y)

    def _ppf(self, p: Array) -> Array:
        return self._quietly("ppf", p)

    def _ppf_logit(self, s: Array) -> Array:
        """The quantile from the nearer end, so that neither tail saturates; an end of the support where scipy fails."""
        tail = sigmoid(-np.abs(s))
        y: Array = np.where(s <= 0, self._quietly("ppf", tail), self._quietly("isf", tail))
        lower, upper = self._columns.support()
        y = np.where(np.isnan(y), np.where(s <= 0, lower, upper), y)
        return np.where(np.isfinite(s), np.clip(y, -1e300, 1e300), y)

    def _mean(self) -> Array:
        return self._statistic("mean")

    def _std(self) -> Array:
        return self._statistic("std")

    def _statistic(self, name: str) -> Array:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(getattr(self.family(*self.parameters), name)(), dtype=float)

    def _describe(self) -> str:
        return str(self.family.name)


def from_torch(dist: Any) -> Distribution:
    """A torch distribution of scalars, batch shape () or (n,), as a law of ours; gradients flow through it.

    Normal, Laplace, StudentT, Cauchy, LogNormal and mixtures of Normals become our own laws; the rest, if
    torch has their cdf, `TorchDistribution`s.

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
    if getattr(dist.support, "is_discrete", False):
        raise TypeError(f"from_torch takes a continuous distribution, got the discrete {name}")
    if type(dist) is td.MixtureSameFamily and type(dist.component_distribution) is td.Normal:
        normal, weights = dist.component_distribution, dist.mixture_distribution.probs
        return GaussianMixture(weights, normal.loc, normal.scale)
    ours = _TORCH.get(name) if type(dist).__module__.startswith("torch.") else None
    return TorchDistribution.of(dist) if ours is None else ours(dist)


_TORCH: dict[str, Callable[[Any], Distribution]] = {
    "Normal": lambda d: Normal(d.loc, d.scale),
    "Laplace": lambda d: Laplace(d.loc, d.scale),
    "StudentT": lambda d: StudentT(d.df, d.loc, d.scale),
    "Cauchy": lambda d: StudentT(1.0, d.loc, d.scale),
    "LogNormal": lambda d: LogNormal(d.loc, d.scale),
}


@dataclass(frozen=True, eq=False, repr=False)
class TorchDistribution(_ByQuadrature):
    """A torch distribution taken apart: `skeleton` is the object, `leaves` are its tensors, one entry a row.

    cdf and log_prob are torch's; quantiles are too where torch has icdf, else solved for; mean and std where
    torch has them, else by quadrature, as the crps is. torch has no survival functions: beyond cdf = 1 -
    1e-16 (1e-7 for float32) the upper tail is 0.
    """

    anchor: Array
    leaves: tuple[Array, ...]
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
            raise TypeError(f"torch has no cdf for {name}: pass scipy.stats' law through from_scipy") from None
        return law

    @property
    def shape(self) -> tuple[int, ...]:
        """The batch shape."""
        return tuple(self.anchor.shape)

    @cached_property
    def _dist(self) -> Any:
        old = tuple(self.skeleton.batch_shape)
        return _rebuilt(self.skeleton, old, self.shape, iter(self.leaves))

    @cached_property
    def _bounds(self) -> tuple[Array, Array, Array]:
        """The ends of the support and a point inside, one a row."""
        xp, support, inf = namespace(self.anchor), self._dist.support, float("inf")
        lower = self.anchor + getattr(support, "lower_bound", -inf)
        upper = self.anchor + getattr(support, "upper_bound", inf)
        a = xp.where(xp.isfinite(lower), lower, xp.where(xp.isfinite(upper), upper - 2, self.anchor - 1))
        b = xp.where(xp.isfinite(upper), upper, a + 2)
        return lower, upper, 0.5 * a + 0.5 * b

    def _call(self, function: Callable[[Array], Array], argument: Array) -> Array:
        """A torch method wants the rows last."""
        if not self.shape:
            return function(argument)
        rows = namespace(argument).broadcast_to(argument, (self.shape[0], argument.shape[1]))
        return function(rows.mT).mT

    def _within(self, function: Callable[[Array], Array], y: Array, below: float, above: float) -> Array:
        xp = namespace(y)
        lower, upper, middle = (self._lift(bound) for bound in self._bounds)
        inside = (y > lower) & (y < upper)
        value = self._call(function, xp.where(inside, y, middle))
        return xp.where(inside, value, xp.where(y <= lower, xp.full_like(value, below), xp.full_like(value, above)))

    def _cdf(self, y: Array) -> Array:
        return self._within(self._dist.cdf, y, 0.0, 1.0)

    def _logpdf(self, y: Array) -> Array:
        return self._within(self._dist.log_prob, y, -float("inf"), -float("inf"))

    def _logsf(self, y: Array) -> Array:
        """log1p(-F), since torch has no survival functions."""
        xp, F = namespace(y), self._cdf(y)
        left = F < 1
        return xp.where(left, xp.log1p(-xp.where(left, F, xp.zeros_like(F))), xp.full_like(F, -xp.inf))

    def _ppf(self, p: Array) -> Array:
        return self._ppf_logit(logit(p))

    def _ppf_logit(self, s: Array) -> Array:
        """The quantile at sigmoid(s), s held where the cdf still tells it from 0 and 1."""
        s = s if is_torch_array(s) else device_like(s, self._like)
        xp = namespace(s)
        lower, upper, middle = (self._lift(bound) for bound in self._bounds)
        limits = xp.finfo(s.dtype)
        held = xp.clip(s, float(np.log(limits.tiny)), -float(np.log(limits.eps)))
        try:
            y = self._call(self._dist.icdf, sigmoid(held))
        except NotImplementedError:
            y = self._solve(held, lower, upper, middle)
        return xp.where(xp.isfinite(s), y, xp.where(s < 0, lower, upper))

    def _solve(self, s: Array, lower: Array, upper: Array, middle: Array) -> Array:
        xp = namespace(s)
        s = s + xp.zeros_like(middle)
        low, high, width = (xp.zeros_like(s) + end for end in (lower, upper, 1.0))
        low, high = (xp.where(xp.isfinite(end), end, middle + 0 * s) for end in (low, high))
        for _ in range(int(np.log2(xp.finfo(s.dtype).max)) - 1):
            short = (
                xp.isinf(lower) & (logit_cdf(self, low) > s),
                xp.isinf(upper) & (logit_cdf(self, high) < s),
            )
            if not bool(xp.any(short[0] | short[1])):
                break
            low, high = xp.where(short[0], middle - width, low), xp.where(short[1], middle + width, high)
            width = 2 * width
        return solve_increasing(lambda y: logit_cdf_and_log_slope(self, y), s, low, high)

    def _mean(self) -> Array:
        return self._statistic("mean")

    def _std(self) -> Array:
        return self._statistic("stddev")

    def _statistic(self, name: str) -> Array:
        try:
            return getattr(self._dist, name) + self.anchor
        except NotImplementedError:
            return self._integrals._mean() if name == "mean" else self._integrals._std()

    def _describe(self) -> str:
        return type(self.skeleton).__name__


def _tensors(part: Any, shape: tuple[int, ...], seen: set[int] | None = None) -> Iterator[Array]:
    """The tensors inside a torch distribution with one entry a row; all of them in a single one."""
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
    part: Any,
    old: tuple[int, ...],
    new: tuple[int, ...],
    leaves: Iterator[Array],
    memo: dict[int, Any] | None = None,
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
