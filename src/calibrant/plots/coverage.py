"""The coverage of intervals: along a number, and slice by slice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from calibrant._arguments import same_length, unit
from calibrant._arrays import floats
from calibrant._types import ArrayLike, Groups, Values
from calibrant._words import count
from calibrant.forecast import Forecasts
from calibrant.judging.judge import Judgement
from calibrant.judging.part import SMALLEST, Part, rows_named
from calibrant.metrics.bands import reliability_band
from calibrant.metrics.slices import Slices, all_rows, columns_of, slices_of
from calibrant.plots.inputs import Spans, inside_in_words, named, numbers, whole
from calibrant.plots.style import Palette, Style, drawing, name_rows, percent, plain, points


def coverage_by(
    H: Forecasts,
    y: ArrayLike,
    by: Values | None = None,
    *,
    coverage: float = 0.9,
    bins: int | None = None,
    n: int | None = None,
    confidence: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """#{i in bin: l_i <= y_i <= u_i} / #bin along the predicted value: do high forecasts hold as much as low ones?

    `by` holds a number for each row in its place, such as a feature. Bins are of about equal size; up to 12 different
    numbers are a bin each, and bins of fewer than 20 rows are left out. The bars are what chance allows in all bins at
    once if H is calibrated, given `n` calibration rows; a hollow dot is off. Where labels lie on atoms, as counts do,
    those at an end of their interval are split: the share is that of drawn PITs. H is a forecast or a mapping of names
    to forecasts.

    Args:
        H: The forecasts, one per row: distributions, or a prediction that has intervals; or a mapping of names to such
            forecasts.
        y: The labels: one number per row.
        by: A number for each row, such as a feature; the predicted value by default.
        coverage: The probability of the centred interval, between 0 and 1.
        bins: The number of bins, each of about as many rows; by default one for each 20 rows, at most 10.
        n: The number of rows that calibrated H: the bars then allow for the error that they leave.
        confidence: The probability that a calibrated forecast lies inside the bars of all bins.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Normal
    >>> f, noise = np.random.default_rng(0).normal(size=(2, 1000))
    >>> ax = coverage_by(Normal(f, 1.0), f + noise * (1 + (f > 1)))  # twice the noise in the highest sixth
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['chance allows', 'off']
    """
    coverage, confidence = unit("coverage", coverage), unit("confidence", confidence)
    given = named(H, y)
    m = len(given[0].labels)
    bins = max(1, min(10, m // SMALLEST)) if bins is None else whole("bins", bins, least=2)
    values = None if by is None else numbers(floats("by", by, ndim=1))
    same_length("the forecast", m, "by", m if values is None else len(values))
    found = [Spans.of(each, coverage) for each in given]
    along = [spans.predicted if values is None else values for spans in found]
    columns = [slices_of("", each, m, parts=bins) for each in along]
    shares = [shares_of([column], spans, coverage, confidence, n) for column, spans in zip(columns, found, strict=True)]
    if not all(shares):
        got = f"{count(m, 'row')} in {count(len(columns[0].labels), 'bin')}"
        raise ValueError(f"coverage_by needs a bin of at least {SMALLEST} rows, got {got}")
    left_out = m - sum(share.m for share in shares[0])
    with drawing(ax) as (ax, palette):
        ax.axhline(100 * coverage, **palette.target)
        for k, (each, look) in enumerate(zip(given, palette.looks(len(given)), strict=True)):
            at = np.array([np.median(along[k][share.rows]) for share in shares[k]])
            if each.name:
                tested = [100 * share.tested for share in shares[k]]
                ax.plot(at, tested, **look | {"marker": ""}, linewidth=0.6 * palette.unit)
            # the bars of the others are about the same
            _dots(ax, palette, at, shares[k], look | {"label": each.name}, upright=True, bars=k == 0)
        _explain_hollow(ax, palette, shares)
        ax.margins(x=0.08)
        name = "predicted value" if by is None else plain(getattr(by, "name", None) or "x")
        more = f" ({count(left_out, 'row')} in bins of fewer than {SMALLEST} left out)" if left_out else ""
        ax.set(xlabel=name + more, ylabel=inside_in_words(coverage, found))
    return ax


def coverage_by_slice(
    H: Forecasts,
    y: ArrayLike,
    by: Groups,
    *,
    coverage: float = 0.9,
    n: int | None = None,
    confidence: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """#{i in slice: l_i <= y_i <= u_i} / #slice, a dot per slice, on a bar of what chance allows in all at once.

    `by` holds a value for each row, or is a mapping of names to such columns, or a frame. Text and few different
    numbers are one slice per value, many numbers are cut into quarters; slices of fewer than 20 rows are left out. A
    hollow dot is off. The number of rows is next to the name of the slice. H is a forecast or a mapping of names to
    forecasts. It is drawn as `diagnosis` is.

    Args:
        H: The forecasts, one per row: distributions, or a prediction that has intervals; or a mapping of names to such
            forecasts.
        y: The labels: one number per row.
        by: A value for each row, a mapping of names to such columns, or a frame.
        coverage: The probability of the centred interval, between 0 and 1.
        n: The number of rows that calibrated H: the bars then allow for the error that they leave.
        confidence: The probability that a calibrated forecast lies inside the bars of all slices.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Normal
    >>> y = np.random.default_rng(0).normal(size=400)
    >>> ax = coverage_by_slice(Normal(np.zeros(400), 1.0), y, {"region": ["north", "south"] * 200})
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['all rows (400)', 'region = north (200)', 'region = south (200)']
    """
    coverage, confidence = unit("coverage", coverage), unit("confidence", confidence)
    given = named(H, y)
    m = len(given[0].labels)
    columns = [all_rows(m), *(slices_of(name, values, m) for name, values in columns_of(by, ""))]
    found = [Spans.of(each, coverage) for each in given]
    shares = {
        each.name: shares_of(columns, spans, coverage, confidence, n) for each, spans in zip(given, found, strict=True)
    }
    drawn = len(shares[given[0].name])
    if not drawn:
        raise ValueError(f"coverage_by_slice needs at least {SMALLEST} rows, got {m}")
    left_out = sum(len(column.labels) for column in columns) - drawn
    note = f"\n{count(left_out, 'slice')} of fewer than {SMALLEST} rows left out" if left_out else ""
    return _slices(shares, coverage, ax, inside_in_words(coverage, found) + note)


def diagnosis(found: Judgement, *, most: int = 30, ax: Axes | None = None) -> Axes:
    """The share of labels inside the intervals of each part of a judgement, on a bar of what chance allows in all.

    `found` is what `calibrant.judge` returned. A part that is off is a hollow dot, with its fault beside it: it may be
    off for its PITs, though its share is inside the bar. Where labels lie on atoms, as counts do, those at an end of
    their interval are split: the share is that of drawn PITs. Of more than `most` parts those are drawn that are off,
    then those farthest out, all rows first. The number of rows is next to the name.

    Args:
        found: What `calibrant.judge` returned.
        most: How many parts to draw at most.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> import calibrant
    >>> rng = np.random.default_rng(0)
    >>> found = calibrant.judge(calibrant.Normal(np.zeros(400), 1.0), rng.normal(size=400), by=rng.integers(0, 2, 400))
    >>> [label.get_text() for label in diagnosis(found, most=3).get_yticklabels()]
    ['all rows (400)', 'group = 0 (193)', 'group = 1 (207)']
    """
    if not isinstance(found, Judgement):
        raise TypeError(f"found must be what calibrant.judge returns, got {type(found).__name__}")
    order = sorted(found.parts[1:], key=_distance)[: whole("most", most) - 1]
    shown = [part for part in found.parts if part is found.overall or part in order]
    words = f"in {percent(found.coverage)} intervals{'' if found.overall.split_share is None else ', ties split'}, %"
    return _slices({"": shown}, found.coverage, ax, words)


def _distance(part: Part) -> tuple[bool, float]:
    """What is off first, then by the distance to the coverage, in the width of its bar."""
    return not part.off, -abs(part.tested - part.coverage) / (part.high - part.low)


class Share(NamedTuple):
    """The share of labels inside the intervals of some rows, and what chance allows, in the words of a `Part`."""

    name: str
    m: int
    rows: Any
    """A mask."""
    tested: float
    low: float
    high: float
    off: bool
    fault: str = ""


def shares_of(
    columns: Sequence[Slices],
    spans: Spans,
    coverage: float,
    confidence: float,
    n: int | None,
    least: int = SMALLEST,
) -> list[Share]:
    """Of each slice of so many rows; after Bonferroni all bounds hold at once with this confidence."""
    large = [(column, k) for column in columns for k, m in enumerate(column.counts) if m >= least]
    found = []
    for column, k in large:
        rows = column.index == k
        m, tested = int(rows.sum()), float(spans.tested[rows].mean())
        (low,), (high,) = reliability_band(m, [coverage], 1 - (1 - confidence) / len(large), n=n)
        off = not low - 1e-12 <= tested <= high + 1e-12
        found.append(Share(rows_named(column.name, column.labels[k]), m, rows, tested, low, high, off))
    return found


def _slices(found: Mapping[str, Sequence[Share | Part]], coverage: float, ax: Axes | None, words: str) -> Axes:
    """One line per slice, and a dot per forecast on each."""
    slices = next(iter(found.values()))
    rows, many = len(slices), len(found)
    with drawing(ax, width=110, height=20 + 4.5 * rows * (1 + 0.4 * (many - 1)), side="right") as (ax, palette):
        ax.axvline(100 * coverage, **palette.target)
        for place, ((name, shares), look) in enumerate(zip(found.items(), palette.looks(many), strict=True)):
            at = np.arange(rows) + 0.7 * ((place + 0.5) / many - 0.5)
            most = 0.8 * points(ax)[1] / (rows + 1) / max(2, many)
            _dots(ax, palette, at, shares, look | {"label": name}, most=most)
            for y, share in zip(at, shares, strict=True):
                beside: Style = {"va": "center", "fontsize": 6 * palette.unit}
                ax.annotate(f" {share.fault}", (1, y), xycoords=ax.get_yaxis_transform(), **beside)
        _explain_hollow(ax, palette, found.values())
        ax.set_ylim(rows - 0.4, -0.6)
        ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        name_rows(ax, range(rows), [f"{plain(each.name, most=42)} ({each.m:,})" for each in slices])
        ax.set_xlabel(words)
    return ax


def _dots(
    ax: Axes,
    palette: Palette,
    at: Any,
    shares: Sequence[Share | Part],
    look: Style,
    *,
    upright: bool = False,
    bars: bool = True,
    most: float = np.inf,
) -> None:
    """The share of each slice as a dot on its bar, hollow where it is off; bars go up, or across."""
    share, low, high = (100 * np.array(each) for each in zip(*((s.tested, s.low, s.high) for s in shares), strict=True))
    off, size = np.array([each.off for each in shares]), min(4 * palette.unit, most)
    if bars:
        (ax.vlines if upright else ax.hlines)(
            at, low, high, **palette.band | {"linewidth": 1.5 * size}, label="chance allows"
        )
    look |= {"linestyle": "none", "markersize": size}
    for some, how in ((~off, {}), (off, {"label": "", "markerfacecolor": palette.paper})):
        ax.plot(*((at[some], share[some]) if upright else (share[some], at[some])), **look | how)


def _explain_hollow(ax: Axes, palette: Palette, found: Iterable[Sequence[Share | Part]]) -> None:
    """What a hollow mark means, where there is one."""
    if any(each.off for shares in found for each in shares):
        ax.plot([], [], "o", color=palette.ink, markerfacecolor=palette.paper, label="off")
