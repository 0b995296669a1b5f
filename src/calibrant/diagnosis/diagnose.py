"""The slices that every forecast has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calibrant._types import ArrayLike
from calibrant.diagnosis.row_events import row_events_of
from calibrant.forecast import PredictionLike
from calibrant.metrics.by_slice import PARTS, SMALLEST, SliceResult, own_slices, slice_results
from calibrant.metrics.forecasts import paired
from calibrant.metrics.slices import Slices


def forecast_slices(
    H: PredictionLike,
    y: ArrayLike,
    coverage: float,
    n: int | None,
    groups: Sequence[Slices] = (),
    own: Mapping[str, int] | None = None,
) -> tuple[SliceResult, ...]:
    """The slices by predicted value and by width alone, and by groups that are given.

    There are none where there are too few rows to judge each of the five.
    """
    H, y = paired(H, y)
    if y.shape[0] < PARTS * SMALLEST:
        return ()
    events = row_events_of(H, y, [coverage])
    taken = [column.name for column in groups]
    columns = [*own_slices(events.centre, events.width, taken), *groups]
    return slice_results(columns, events.inside, events.pit, n=n, own=own)
