"""The arguments of plots: forecasts, one or by name, with their labels, and which rows to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from calibrant._arguments import same_length, unit
from calibrant._arrays import Array, floats, refuse, to_numpy
from calibrant._words import count
from calibrant.distributions.base import Distribution
from calibrant.metrics.calibration import drawn_pits
from calibrant.metrics.forecasts import forecast, paired
from calibrant.metrics.label_kinds import for_labels
from calibrant.plots.style import percent, plain

Numbers = np.ndarray[Any, np.dtype[np.float64]]


def numbers(array: Any) -> Numbers:
    """An array of any kind as numpy floats."""
    return to_numpy(array).astype(np.float64)


def evenly(count: int, most: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """At most so many of 0, ..., count - 1, evenly spaced, both ends among them."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).round().astype(np.int64))


def whole(name: str, value: Any, *, least: int = 1) -> int:
    """A count, checked."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number, at least {least}, got {value!r}")
    return int(value)


class Given(NamedTuple):
    """A forecast with its labels."""

    name: str
    """The empty text where it is the only one."""
    H: Any
    y: Array
    """The labels in the kind of array of the forecast."""
    labels: Numbers


def named(H: Any, y: Any) -> list[Given]:
    """One forecast, or those of a mapping of names to forecasts, with their labels.

    Rates become Poisson distributions where all labels are counts, as in a report.
    """
    every = H if isinstance(H, Mapping) else {"": H}
    if not every:
        raise ValueError("a plot needs at least one forecast, got an empty mapping")
    found = []
    for name, each in every.items():
        checked, labels = paired(each, y, f"the forecast {name!r}" if isinstance(H, Mapping) else "the forecast")
        found.append(Given(plain(name), for_labels(checked, labels), labels, numbers(labels)))
    return found


def one(H: Any, y: Any) -> Given:
    """One forecast with its labels."""
    if isinstance(H, Mapping):
        raise TypeError(
            "this plot draws one forecast, got a mapping of names to forecasts: draw each on axes of its own"
        )
    return named(H, y)[0]


class Spans(NamedTuple):
    """The intervals of one coverage and their labels, one number per row each."""

    words: str
    """What the intervals are called."""
    lower: Numbers
    centre: Numbers
    """The median, or the middle of the interval where there is none."""
    upper: Numbers
    y: Numbers
    inside: Any
    """l_i <= y_i <= u_i."""
    tested: Any
    """The same by drawn PITs where labels lie on atoms, as counts do: then it has just the probability `coverage`."""

    @classmethod
    def of(cls, given: Given, coverage: float) -> Spans:
        """Those of a forecast, or the error that it has none."""
        y, H, coverage = given.labels, given.H, unit("coverage", coverage)
        lower, upper = (np.broadcast_to(numbers(bound), y.shape) for bound in H.bounds(coverage))
        inside = tested = (lower <= y) & (y <= upper)
        if H.has_distribution:
            centre = np.broadcast_to(numbers(H.quantile(0.5)), y.shape)
            pit, on_atoms = drawn_pits(H.as_distribution(), given.y)
            if on_atoms:
                tested = (pit > (1 - coverage) / 2) & (pit <= (1 + coverage) / 2)
        else:
            centre = (lower + upper) / 2
        words = "its own intervals" if H.own_bounds else f"{percent(coverage)} intervals"
        return cls(words, lower, centre, upper, y, inside, tested)

    @property
    def predicted(self) -> Numbers:
        """The centres, or the error that one is infinite."""
        refuse("the predicted value", ~np.isfinite(self.centre), "is not finite")
        return self.centre

    @property
    def width(self) -> Numbers:
        """u_i - l_i; nan where both are the same infinity."""
        with np.errstate(invalid="ignore"):
            return self.upper - self.lower

    def some(self, order: Any, most: int) -> Spans:
        """At most so many rows, evenly spaced in the order given."""
        chosen = order[evenly(len(order), whole("most", most))]
        return Spans(self.words, *(each[chosen] for each in self[1:]))


def inside_in_words(coverage: float, found: Sequence[Spans]) -> str:
    """The label of an axis of coverage."""
    split = ", ties split" if any(spans.tested is not spans.inside for spans in found) else ""
    return f"in {percent(coverage)} intervals{split}, %"


def chosen_rows(H: Any, rows: Any, *, most: int) -> list[int]:
    """The rows to draw, as whole numbers from 0 on; of a single distribution, or of one row, the only one."""
    if not H.shape and rows is not None:
        raise ValueError(f"rows must be left out for a single distribution, got {rows!r}")
    if rows is None and (not H.shape or len(H) == 1):
        return [0]
    if rows is None:
        raise ValueError(f"rows must say which of the {count(len(H), 'row')} to draw, got None")
    try:
        chosen: list[int] = np.atleast_1d(np.arange(len(H))[np.asarray(rows)]).tolist()
    except IndexError:
        raise ValueError(f"rows must lie among the {count(len(H), 'row')} of the forecast, got {rows!r}") from None
    if not 1 <= len(chosen) <= most:
        raise ValueError(f"rows must name between 1 and {most} rows, got {len(chosen)}")
    return chosen


def row_of(H: Distribution, row: int) -> Distribution:
    """One row as a single distribution."""
    return H[row] if H.shape else H


def labels_of(H: Any, y: Any) -> Numbers | None:
    """The labels, one per row of the forecast, or the one of a single distribution; None where there are none."""
    if y is None:
        return None
    labels = numbers(floats("y", y if H.shape else [y] if np.ndim(y) == 0 else y, ndim=1))
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
    if base.parts():
        return [part for member in base.parts() for part in parts_of(member, H)]
    return [base.as_distribution() if base.has_distribution else base]
