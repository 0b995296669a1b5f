"""The report on a forecast: what is computed from it, and the page that shows it."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._arguments import unit
from calibrant._arrays import to_numpy
from calibrant._types import ArrayLike, Groups, SupportsArray, Values
from calibrant._version import __version__
from calibrant.atomic import write
from calibrant.diagnosis.headline import Headline
from calibrant.diagnosis.over_time import Period, period_results
from calibrant.forecast import PredictionLike
from calibrant.guarantee import Guarantee
from calibrant.judging.interface import PYTHON, Interface
from calibrant.labels.base import Labels
from calibrant.metrics.bands import pit_band, reliability_band
from calibrant.metrics.by_slice import LEVELS, calibration_rows_of, slice_results
from calibrant.metrics.forecasts import comparable, labels_of, name_of, two_arguments
from calibrant.metrics.forecasts import forecast as forecast_of
from calibrant.metrics.label_kinds import for_labels, look_like_counts
from calibrant.metrics.periods import Periods, periods_of, times_in_words, times_of
from calibrant.metrics.rounding import rounded
from calibrant.metrics.slices import Slices, all_rows
from calibrant.predictions import Quantiles
from calibrant.reports.curves import COVERAGES, Curves, bins, curves
from calibrant.reports.features import features_of
from calibrant.reports.findings import Findings
from calibrant.reports.groups import groupings, own_groupings
from calibrant.reports.models import distributions_by_name, entries, league_of, original_kind
from calibrant.reports.notes import notes
from calibrant.reports.over_time import drawn_periods, over_time
from calibrant.reports.page import page
from calibrant.reports.rows import Shown, chosen_rows, drawn_rows, finest, named_rows
from calibrant.reports.scored_forecast import ScoredForecast, checked_base, scored_forecast
from calibrant.reports.statement import Statement
from calibrant.reports.table import Comparison, measures
from calibrant.reports.tiles import small_picture, tiles
from calibrant.reports.verdict import verdict

SCRIPTS = ("forecast_charts.js", "time_charts.js", "forecast.js")


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
        path = page_path(path)
        write(path, self.html.encode())

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
            evaluated as Poisson distributions. Or several models, a mapping of names to forecasts: the page is on the
            first, and a table compares the others with it.
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
            the 10 largest misses.
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
    The 90% intervals hold 90.7% (89.3% to 91.9%) of the labels; before calibration they held 59.2% (57.0% to 61.3%).
    """
    return report_for(
        PYTHON,
        H,
        y,
        base=base,
        groups=groups,
        time=time,
        guarantee=guarantee,
        weights=weights,
        coverage=coverage,
        title=title,
        label=label,
        labels=labels,
        rows=rows,
        features=features,
    )


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
    coverage = unit("coverage", coverage)
    label = name_of(y) if label is None else str(label)
    values = to_numpy(labels_of(y)).astype(np.float64)
    m = values.shape[0]
    distributions = distributions_by_name(H, values, labels)
    name, distribution = next(iter(distributions.items()))
    first = forecast_of(next(iter(H.values())) if isinstance(H, Mapping) else H)
    promises = guarantee if isinstance(guarantee, Mapping) else {name: guarantee}
    guarantee = promises.get(name)
    for promise in promises.values():
        if promise is not None and not isinstance(promise, Guarantee):
            raise TypeError(f"guarantee must be that of what was calibrated, calibrated.guarantee, got {promise!r}")
    if weights is not None and not isinstance(weights, Mapping):
        raise TypeError(f"weights must be a dict of names and weights, such as model.weights_, got {weights!r}")
    after = scored_forecast(distribution, values, coverage)
    before = None if base is None else scored_forecast(_base(base, distribution, values, labels), values, coverage)
    slices = groupings(groups, m)
    slices += own_groupings(after, [each.name for each in slices])
    shown = chosen_rows(after, slices) if rows is None else named_rows(after, rows)
    n = guarantee.calibration_rows if guarantee else None
    own = guarantee.sizes if guarantee else None

    along = None if time is None else periods_of(time, m)
    in_time = None if along is None else _in_time(along, after, coverage, n=n, groups=slices, own=own)
    in_time_before = (
        None if along is None or before is None or not before.is_distribution else _in_time(along, before, coverage)
    )

    comparison = Comparison(before, after, coverage)
    parts = [all_rows(m), *slices]
    drawn = curves(after, parts)
    drawn_before = curves(before, parts) if before is not None and before.is_distribution else None
    behind = calibration_rows_of(slices, n, own)
    named: list[tuple[str | None, str, int | None]] = [(None, "all rows", n)]
    named += [(each.name, value, behind(each, k)) for each in slices for k, value in enumerate(each.labels)]
    findings = Findings(
        comparison,
        drawn[0],
        drawn_before[0] if drawn_before else None,
        [each.name for each in slices],
        slice_results(slices, {coverage: after.inside(coverage)}, after.drawn, n=n, own=own),
        guarantee,
        in_time,
        name,
        entries(after, distributions, values, coverage, promises),
        labels is None and look_like_counts(distribution, values),
        original_kind(first, distribution),
        for_labels(first, values, labels) if isinstance(first, Quantiles) and len(first.levels) > 1 else None,
        interface,
    )
    statements = verdict(findings)
    of_time = {statement.text for statement in over_time(findings)}
    data = {
        "m": m,
        "n": n,
        "coverage": coverage,
        "label": label,
        "levels": rounded(LEVELS),
        "coverages": rounded(COVERAGES),
        "slices": [
            _slice(by, value, calibrated_by, drawn[k], drawn_before[k] if drawn_before else None)
            | {"interval": _interval(findings, by, value)}
            for k, (by, value, calibrated_by) in enumerate(named)
        ],
        "rows": [
            row | extra
            for row, extra in zip(
                _rows(after, before, slices, shown), _time_and_features(time, features, m, shown.rows), strict=True
            )
        ],
        "sampled": shown.drawn,
        "measures": measures(comparison.lines.values()),
        "models": league_of(findings.models),
        "misses": np.searchsorted(shown.rows, shown.misses).tolist(),
        "time": drawn_periods(findings, in_time_before) if in_time and len(in_time) > 1 else [],
    }
    text = page(
        "forecast.html",
        SCRIPTS,
        data,
        title=_title(label, name) if title is None else str(title),
        headline=findings.headline,
        tiles=tiles(findings, label),
        picture=small_picture(drawn[0], pit_band(m, bins(m), n=n)),
        verdict=statements,
        in_short=None if guarantee is None else guarantee.in_short(coverage),
        guarantee=None if guarantee is None else str(guarantee),
        met=findings.overall.is_consistent_with(guarantee),
        in_time=[statement for statement in statements if data["time"] and statement.text in of_time],
        name=name,
        models=findings.models,
        table=list(comparison.lines.values()),
        weights=weights,
        notes=notes(m, n, data["rows"], before),
        counts=any("bars" in row["after"] for row in data["rows"]),
        about=_about(m, n),
    )
    return Report(text, findings.headline, statements)


