"""The pool of several forecasts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from calibrant._arrays import Array, floats, namespace, same_length
from calibrant._batch import shared
from calibrant._roots import solve_increasing
from calibrant.distributions.base import Distribution, Integrated, PartialMoments, Squares, logit_cdf_and_log_slope
from calibrant.distributions.quadrature import as_pull_back


@dataclass(frozen=True, eq=False, repr=False)
class Mixture(Integrated):
    """F(y) = sum of weights[k] * components[k].cdf(y): a draw from a component drawn at random.

    Quantiles by safeguarded Newton steps on the logit of F; crps by quadrature (relative error about 1e-8).

    >>> from calibrant import Normal
    >>> Mixture([Normal([0.0], 1.0), Normal([4.0], 1.0)], [0.25, 0.75]).mean()
    array([3.])
    """

    components: tuple[Distribution, ...]
    weights: tuple[float, ...] = shared()

    def __post_init__(self) -> None:
        components = tuple(self.components)
        if not components or not all(isinstance(law, Distribution) for law in components):
            raise TypeError(f"Mixture.components must be distributions, at least one, got {self.components!r}")
        for k, law in enumerate(components):
            if law.shape != components[0].shape:
                shapes = f"{components[0].shape} and {law.shape}"
                raise ValueError(f"Mixture.components[{k}] must have the shape of the first, got {shapes}")
        weights = tuple(float(weight) for weight in floats("Mixture.weights", self.weights, ndim=1))
        same_length("Mixture.components", len(components), "Mixture.weights", len(weights))
        if min(weights) < 0 or abs(sum(weights) - 1) > 1e-6:
            raise ValueError(f"Mixture.weights must be at least 0 and sum to 1, got {list(weights)}")
        object.__setattr__(self, "components", components)
        object.__setattr__(self, "weights", weights)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.components[0].shape

    def _sum(self, terms: list[Array]) -> Array:
        return reduce(lambda a, b: a + b, (w * term for w, term in zip(self.weights, terms, strict=True)))

    def _log_sum(self, terms: list[Array]) -> Array:
        xp = namespace(terms[0])
        top = reduce(xp.maximum, terms)
        top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
        total = self._sum([xp.exp(term - top) for term in terms])
        some = total > 0
        return xp.where(some, xp.log(xp.where(some, total, xp.ones_like(total))) + top, xp.full_like(total, -xp.inf))

    def _cdf(self, y: Array) -> Array:
        return self._sum([law._cdf(y) for law in self.components])

    def _sf(self, y: Array) -> Array:
        return self._sum([law._sf(y) for law in self.components])

    def _cdf_left(self, y: Array) -> Array:
        return self._sum([law._cdf_left(y) for law in self.components])

    def _logcdf(self, y: Array) -> Array:
        return self._log_sum([law._logcdf(y) for law in self.components])

    def _logsf(self, y: Array) -> Array:
        return self._log_sum([law._logsf(y) for law in self.components])

    def _logpdf(self, y: Array) -> Array:
        return self._log_sum([law._logpdf(y) for law in self.components])

    def _ppf(self, p: Array) -> Array:
        from calibrant._special import logit

        return self._ppf_logit(logit(p))

    def _ppf_logit(self, s: Array) -> Array:
        """The quantile lies between the least and the greatest of the components' quantiles."""
        xp = namespace(s)
        ends = [law._ppf_logit(s) for law in self.components]
        low, high = reduce(xp.minimum, ends), reduce(xp.maximum, ends)
        sure = xp.isfinite(low) & xp.isfinite(high)
        finite = xp.where(xp.isfinite(s), s, xp.zeros_like(s))
        zero = xp.zeros_like(low)
        root = solve_increasing(
            lambda y: logit_cdf_and_log_slope(self, y),
            xp.broadcast_to(finite, low.shape),
            xp.where(sure, low, zero),
            xp.where(sure, high, zero),
        )
        return xp.where(sure, root, xp.where(s > 0, high, low))

    def _partial_moments(self, y: Array) -> PartialMoments:
        parts = [law._partial_moments(y) for law in self.components]
        return PartialMoments(*(self._sum(list(column)) for column in zip(*parts, strict=True)))

    def _squares(self, y: Array) -> Squares:
        return as_pull_back(self)._squares(y)

    def _infinite_mass(self) -> tuple[float, float]:
        below, above = zip(*(law._infinite_mass() for law in self.components), strict=True)
        return self._sum(list(below)), self._sum(list(above))

    def _describe(self) -> str:
        return f"{len(self.components)} components"
