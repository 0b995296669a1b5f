"""Forecasts that come as frozen distributions of scipy.stats: as our own families, or wrapped."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibrant._arrays import Array, floats, namespace, refuse
from calibrant._special import sigmoid
from calibrant.distributions.base import ClosedMoments, Distribution, drawn_in, evenly_between, far_logit
from calibrant.distributions.counts import Binomial, NegativeBinomial, Poisson
from calibrant.distributions.on_lattice import CountFamily
from calibrant.distributions.standard_families import Laplace, Logistic, LogNormal, Normal
from calibrant.distributions.student_t import StudentT
from calibrant.forecast import SupportsCDF

_ASKED = 64  # quantiles that take long, with many more places of a table between them


def from_scipy(frozen: SupportsCDF) -> Distribution:
    """A frozen distribution of scipy.stats, with parameters of shape () or (n,), as one of ours.

    norm, laplace, logistic, t, cauchy and lognorm (with loc = 0) become our own, other continuous ones
    `ScipyDistribution`s. poisson, nbinom and binom (with loc = 0) become our own too, other distributions of whole
    numbers `ScipyCounts`.

    Args:
        frozen: A frozen scipy.stats distribution, with parameters of shape () or (n,).

    >>> import scipy.stats
    >>> from_scipy(scipy.stats.norm([0.0, 1.0], 2.0))
    normal distribution of 2 rows, 90% interval 6.58 wide
    >>> from_scipy(scipy.stats.gamma([2.0, 3.0])).crps([1.0, 5.0])
    array([0.45727665, 1.4061353 ])
    """
    if not all(hasattr(frozen, name) for name in ("dist", "args", "kwds")):
        kind = type(frozen).__name__
        raise TypeError(f"from_scipy takes a frozen distribution such as scipy.stats.gamma(2.0), got {kind}")
    family, parameters = _parameters(frozen)
    ours = _OURS.get(family.name)
    distribution = None if ours is None else ours(*parameters)
    if distribution is not None:
        return distribution
    return (ScipyCounts if hasattr(family, "pmf") else ScipyDistribution)(family, parameters)


def _parameters(frozen: Any) -> tuple[Any, tuple[Array, ...]]:
    """The family of a frozen distribution; its shapes, loc and, unless it is of counts, scale, in one shape."""
    family = frozen.dist
    shapes, *ends = family._parse_args(*frozen.args, **frozen.kwds)
    names = [*(family.shapes or "").replace(",", " ").split(), "loc", *([] if hasattr(family, "pmf") else ["scale"])]
    given = zip(names, (*shapes, *ends), strict=False)
    arrays = [floats(f"{family.name}.{name}", np.asarray(value, dtype=float)) for name, value in given]
    arrays = list(np.broadcast_arrays(*arrays))
    if arrays[0].ndim > 1:
        raise ValueError(f"{family.name} must have parameters of shape () or (n,), got {arrays[0].shape}")
    refuse(family.name, np.asarray(np.isnan(family.support(*arrays)[0])), "has parameters outside their domain")
    return family, tuple(arrays)


def _unmoved(make: Callable[..., Distribution]) -> Callable[..., Distribution | None]:
    """That of counts, which our own families have for loc = 0 only."""
    return lambda *parameters: None if np.any(parameters[-1] != 0) else make(*parameters[:-1])


_OURS: dict[str, Callable[..., Distribution | None]] = {
    "norm": Normal,
    "laplace": Laplace,
    "logistic": Logistic,
    "t": StudentT,
    "cauchy": lambda loc, scale: StudentT(1.0, loc, scale),
    "lognorm": lambda s, loc, scale: None if np.any(loc != 0) else LogNormal(np.log(scale), s),
    "poisson": _unmoved(Poisson),
    "nbinom": _unmoved(lambda n, p: NegativeBinomial(n * (1 - p) / p, 1 / n)),
    "binom": _unmoved(Binomial),
}


@dataclass(frozen=True, eq=False, repr=False)
class _ScipyFamily(ClosedMoments):
    """A family of scipy.stats, with one value of each parameter per row."""

    family: Any = field(metadata={"shared": True})
    parameters: tuple[Array, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.parameters[0].shape)

    def _ask(self, name: str, *arguments: Array) -> Array:
        return _quietly(self.family, name, *arguments, *map(self._lift, self.parameters))

    def _mean_std(self) -> tuple[Array, Array]:
        return _quietly(self.family, "mean", *self.parameters), _quietly(self.family, "std", *self.parameters)

    def _family(self) -> str:
        return str(self.family.name)


def _asked(name: str) -> Any:
    """The method of the family of that name."""
    return lambda self, values: self._ask(name, values)


def _quietly(family: Any, name: str, *arguments: Array) -> Array:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy's far tails overflow on their way to the right answer
        return np.asarray(getattr(family, name)(*arguments), dtype=float)


class ScipyDistribution(_ScipyFamily):
    """A continuous family of scipy.stats, with one value of each parameter per row: shapes, loc and scale.

    cdf, sf, logpdf, ppf, mean and std are scipy's own; the crps is from a table, and inf where the mean is not finite.
    """

    _cdf, _sf, _logpdf, _ppf = map(_asked, ("cdf", "sf", "logpdf", "ppf"))

    def _logit(self, y: Array) -> tuple[Array, Array]:
        return far_logit(self, y, lambda at: [self._ask(name, at) for name in ("logcdf", "logsf")])

    def _ppf_logit(self, s: Array) -> Array:
        """The quantile from the nearer end, so that neither tail saturates; an end of the support where scipy fails."""
        s, *parameters = np.broadcast_arrays(s, *map(self._lift, self.parameters))
        y: Array = np.empty(s.shape)
        for side, name in ((s <= 0, "ppf"), (s > 0, "isf")):
            y[side] = _quietly(self.family, name, sigmoid(-np.abs(s[side])), *(part[side] for part in parameters))
        lower, upper = self.family.support(*parameters)
        return np.where(np.isnan(y), np.where(s <= 0, lower, upper), y)

    def _places(self, s: Array) -> Array:
        return few_places(self, s)


@dataclass(frozen=True, eq=False, repr=False)
class ScipyCounts(_ScipyFamily, CountFamily):
    """A discrete family of scipy.stats, with one value of each parameter per row: shapes, and loc, which is whole."""

    def __post_init__(self) -> None:
        loc = self.parameters[-1]
        refuse(self.family.name, np.asarray(loc != np.round(loc)), "has a loc that is not whole")
        refuse(self.family.name, ~np.isfinite(self._mean_std()[1]), "has no standard deviation")

    _below, _above, _log_mass = map(_asked, ("cdf", "sf", "logpmf"))

    def _ends(self) -> tuple[Any, Any]:
        return self.family.support(*map(self._lift, self.parameters))  # type: ignore[no-any-return]


def few_places(distribution: Distribution, s: Array) -> Array:
    """Places of a table: some quantiles, where these take long, and even steps from one to the next."""
    step = max(1, s.shape[1] // _ASKED)
    return evenly_between(drawn_in(namespace(s).sort(distribution._ppf_logit(s[:, ::step]), axis=1)), step)
