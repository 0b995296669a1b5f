"""The predictive distributions themselves: densities, CDFs, ridges of densities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes

from calibrant._arguments import same_length
from calibrant._types import ArrayLike, SupportsArray
from calibrant.distributions.base import Distribution
from calibrant.forecast import PredictionLike
from calibrant.metrics.forecasts import forecast
from calibrant.plots.curves import Outline, cdf_of, density_of
from calibrant.plots.inputs import Numbers, chosen_rows, labels_of, numbers, parts_of, row_of
from calibrant.plots.style import AFTER, BEFORE, COLOURS, Palette, Style, drawing, name_rows, plain, span_y

_COLOURS = (AFTER, BEFORE, *COLOURS[2:])
"""Of the rows of one picture, each its own."""
_MOST_RIDGES = 40
_HIGHEST = 2.6


def density(
    H: PredictionLike,
    y: ArrayLike | None = None,
    *,
    rows: int | Sequence[int] | SupportsArray | None = None,
    base: PredictionLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The density of each of some rows, from the quantile 0.001 to 0.999 but not into far tails.

    The density of a linear interpolation is a spike for every score: it is smoothed, as the axis then says. An atom, as
    `clip` makes one, is a stem whose height is its probability; a distribution of atoms alone has no density and
    raises. Several rows have a colour each.

    Args:
        H: The forecasts: one distribution per row.
        y: The labels of all rows, drawn as dots on the curves, or as arrows where they are far off.
        rows: The numbers of the rows to draw, 7 at most; not needed for a single distribution.
        base: The forecasts before calibration: distributions are dashed, numbers of others are marks at the bottom.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Calibrator, Normal
    >>> f, noise = np.random.default_rng(0).normal(size=(2, 500))
    >>> base = Normal(f, 0.5)
    >>> H = Calibrator().fit(base, f + noise)(base)
    >>> ax = density(H, rows=[0, 1], base=base, y=f + noise)
    >>> ax.get_ylabel()
    'density, smoothed'
    """
    return _draw(density_of, H, y, rows, base, ax)


