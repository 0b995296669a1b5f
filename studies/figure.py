"""A study's figure: intervals by base type, how wide and how sure, conformal against credible."""

from __future__ import annotations

import io
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from calibrant.plots import AFTER, COLOURS, theme
from calibrant.plots.style import MILLIMETRE
from studies.results import Results
from studies.tables import Row, intervals


def figure(results: Results) -> bytes:
    """The figure as a PNG, 80 mm wide.

    A pair of bars for each base type (and each score of one that has several): the mean width over datasets. Beside
    them the mean coverage ± its standard error, whose target is the line.
    """
    looks = {"conformal": (AFTER, "o"), "credible": (COLOURS[4], "s")}  # dark and light: told apart in grey too
    settings: dict[Any, Any] = {"ytick.major.size": 0}
    design = results.design
    target = 100 * design.coverage
    rows = [row for row in intervals(results).rows if any(c.here.value is not None for c in row.metrics.values())]
    size = (80 * MILLIMETRE, (24 + 7 * len(rows)) * MILLIMETRE)
    with theme(), matplotlib.rc_context(settings):
        drawing = Figure(figsize=size, layout="constrained")
        widths, coverages = drawing.subplots(1, 2, sharey=True, width_ratios=(3, 2))
        for (kind, look), offset in zip(looks.items(), (-0.2, 0.2), strict=True):
            _bars(widths, kind, look, _known(rows, f"{kind}_width", offset))
            _marks(coverages, look, _known(rows, f"{kind}_coverage", offset))
        labels = [_label(row, several=len(design.scores_of(row.labels[0])) > 1) for row in rows]
        widths.set(xlabel=f"width of {target:.0f}% intervals", yticks=range(len(rows)), yticklabels=labels)
        widths.set_ylim(max(len(rows), 1) - 0.5, -0.5)
        widths.margins(x=0.25)  # room for the numbers
        coverages.axvline(target, color="0.6", linewidth=0.8, zorder=0)
        coverages.set(xlabel="coverage, %")
        low, high = coverages.get_xlim()
        coverages.set_xlim(min(low, target - 2), max(high, target + 2))
        drawing.legend(*widths.get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
        stream = io.BytesIO()
        drawing.savefig(stream, dpi=300, metadata={"Software": None})  # without it the same figure is the same file
        return stream.getvalue()


def _known(rows: list[Row], metric: str, offset: float) -> list[tuple[float, float, float]]:
    """(height in the figure, value, standard error) of the rows that have the metric."""
    means = ((i + offset, row.metrics[metric].here) for i, row in enumerate(rows))
    return [(at, mean.value, mean.se or 0.0) for at, mean in means if mean.value is not None]


def _bars(axes: Any, kind: str, look: tuple[str, str], known: list[tuple[float, float, float]]) -> None:
    at, values = [at for at, _, _ in known], [value for _, value, _ in known]
    bars = axes.barh(at, values, height=0.36, color=look[0], label=kind)
    axes.bar_label(bars, fmt="%.2f", padding=1.5, fontsize=6)


def _marks(axes: Any, look: tuple[str, str], known: list[tuple[float, float, float]]) -> None:
    colour, marker = look
    at, values = [at for at, _, _ in known], [100 * value for _, value, _ in known]
    errors = [100 * error for _, _, error in known]
    axes.errorbar(
        values, at, xerr=errors, color=colour, marker=marker, linestyle="none", markersize=3.5, elinewidth=0.8
    )


def _label(row: Row, *, several: bool) -> str:
    """The base type, with its score where it has several."""
    base, score = row.labels
    return f"{base}\n({score})" if several else base
