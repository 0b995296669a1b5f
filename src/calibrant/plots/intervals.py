"""Intervals: along x, one by one in the order of their width, and how wide they are for what they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib import dates
from matplotlib.axes import Axes

from calibrant._arrays import same_length, to_numpy, unit
from calibrant.metrics.forecasts import forecast, paired
from calibrant.plots.curves import reach
from calibrant.plots.inputs import Numbers, evenly, labels_of, named, numbers
from calibrant.plots.theme import AFTER, LABEL, SHADE, Style, drawing, percent, tinted

_MOST_POSITIONS = 2000


def fan(
    H: Any, *, x: Any = None, y: Any = None, coverages: Sequence[float] = (0.5, 0.8, 0.95), ax: Axes | None = None
) -> Axes:
    """[H.ppf((1 - c) / 2), H.ppf((1 + c) / 2)] for each coverage c, along x: bands, the darker the surer.

    x holds a number or a date a row, the row's place by default; rows are drawn in the order of x. Of more than 2,000
    rows 2,000 are drawn, evenly spaced in that order, and so are their labels y. What lies far beyond the rest leaves
    the picture, as an infinite bound does; a label there is a triangle at the edge.

    >>> from calibrant import Normal
    >>> t = np.arange(50)
    >>> ax = fan(Normal(np.sin(t / 8), 0.1 + t / 100), x=t, coverages=(0.5, 0.9))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['50%', '90%', 'median']
    """
    H = forecast(H)
    if not H.shape or len(H) == 0:
        raise ValueError(f"a fan needs a forecast of at least one row, got {H!r}")
    wanted = sorted({unit("coverages", c) for c in coverages}, reverse=True)
    if not wanted:
        raise ValueError("coverages must hold at least one number inside (0, 1), got none")
    labels, at = labels_of(H, y), _positions(x, len(H))
    order = np.argsort(at, kind="stable")
    order = order[evenly(len(order), _MOST_POSITIONS)]
    H, at = H[order], at[order]
    bands = [[numbers(H.quantile((1 + side * c) / 2)) for side in (-1, 1)] for c in wanted]
    middle = numbers(H.quantile(0.5))
    if not np.isfinite(middle).any():
        raise ValueError("the forecast has no finite median to draw")
    seen = None if labels is None else labels[order]
    low, high = _limits(np.ravel([*bands, [middle, middle]]), seen, middle[np.isfinite(middle)])
    shades = np.linspace(0.2, 0.62, len(wanted)) if len(wanted) > 1 else [0.4]
    marker = "o" if len(at) == 1 else None
    drawn: list[Any] = []
    with drawing(ax) as ax:
        for k, ((lower, upper), shade, c) in enumerate(zip(bands, shades, wanted, strict=True)):
            edges = np.clip(lower, low - (high - low), None), np.clip(upper, None, high + (high - low))
            colour = tinted(AFTER, shade)
            if len(at) == 1:
                band: Any = ax.vlines(at, *edges, color=colour, linewidth=2 + 2 * k, label=percent(c))
            else:
                band = ax.fill_between(at, *edges, color=colour, linewidth=0, label=percent(c))
            drawn.insert(0, band)  # narrow to wide, as the eye goes out from the median
        drawn += ax.plot(at, middle, color=AFTER, linewidth=1, marker=marker, label="median")
        if seen is not None:
            size = float(np.clip(25 / np.sqrt(len(at)), 1, 2.5))
            dots: Style = {"marker": "o", "markersize": size, "markeredgewidth": 0}
            drawn += _dots(ax, at, seen, low, high, **dots, label="label y")
        ax.set(xlabel="row" if x is None else "x", ylabel="y", ylim=(low, high + 0.25 * (high - low)))
        if at.dtype.kind == "M":
            _dates(ax)
        ax.legend(handles=drawn, loc="upper left", ncols=3, frameon=True, framealpha=0.8, edgecolor="none")
    return ax


def _dates(ax: Axes) -> None:
    """Ticks that fit into 80 mm."""
    locator = dates.AutoDateLocator(maxticks=6)  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def _positions(x: Any, m: int) -> Any:
    """A number or a date for each of m rows."""
    if x is None:
        return np.arange(m)
    at = to_numpy(x) if not isinstance(x, (list, tuple)) else np.asarray(x)
    if at.dtype.kind == "O":
        try:
            at = at.astype("datetime64[us]")
        except (TypeError, ValueError):
            raise TypeError(f"x must hold numbers or dates, got {type(at.flat[0]).__name__}") from None
    if at.dtype.kind not in "iufM":
        raise TypeError(f"x must hold numbers or dates, got dtype {at.dtype}")
    if at.ndim != 1:
        raise ValueError(f"x must be 1-d, got shape {at.shape}")
    same_length("the forecast", m, "x", len(at))
    missing = np.isnat(at) if at.dtype.kind == "M" else ~np.isfinite(at)
    if missing.any():
        raise ValueError(
            f"x is missing or infinite in row {int(np.argmax(missing))} ({int(missing.sum())} rows in all)"
        )
    return at


def _limits(bounds: Numbers, labels: Numbers | None, whole: Numbers) -> tuple[float, float]:
    """From the least to the largest bound and label, as far as `reach` and one more height allow; all of `whole`."""
    finite = bounds[np.isfinite(bounds)]
    low, high = reach(finite if len(finite) or labels is None else labels)
    low, high = min(low, *whole), max(high, *whole)
    if labels is not None:
        height = high - low
        low = min(low, max(float(labels.min()), low - height))
        high = max(high, min(float(labels.max()), high + height))
    room = 0.04 * (high - low)
    return low - room, high + room


def _dots(ax: Axes, at: Any, labels: Numbers, low: float, high: float, **style: Any) -> list[Any]:
    """Labels as dots, those beyond the picture as triangles at its edge: the handles for a legend."""
    inside = (labels >= low) & (labels <= high)
    drawn = ax.plot(at[inside], labels[inside], linestyle="none", color=LABEL, **style)
    for beyond, edge, marker in ((labels < low, low, "v"), (labels > high, high, "^")):
        if not beyond.any():
            continue  # a line that is not clipped takes room in the layout, even an empty one
        arrows: Style = {"marker": marker, "markersize": 3, "linestyle": "none", "color": LABEL, "clip_on": False}
        ax.plot(at[beyond], np.full(int(beyond.sum()), edge), **arrows)
    return drawn


def intervals(H: Any, y: Any, *, coverage: float = 0.9, most: int = 200, ax: Axes | None = None) -> Axes:
    """[l_i, u_i] less its centre, in the order of the widths u_i - l_i, with the labels: what is sure, and rightly so?

    The centre is the median; of predictions that are no law, the middle of the interval. Of more than `most` rows so
    many are drawn, evenly spaced in that order; the share inside, in the legend, is that of all rows. Labels outside
    are crosses. What lies far beyond the rest leaves the picture, as an infinite bound does; a label there is a
    triangle at the edge.

    >>> from calibrant import Normal
    >>> y = np.random.default_rng(0).normal(size=300)
    >>> ax = intervals(Normal(np.zeros(300), np.linspace(0.5, 2, 300)), y, most=100)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['90% intervals', 'inside: 90.7% of 300 rows', 'outside']
    """
    coverage = unit("coverage", coverage)
    if not isinstance(most, (int, np.integer)) or most < 1:
        raise ValueError(f"most must be a count of rows, at least 1, got {most!r}")
    H, y = paired(H, y)
    y = numbers(y)
    lower, upper = (np.broadcast_to(numbers(bound), y.shape) for bound in H.bounds(coverage))
    inside = (lower <= y) & (y <= upper)
    order = np.argsort(upper - lower, kind="stable")
    kept = order[evenly(len(y), most)]
    middle = np.broadcast_to(numbers(H.quantile(0.5)), y.shape) if H.has_law else (lower + upper) / 2
    centre = middle[kept]
    low, high, label, held = lower[kept] - centre, upper[kept] - centre, y[kept] - centre, inside[kept]
    bottom, top = _limits(np.concatenate([low, high]), label, np.zeros(1))
    place = np.arange(len(kept))
    with drawing(ax) as ax:
        ends = np.clip(low, bottom - (top - bottom), None), np.clip(high, None, top + (top - bottom))
        width = float(np.clip(100 / len(kept), 0.3, 4))
        own = "its own intervals" if H.own_bounds else f"{percent(coverage)} intervals"
        drawn: list[Any] = [ax.vlines(place, *ends, color=tinted(AFTER, 0.45), linewidth=width, label=own)]
        said = f"inside: {percent(round(inside.mean(), 3))} of {len(y):,} rows"
        dots: Style = {"marker": "o", "markersize": 1.8, "markeredgewidth": 0}
        drawn += _dots(ax, place[held], label[held], bottom, top, **dots, label=said)
        cross: Style = {"marker": "x", "markersize": 3.2, "markeredgewidth": 0.9}
        drawn += _dots(ax, place[~held], label[~held], bottom, top, **cross, label="outside")
        ax.axhline(0, color=SHADE, linewidth=0.5, zorder=1)
        of = "" if len(kept) == len(y) else f" ({len(kept)} of {len(y):,})"
        ax.set(xlabel=f"rows, in the order of the width{of}", ylabel="y less the interval's centre")
        ax.set_xlim(-0.02 * len(kept) - 0.5, 1.02 * len(kept) - 0.5)
        ax.set_ylim(bottom, top + 0.3 * (top - bottom))
        ax.legend(handles=drawn, loc="upper left")
    return ax


def sharpness(forecasts: Any, y: Any, *, coverage: float = 0.9, ax: Axes | None = None) -> Axes:
    """Mean width of the intervals against |share of labels inside - coverage|: of {name: forecast}, a point each.

    The lower left corner is where one wants to be: as sharp as can be, among those that hold what they promise. A
    triangle that points down holds too few labels, one that points up too many. The bars are one standard error each
    way. A forecast of infinite mean width has no point, and is named at the top.

    >>> from calibrant import Normal
    >>> y = np.random.default_rng(0).normal(size=500)
    >>> ax = sharpness({"narrow": Normal(np.zeros(500), 0.5), "right": Normal(np.zeros(500), 1.0)}, y)
    >>> [text.get_text() for text in ax.texts]
    ['narrow', 'right', 'better']
    """
    coverage = unit("coverage", coverage)
    if not isinstance(forecasts, Mapping):
        raise TypeError(f"forecasts must be a mapping of names to forecasts, got {type(forecasts).__name__}")
    points = [(name, look, _point(each, y, coverage)) for name, each, look in named(forecasts)]
    finite = [(name, look, point) for name, look, point in points if np.isfinite(point.width)]
    with drawing(ax) as ax:
        for _, look, at in finite:
            marker = "o" if at.error == 0 else "v" if at.error < 0 else "^"
            bars: Style = {"xerr": 100 * at.error_se, "yerr": at.width_se, "elinewidth": 0.8}
            ax.errorbar(100 * abs(at.error), at.width, **bars, color=look.colour, marker=marker, markersize=5)
        reach = max([100 * (abs(at.error) + at.error_se) for *_, at in finite], default=1.0)
        top = max([at.width + at.width_se for *_, at in finite], default=1.0)
        ax.set(xlim=(0, 1.15 * reach or 1.0), ylim=(0, 1.3 * top or 1.0))
        ax.set_xlabel(f"| labels inside − {percent(coverage)} |, percentage points")
        ax.set_ylabel(f"mean width of {percent(coverage)} intervals")
        _names(ax, [(name, 100 * abs(at.error), at.width, look.colour) for name, look, at in finite])
        arrow = {"arrowstyle": "->", "color": SHADE, "linewidth": 1}
        ax.annotate("better", (0.02, 0.02), (0.14, 0.14), "axes fraction", arrowprops=arrow, color="0.4")
        without = [name for name, _, point in points if not np.isfinite(point.width)]
        if without:
            text = f"infinite width: {', '.join(without)}"
            ax.text(0.99, 0.99, text, transform=ax.transAxes, ha="right", va="top", fontsize="small")
    return ax


class _Point(NamedTuple):
    error: float
    """The share of labels inside, less the coverage."""
    error_se: float
    width: float
    width_se: float


def _point(H: Any, y: Any, coverage: float) -> _Point:
    H, y = paired(H, y)
    y = numbers(y)
    lower, upper = (np.broadcast_to(numbers(bound), y.shape) for bound in H.bounds(coverage))
    inside = np.mean((lower <= y) & (y <= upper))
    width = upper - lower
    spread = float(np.std(width)) if np.isfinite(width).all() else 0.0
    root = np.sqrt(len(y))
    return _Point(
        float(inside - coverage), float(np.sqrt(inside * (1 - inside)) / root), float(np.mean(width)), spread / root
    )


def _names(ax: Axes, points: Sequence[tuple[str, float, float, str]]) -> None:
    """A name beside each point, pushed up or down where it would hide another."""
    taken = [(0.0, 0.3, height) for height in (0.06, 0.12, 0.18)]  # by the arrow to what is better
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()

    def free(start: float, length: float, up: float) -> bool:
        return not any(abs(up - v) < 0.065 and start < b and a < start + length for a, b, v in taken)

    for name, x, y, colour in points:
        across, up = (x - left) / (right - left), (y - bottom) / (top - bottom) + 0.03
        side = "left" if across < 0.6 else "right"
        length = 0.022 * len(name)
        start = across if side == "left" else across - length
        tries = (up + 0.065 * step * sign for step in range(16) for sign in (1, -1))
        up = next((height for height in tries if 0 < height < 0.93 and free(start, length, height)), up)
        taken.append((start, start + length, up))
        shift = 0.02 if side == "left" else -0.02
        ax.text(across + shift, up, name, transform=ax.transAxes, ha=side, color=colour, fontsize="small")