def cdf(
    H: PredictionLike,
    y: ArrayLike | None = None,
    *,
    rows: int | Sequence[int] | SupportsArray | None = None,
    base: PredictionLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """H[x](y) of each of some rows against y, upright where it jumps.

    A dot on the curve is (y, H(y)), the label and its PIT. Mass at -inf or +inf shows as a curve that starts above 0 or
    ends below 1. Several rows have a colour each.

    Args:
        H: The forecasts: one distribution per row.
        y: The labels of all rows, drawn as dots on the curves, or as arrows where they are far off.
        rows: The numbers of the rows to draw, 7 at most; not needed for a single distribution.
        base: The forecasts before calibration: distributions are dashed, quantiles and samples are squares at their
            levels, points and bounds squares at 0.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Calibrator
    >>> from calibrant.interpolators import Naive
    >>> H = Calibrator(interpolator=Naive()).fit([0.0, 0.0, 0.0], [1.0, 2.0, 4.0])([0.0])
    >>> ax = cdf(H, rows=0, base=[0.0], y=[3.0])
    >>> ax.get_ylabel()
    'H(y)'
    """
    return _draw(cdf_of, H, y, rows, base, ax)


def _draw(curve_of: Callable[..., Outline], given: Any, y: Any, rows: Any, base: Any, ax: Axes | None) -> Axes:
    """The curves of some rows, before and after, with their labels."""
    H = cast(Distribution, forecast(given).as_distribution())
    chosen, labels, parts = chosen_rows(H, rows, most=len(_COLOURS)), labels_of(H, y), parts_of(base, H)
    known = [_curves(curve_of, H, parts, row) for row in chosen]
    drawn = [curve for after, before in known for curve in (after, *before)]
    limits, is_cdf = _limits(drawn), curve_of is cdf_of
    with drawing(ax) as (ax, palette):
        for row, (after, before), colour in zip(chosen, known, map(palette.colour, _COLOURS), strict=False):
            old, name = palette.colour(BEFORE), "after" if parts else ""
            if len(chosen) > 1:
                old, name = colour, f"row {row}"
            for curve in before:
                _line(ax, palette, curve, {"color": old, "linestyle": "--", "label": "before"})
            _line(ax, palette, after, {"color": colour, "label": name})
            for at, levels in _marks(parts, row):
                heights, mark = (levels, "s") if is_cdf else (np.zeros(len(at)), "|")
                ax.plot(at, heights, mark, color=old, markersize=(4 if is_cdf else 8) * palette.unit, label="before")
        for row, (after, _) in zip(chosen, known, strict=True):
            if labels is not None:
                height = numbers(row_of(H, row).cdf(labels[row])) if is_cdf else after.at(labels[row])
                _label(ax, palette, labels[row], 0, float(height), limits)
        if is_cdf:
            ax.set(ylim=(0, 1.03), ylabel="H(y)")
        else:
            span_y(ax, 0, 1.1 * max(curve.height.max() for curve in drawn))
            probability = H.lattice is not None and H.lattice[1] == 1
            ax.set_ylabel("probability" if probability else _density_in_words(drawn))
        ax.set_xlabel("y")
    return ax


def ridgeline(
    H: PredictionLike,
    y: ArrayLike | None = None,
    *,
    rows: int | Sequence[int] | SupportsArray | None = None,
    base: PredictionLike | None = None,
    labels: Sequence[object] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The densities of several rows, one above the other, drawn as by `density`: all on one scale.

    A base that is more than twice as high as the highest of them is cut off.

    Args:
        H: The forecasts: one distribution per row.
        y: The labels of all rows, drawn as dots on the curves, or as arrows where they are far off.
        rows: The numbers of the rows to draw; by default seven, evenly spaced in the order of the medians.
        base: The forecasts before calibration: distributions are dashed, numbers of others are marks at the bottom.
        labels: The names of the rows drawn; their numbers by default.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Calibrator, Normal
    >>> f, noise = np.random.default_rng(0).normal(size=(2, 500))
    >>> base = Normal(f, 0.5)
    >>> H = Calibrator().fit(base, f + noise)(base)
    >>> ax = ridgeline(H, rows=[3, 1, 4], base=base, y=f + noise)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['row 3', 'row 1', 'row 4']
    """
    H = cast(Distribution, forecast(H).as_distribution())
    if H.shape and len(H) == 0:
        raise ValueError(f"a ridgeline needs a forecast of at least one row, got {H!r}")
    if rows is None and H.shape:
        rows = typical_rows(numbers(H.ppf(0.5)), 7)[::-1]
    chosen, y, parts = chosen_rows(H, rows, most=_MOST_RIDGES), labels_of(H, y), parts_of(base, H)
    names = [f"row {row}" for row in chosen] if labels is None else [plain(name, most=20) for name in labels]
    same_length("the rows that are drawn", len(chosen), "labels", len(names))
    known = [_curves(density_of, H, parts, row) for row in chosen]
    drawn = [curve for after, before in known for curve in (after, *before)]
    limits, scale = _limits(drawn), 1.3 / max(after.height.max() for after, _ in known)
    cut = any(scale * curve.height.max() > _HIGHEST for _, before in known for curve in before)
    old: Style = {"label": "before, cut off where too high" if cut else "before"}
    with drawing(ax, height=20 + 7 * len(chosen)) as (ax, palette):
        old |= {"color": palette.colour(BEFORE)}
        for k, (row, (after, before)) in enumerate(zip(chosen, known, strict=True)):
            floor, x = len(chosen) - 1 - k, after.x
            heights = floor + scale * after.height
            ridge: Style = {"color": palette.colour(AFTER), "zorder": 2 + k}
            for curve in before:
                ax.plot(curve.x, floor + np.minimum(scale * curve.height, _HIGHEST), "--", zorder=2 + k, **old)
            ax.fill_between(x, floor, heights, color=palette.tint(AFTER, 0.3), linewidth=0, zorder=2 + k)
            ax.plot(x, heights, **ridge)
            ax.plot(x[[0, -1]], [floor, floor], **ridge, linewidth=0.4 * palette.unit)
            ax.vlines(after.atoms, floor, floor + after.masses, **ridge, linewidth=2 * palette.unit)
            for at, _ in _marks(parts, row):
                ax.plot(at, np.full(len(at), floor + 0.1), "|", **old, markersize=6 * palette.unit, zorder=3 + k)
            if y is not None:
                _label(ax, palette, y[row], floor, floor + scale * after.at(y[row]), limits, zorder=3 + k)
        ax.set_ylim(-0.15, ax.get_ylim()[1])
        ax.set(xlabel="y", ylabel=_density_in_words(drawn))
        name_rows(ax, range(len(chosen))[::-1], names)
    return ax


def typical_rows(medians: Numbers, count: int) -> list[int]:
    """Rows evenly spaced in the order of the medians, the lowest first."""
    order = np.argsort(medians, kind="stable")
    places = np.unique(np.linspace(0.03 * (len(order) - 1), 0.97 * (len(order) - 1), count).round().astype(int))
    return [int(row) for row in order[places]]


def _curves(
    curve_of: Callable[..., Outline], H: Distribution, parts: Sequence[Any], row: int
) -> tuple[Outline, list[Outline]]:
    """Of a row, calibrated, and before."""
    named = [(H, "H"), *((part, "base") for part in parts if isinstance(part, Distribution))]
    after, *before = [curve_of(row_of(each, row), f"row {row} of {what}" if H.shape else what) for each, what in named]
    return after, before


def _marks(parts: Sequence[Any], row: int) -> list[tuple[Numbers, Numbers]]:
    """The numbers of each base that is no distribution, and their levels, or 0."""
    marks = [part.marks() for part in parts if not isinstance(part, Distribution)]
    at = [np.array([float(numbers(mark.values[row : row + 1])[0]) for mark in each]) for each in marks]
    return list(zip(at, [np.array([mark.level or 0.0 for mark in each]) for each in marks], strict=True))


def _density_in_words(drawn: Sequence[Outline]) -> str:
    return "density, smoothed" if any(curve.smoothed for curve in drawn) else "density"


def _limits(drawn: Sequence[Outline]) -> tuple[float, float]:
    """As far as labels are drawn where they lie: once more the width of all curves to either side."""
    low, high = min(curve.x[0] for curve in drawn), max(curve.x[-1] for curve in drawn)
    return low - (high - low), high + (high - low)


def _line(ax: Axes, palette: Palette, curve: Outline, look: Style) -> None:
    """The curve; the atoms as stems, on a scale of their own: the whole axis is probability 1."""
    ax.plot(curve.x, curve.height, **look)
    upright, look = ax.get_xaxis_transform(), look | {"label": ""}
    ax.vlines(curve.atoms, 0, curve.masses, transform=upright, **look)
    for at, mass in zip(curve.atoms, curve.masses, strict=True):
        ax.plot(at, mass, "o", transform=upright, color=look["color"])
        ax.annotate(f" {100 * mass:.2g}%", (at, mass), xycoords=upright, va="bottom", fontsize=6 * palette.unit)


def _label(
    ax: Axes, palette: Palette, y: float, floor: float, top: float, limits: tuple[float, float], zorder: float = 3
) -> None:
    """A dot on the curve, and a line down to the axis; beyond the limits an arrow there instead."""
    low, high = limits
    style: Style = {"color": palette.ink, "zorder": zorder, "clip_on": False}
    if low <= y <= high:
        ax.vlines(y, floor, top, color=palette.ink, linestyle=":", zorder=zorder)
        ax.plot(y, top, "o", **style, label="label y")
    else:
        near = 0.32 * (high - low)  # just outside the curves, which take the third in the middle
        ax.plot(low + near if y < low else high - near, top, "<" if y < low else ">", **style, label="label beyond")
