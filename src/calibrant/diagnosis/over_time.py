"""Coverage and PITs over time, with what chance allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from calibrant._arguments import unit
from calibrant._types import ArrayLike, Values
from calibrant.diagnosis.row_events import row_events_of
from calibrant.forecast import PredictionLike
from calibrant.metrics.by_slice import SMALLEST, SliceResult, slice_results
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


def over_time(
    H: PredictionLike,
    y: ArrayLike,
    time: Values | None = None,
    *,
    bins: int = 10,
    coverages: Sequence[float] = (0.9,),
    confidence: float = 0.95,
    n: int | None = None,
) -> tuple[Period, ...]:
    """How the forecasts do in each of `bins` periods, of about equally many rows.

    `time` says when each row was, by numbers or dates, and rows may come in any order; without it they are in the order
    of time, and counted from 0. Rows of one moment stay together. Each period has its coverage with what chance
    allows in all of them at once, the largest gap of its PITs, and the direction in which the forecasts are off. With
    `n`, the rows that calibrated H, chance includes the sampling error that they leave. It looks back over a complete
    set of rows; to watch rows as they arrive, see `calibrant.monitor`.

    Args:
        H: The forecasts, one per row: distributions, or a prediction of any kind.
        y: The labels: one number per row.
        time: When each row was, as numbers or dates; without it the rows are in time order.
        bins: The number of periods, each of about as many rows.
        coverages: The probabilities of the centred intervals, each between 0 and 1.
        confidence: The probability that a calibrated forecast lies inside the bounds of all periods.
        n: The number of rows that calibrated H: the bounds then allow for the error that they leave.

    >>> from calibrant import Normal
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=2000) * np.where(np.arange(2000) < 1500, 1, 2)
    >>> for each in over_time(Normal(np.zeros(2000), 1.0), y, bins=4):
    ...     print(each.name, f"{each.intervals[0].share:.2f}", f"too {each.direction}" if each.off else "")
    row in [0, 499] 0.92
    row in [500, 999] 0.91
    row in [1000, 1499] 0.90
    row in [1500, 1999] 0.57 too narrow
    """
    asked = [unit("coverages", c) for c in np.atleast_1d(np.asarray(coverages, np.float64)).ravel().tolist()]
    H, y = paired(H, y)
    m = int(y.shape[0])
    if isinstance(bins, bool) or not isinstance(bins, (int, np.integer)) or bins < 1:
        raise ValueError(f"bins must be a count, at least 1, got {bins!r}")
    if m < SMALLEST * bins:
        raise ValueError(f"{bins} periods need {SMALLEST * bins} rows, {SMALLEST} each, got {m}")
    when, name = (np.arange(m), "row") if time is None else (time, "time")
    found = periods_of(when, m, bins, name=name)
    events = row_events_of(H, y, asked)
    return period_results(found, events.inside, events.pit, confidence=unit("confidence", confidence), n=n)


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
