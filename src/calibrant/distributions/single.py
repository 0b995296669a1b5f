"""One row of a batch as a single law."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array, namespace
from calibrant._batch import take_rows
from calibrant._words import count
from calibrant.distributions.base import Distribution, handed_in
from calibrant.distributions.integrals import PartialMoments, Squares
from calibrant.distributions.outline import Outline


def single_row(batch: Distribution, index: int) -> Single:
    """Row `index` of a batch, counted from the end where it is negative."""
    if not -len(batch) <= index < len(batch):
        raise IndexError(f"row {index} is not among the {count(len(batch), 'row')} of the batch")
    start = index % len(batch)
    return Single(take_rows(batch, slice(start, start + 1)))


class OnlyRow(Distribution):
    """A law of shape () that answers as the only row of a batch."""

    @property
    @abstractmethod
    def _row(self) -> Distribution:
        """The batch of one row."""

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def _cdf(self, y: Array) -> Any:
        return _flat(self._row._cdf, y)

    def _sf(self, y: Array) -> Any:
        return _flat(self._row._sf, y)

    def _cdf_left(self, y: Array) -> Any:
        return _flat(self._row._cdf_left, y)

    def _logcdf(self, y: Array) -> Any:
        return _flat(self._row._logcdf, y)

    def _logsf(self, y: Array) -> Any:
        return _flat(self._row._logsf, y)

    def _ppf(self, p: Array) -> Any:
        return _flat(self._row._ppf, p)

    def _ppf_logit(self, s: Array) -> Any:
        return _flat(self._row._ppf_logit, s)

    def _logit(self, y: Array) -> Any:
        return _flat(self._row._logit, y)

    def _logit_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        value, log_slope = _flat(self._row._logit_and_log_slope, y)
        return value, log_slope

    def _quantiles_logit(self, s: Array) -> Any:
        return _flat(self._row._quantiles_logit, s)

    def _logpdf(self, y: Array) -> Any:
        return _flat(self._row._logpdf, y)

    def _logpmf(self, y: Array) -> Any:
        return _flat(self._row._logpmf, y)

    def _pit(self, y: Array, u: Array) -> Any:
        return _flat(self._row._pit, y, u)

    @property
    def lattice(self) -> tuple[float, float] | None:
        return self._row.lattice

    def _mean(self) -> Any:
        return self._row._mean()[0]

    def _std(self) -> Any:
        return self._row._std()[0]

    def _crps(self, y: Array) -> Any:
        return _flat(self._row._crps, y)

    def _partial_moments(self, y: Array) -> PartialMoments:
        return PartialMoments(*_flat(self._row._partial_moments, y))

    def _squares(self, y: Array) -> Squares:
        return Squares(*_flat(self._row._squares, y))

    def _moments_within(self, y: Array, lower: Array, upper: Array) -> PartialMoments:
        return PartialMoments(*_flat(self._row._moments_within, y, lower, upper))

    def _squares_within(self, y: Array, lower: Array, upper: Array) -> Squares:
        return Squares(*_flat(self._row._squares_within, y, lower, upper))

    @property
    def is_discrete(self) -> bool:
        return self._row.is_discrete

    def _outline(self) -> Outline | None:
        outline = self._row._outline()
        return None if outline is None else Outline(*(part[0, :] if part.ndim == 2 else part for part in outline))

    def _infinite_mass(self) -> tuple[Any, Any]:
        below, above = (mass if isinstance(mass, float) else float(mass[0]) for mass in self._row._infinite_mass())
        return below, above


@dataclass(frozen=True, eq=False, repr=False)
class Single(OnlyRow):
    """The only row of `batch`."""

    batch: Distribution

    @property
    def _row(self) -> Distribution:
        return self.batch

    def _clipped(self, lower: Any, upper: Any) -> Distribution:
        return Single(self.batch.clip(lower, upper))

    def _describe(self) -> str:
        return f"row of {type(self.batch).__name__}"


def _flat(function: Callable[..., Any], value: Array, *bounds: Array) -> Any:
    """The function of a one-row batch, applied elementwise."""
    xp = namespace(value)
    wide = (xp.broadcast_to(bound, value.shape) for bound in bounds)
    result = function(*(xp.reshape(each, (1, -1)) for each in (value, *wide)))
    if isinstance(result, tuple):
        return tuple(xp.reshape(part, value.shape) for part in result)
    return xp.reshape(result, value.shape)


handed_in["row"] = single_row
