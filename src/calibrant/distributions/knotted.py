"""Single distributions that bend at many places of their own."""

from __future__ import annotations

from abc import abstractmethod

from calibrant._arrays import Array, concatenate, device_like, namespace
from calibrant.distributions.base import Distribution, drawn_in
from calibrant.distributions.table import FINE, ONCE, MassTable, logit_levels


class Knotted(Distribution):
    """A single distribution whose own table has all its bends: mean, std and crps are good to 1e-9 of the spread."""

    @abstractmethod
    def _bends(self) -> Array:
        """Where it bends, 1-d."""

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def _table(self, count: int) -> MassTable:
        """At quantiles and bends; below `FINE` places at some of the bends, with the areas of the own table."""
        law = self._in_double
        bends, fine = law._bends(), count >= FINE
        levels = logit_levels(count if fine else count // 2 + 1)
        places = drawn_in(law._ppf_logit(device_like(levels[None, :], bends)))[0, :]
        bends = bends[(bends > places[0]) & (bends < places[-1])]  # beyond, a tail is known by its power
        if not fine:
            bends = namespace(bends).sort(bends)[:: 1 + 2 * bends.shape[0] // count]
        places = namespace(places).unique_values(concatenate([places, bends]))[None, :]
        return MassTable.through(law, places, None if fine else law._own_table.integral(places, ONCE))
