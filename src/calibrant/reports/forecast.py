"""The report on forecasts: what is computed from them, and the page that shows it."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._arguments import same_length, unit
from calibrant._arrays import to_numpy
from calibrant._types import ArrayLike, Groups, SupportsArray, Values
from calibrant._version import __version__
from calibrant._words import count
from calibrant.atomic import write
from calibrant.forecast import PredictionLike
from calibrant.guarantee import Guarantee
from calibrant.judging import Judgement, Part, judge
from calibrant.judging.interface import PYTHON, Interface
from calibrant.judging.part import LEVELS
from calibrant.judging.rows import ForecastRows
from calibrant.judging.words import Headline, Statement
from calibrant.labels.base import Labels
from calibrant.metrics.bands import pit_band, reliability_band
from calibrant.metrics.forecasts import forecast as forecast_of
from calibrant.metrics.forecasts import labels_of, name_of, two_arguments
from calibrant.metrics.label_kinds import distribution_for_labels
from calibrant.metrics.rounding import rounded
from calibrant.metrics.slices import Slices, all_rows, columns_of, in_words, times_of
from calibrant.reports.curves import WIDTH_ROWS, bins, curves, differences
from calibrant.reports.drawn import drawn_rows
from calibrant.reports.page import page
from calibrant.reports.rows import Shown, chosen_rows, features_of, named_rows
from calibrant.reports.table import Series, best_model, small_picture, table_of, tiles

SCRIPTS = ("forecast_charts.js", "forecast.js")
MODELS, GROUPS = 10, 10
"""So many at most: a page of more is read by nobody."""
MEDIAN = LEVELS.size // 2


@dataclass(frozen=True, repr=False)
class Report:
    """One self-contained HTML file, and its verdict in words."""

    html: str
    headline: Headline
    """Calibrated or not, and what to do."""
    verdict: tuple[Statement, ...]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, atomically; an old one is replaced.

        A name without an ending gets .html: `save("report")` writes report.html.

        Args:
            path: The file to write; an older one is replaced.
        """
        write(page_path(path), self.html.encode())

    def __str__(self) -> str:
        return "\n".join(map(str, (self.headline, *self.verdict)))

    def __repr__(self) -> str:
        return f"Report({len(self.html) / 1e6:.1f} MB)"

    def _repr_html_(self) -> str:
        """The page in a frame of its own, as notebooks show it."""
        return f'<iframe srcdoc="{html.escape(self.html)}" title="Report" width="100%" height="800"></iframe>'


def page_path(path: str | os.PathLike[str]) -> Path:
    """Where a page of this name is written: browsers go by the ending. What is there already is what is meant.

    >>> page_path("report").name, page_path("a/b.htm").name
    ('report.html', 'b.htm')
    """
    found = Path(path)
    return found if found.suffix or found.exists() else found.with_name(f"{found.name}.html")


