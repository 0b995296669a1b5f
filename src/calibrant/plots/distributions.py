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
from calibrant.plots.curves import Density, cdf_curve, density_of, quantiles, reach
from calibrant.plots.inputs import Numbers, chosen_rows, labels_of, numbers, parts_of, row_of
from calibrant.plots.style import AFTER, BEFORE, COLOURS, Palette, Style, drawing, name_rows, plain, span_y

_POINTS = 400
_COLOURS = (AFTER, BEFORE, *COLOURS[2:])
"""Of the rows of one picture, each its own."""
_MOST_RIDGES = 40
_FEW_ATOMS = 4
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
    raises. `base` is the forecast before calibration: a distribution is drawn dashed; points, bounds, quantiles and
    samples are ticks at the bottom. `y` are the labels of all rows, drawn as a dot on the curve (one far off as an
    arrow). `rows` is left out for a single distribution; several have a colour each.

    Args:
        H: The forecasts: one distribution per row.
        y: The labels of all rows, drawn as dots.
        rows: The numbers of the rows to draw, 7 at most; not needed for a single distribution.
        base: The forecasts before calibration, to draw with H.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Calibrator, Normal
    >>> f, noise = np.random.default_rng(0).normal(size=(2, 500))
    >>> base = Normal(f, 0.5)
    >>> H = Calibrator().fit(base, f + noise)(base)
    >>> ax = density(H, rows=[0, 1], base=base, y=f + noise)
    >>> ax.get_ylabel()
    'density, smoothed'
    """
    H = cast(Distribution, forecast(H).as_distribution())
    chosen, labels, parts = chosen_rows(H, rows, most=len(_COLOURS)), labels_of(H, y), parts_of(base, H)
    known = [_densities(H, parts, row) for row in chosen]
    drawn = [each for after, before in known for each in (after, *before)]
    limits = _limits([(each.x[0], each.x[-1]) for each in drawn])
    with drawing(ax) as (ax, palette):
        for row, (after, before), (name, colour, old) in zip(
            chosen, known, _looks(palette, chosen, parts), strict=True
        ):
            for each in before:
                _line(ax, palette, each, old, "--")
            _line(ax, palette, after, colour, "-", name)
            _ticks(ax, palette, parts, row, old)
        for row, (after, _) in zip(chosen, known, strict=True):
            _label(ax, palette, labels, row, after.at, limits)
        span_y(ax, 0, 1.1 * max(each.height.max() for each in drawn))
        probability = H.lattice is not None and H.lattice[1] == 1
        ax.set(xlabel="y", ylabel="probability" if probability else _density_in_words(drawn))
        _key(ax, palette, chosen, parts)
    return ax


def cdf(
    H: PredictionLike,
    y: ArrayLike | None = None,
    *,
    rows: int | Sequence[int] | SupportsArray | None = None,
    base: PredictionLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """H[x](y) of each of some rows against y, upright where it jumps.

    `base` is the forecast before calibration: distributions are dashed, Quantiles and Samples dots at their levels,
    points and bounds as ticks at the bottom. A dot on the curve is (y, H(y)), the label and its PIT. Mass at -inf or
    +inf shows as a curve that starts above 0 or ends below 1.

    Args:
        H: The forecasts: one distribution per row.
        y: The labels of all rows, drawn as dots.
        rows: The numbers of the rows to draw, 7 at most; not needed for a single distribution.
        base: The forecasts before calibration, to draw with H.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Calibrator
    >>> from calibrant.interpolators import Naive
    >>> H = Calibrator(interpolator=Naive()).fit([0.0, 0.0, 0.0], [1.0, 2.0, 4.0])([0.0])
    >>> ax = cdf(H, rows=0, base=[0.0], y=[3.0])
    >>> ax.get_ylabel()
    'H(y)'
    """
    H = cast(Distribution, forecast(H).as_distribution())
    chosen, labels, parts = chosen_rows(H, rows, most=len(_COLOURS)), labels_of(H, y), parts_of(base, H)
    distributions = [part for part in (H, *parts) if isinstance(part, Distribution)]
    known = [[(each := row_of(part, row), quantiles(each)) for part in distributions] for row in chosen]
    limits = _limits([reach(q) for several in known for _, q in several])
    with drawing(ax) as (ax, palette):
        for row, several, (name, colour, old) in zip(chosen, known, _looks(palette, chosen, parts), strict=True):
            ends = np.array([reach(q) for _, q in several])
            grid = np.linspace(ends.min(), ends.max(), _POINTS)
            for k, (distribution, q) in enumerate(several):
                style: Style = (
                    {"color": old, "linestyle": "--"} if k else {"color": colour, "label": name, "zorder": 2.2}
                )
                ax.plot(*cdf_curve(distribution, q, grid), **style, linewidth=1.2 * palette.unit)
            _ticks(ax, palette, parts, row, old, at_levels=True)
        for row, several in zip(chosen, known, strict=True):
            _label(ax, palette, labels, row, several[0][0].cdf, limits)
        ax.set(ylim=(0, 1.03), xlabel="y", ylabel="H(y)")
        _key(ax, palette, chosen, parts, at_levels=True)
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

    A base that is more than twice as high as the highest of them is cut off. Without `rows`, seven of them, evenly
    spaced in the order of the medians. `base` and `y` as in `density`; `labels` are the names of the rows that are
    drawn, their numbers by default.

    Args:
        H: The forecasts: one distribution per row.
        y: The labels of all rows, drawn as dots.
        rows: The numbers of the rows to draw; by default seven, evenly spaced in the order of the medians.
        base: The forecasts before calibration, to draw with H.
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
    known = [_densities(H, parts, row) for row in chosen]
    drawn = [each for after, before in known for each in (after, *before)]
    limits = _limits([(each.x[0], each.x[-1]) for each in drawn])
    scale = 1.3 / max(after.height.max() for after, _ in known)
    cut = any(scale * each.height.max() > _HIGHEST for _, before in known for each in before)
    with drawing(ax, height=20 + 7 * len(chosen)) as (ax, palette):
        for k, (row, (after, before)) in enumerate(zip(chosen, known, strict=True)):
            floor, order = len(chosen) - 1 - k, 3 * k + 2
            for each in before:
                heights = floor + np.minimum(scale * each.height, _HIGHEST)
                ax.plot(each.x, heights, color=palette.before, linestyle="--", zorder=order + 0.5)
            _ridge(ax, palette, after, floor, scale, order)
            _ticks(ax, palette, parts, row, palette.before, floor=floor, order=order + 1)
            _label(ax, palette, y, row, after.at, limits, floor=floor, scale=scale, order=order + 1)
        ax.set_ylim(-0.15, ax.get_ylim()[1])
        ax.set(xlabel="y", ylabel=_density_in_words(drawn))
        name_rows(ax, range(len(chosen))[::-1], names)
        _key(ax, palette, chosen[:1], parts, note=", cut off where too high" if cut else "")
    return ax


def typical_rows(medians: Numbers, count: int) -> list[int]:
    """Rows evenly spaced in the order of the medians, the lowest first."""
    order = np.argsort(medians, kind="stable")
    places = np.unique(np.linspace(0.03 * (len(order) - 1), 0.97 * (len(order) - 1), count).round().astype(int))
    return [int(row) for row in order[places]]


def _densities(H: Distribution, parts: Sequence[Any], row: int) -> tuple[Density, list[Density]]:
    """Of a row, calibrated, and before."""

    def of(distribution: Distribution, what: str) -> Density:
        return density_of(row_of(distribution, row), f"row {row} of {what}" if H.shape else what)

    return of(H, "H"), [of(part, "base") for part in parts if isinstance(part, Distribution)]


def _density_in_words(drawn: Sequence[Density]) -> str:
    return "density, smoothed" if any(each.smoothed for each in drawn) else "density"


def _looks(palette: Palette, chosen: Sequence[int], parts: Sequence[Any]) -> list[tuple[str, str, str]]:
    """For each row its name in the legend, its colour, and the colour of what was before."""
    if len(chosen) == 1:
        return [("after" if parts else "", palette.after, palette.before)]
    colours = map(palette.colour, _COLOURS)
    return [(f"row {row}", colour, colour) for row, colour in zip(chosen, colours, strict=False)]


def _line(ax: Axes, palette: Palette, drawn: Density, colour: str, line: str, name: str = "") -> None:
    """The density as a line; the atoms as stems, on a scale of their own: the whole axis is probability 1."""
    style: Style = {"color": colour, "linestyle": line}
    ax.plot(drawn.x, drawn.height, **style, linewidth=1.2 * palette.unit, label=name, zorder=2 if line == "--" else 2.2)
    at, mass = drawn.atoms
    upright = ax.get_xaxis_transform()
    ax.vlines(at, 0, mass, transform=upright, **style, linewidth=1.6 * palette.unit)
    ax.plot(at, mass, "o", transform=upright, color=colour, markersize=4 * palette.unit)
    for point, share in zip(at, mass, strict=True) if len(at) <= _FEW_ATOMS else ():
        where: Style = {
            "xycoords": upright,
            "xytext": (5 * palette.unit, 0),
            "textcoords": "offset points",
            "va": "center",
        }
        ax.annotate(f"{100 * share:.2g}%", (point, share), **where, fontsize=6 * palette.unit)


def _ridge(ax: Axes, palette: Palette, drawn: Density, floor: float, scale: float, order: float) -> None:
    style: Style = {"color": palette.after, "zorder": order}
    heights = floor + scale * drawn.height
    ax.fill_between(drawn.x, floor, heights, color=palette.tint(AFTER, 0.3), linewidth=0, zorder=order)
    ax.plot(drawn.x, heights, **style)
    ax.plot(drawn.x[[0, -1]], [floor, floor], **style, linewidth=0.4 * palette.unit)
    ax.vlines(drawn.atoms.at, floor, floor + drawn.atoms.mass, **style, linewidth=2 * palette.unit)


def _label(
    ax: Axes,
    palette: Palette,
    labels: Numbers | None,
    row: int,
    curve: Callable[[float], Any],
    limits: tuple[float, float],
    *,
    floor: float = 0,
    scale: float = 1,
    order: float = 3,
) -> None:
    """The label of a row: a dot on its curve, and a line down to the axis; beyond the limits an arrow there instead."""
    if labels is None:
        return
    y, (low, high) = labels[row], limits
    top = floor + scale * float(numbers(curve(y)))
    style: Style = {"color": palette.ink, "zorder": order, "clip_on": False, "linestyle": "none"}
    if low <= y <= high:
        ax.vlines(y, floor, top, color=palette.ink, linestyle=":", zorder=order)
        ax.plot(y, top, **style, marker="o", label="label y")
    else:
        near = 0.32 * (high - low)  # just outside the curves, which take the third in the middle
        end, arrow = (low + near, "<") if y < low else (high - near, ">")
        ax.plot(end, top, **style, marker=arrow, label="label beyond")


def _limits(ends: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """As far as labels are drawn where they lie: once more the width of all curves to either side."""
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    return low - (high - low), high + (high - low)


def _ticks(
    ax: Axes,
    palette: Palette,
    parts: Sequence[Any],
    row: int,
    colour: str,
    *,
    floor: float | None = None,
    order: float = 2.5,
    at_levels: bool = False,
) -> None:
    """The numbers of a base that is no distribution, as ticks from the floor, by default the axis, up.

    With `at_levels`, as squares at the levels instead where they are quantiles.
    """
    bottom, top, transform = (
        (0, 0.06, ax.get_xaxis_transform()) if floor is None else (floor, floor + 0.3, ax.transData)
    )
    for part in parts:
        if isinstance(part, Distribution):
            continue
        marks = part.marks()
        at = [numbers(mark.values[row : row + 1])[0] for mark in marks]
        if at_levels and _has_levels(part):
            ax.plot(at, [mark.level for mark in marks], "s", color=colour, zorder=order)
        else:
            ax.vlines(at, bottom, top, transform=transform, color=colour, linewidth=1.4 * palette.unit, zorder=order)


def _has_levels(part: Any) -> bool:
    """Whether the numbers of a prediction that is no distribution are quantiles."""
    return not part.has_distribution and all(mark.level is not None for mark in part.marks())


def _key(
    ax: Axes, palette: Palette, chosen: Sequence[int], parts: Sequence[Any], *, note: str = "", at_levels: bool = False
) -> None:
    """What the legend says of the base; of a single forecast without labels nothing."""
    if parts:
        colour = palette.before if len(chosen) == 1 else palette.ink
        squares = at_levels and any(map(_has_levels, parts))
        dashed = any(isinstance(part, Distribution) for part in parts)
        style: Style = {"linestyle": "--"} if dashed else {"linestyle": "none", "marker": "s" if squares else "|"}
        ax.plot([], [], color=colour, **style, label=f"before{note}")
