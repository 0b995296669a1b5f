"""The forecasts of single rows in numbers that the page can draw: quantiles, densities, atoms, marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import to_numpy
from calibrant.distributions.base import Distribution
from calibrant.judging.part import LEVELS
from calibrant.judging.rows import Floats, ForecastRows
from calibrant.metrics.rounding import rounded

CELLS = 100
LOWER, UPPER = 9, 189
"""The places of the ends of the 90% interval among the levels."""
SMOOTHED_OVER = 0.5
"""Cells are averaged over so many standard deviations (of a normal with the same quartiles), twice: a normal
density loses 2% of its height by it."""
PEAKS = 3
"""A density with more peaks than this is rough."""
ATOMS, HEAVY = 4, 0.02
"""A distribution with more atoms is one of steps; of its steps only those that hold so much are drawn as atoms."""

Index = NDArray[np.int64]


def drawn_rows(forecasts: Sequence[ForecastRows], rows: Index) -> list[dict[str, Any]]:
    """Of each row `y`, `power` and, for each forecast, what is drawn of it.

    Places are whole numbers, in units of 10^power: a ten-thousandth of the range of the narrowest forecast or less. So
    a label that lies on an atom still does so on the page. Quantiles are differences from the one before.
    """
    y = to_numpy(forecasts[0].y)[rows]
    quantiles = [
        np.broadcast_to(_numbers(each.distributions(rows).quantiles(LEVELS)), (rows.size, LEVELS.size))
        if each.is_distribution
        else None
        for each in forecasts
    ]
    ends = [_ends(each) for each in quantiles if each is not None]
    narrowest = np.min([high - low for low, high in ends], axis=0)
    largest = np.max([np.abs(y), *(np.maximum(-low, high) for low, high in ends)], axis=0)
    finest = np.floor(np.log10(narrowest / 1e4))
    for each in forecasts:
        if isinstance(each.forecast, Distribution) and each.forecast.lattice is not None:
            finest = np.minimum(finest, np.floor(np.log10(each.forecast.lattice[1])) - 2)
    # a float has 15 digits, and 10^power must be one
    powers = np.clip(np.maximum(finest, np.floor(np.log10(np.maximum(largest, 1e-300))) - 14), -300, 300).astype(int)
    sides = [_side(each, rows, values, powers) for each, values in zip(forecasts, quantiles, strict=True)]
    return [
        {"y": _whole(y[k], int(power)), "power": int(power), "of": [side[k] for side in sides]}
        for k, power in enumerate(powers)
    ]


def _side(forecast: ForecastRows, rows: Index, quantiles: Floats | None, powers: Index) -> list[dict[str, Any]]:
    """One forecast of each of the rows: a distribution, or marks where there is none."""
    if quantiles is None:
        marks = [(text, np.broadcast_to(_numbers(values), rows.shape)) for text, values in _marks(forecast.rows(rows))]
        return [
            {"marks": [{"at": _whole(values[k], power), "text": text} for text, values in marks]}
            for k, power in enumerate(powers.tolist())
        ]
    distributions = forecast.distributions(rows)
    low, high = _ends(quantiles)
    drawn = _densities if distributions.lattice is None else _bars
    found = drawn(distributions, quantiles, low, high, powers)
    for k, (each, row) in enumerate(zip(found, rows.tolist(), strict=True)):
        steps, finite = np.full(LEVELS.size, None, object), np.isfinite(quantiles[k])
        steps[finite] = np.diff(_whole(quantiles[k, finite], int(powers[k])), prepend=0)
        each |= {"q": steps.tolist()}
        each |= {name: rounded(forecast.columns[name][row]) for name in ("pit", "crps")}
    return found


def _densities(
    forecast: Distribution, quantiles: Floats, low: Floats, high: Floats, powers: Index
) -> list[dict[str, Any]]:
    """Mean densities over equal cells, less what atoms hold, which are drawn as stems."""
    edges = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, CELLS + 1)
    at, shares = atoms_of(forecast, quantiles)
    below = at[:, None, :] <= edges[:, :, None]
    cdf = _numbers(forecast.cdf(edges)) - np.sum(shares[:, None, :] * below, axis=2)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        density = np.maximum(np.diff(cdf, axis=1), 0.0) / np.diff(edges, axis=1)
    found = []
    for k, power in enumerate(powers.tolist()):
        spread = (quantiles[k, 149] - quantiles[k, 49]) / 1.349
        even = smoothed(density[k], SMOOTHED_OVER * spread * CELLS / (high[k] - low[k]))
        each = _heights(density[k] if even is None else even) | ({} if even is None else {"smoothed": True})
        each |= {"from": _whole(low[k], power), "to": _whole(high[k], power)}
        if (stems := shares[k] > 0).any():
            each["atoms"] = list(zip(_whole(at[k, stems], power), rounded(shares[k, stems]), strict=True))
        found.append(each)
    return found


def _bars(forecast: Distribution, quantiles: Floats, low: Floats, high: Floats, powers: Index) -> list[dict[str, Any]]:
    """Counts: a bar around each point of the lattice, or around equally many of them; `start` is what lies below."""
    origin, step = forecast.lattice or (0.0, 1.0)
    first, last = np.floor((low - origin) / step), np.ceil((high - origin) / step)
    each = np.ceil((last - first + 1) / CELLS)
    edges = origin + step * (first[:, None] + each[:, None] * np.arange(CELLS + 1) - 0.5)
    cdf = _numbers(forecast.cdf(edges))
    count = np.ceil((last - first + 1) / each).astype(np.int64)
    return [
        _heights(np.diff(cdf[k, : count[k] + 1]) / (each[k] * step))
        | {"from": _whole(edges[k, 0], power), "to": _whole(edges[k, count[k]], power)}
        | {"bars": True, "step": step, "start": rounded(cdf[k, 0])}
        for k, power in enumerate(powers.tolist())
    ]


def _heights(density: Floats) -> dict[str, Any]:
    """A density in parts of its peak."""
    peak = float(density.max())
    scale = 9999 / peak if 0 < peak < np.inf else 0.0
    return {"density": _whole(np.where(np.isfinite(density), density, 0.0) * scale, 0), "peak": rounded(peak)}


def _whole(values: Any, power: int) -> Any:
    """Numbers in units of 10^power, as whole numbers."""
    scaled = np.asarray(values) / 10.0**power if power > 0 else np.asarray(values) * 10.0**-power
    return np.clip(np.rint(scaled), -(2.0**53), 2.0**53).astype(np.int64).tolist()


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


def atoms_of(forecast: Distribution, quantiles: Floats) -> tuple[Floats, Floats]:
    """The places of atoms in each row, and what they hold: 0 where a row has fewer than others, at most four.

    Where neighbouring quantiles are equal there is an atom. One that is too small for that does not show in a density.
    """
    same = (quantiles[:, 1:] == quantiles[:, :-1]) & np.isfinite(quantiles[:, 1:])
    found = [np.unique(row[1:][equal]) for row, equal in zip(quantiles, same, strict=True)]
    at = np.zeros((len(found), max(map(len, found), default=0)))
    is_atom = np.zeros(at.shape, np.bool_)
    for k, places in enumerate(found):
        at[k, : places.size], is_atom[k, : places.size] = places, True
    if not is_atom.any():
        return at[:, :0], at[:, :0]
    steps = bool(np.all(_jump(forecast, quantiles) > 0))  # a forecast that has atoms alone
    shares = _jump(forecast, at)
    shares = np.where(is_atom & (shares > (HEAVY if steps else 0.0)), shares, 0.0)
    few = np.sum(shares > 0, axis=1, keepdims=True) <= ATOMS
    return at, np.where(few, shares, 0.0)


def _jump(forecast: Distribution, at: Floats) -> Floats:
    """The probability of each place."""
    return _numbers(forecast.cdf(at)) - _numbers(forecast.cdf_left(at))


def smoothed(density: Floats, cells: float) -> Floats | None:
    """The density averaged over so many cells, twice; None where it is smooth as it is.

    What it integrates to stays, and what is zero beyond its ends stays zero.

    >>> comb = np.tile([0.0, 2.0], 50)
    >>> float(np.ptp(smoothed(comb, 9)[10:-10])) < 0.1, smoothed(np.exp(-(np.linspace(-3, 3, 100) ** 2)), 9)
    (True, None)
    """
    window = min(10, round(cells)) if np.isfinite(cells) else 0
    some = np.flatnonzero(density > 0)
    if window < 2 or not some.size or not np.isfinite(density).all() or _peaks(density) <= PEAKS:
        return None
    kernel = np.convolve(np.ones(window), np.ones(window))
    inside = slice(some[0], some[-1] + 1)
    part = density[inside]
    middle = slice((len(kernel) - 1) // 2, (len(kernel) - 1) // 2 + len(part))
    means, room = (np.convolve(each, kernel)[middle] for each in (part, np.ones_like(part)))
    found = np.zeros_like(density)
    found[inside] = means / room
    found *= density.sum() / found.sum()
    return found


def _peaks(density: Floats) -> int:
    """How many cells are higher than their neighbours by what the eye sees, a fiftieth of the whole height."""
    seen = np.round(50 * density / density.max())
    steps = np.sign(np.diff(seen[np.flatnonzero(np.diff(seen, prepend=-1.0))]))
    return int(np.sum((steps[:-1] > 0) & (steps[1:] < 0)))


def _marks(forecast: Any) -> list[tuple[str, Any]]:
    """Its marks, or some of them; of an ensemble those of its members, the median of a distribution among them."""
    if not forecast.parts():
        marks = forecast.marks()
        few = sorted({round(place) for place in np.linspace(0, len(marks) - 1, min(len(marks), 50))})
        return [(marks[k].text, marks[k].values) for k in few]
    return [
        (f"member {k}: {text}", values)
        for k, member in zip(range(1, 21), forecast.parts(), strict=False)
        for text, values in _marks(member)
    ]


def _numbers(values: Any) -> Floats:
    return np.asarray(to_numpy(values), np.float64)
