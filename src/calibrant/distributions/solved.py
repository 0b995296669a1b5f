"""Laws whose quantiles have to be solved for: many at a time, between places where the law is known."""

from __future__ import annotations

from collections.abc import Callable

from calibrant._arrays import Array, device_like
from calibrant._batch import take_rows
from calibrant._roots import invert_many
from calibrant.distributions.base import Distribution


class Solved(Distribution):
    """A law without a quick inverse: the quantiles of all rows at many levels are interpolated between `_places`."""

    def _quantiles_logit(self, s: Array) -> Array:
        """Interpolated, and one Newton step."""
        if not self.shape:
            return self._ppf_logit(s)
        s = device_like(s, self.like)
        return invert_many(self._logit_and_log_slope, self._of_rows, s, self._places(s))

    def _of_rows(self, rows: Array) -> tuple[Callable[[Array], tuple[Array, Array]], Callable[[Array], Array]]:
        law = take_rows(self, rows)
        return law._logit_and_log_slope, law._ppf_logit
