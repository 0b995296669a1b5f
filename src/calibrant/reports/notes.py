"""How a report was computed: the notes at its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calibrant._words import count
from calibrant.reports.bootstrap import BAGS, REPLICATES, ROWS
from calibrant.reports.curves import WIDTH_ROWS
from calibrant.reports.scored_forecast import ScoredForecast


def notes(m: int, n: int | None, rows: Sequence[Mapping[str, Any]], before: ScoredForecast | None) -> list[str]:
    """The notes: how many draws, which bands, how many rows, and how single rows are drawn."""
    drawn = f"{count(BAGS, 'random bag')} of rows" if m > ROWS else "rows"
    known = f" and allow for the {count(n, 'row')} that calibrated the forecasts" if n is not None else ""
    found = [
        f"Intervals of the table: {REPLICATES:,} paired bootstrap draws of {drawn}, 95%, by percentiles for means and"
        " basic ones for the calibration error; those of a coverage are Clopper and Pearson's. The debiased ECE is"
        " the calibration error less what chance alone gives a perfect forecast: it may be negative, and that of a"
        " forecast far off lies near the lower end of its interval.",
        "Bands: all bins, or all levels, are inside together with a probability of 95% if the forecasts are"
        f" calibrated. They are computed, not simulated{known}.",
        "The PIT of a label is the forecast probability of a value no larger. Where a value has a probability of its"
        " own, the charts draw the PIT at random over it, so that it is uniform for calibrated forecasts.",
        f"Mean widths are those of at most {WIDTH_ROWS:,} rows. {count(len(rows), 'row is', 'rows are')} shown one by"
        " one, by their number from 0; all others are only counted. The chart of intervals shows a random sample"
        " of all rows, unless rows were asked for; the largest misses have a table of their own.",
        *_drawn_distributions(rows),
    ]
    if before is not None and not before.is_distribution:
        found.append("The base predicts no distribution, so that it has no curves: it is shown by marks, row by row.")
    return found


def _drawn_distributions(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """How the distributions of single rows are drawn."""
    if any("bars" in row["after"] for row in rows):
        yield (
            "The forecast of a count is drawn by the probability of each value; where there are very many, by that of"
            " neighbours together."
        )
        return
    if any("atoms" in row["after"] for row in rows):
        yield (
            "A value with a probability of its own is drawn as a stem, on a scale from 0 to 1 that is not that of the"
            " density, which is of all other values. The stem is a feature of the forecast."
        )
    rough = any(side.get("smoothed") for row in rows for side in (row["after"], row.get("before", {})))
    yield "A density is drawn by its means over 100 cells." + (
        " Where q is linear it is a comb, as calibration scores happen to lie close together: such a density is"
        " smoothed for drawing, by means over half a standard deviation, twice. The CDF is not."
        if rough
        else ""
    )
