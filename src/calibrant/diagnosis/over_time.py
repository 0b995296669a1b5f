"""Coverage and PITs over time, with what chance allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from calibrant._types import ArrayLike, Values
from calibrant.diagnosis.row_events import row_events_of
from calibrant.forecast import PredictionLike
from calibrant.metrics.by_slice import SliceResult, slice_results
from calibrant.metrics.forecasts import paired
from calibrant.metrics.interval_coverage import Floats, InsideFlags
from calibrant.metrics.periods import Periods, periods_of
from calibrant.metrics.slices import Slices


@dataclass(frozen=True, kw_only=True)
class Period(SliceResult):
    """How the forecasts of the m rows of one period do."""

    start: str
    end: str
    """The time of its first row, and of its last."""


def time_periods(
    H: PredictionLike,
    y: ArrayLike,
    time: Values,
    coverage: float,
    n: int | None,
    groups: Sequence[Slices] = (),
    own: Mapping[str, int] | None = None,
) -> tuple[Period, ...]:
    """The same for one coverage, with as many periods as the rows bear, 10 at most; none where they bear none."""
    H, y = paired(H, y)
    found = periods_of(time, int(y.shape[0]))
    events = row_events_of(H, y, [coverage])
    return period_results(found, events.inside, events.pit, n=n, groups=groups, own=own)


def period_results(
    found: Periods,
    inside: Mapping[float, InsideFlags],
    pit: Floats | None,
    *,
    confidence: float = 0.95,
    n: int | None = None,
    groups: Sequence[Slices] = (),
    own: Mapping[str, int] | None = None,
) -> tuple[Period, ...]:
    """The results of periods; `groups` and `own` say how many rows calibrated each group by itself."""
    slices = found.slices
    results = slice_results([slices], inside, pit, confidence=confidence, n=n, own=own, groups=groups)
    place = {label: k for k, label in enumerate(slices.labels)}
    made = []
    for each in results:
        k = place[each.value]
        known = {field.name: getattr(each, field.name) for field in fields(SliceResult)}
        made.append(Period(**known, start=found.starts[k], end=found.ends[k]))
    return tuple(made)
