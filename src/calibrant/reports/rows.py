"""The rows that a report shows one by one: which, and their distributions in numbers that can be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import to_numpy
from calibrant.distributions.base import Distribution
from calibrant.metrics.by_slice import LEVELS
from calibrant.metrics.rounding import rounded
from calibrant.metrics.slices import Slices
from calibrant.reports.atoms import DrawnAtoms, atoms_of
from calibrant.reports.scored_forecast import Floats, ScoredForecast
from calibrant.reports.smooth import smoothed, window_of

CHOSEN, SAMPLE, WORST, OF_SLICE, MOST = 120, 100, 10, 2, 500
AMONG = 20_000
"""Random rows among which those of a slice are looked for."""
CELLS = 100
LOWER, UPPER = (int(k) for k in np.searchsorted(LEVELS, [0.05 - 1e-9, 0.95 - 1e-9]))
"""The places of the ends of the 90% interval among the levels."""

Index = NDArray[np.int64]


def checked_rows(rows: Any, m: int) -> Index:
    """The rows that the caller names, in the order of the file."""
    index = np.asarray(rows)
    if index.ndim != 1 or index.size == 0 or index.dtype.kind not in "iu":
        raise TypeError(f"rows must be a list of row numbers, got {rows!r}")
    if index.size > MOST:
        raise ValueError(f"rows must name at most {MOST} rows, got {index.size}")
    bad = (index < 0) | (index >= m)
    if bad.any():
        raise ValueError(f"rows must lie in 0..{m - 1}, got {index[bad][0]}")
    return np.unique(index.astype(np.int64))


@dataclass(frozen=True)
class Shown:
    """The rows that are shown one by one, in the order of the file."""

    rows: Index
    sample: NDArray[np.bool_]
    """Whether a row is one of a random sample of all rows; the others are there for their group, or as misses."""
    misses: Sequence[int]
    """The rows with the largest CRPS, the worst first."""
    drawn: bool
    """Whether there is a sample, or all rows are shown, or those that were asked for."""


def chosen_rows(side: ScoredForecast, groupings: Sequence[Slices]) -> Shown:
    """A random sample of 100 rows, two more of every slice, and the 10 with the largest CRPS."""
    m = side.y.shape[0]
    misses = _misses(side.columns["crps"])
    if m <= CHOSEN:
        return Shown(np.arange(m), np.ones(m, np.bool_), misses, drawn=False)
    some = np.random.default_rng(0).permutation(m)[:AMONG]
    sample, others = some[:SAMPLE], list(misses)
    for slices in groupings:
        for k in range(len(slices.labels)):
            inside = some[slices.index[some] == k]
            others += list((inside if inside.size else np.flatnonzero(slices.index == k))[:OF_SLICE])
    rows = np.unique(np.concatenate([sample, np.array(others, np.int64)]))
    return Shown(rows, np.isin(rows, sample), misses, drawn=True)


def named_rows(side: ScoredForecast, rows: Any) -> Shown:
    """The rows that the caller names."""
    index = checked_rows(rows, side.y.shape[0])
    misses = index[_misses(side.columns["crps"][index])].tolist()
    return Shown(index, np.ones(index.size, np.bool_), misses, drawn=False)


def _misses(crps: Floats) -> list[int]:
    """The places of the largest numbers, the largest first; the first of equal ones."""
    largest = np.argpartition(-crps, WORST)[:WORST] if crps.size > WORST else np.arange(crps.size)
    return [int(k) for k in largest[np.lexsort((largest, -crps[largest]))]]


def finest(sides: Sequence[ScoredForecast], rows: Index) -> Floats:
    """What must show of a number in each of the rows: 1e-4 of the range over which the narrowest distribution is drawn.

    One for all numbers of a row: a label that lies on an atom must still do so when both are rounded.
    """
    distributions = [side.distributions(rows) for side in sides if side.is_distribution]
    ends = [
        _ends(np.broadcast_to(_numbers(distribution.quantiles(LEVELS)), (rows.size, LEVELS.size)))
        for distribution in distributions
    ]
    return np.asarray(np.min([high - low for low, high in ends], axis=0) / 1e4, np.float64)


def drawn_rows(side: ScoredForecast, rows: Index, resolution: Floats) -> list[dict[str, Any]]:
    """Quantiles and mean densities over cells of each of the rows; marks where there is no distribution."""
    return (
        _drawn(side.distributions(rows), resolution) if side.is_distribution else _marked(side.rows(rows), resolution)
    )


def _marked(forecast: Any, resolution: Floats) -> list[dict[str, Any]]:
    """What a prediction that is no distribution says of each row: marks on the axis."""
    marks = [(text, _numbers(values)) for text, values in _marks(forecast)]
    return [
        {"marks": [{"at": rounded(values[k], step), "text": text} for text, values in marks]}
        for k, step in enumerate(resolution)
    ]


def _drawn(forecast: Distribution, resolution: Floats) -> list[dict[str, Any]]:
    count = resolution.size
    quantiles = np.broadcast_to(_numbers(forecast.quantiles(LEVELS)), (count, LEVELS.size))
    low, high = _ends(quantiles)
    steps = np.linspace(0, 1, CELLS + 1)
    edges = low[:, None] + (high - low)[:, None] * steps
    if forecast.lattice is not None:
        return _bars(forecast, quantiles, low, high, resolution)
    atoms = atoms_of(forecast, quantiles)
    # what the atoms hold is drawn apart: the density is that of the rest
    cdf = _numbers(forecast.cdf(edges)) - atoms.up_to(edges)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        density = np.maximum(np.diff(cdf, axis=1), 0.0) / np.diff(edges, axis=1)
    return [
        {
            # a label of a million with a distribution one wide needs more digits than five
            "q": rounded(quantiles[k], resolution[k]),
            "from": rounded(low[k], resolution[k]),
            "to": rounded(high[k], resolution[k]),
            **_heights(density[k], window_of((quantiles[k, 49], quantiles[k, 149]), (high[k] - low[k]) / CELLS)),
            **_stems(atoms, k, resolution[k]),
        }
        for k in range(count)
    ]


def _heights(density: Floats, window: int) -> dict[str, Any]:
    """The density of one row, smoothed where it is rough: scores that happen to lie close together make a comb."""
    even = smoothed(density, window)
    return {"density": rounded(density)} if even is None else {"density": rounded(even), "smoothed": True}


def _stems(atoms: DrawnAtoms, k: int, resolution: float) -> dict[str, Any]:
    """The atoms of one row, [value, probability] each; nothing where it has none."""
    has = atoms.shares[k] > 0
    at, shares = rounded(atoms.at[k, has], resolution), rounded(atoms.shares[k, has])
    return {"atoms": [list(pair) for pair in zip(at, shares, strict=True)]} if has.any() else {}


def _bars(
    forecast: Distribution, quantiles: Floats, low: Floats, high: Floats, resolution: Floats
) -> list[dict[str, Any]]:
    """The same of distributions of counts: a bar around each point of the lattice, or around equally many of them."""
    origin, step = forecast.lattice or (0.0, 1.0)
    first, last = np.floor((low - origin) / step), np.ceil((high - origin) / step)
    each = np.ceil((last - first + 1) / CELLS)
    bars = np.arange(CELLS + 1)
    edges = origin + step * (first[:, None] + each[:, None] * bars - 0.5)
    mass = np.diff(_numbers(forecast.cdf(edges)), axis=1)
    count = np.ceil((last - first + 1) / each).astype(np.int64)
    return [
        {
            "q": rounded(quantiles[k], resolution[k]),
            "from": rounded(edges[k, 0], resolution[k]),
            "to": rounded(edges[k, count[k]], resolution[k]),
            "density": rounded(mass[k, : count[k]] / (each[k] * step)),
            "bars": True,
            "step": step,
        }
        for k in range(len(quantiles))
    ]


def _ends(quantiles: Floats) -> tuple[Any, Any]:
    """Where each distribution is drawn: its finite quantiles and a tenth of their range beyond; never nothing.

    A tail that goes on for more than the width of the 90% interval beyond it is cut: the rest would be a spike.
    """
    finite = np.isfinite(quantiles)
    some = finite.any(axis=1)
    low = np.where(some, np.where(finite, quantiles, np.inf).min(axis=1), 0.0)
    high = np.where(some, np.where(finite, quantiles, -np.inf).max(axis=1), 0.0)
    lower, upper = quantiles[:, LOWER], quantiles[:, UPPER]
    with np.errstate(invalid="ignore"):
        reach = upper - lower
        low = np.where(reach > 0, np.fmax(low, lower - reach), low)
        high = np.where(reach > 0, np.fmin(high, upper + reach), high)
    room = np.where(high > low, (high - low) / 10, 0.05 * np.abs(low))
    room = np.where(room > 0, room, 1.0)
    return low - room, high + room


def _marks(forecast: Any) -> list[tuple[str, Any]]:
    """Its marks, or some of them; of an ensemble those of its members, the median of a distribution among them."""
    if not forecast.parts():
        marks = forecast.marks()
        return [(marks[k].text, marks[k].values) for k in _few(len(marks))]
    return [
        (f"member {k}: {text}", values)
        for k, member in zip(range(1, 21), forecast.parts(), strict=False)
        for text, values in _marks(member)
    ]


def _few(count: int, most: int = 50) -> list[int]:
    """At most so many places, evenly over all."""
    return sorted({round(place) for place in np.linspace(0, count - 1, min(count, most))})


def _numbers(values: Any) -> Floats:
    return np.asarray(to_numpy(values), np.float64)
