"""The arguments of plots: forecasts, one or by name, labels, and which rows to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibrant._arguments import same_length
from calibrant._arrays import floats, to_numpy
from calibrant._words import count
from calibrant.distributions.base import Distribution
from calibrant.metrics.forecasts import forecast
from calibrant.metrics.forecasts import labels_of as labels_in
from calibrant.metrics.label_kinds import for_labels
from calibrant.plots.theme import Look, looks, plain

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Indices = np.ndarray[Any, np.dtype[np.int64]]


def numbers(array: Any) -> Numbers:
    """An array of any kind as numpy floats."""
    return to_numpy(array).astype(np.float64)


def evenly(count: int, most: int) -> Indices:
    """At most so many of 0, ..., count - 1, evenly spaced, both ends among them."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).round().astype(np.int64))


def bins_of(bins: Any) -> int:
    """A count of bins, checked."""
    if isinstance(bins, bool) or not isinstance(bins, (int, np.integer)) or bins < 2:
        raise ValueError(f"bins must be a count of at least 2, got {bins!r}")
    return int(bins)


def named(forecasts: Any, y: Any) -> list[tuple[str, Any, Look]]:
    """(name, forecast, look) of one forecast, whose name is "", or of a mapping of names to forecasts.

    Rates become Poisson distributions where all labels are counts, as in a report.
    """
    labels = to_numpy(labels_in(y))
    if not isinstance(forecasts, Mapping):
        return [("", for_labels(forecast(forecasts), labels), looks(1)[0])]
    if not forecasts:
        raise ValueError("a plot needs at least one forecast, got an empty mapping")
    each = zip(forecasts.items(), looks(len(forecasts)), strict=True)
    return [(plain(name), for_labels(forecast(value), labels), look) for (name, value), look in each]


def chosen_rows(H: Any, rows: Any, *, most: int) -> list[int]:
    """The rows to draw, as whole numbers from 0 on; of a single distribution, or of one row, the only one."""
    if not H.shape:
        if rows is not None:
            raise ValueError(f"rows must be left out for a single distribution, got {rows!r}")
        return [0]
    if rows is None and len(H) == 1:
        return [0]
    if rows is None:
        raise ValueError(f"rows must say which of the {count(len(H), 'row')} to draw, got None")
    index = np.atleast_1d(np.asarray(rows))
    if index.dtype.kind not in "iu" or index.ndim != 1:
        raise TypeError(f"rows must be a whole number or a list of them, got {rows!r}")
    outside = index[(index < -len(H)) | (index >= len(H))]
    if len(outside):
        raise ValueError(f"rows must lie among the {count(len(H), 'row')} of the forecast, got {outside[0]}")
    if not 1 <= len(index) <= most:
        raise ValueError(f"rows must name between 1 and {most} rows, got {len(index)}")
    return [int(row) % len(H) for row in index]


def row_of(H: Distribution, row: int) -> Distribution:
    """One row as a single distribution."""
    return H[row] if H.shape else H


def labels_of(H: Any, y: Any) -> Numbers | None:
    """The labels, one per row of the forecast, or the one of a single distribution; None where there are none."""
    if y is None:
        return None
    labels = np.atleast_1d(numbers(floats("y", y)))
    if labels.ndim != 1:
        raise ValueError(f"y must be 1-d, got shape {labels.shape}")
    same_length("the forecast", len(H) if H.shape else 1, "y", len(labels))
    return labels


def parts_of(base: Any, H: Any) -> Sequence[Any]:
    """The forecasts inside `base`, each as its distribution if it has one: an ensemble's members, or itself."""
    if base is None:
        return ()
    base = forecast(base)
    if base.shape != H.shape:
        given, wanted = (count(len(each), "row") if each.shape else "a single distribution" for each in (base, H))
        raise ValueError(f"base must have the rows of the forecast, {wanted}, got {given}")
    return _flat(base)


def _flat(base: Any) -> Sequence[Any]:
    if not base.parts():
        return [base.as_distribution() if base.has_distribution else base]
    return [part for member in base.parts() for part in _flat(member)]