def _base(base: Any, distribution: Any, y: Any, labels: Any) -> Any:
    """What the base says of the labels; where H is a distribution of counts, rates are one too."""
    return for_labels(comparable(checked_base(base, y.shape[0]), distribution), y, labels)


def _title(label: str, name: str) -> str:
    return f"Forecasts of {label} by {name}" if name else f"Forecasts of {label}"


def _in_time(along: Periods, side: ScoredForecast, coverage: float, **known: Any) -> tuple[Period, ...]:
    return period_results(along, {coverage: side.inside(coverage)}, side.drawn, **known)


def _interval(findings: Findings, by: str | None, value: str) -> dict[str, Any] | None:
    """The coverage of a slice, with what chance allows for the tested share; None where it is not tested."""
    if by is None:
        interval, fails = findings.overall.interval, False
    else:
        results = [each for each in findings.groups if (each.by, each.value) == (by, value)]
        if not results:
            return None
        interval, fails = results[0].intervals[0], findings.fails(results[0])
    part = None if interval.split_share is None else rounded(interval.split_share)
    ends = {"low": rounded(interval.low), "high": rounded(interval.high)}
    return {"share": rounded(interval.share), "part": part, **ends, "off": fails}


def _slice(by: str | None, value: str, n: int | None, after: Curves, before: Curves | None) -> dict[str, Any]:
    low, high = reliability_band(after.m, LEVELS, n=n)
    entry = {
        "by": by,
        "value": value,
        "m": after.m,
        "band": {
            "pit": rounded(pit_band(after.m, bins(after.m), n=n)),
            "below": {"low": rounded(low), "high": rounded(high)},
        },
        "after": _curves(after),
    }
    return entry if before is None else {**entry, "before": _curves(before)}


def _curves(of: Curves) -> dict[str, Any]:
    return {
        "pit": of.pit.tolist(),
        "below": rounded(of.below),
        "covered": rounded(of.covered),
        "width": rounded(of.width),
        "crps": rounded(of.crps),
        "gap": rounded(of.gap),
    }


def _rows(
    after: ScoredForecast, before: ScoredForecast | None, slices: Sequence[Slices], shown: Shown
) -> list[dict[str, Any]]:
    y, rows = to_numpy(after.y), shown.rows
    starts = np.cumsum([1, *(len(each.labels) for each in slices)]).tolist()
    resolution = finest([after] if before is None else [after, before], rows)
    now = drawn_rows(after, rows, resolution)
    then = drawn_rows(before, rows, resolution) if before is not None else None
    found = []
    for k, row in enumerate(rows.tolist()):
        inside = [0, *(start + int(each.index[row]) for start, each in zip(starts, slices, strict=False))]
        entry = {
            "row": row,
            "y": rounded(y[row], resolution[k]),
            "slices": inside,
            "sample": bool(shown.sample[k]),
            "pit": rounded(after.columns["pit"][row]),
            "crps": rounded(after.columns["crps"][row]),
            "after": now[k],
        }
        found.append(entry if then is None else {**entry, "before": then[k]})
    return found


def _time_and_features(time: Any, features: Any, m: int, rows: Any) -> Iterator[dict[str, Any]]:
    """What else is shown of each of the rows: when it was, and its features."""
    when = None if time is None else times_in_words(times_of(time, m)[rows])
    for k, entry in enumerate(features_of(features, m, rows)):
        yield ({} if when is None else {"time": when[k]}) | ({"features": entry} if entry else {})


def _about(m: int, n: int | None) -> dict[str, str]:
    about = {"rows": f"{m:,}"}
    if n is not None:
        about["calibration rows"] = f"{n:,}"
    return {**about, "made on": date.today().isoformat(), "calibrant": __version__}