@two_arguments
def report(
    H: PredictionLike | Mapping[str, PredictionLike],
    y: ArrayLike,
    *,
    base: PredictionLike | None = None,
    groups: Groups | None = None,
    time: Values | None = None,
    guarantee: Guarantee | Mapping[str, Guarantee] | None = None,
    weights: Mapping[str, float] | None = None,
    coverage: float = 0.9,
    title: str | None = None,
    label: str | None = None,
    labels: Labels | str | None = None,
    rows: Sequence[int] | SupportsArray | None = None,
    features: Groups | None = None,
) -> Report:
    """How good the forecasts H of the labels y are, as a page to read in a browser: `report(H, y).save("report.html")`.

    Args:
        H: The forecasts, one distribution per row, or one for all rows. `Quantiles` and `Samples` are evaluated as
            distributions interpolated linearly between the quantiles, or the sorted draws. `Rates` of counts are
            evaluated as Poisson distributions. Or several models, a mapping of names to forecasts: the verdict is on
            the first, and a table and every chart compare the others with it.
        y: The labels, of rows that neither trained nor calibrated the model.
        base: The forecasts before calibration, of any kind, to compare with H.
        groups: What to slice the rows by, in addition to the predicted value and the width: an array,
            a mapping of names to arrays, or a data frame. Each value is a slice; many different numbers are cut into
            four parts.
        time: When each row was, as numbers or dates, to show the forecasts over time. Rows may come in any order.
        guarantee: `calibrated.guarantee`; its n shows how much of a gap the calibration rows explain. For several
            models, that of the first, or a mapping of names to guarantees.
        weights: The weights of the models that make up the forecast, `model.weights_`, as a table.
        coverage: The probability of the intervals in the verdict and the table; the page has a slider for all others.
        title: The title of the page.
        label: What y is called on the page; by default the name of y if it is a Series, else y.
        labels: What kind of number y is, as in `evaluate`: with `Counts()`, distributions, quantiles and draws are
            evaluated as forecasts of counts.
        rows: The numbers of the rows to show one by one. By default a random sample of 100, two more of each group, and
            the 10 largest misses; fewer of many models.
        features: What to show with a chosen row: its features, or an id, given as `groups` are. At most 30 columns.

    >>> import numpy as np
    >>> from calibrant import Calibrator, Normal, report
    >>> f, noise = np.random.default_rng(0).normal(size=(2, 3000))
    >>> y, region = f + noise, np.where(f > 0, "north", "south")
    >>> base = Normal(f, 0.5)  # far too sure
    >>> calibrated = Calibrator().fit(base[:1000], y[:1000])
    >>> H = calibrated(base[1000:])
    >>> page = report(H, y[1000:], base=base[1000:], groups={"region": region[1000:]}, guarantee=calibrated.guarantee)
    >>> print(page.headline)
    As well calibrated as 1,000 calibration rows can make them. Use them, as long as new data are like the calibration
    data.
    >>> print(page.verdict[1].text)
    The 90% intervals hold 90.7% of the labels, where chance allows 87.0% to 92.7%; before calibration they held 59.2%.
    """
    return report_for(
        PYTHON, H, y, base=base, groups=groups, time=time, guarantee=guarantee, weights=weights, coverage=coverage,
        title=title, label=label, labels=labels, rows=rows, features=features,
    )  # fmt: skip


