"""A distribution whose upper tail nobody has seen, since labels are censored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn

from calibrant._arrays import Array, namespace
from calibrant._batch import shared
from calibrant._special import sigmoid
from calibrant.distributions.base import Context, Distribution
from calibrant.distributions.forwarding import Forwarding
from calibrant.distributions.pulled import ByRow


@dataclass(frozen=True, eq=False, repr=False)
class FollowedUp(ByRow, Forwarding):
    """`base`, of which the levels up to `known` can be asked for; what lies above them is a guess of its tail.

    Quantiles above that level, mean and std are refused. CDF, density and CRPS are those of `base`, guess included.
    """

    base: Distribution
    known: float = shared()

    def for_rows(self, context: Context) -> Distribution:
        """The same of these rows' distributions."""
        return replace(self, base=self.base.for_rows(context))

    def _refused(self, what: str) -> NoReturn:
        raise ValueError(
            f"{what} cannot be known: labels were followed up as far as level {self.known:.3g}, and beyond it none was"
            " seen"
        )

    def mean(self) -> NoReturn:
        """Refused: what is beyond the follow-up counts."""
        self._refused("the mean")

    def std(self) -> NoReturn:
        """Refused."""
        self._refused("the std")

    def _spread(self) -> str:
        return f", known up to level {self.known:.3g}"

    def _repr_html_(self) -> str:
        return repr(self)

    def _ppf(self, p: Array) -> Array:
        most = 0.0 if 0 in p.shape else float(namespace(p).max(p))
        if most > self.known:
            self._refused(f"the quantile at level {most:.6g}")
        return self.base._ppf(p)

    def _ppf_logit(self, s: Array) -> Array:
        return self._ppf(sigmoid(s))
