"""A law whose upper levels nobody has seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from calibrant._arrays import Array, namespace
from calibrant._batch import shared
from calibrant._special import sigmoid
from calibrant.distributions.base import Distribution
from calibrant.distributions.by_row import ByRow, Pull
from calibrant.distributions.context import Context
from calibrant.distributions.integrals import PartialMoments, Squares
from calibrant.distributions.maps import Increasing
from calibrant.distributions.outline import Outline


@dataclass(frozen=True, eq=False, repr=False)
class FollowedUp(ByRow):
    """`law`, of which the levels up to `known` can be asked for; what lies above them is a guess of its tail.

    Quantiles above that level, mean and std are refused. CDF, density and CRPS are those of `law`, guess included.
    """

    law: Distribution
    known: float = shared()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.law.shape

    @property
    def like(self) -> Array:
        return self.law.like

    def for_rows(self, context: Context) -> Distribution:
        """The same of these rows' laws."""
        return replace(self, law=self.law.for_rows(context))

    def pulled(self, map: Increasing, pull: Pull) -> Distribution:
        """H: the same of the law that is pulled back."""
        return replace(self, law=pull(self.law, map))

    def _refused(self, what: str) -> ValueError:
        return ValueError(
            f"{what} cannot be known: labels were followed up as far as level {self.known:.3g}, and beyond it none was"
            " seen"
        )

    def _asked(self, p: Array) -> None:
        most = 0.0 if 0 in p.shape else float(namespace(p).max(p))
        if most > self.known:
            raise self._refused(f"the quantile at level {most:.6g}")

    def _ppf(self, p: Array) -> Array:
        self._asked(p)
        return self.law._ppf(p)

    def _ppf_logit(self, s: Array) -> Array:
        self._asked(sigmoid(s))
        return self.law._ppf_logit(s)

    def _quantiles(self, p: Array) -> Array:
        self._asked(p)
        return self.law._quantiles(p)

    def _mean(self) -> Array:
        raise self._refused("the mean")

    def _std(self) -> Array:
        raise self._refused("the std")

    def _cdf(self, y: Array) -> Array:
        return self.law._cdf(y)

    def _cdf_left(self, y: Array) -> Array:
        return self.law._cdf_left(y)

    def _cdf_sides(self, y: Array) -> tuple[Array, Array]:
        return self.law._cdf_sides(y)

    def _sf(self, y: Array) -> Array:
        return self.law._sf(y)

    def _logcdf(self, y: Array) -> Array:
        return self.law._logcdf(y)

    def _logsf(self, y: Array) -> Array:
        return self.law._logsf(y)

    def _logpdf(self, y: Array) -> Array:
        return self.law._logpdf(y)

    def _crps(self, y: Array) -> Array:
        return self.law._crps(y)

    def _partial_moments(self, y: Array) -> PartialMoments:
        return self.law._partial_moments(y)

    def _squares(self, y: Array) -> Squares:
        return self.law._squares(y)

    def _moments_within(self, y: Array, lower: Array, upper: Array) -> PartialMoments:
        return self.law._moments_within(y, lower, upper)

    def _squares_within(self, y: Array, lower: Array, upper: Array) -> Squares:
        return self.law._squares_within(y, lower, upper)

    def _infinite_mass(self) -> tuple[Any, Any]:
        return self.law._infinite_mass()

    def _breaks(self) -> Array:
        return self.law._breaks()

    @property
    def is_discrete(self) -> bool:
        return self.law.is_discrete

    @property
    def bends_often(self) -> bool:
        return self.law.bends_often

    def _outline(self) -> Outline | None:
        return self.law._outline()

    def _clipped(self, lower: Any, upper: Any) -> Distribution:
        return replace(self, law=self.law.clip(lower, upper))

    def _describe(self) -> str:
        return f"{self.law!r} up to level {self.known:.3g}"
