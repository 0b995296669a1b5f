"""judge(forecast, y): one value that says whether forecasts are calibrated, what is wrong, and what to do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from calibrant._arguments import unit
from calibrant._arrays import device_like, to_numpy
from calibrant._display import aligned, table
from calibrant._types import ArrayLike, Features, Groups, Values
from calibrant.forecast import PredictionLike
from calibrant.guarantee import Guarantee
from calibrant.judging.columns import PARTS, feature_slices, own_slices
from calibrant.judging.facts import ALARM, Facts
from calibrant.judging.features import dependence, worst_slice
from calibrant.judging.interface import Interface
from calibrant.judging.part import SMALLEST, calibration_rows_of, parts_of
from calibrant.judging.rows import forecast_rows
from calibrant.judging.words import Headline, Kind, Statement, headline, statements
from calibrant.labels.base import Labels
from calibrant.metrics.forecasts import comparable, paired
from calibrant.metrics.label_kinds import distribution_for_labels, for_labels
from calibrant.metrics.slices import Slices, all_rows, columns_of, distinct_label, periods_of, slices_of


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Judgement(Facts):
    """Whether forecasts are calibrated, as far as m labels can tell; what is wrong if not; and what to do.

    Calibrated forecasts of independent rows are found off with a probability of `alarm` at most, over everything that
    was looked at together. It prints as a headline, its reasons and a table.
    """

    @cached_property
    def headline(self) -> Headline:
        """Calibrated or not, in one sentence, and the next step, which is the remedy for this fault."""
        return headline(self)

    @property
    def kind(self) -> Kind:
        """good, warn, bad or info."""
        return self.headline.kind

    @property
    def remedy(self) -> str:
        """The next step in one word or two, as "calibrate", "by group", "fit width", or "none"."""
        return self.headline.remedy

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """All there is to say, the most important first."""
        return statements(self)

    def using(self, interface: Interface) -> Judgement:
        """The same, with next steps in the words of an interface, as those of the command line.

        Args:
            interface: What the reader types.
        """
        return replace(self, interface=interface)

    def to_dict(self) -> dict[str, Any]:
        """The verdict, the metrics and all parts by name, as JSON has them."""
        of = {"slices": self.slices, "features": self.features, "groups": self.groups, "periods": self.periods or ()}
        return {
            "kind": self.kind,
            "verdict": self.headline.text,
            "next": self.headline.step,
            "fault": self.fault or None,
            "remedy": self.remedy,
            "pvalue": self.pvalue,
            "metrics": self.metrics.to_dict(),
            "base": None if self.base is None else self.base.to_dict(),
            "overall": self.overall.to_dict(),
            **{name: [part.to_dict() for part in parts] for name, parts in of.items()},
            "worst": None if self.worst is None else self.worst.to_dict(),
        }

    def table(self) -> str:
        """One line per part: its rows, the share inside the intervals, what chance allows, the fault."""
        return aligned(self._cells(), left=(0, -1))

    def _repr_html_(self) -> str:
        """The headline and this table, for notebooks."""
        return table(self._cells(), title=str(self.headline), left=(0, -1))

    def _cells(self) -> list[list[str]]:
        split = self.overall.split_share is not None
        inside = f"in {100 * self.coverage:.6g}%"
        head = ["", "rows", inside, *(["ties split"] if split else []), "chance allows", "fault"]
        lines = [head]
        for part in self.parts:
            shares = [_percent(part.share), *([_percent(part.tested)] if split else [])]
            allowed = f"{_percent(part.low)} to {_percent(part.high)}"
            lines.append([part.name, f"{part.m:,}", *shares, allowed, part.fault])
        return lines

    def __str__(self) -> str:
        about = [each for each in self.statements if each.topic != "notes"]
        return "\n".join([str(self.headline), *(f"- {each}" for each in about)])

    __repr__ = __str__


def judge(
    forecast: PredictionLike,
    y: ArrayLike,
    X: Features | Groups | None = None,
    *,
    time: Values | None = None,
    by: Groups | None = None,
    base: PredictionLike | None = None,
    guarantee: Guarantee | None = None,
    coverage: float = 0.9,
    labels: Labels | str | None = None,
) -> Judgement:
    """Are these forecasts calibrated, everywhere, as far as the labels y can tell; and what is to be done if not?

    All rows are judged, and slices of them by predicted value, by width, by the columns of X and of `by`, and over
    time. Calibrated forecasts of independent rows pass all of it together with a probability of 95% or more.

    Args:
        forecast: One distribution per row, or a forecast with intervals. Quantiles and draws are judged as
            distributions interpolated between them.
        y: The labels, of rows that neither trained nor calibrated the model.
        X: The features: an array, a mapping of names to columns or a data frame, of numbers, text or dates; values may
            be missing. Numbers are cut into quintiles, up to 12 different ones are a slice each.
        time: When each row was, as numbers or dates, in any order.
        by: Groups: a value for each row, a mapping of names to such columns, or a data frame.
        base: The forecasts before calibration, to compare with.
        guarantee: `calibrated.guarantee`: chance then includes the error that its n rows leave.
        coverage: The probability of the centred intervals.
        labels: What kind of number y is, as in `evaluate`.

    >>> from calibrant import Normal, judge
    >>> rng = np.random.default_rng(0)
    >>> f, region = rng.normal(size=2000), np.repeat(["north", "south"], 1000)
    >>> y = f + rng.normal(size=2000) + np.where(region == "north", 0.5, 0.0)
    >>> found = judge(Normal(f, 1.0), y, by={"region": region})
    >>> print(found.headline)
    Not calibrated: the forecasts are too low for region = north. Calibrate by region (by=).
    >>> found.kind, found.remedy, round(found.size, 2)
    ('bad', 'by group', 0.18)
    >>> print(judge(Normal(f, 1.0)[1000:], y[1000:]).headline)
    Calibrated, as far as 1,000 rows can tell. They can be used as they are, on data like these.
    """
    coverage = unit("coverage", coverage)
    if guarantee is not None and not isinstance(guarantee, Guarantee):
        raise TypeError(f"guarantee must be that of what was calibrated, calibrated.guarantee, got {guarantee!r}")
    given, y = paired(forecast, y)
    distribution = distribution_for_labels(given, y, labels)
    rows = forecast_rows(distribution, y, coverage)
    if "covered" not in rows.columns:
        raise TypeError(f"{given!r} has no distribution and no intervals to judge: calibrate it, with Calibrator().fit")
    m, (n, own) = len(rows), (guarantee.calibration_rows, guarantee.sizes) if guarantee else (None, None)
    before = None if base is None else comparable(base, distribution)
    groups = [slices_of(name, values, m) for name, values in columns_of(by, "group")] if by is not None else []
    features = [column for column in feature_slices(X, m) if column.name not in [each.name for each in groups]]
    taken = [column.name for column in (*groups, *features)]
    centre = rows.columns["median" if "median" in rows.columns else "centre"]
    forecasts = own_slices(centre, rows.columns["width"], taken) if m >= PARTS * SMALLEST else []
    along = None if time is None else periods_of(time, m, name=distinct_label("time", taken))

    # all rows have two shares of the rate of false alarms; the features three, as they are looked at in three ways
    shares = 2 + bool(forecasts) + bool(groups) + 3 * bool(features) + (along is not None)
    risk, one_sided = ALARM / shares, guarantee is not None and guarantee.basis == "cross"
    test = partial(parts_of, rows=rows, alarm=ALARM, risk=risk, one_sided=one_sided)
    parts = partial(test, behind=calibration_rows_of(groups, n, own))
    periods, worst, together, rng = None, None, None, np.random.default_rng(0)
    if along is not None:
        periods = parts([along]) if len(along.labels) > 1 else ()
    if features:
        looked = [*forecasts, *features]
        together = dependence(looked, rows, rng, alarm=ALARM, risk=risk)
        if found := worst_slice(looked, rows, rng):
            cell = Slices("", (f"{found[0]} (the worst found)",), np.zeros(found[1].size, np.int64))
            (worst,) = test([cell], behind=lambda column, k: n, chosen=found[1])
    base_rows = None
    if before is not None:
        known = device_like(to_numpy(y), before.like)
        base_rows = forecast_rows(for_labels(before, known, labels), known, coverage)
    return Judgement(
        forecast=given,
        y=y,
        labels=labels,
        overall=parts([all_rows(m)], risk=2 * risk)[0],
        slices=parts(forecasts),
        features=parts(features),
        groups=parts(groups),
        periods=periods,
        worst=worst,
        dependence=together,
        guarantee=guarantee,
        rows=rows,
        base_rows=base_rows,
        columns={column.name: column for column in (*forecasts, *features, *groups, *([along] if along else ()))},
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