def report_for(
    interface: Interface,
    H: PredictionLike | Mapping[str, PredictionLike],
    y: ArrayLike,
    *,
    base: PredictionLike | None = None,
    groups: Groups | None = None,
    time: Values | None = None,
    guarantee: Guarantee | Mapping[str, Guarantee] | None = None,
    weights: Mapping[str, float] | None = None,
    coverage: float = 0.9,
    title: str | None = None,
    label: str | None = None,
    labels: Labels | str | None = None,
    rows: Sequence[int] | SupportsArray | None = None,
    features: Groups | None = None,
) -> Report:
    """`report`, with its next steps in the words of an interface."""
    coverage, label = unit("coverage", coverage), name_of(y) if label is None else str(label)
    values = to_numpy(labels_of(y)).astype(np.float64)
    m = values.shape[0]
    given = _by_name(H, values, labels)
    promises = guarantee if isinstance(guarantee, Mapping) else {next(iter(given)): guarantee}
    if unknown := [each for each in promises if each not in given]:
        raise ValueError(f"guarantee must name models of H, {', '.join(given)}, got {unknown[0]!r}")
    if base is not None and (before := forecast_of(base)).shape:
        same_length("the forecast", m, "base", len(before))
    if weights is not None and not isinstance(weights, Mapping):
        raise TypeError(f"weights must be a dict of names and weights, such as model.weights_, got {weights!r}")
    by = [] if groups is None else [each for each, _ in columns_of(groups, "group")]
    if len(by) > GROUPS:
        raise ValueError(f"groups must have at most {GROUPS} columns, got {len(by)}")
    (name, first), *others = given.items()
    known: dict[str, Any] = {"coverage": coverage, "labels": labels}
    j = judge(first, values, by=groups, time=time, base=base, guarantee=promises.get(name), **known).using(interface)
    rivals = [(each, judge(other, values, guarantee=promises.get(each), **known)) for each, other in others]
    series = [
        Series(name or ("forecast" if base is None else "after calibration"), j.rows, j.headline if rivals else None)
    ]
    series += [Series(each, other.rows, other.headline) for each, other in rivals]
    series += [] if j.base_rows is None else [Series("before calibration", j.base_rows, base=True)]
    sliced = [j.columns[each] for each in dict.fromkeys([*by, *(part.by for part in j.slices)])]
    shown = chosen_rows(j.rows, sliced, len(series)) if rows is None else named_rows(j.rows, rows)
    drawn = [curves(each.rows, [all_rows(m), *sliced]) if each.rows.is_distribution else None for each in series]
    table = table_of(series)
    row_data = list(_rows(series, sliced, shown, time, features))
    when = None if time is None else times_of(time, m)
    periods = list(_periods(j, series)) if j.periods else []
    data = {
        "m": m,
        "coverage": coverage,
        "label": label,
        "series": [{"name": each.name} | ({"base": True} if each.base else {}) for each in series],
        "slices": list(_slices(j, sliced, drawn)),
        "rows": row_data,
        "sampled": shown.drawn,
        "measures": table["measures"],
        "misses": np.searchsorted(shown.rows, shown.misses).tolist(),
        "time": periods,
        "dates": when is not None and when.dtype.kind == "M",
    }
    promise, verdict = j.guarantee, (*best_model(series), *j.statements)
    text = page(
        "forecast.html",
        SCRIPTS,
        data,
        title=title if title is not None else f"Forecasts of {label}" + (f" by {name}" if name else ""),
        headline=j.headline,
        tiles=tiles(j, label, series),
        picture=small_picture(j, drawn[0][0]["pit"] if drawn[0] else []),
        verdict=verdict,
        in_short=None if promise is None else promise.in_short(coverage),
        guarantee=None if promise is None else str(promise),
        met=j.guarantee_met,
        in_time=bool(periods),
        table=table,
        weights=weights,
        notes=list(_notes(j, row_data, series)),
        counts="bars" in row_data[0]["of"][0],
        about={"rows": f"{m:,}"}
        | ({} if j.n is None else {"calibration rows": f"{j.n:,}"})
        | {"made on": date.today().isoformat(), "calibrant": __version__},
    )
    return Report(text, j.headline, verdict)


def _by_name(H: Any, y: Any, labels: Any) -> dict[str, Any]:
    """The forecasts of several models by their names, or of one, which has none; each with a distribution per row."""
    given = {str(name): each for name, each in H.items()} if isinstance(H, Mapping) else {"": H}
    if not 1 <= len(given) <= MODELS:
        raise ValueError(f"H must name 1 to {MODELS} models, got {len(given)}")
    for name, each in given.items():
        called, found = f"H[{name!r}]" if name else "H", forecast_of(each)
        if not distribution_for_labels(found, y, labels).has_distribution:
            raise TypeError(
                f"{called} must be a distribution for each row, got {found!r}: calibrate it, with Calibrator().fit on"
                " other rows, and pass what that gives as H and this as base"
            )
        if name and found.shape:
            same_length("y", y.shape[0], called, len(found))
    return given


