"""Coverage and PITs along time, beside what chance allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._arrays import same_length, unit
from calibrant.diagnosis.answers import answers_of
from calibrant.metrics.by_slice import SMALLEST, SliceResult, judged
from calibrant.metrics.forecasts import paired
from calibrant.metrics.slices import Slices


def over_time(
    H: Any,
    y: Any,
    time: Sequence[Any] | None = None,
    *,
    bins: int = 10,
    coverages: Any = (0.9,),
    confidence: float = 0.95,
    n: int | None = None,
) -> tuple[SliceResult, ...]:
    """How the forecasts do in each of `bins` stretches of time, of about equally many rows.

    Rows are in the order of time; `time` says when each was, and is counted from 0 if not given. Each stretch has its
    coverage with what chance allows in all of them at once, and the largest gap of its PITs. With `n`, the rows that
    calibrated H, chance includes what so few rows leave open. It looks back over rows that are all there; to watch
    rows as they come, see `calibrant.monitor`.

    >>> from calibrant import Normal
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=2000) * np.where(np.arange(2000) < 1500, 1, 2)
    >>> for each in over_time(Normal(np.zeros(2000), 1.0), y, bins=4):
    ...     print(each.name, f"{each.held[0].share:.2f}", each.off)
    row in [0, 499] 0.92 False
    row in [500, 999] 0.91 False
    row in [1000, 1499] 0.90 False
    row in [1500, 1999] 0.57 True
    """
    asked = [unit("coverages", c) for c in np.atleast_1d(np.asarray(coverages, np.float64)).ravel().tolist()]
    H, y = paired(H, y)
    m = int(y.shape[0])
    if isinstance(bins, bool) or not isinstance(bins, (int, np.integer)) or bins < 1:
        raise ValueError(f"bins must be a count, at least 1, got {bins!r}")
    if m < SMALLEST * bins:
        raise ValueError(f"{bins} stretches need {SMALLEST * bins} rows, {SMALLEST} each, got {m}")
    said = answers_of(H, y, asked)
    index = np.arange(m) * int(bins) // m
    first = np.flatnonzero(np.diff(index, prepend=-1))
    last = np.append(first[1:], m) - 1
    when = np.arange(m) if time is None else _ordered(time, m)
    labels = tuple(f"[{when[a]}, {when[b]}]" for a, b in zip(first, last, strict=True))
    stretches = Slices("row" if time is None else "time", labels, index)
    return judged([stretches], said.held, said.pit, confidence=unit("confidence", confidence), n=n)


def _ordered(time: Sequence[Any], m: int) -> Any:
    when = np.asarray(time)
    same_length("the forecast", m, "time", len(when))
    backwards = np.asarray(when[1:] < when[:-1])
    if backwards.any():
        row = int(np.argmax(backwards)) + 1
        raise ValueError(f"time runs backwards in row {row} ({int(backwards.sum())} rows in all): sort the rows")
    return when