def _slices(j: Judgement, columns: Sequence[Slices], drawn: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """All rows, and each slice of each column: its curves, and what was judged of it."""
    parts = {(part.by, part.value): part for part in (*j.slices, *j.groups)}
    named: list[tuple[str | None, str, int, Part | None]] = [(None, "all rows", j.m, j.overall)]
    for column in columns:
        sizes = zip(column.labels, column.counts.tolist(), strict=True)
        named += [(column.name, value, size, parts.get((column.name, value))) for value, size in sizes]
    for k, (by, value, m, part) in enumerate(named):
        n = j.n if part is None else part.n
        low, high = reliability_band(m, LEVELS, n=n) if part is None or part.below is None else part.band
        yield {
            "by": by,
            "value": value,
            "m": m,
            "band": {
                "pit": rounded(pit_band(m, bins(m), n=n)),
                "low": differences(1e4 * low),
                "high": differences(1e4 * high),
            },
            "interval": None if part is None else _interval(part),
            "of": [None if each is None else each[k] for each in drawn],
        }


def _interval(part: Part) -> dict[str, Any]:
    split = None if part.split_share is None else rounded(part.split_share)
    ends = {"low": rounded(part.low), "high": rounded(part.high)}
    return {"share": rounded(part.share), "part": split, **ends, "off": part.off, "fault": part.fault}


def _periods(j: Judgement, series: Sequence[Series]) -> Iterator[dict[str, Any]]:
    """Each period: the shares of labels inside the intervals and below the medians, with what was judged."""
    column = j.columns[j.periods[0].by] if j.periods else all_rows(j.m)
    numbers = [None if not each.rows.is_distribution else _by_period(each.rows, column) for each in series]
    for part in j.periods or ():
        k = column.labels.index(part.value)
        low, high = part.band
        yield {
            "from": part.start,
            "to": part.end,
            "m": part.m,
            "band": [rounded(part.low), rounded(part.high)],
            "median": [rounded(low[MEDIAN]), rounded(high[MEDIAN])],
            "off": part.off,
            "fault": part.fault or ("wider than necessary" if part.only_wide else "within chance"),
            "of": [
                None if each is None else {name: rounded(values[k]) for name, values in each.items()}
                for each in numbers
            ],
        }


def _by_period(rows: ForecastRows, column: Slices) -> dict[str, Any]:
    flags = {"covered": rows.covered, "below": rows.drawn <= 0.5} | ({"part": rows.tested} if rows.has_atoms else {})
    size = len(column.labels)
    return {name: np.bincount(column.index, each, size) / column.counts for name, each in flags.items()}


def _rows(
    series: Sequence[Series], columns: Sequence[Slices], shown: Shown, time: Any, features: Any
) -> Iterator[dict[str, Any]]:
    """The rows that are shown one by one."""
    m = len(series[0].rows)
    starts = np.cumsum([1, *(len(column.labels) for column in columns)]).tolist()
    when = None if time is None else in_words(times_of(time, m)[shown.rows])
    given = features_of(features, m, shown.rows)
    for k, drawn in enumerate(drawn_rows([each.rows for each in series], shown.rows)):
        row = int(shown.rows[k])
        inside = [0, *(start + int(column.index[row]) for start, column in zip(starts, columns, strict=False))]
        yield (
            {"row": row, "slices": inside, "sample": bool(shown.sample[k]), **drawn}
            | ({} if when is None else {"time": when[k]})
            | ({"features": given[k]} if given[k] else {})
        )


def _notes(j: Judgement, rows: Sequence[Mapping[str, Any]], series: Sequence[Series]) -> Iterator[str]:
    """How the page was computed."""
    known = f" They allow for the {count(j.n, 'row')} that calibrated the forecasts." if j.n is not None else ""
    yield (
        "Intervals of the table: bootstrap, 95%, paired for differences; those of a coverage are Clopper and Pearson's."
        " The calibration error is the debiased ECE, without what chance gives a perfect forecast: it may be negative."
    )
    yield (
        "Bands: all rows, groups and periods of calibrated forecasts lie inside theirs together with a probability of"
        f" 95%; the bars of a PIT histogram by themselves. They are computed, not simulated.{known}"
    )
    yield (
        "The PIT of a label is the forecast probability of a value no larger. Where a value has a probability of its"
        " own, the charts draw the PIT at random over it, so that it is uniform for calibrated forecasts."
    )
    yield (
        f"Mean widths are those of at most {WIDTH_ROWS:,} rows. {count(len(rows), 'row is', 'rows are')} shown one by"
        " one, by their number from 0; all others are only counted."
    )
    sides = [side for row in rows for side in row["of"]]
    if any("bars" in side for side in sides):
        yield (
            "The forecast of a count is drawn by the probability of each value; where there are very many, by that of"
            " neighbours together."
        )
    if any(side.get("smoothed") for side in sides):
        yield (
            "Where q is linear, a density is a comb, as calibration scores happen to lie close together. It is"
            " smoothed for drawing, by means over half a standard deviation, twice. The CDF is not."
        )
    if not all(each.rows.is_distribution for each in series):
        yield "The base predicts no distribution, so that it has no curves: it is shown by marks, row by row."
