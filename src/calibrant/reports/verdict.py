"""The verdict of a report in words: each sentence is true of the rows at hand, and says how sure it is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calibrant._words import count
from calibrant.diagnosis.headline import Kind, groups_stand_out, how_bad
from calibrant.diagnosis.overall import FAIR_GAP, FEW, Tail
from calibrant.guarantee import required_n
from calibrant.metrics.bands import reliability_band
from calibrant.metrics.by_slice import LEVELS, SMALLEST, SliceResult
from calibrant.metrics.interpolated import InterpolatedForecast
from calibrant.metrics.label_kinds import HINT
from calibrant.metrics.rounding import percent, percents, shown
from calibrant.reports.findings import Findings
from calibrant.reports.over_time import over_time
from calibrant.reports.statement import Statement

SMALL_TIE = 0.01
"""A share of equal calibration scores that is no cause for alarm: the jump of H there is no larger."""


def verdict(findings: Findings) -> tuple[Statement, ...]:
    """All statements, the most important first."""
    overall = [*_calibrated(findings), *_coverage(findings)]
    groups, time, later = (
        list(_groups(findings)),
        list(over_time(findings)),
        (_interpolated, _as_counts, _enough, _assumptions),
    )
    parts = [*(time if findings.off_in_time else ()), *(groups if findings.off else ())]
    if groups_stand_out(findings.off, findings.off_in_time):  # the farther off first, as in the headline
        parts.reverse()
    fine = [statement for statement in (*time, *groups) if statement not in parts]
    if parts:  # what is right on average is no good news where a group is off, or a period
        overall = [_together(statement) for statement in overall]
        if findings.fails_only_between_levels:  # groups fail by the lines between the quantiles too
            parts = [replace(statement, kind="warn") for statement in parts]
        overall = (
            [*overall, *parts] if overall[0].kind == "bad" or findings.fails_only_between_levels else [*parts, *overall]
        )
    rest = [
        *(statement for part in (_base, _accuracy, _models, _width, _density) for statement in part(findings)),
        *fine,
    ]
    if findings.off_in_time or any(statement.kind == "bad" for statement in overall):
        rest = [replace(statement, kind="info") if statement.kind == "good" else statement for statement in rest]
    return *overall, *rest, *(statement for part in later for statement in part(findings))


def _together(statement: Statement) -> Statement:
    """A good statement about all rows together, without praise."""
    if statement.kind != "good":
        return statement
    return Statement("info", f"Over all rows together, {statement.text[0].lower()}{statement.text[1:]}")


def _calibrated(found: Findings) -> Iterator[Statement]:
    overall = found.overall
    level, gap, allowed = overall.largest.level, overall.gap, shown(overall.allowed)
    before = f" Before calibration the largest gap was {shown(found.before.gap)}." if found.before else ""
    largest = f"the largest gap is {shown(gap)}, at level {level:.3g}"
    if overall.state == "few":
        few = f"{found.rows} {'says' if found.m == 1 else 'say'} little"
        yield Statement("info", f"Nothing speaks against calibration, but {few}: {largest}.{before}")
    elif overall.state == "too good":
        yield Statement(
            "warn",
            f"The forecasts fit these rows better than chance allows even for perfect ones: {largest}. Are these"
            f" the rows that calibrated them? Then this page says nothing about new rows.{before}",
        )
    elif overall.state == "calibrated":
        yield Statement(
            "good",
            f"The forecasts are calibrated as far as {found.rows} can tell: the share of labels below each quantile"
            f" stays within what chance allows; {largest}, where chance allows {allowed}.{before}",
        )
    elif overall.state == "explained":
        yield Statement(
            "good" if gap <= FAIR_GAP else "warn",
            f"The forecasts are as well calibrated as {count(found.n or 0, 'calibration row')} can make them:"
            f" {largest}, where that many calibration rows leave gaps of up to {allowed}. {found.rows} can detect this"
            f" gap; more calibration rows would make it smaller.{before}",
        )
    elif overall.state == "wide folds":
        where = _at_level(found, int(np.argmax(overall.outside)))
        yield Statement(
            "info",
            f"The forecasts are wider than necessary, as the mean over folds is: {where}. The guarantee of folds"
            f" bounds how many labels lie in the tails, not how few.{before}",
        )
    elif overall.state == "borderline":
        yield Statement(
            "warn",
            f"The forecasts are perhaps not calibrated: they look {overall.fault}, by little more than chance allows."
            f" {_consequence(found)}. One set of calibrated forecasts in 20 looks like this.{before}",
        )
    elif overall.state == "nearly":
        yield Statement(
            "warn",
            f"The forecasts are nearly calibrated: the largest gap, {shown(gap)} at level {level:.3g}, is small, but"
            f" {found.rows} show more than chance: {_at_level(found, overall.worst)}.{_reason(found)}{before}",
        )
    elif found.fails_only_between_levels:
        yield Statement(
            "warn",
            f"At the levels that the quantiles name, they are right as far as {found.rows} can tell. Linear"
            " interpolation between them and exponential tails beyond do not fit:"
            f" {_at_level(found, overall.worst)}.{before}",
        )
    else:
        yield Statement(
            "bad",
            f"The forecasts are not calibrated on these rows: they are {overall.fault}. {_consequence(found)}."
            f"{_reason(found)}{before}",
        )


MEANING: dict[str, str] = {
    "too low": "Too many labels lie above the forecast",
    "too high": "Too many labels lie below the forecast",
    "too narrow": "Too many labels lie far out, in the tails of the forecast",
    "too wide": "Too many labels lie near the middle of the forecast",
    "wrong in the tails": "Too many labels lie in the outermost tails of the forecast",
    "wrong in shape": "Too many labels lie in some parts of the forecast, and too few in others",
}
"""What each fault means for where the labels lie."""


def _consequence(found: Findings) -> str:
    """What the fault means, and the level that shows it best."""
    overall = found.overall
    if overall.fault == "wrong in the tails" and overall.tail is not None and not overall.one_sided:
        return f"{MEANING[overall.fault]}: {_in_tail(found, overall.tail)}"
    return f"{MEANING[overall.fault]}: {_at_level(found, overall.clearest_level)}"


def _in_tail(found: Findings, tail: Tail) -> str:
    """The share of labels in a part of the tails, with what chance allows."""
    share, most, _ = percents(found.m, tail.share, tail.most, tail.most)
    where = {
        "both": f"outside the {100 * (1 - 2 * tail.level):.6g}% intervals",
        "low": f"below the quantile at level {tail.level:g}",
        "high": f"above the quantile at level {1 - tail.level:g}",
    }[tail.side]
    return f"{share} of the labels{_split(found)} lie {where}, where chance allows up to {most}"


def _reason(found: Findings) -> str:
    """Why it may be so."""
    if found.one_sided:
        return f" {_folds_allow(found, float(LEVELS[found.overall.worst]))}"
    if found.n is None:
        unknown = " The number of calibration rows is not known: if they were few, part of the gap is theirs."
        return "" if found.known == "raw" else unknown
    more = f" That is more than {count(found.n, 'calibration row')} would leave to chance:"
    if found.since:
        return f"{more} a change since {found.since} is the likely cause."
    time = f" With {found.interface.time} the report shows whether things changed over time."
    distinct_label = f"{more} these rows may be unlike them, or the model was trained on the calibration rows."
    return distinct_label if found.periods is not None else distinct_label + time


def _at_level(found: Findings, k: int) -> str:
    """The share of labels below one quantile, with what chance allows."""
    least, most = found.overall.band
    share, low, high = percents(found.m, found.overall.below[k], least[k], most[k])
    return (
        f"{share} of the labels{_split(found)} lie below the quantile at level {LEVELS[k]:.3g}, where chance allows"
        f" {low} to {high}"
    )


def _split(found: Findings) -> str:
    return " (ties split)" if found.comparison.after.has_atoms else ""


def _coverage(found: Findings) -> Iterator[Statement]:
    line, target = found.comparison.lines["covered"], found.comparison.coverage
    value, atoms, interval = line.after.value, found.comparison.after.has_atoms, found.overall.interval
    tested, low, high = percents(found.m, interval.tested, interval.low, interval.high)
    chance = f"where chance allows {low} to {high}"
    share = percent(value, found.m) if atoms else tested
    text = f"The {100 * target:.6g}% intervals hold {share} ({_ends(found, line.after)}) of the labels"
    if line.before is not None:
        text += f"; before calibration they held {percent(line.before.value, found.m)} ({_ends(found, line.before)})"
    # a count is either inside or outside; what chance allows is said of PITs that split it. That share is said too,
    # lest one read that more than 90% are inside, and too few
    if tested != share:
        text += (
            f". With ties at the ends of the intervals split, it is {tested}, which is what the test compares with"
            f" {100 * target:.6g}%"
        )
    # the interval that is shown has its say: one must not read that 90% is inside it, and too few
    unknown = " If the calibration rows were few, part of this is theirs." if found.known == "unknown" else ""
    if found.overall.coverage_fault == "too few":
        kind: Kind = "bad" if found.overall.clearly_undercovers and not found.fails_only_between_levels else "warn"
        so = "With ties split, that" if value >= target else "That"
        yield Statement(kind, f"{text}. {so} is too few, {chance}.{unknown}")
    elif found.overall.coverage_fault == "too many":
        folds = ", as the mean over folds is" if found.one_sided else ""
        kind = "info" if found.one_sided else "warn"
        wide = f"the intervals are wider than necessary{folds}."
        yield Statement(kind, f"{text}. That is more than asked for, {chance}: {wide}")
    else:
        aside, kind = "", "info" if found.m < FEW else "good"
        if not atoms and line.after.excludes(target) and found.n is not None:
            aside = f" With {count(found.n, 'calibration row')}, {low} to {high} is to be expected."
            kind = kind if abs(value - target) <= FAIR_GAP else "warn"
        yield Statement(kind, f"{text}.{aside}")
    base = found.comparison.before
    if base is not None and base.forecast.own_bounds:
        inside, width = np.mean(base.columns["covered"]), np.mean(base.columns["width"])
        yield Statement(
            "info",
            f"The intervals of the base, whose level is not known, hold {percent(float(inside), found.m)} of the labels"
            f" and are {shown(float(width))} wide on average.",
        )


def _base(found: Findings) -> Iterator[Statement]:
    if found.before is None or found.m < FEW:
        return
    low, high = reliability_band(found.m, LEVELS)
    if ((low <= found.before.below) & (found.before.below <= high)).all():
        yield Statement(
            "info",
            f"The base was calibrated already, as far as {found.rows} can tell, so calibration has little to gain.",
        )


def _accuracy(found: Findings) -> Iterator[Statement]:
    line = found.comparison.lines["crps"]
    if math.isinf(line.after.value):
        yield Statement(
            "warn",
            "The CRPS is infinite: some forecasts put probability at infinity, or have no mean. Clip them, or choose"
            " other tails.",
        )
        return
    base = found.comparison.before
    if line.before is None or line.change is None:
        yield Statement(
            "info", f"The CRPS, which is better when smaller, is {shown(line.after.value)}{_range(line.after)}."
        )
        return
    note = f", {base.forecast.crps_note}," if base and base.forecast.crps_note else ""
    both = f"from {shown(line.before.value)}{note} to {shown(line.after.value)}"
    if line.outcome == "same":
        yield Statement(
            "info",
            f"The CRPS went {both}, which {found.rows} cannot tell from no change{_range(line.change)}.",
        )
        return
    change = "" if math.isinf(line.change.value) else f", a change of {shown(line.change.value)}{_range(line.change)}"
    if line.outcome == "better":
        yield Statement("good", f"The forecasts are better: their CRPS fell {both}{change}.")
    else:
        yield Statement("warn", f"The forecasts lost accuracy: their CRPS rose {both}{change}.")


def _models(found: Findings) -> Iterator[Statement]:
    if not found.models:
        return
    best = found.models[0]
    among = f"Of {len(found.models)} models,"
    if best.name == found.name:
        near = [entry.name for entry in found.models[1:] if entry.crps.outcome == "same"]
        but = f", though {found.rows} cannot tell it from {_listed(near)}" if near else ""
        yield Statement("info", f"{among} {found.name} (the subject of this page) has the lowest CRPS{but}.")
        return
    change = best.crps.change
    unsure = "" if best.crps.outcome == "better" else f", which {found.rows} cannot tell from no difference"
    gap = "" if change is None else f", a difference of {shown(change.value)}{_range(change)} from {found.name}{unsure}"
    yield Statement(
        "warn" if best.crps.outcome == "better" else "info",
        f"{among} {best.name} has the lowest CRPS, {shown(best.crps.after.value)}{gap}. This page is on {found.name}.",
    )


def _width(found: Findings) -> Iterator[Statement]:
    line = found.comparison.lines["width"]
    name = f"{100 * found.comparison.coverage:.6g}% intervals"
    if not math.isfinite(line.after.value):
        yield Statement("warn", f"Some {name} are infinite, as those of infinite tails are where scores are too few.")
        return
    if line.before is None or line.change is None:
        yield Statement("info", f"The {name} are {shown(line.after.value)} wide on average{_range(line.after)}.")
        return
    if not math.isfinite(line.before.value):
        yield Statement("info", f"The {name} are {shown(line.after.value)} wide on average; some were infinite before.")
        return
    how = (
        "as wide as before, within chance"
        if line.change.low is not None and not line.change.excludes(0.0)
        else "as wide as before"
        if line.change.value == 0
        else "wider"
        if line.change.value > 0
        else "narrower"
    )
    yield Statement(
        "info",
        f"The {name} are {how}: {shown(line.before.value)} before and {shown(line.after.value)} now, on average.",
    )


def _density(found: Findings) -> Iterator[Statement]:
    line = found.comparison.lines["nll"]
    if math.isinf(line.after.value):
        side = found.comparison.after
        rows = int(np.isposinf(side.columns["nll"]).sum())
        why = " A distribution of steps (naive, random) has no density at all; use linear or NAF where you need one."
        if isinstance(side.forecast, InterpolatedForecast):
            why = f" Rows whose {side.forecast.words} coincide have no density elsewhere."
        yield Statement("info", f"The NLL is infinite: the density is zero at {count(rows, 'label')}.{why}")
    elif line.outcome == "worse" and line.before is not None and not found.comparison.after.has_atoms:
        yield Statement(
            "info",
            f"The NLL rose from {shown(line.before.value)} to {shown(line.after.value)}. If q is linear, its rough"
            " density costs about 0.4; the interpolator NAF() gives a smooth one.",
        )


def _groups(found: Findings) -> Iterator[Statement]:
    if not found.by:
        return
    promise = (
        "The guarantee holds in each group that was calibrated by itself, and promises nothing for other slices."
        if found.guarantee is not None and found.guarantee.basis in ("group", "horizon")
        else "Calibration over all rows together does not extend to each group."
        if found.known == "raw"
        else "Calibration over all rows together is what is guaranteed; that does not extend to each group."
    )
    if not found.groups:
        yield Statement("info", f"Every group has fewer than {SMALLEST} rows, too few to judge it. {promise}")
    elif not found.off:
        note = found.wide_folds_note(found.groups)
        looked = f"{count(len(found.groups), 'group')} looked at, by {_listed(found.by)}{note}"
        yield Statement(
            "good", f"No group of {SMALLEST} rows or more is off by more than chance allows, with {looked}. {promise}"
        )
    else:
        worst = max(found.off, key=lambda group: group.distance)
        yield Statement(
            how_bad(found.off),
            f"{len(found.off)} of {count(len(found.groups), 'group')} {'are' if len(found.off) > 1 else 'is'} off by"
            f" more than chance allows, by {_listed(list(dict.fromkeys(group.by for group in found.off)))}."
            f" {_how_far(found.off, worst)} {promise}",
        )


def _how_far(off: Sequence[SliceResult], worst: SliceResult) -> str:
    """The coverage of the groups that are farthest from it, below and above; or the worst of the PITs."""
    shares = sorted((group for group in off if group.intervals[0].off), key=lambda group: group.intervals[0].tested)
    if not shares:
        return (
            f"The worst is {worst.name} ({count(worst.m, 'row')}): {percent(worst.below or 0.0, worst.m)} of its labels"
            f" lie below the quantile at level {worst.level:.3g}."
        )
    texts = [_coverage_of(group) for group in (shares if len(shares) < 2 else (shares[0], shares[-1]))]
    return f"The {100 * worst.intervals[0].coverage:.6g}% intervals hold {' and '.join(texts)}."


def _coverage_of(group: SliceResult) -> str:
    """What the intervals of a group hold: the share that one counts, and that which chance is asked about."""
    interval = group.intervals[0]
    tested, low, high = percents(group.m, interval.tested, interval.low, interval.high)
    share = tested if interval.split_share is None else percent(interval.share, group.m)
    split = "" if tested == share else f"; {tested} with ties split"
    return f"{share} of the labels with {group.name} ({count(group.m, 'row')}{split}; chance allows {low} to {high})"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _enough(found: Findings) -> Iterator[Statement]:
    if found.m < FEW:
        (low,), (high,) = reliability_band(found.m, [found.comparison.coverage])
        yield Statement(
            "warn",
            f"{found.rows.capitalize()} are few: with perfect forecasts, the {100 * found.comparison.coverage:.6g}%"
            f" intervals may hold anything from {percent(low, found.m)} to {percent(high, found.m)} of them."
            if found.m > 1
            else "One row says next to nothing about calibration.",
        )
    if found.guarantee is not None and found.guarantee.basis in ("marginal", "weighted"):
        untied = replace(found.guarantee, largest_tie=1).conditional()
        if untied > 0.1:
            yield Statement(
                "warn",
                f"{count(found.guarantee.n, 'calibration row leaves', 'calibration rows leave')} room for an error of"
                f" up to {shown(untied, 2)} (95% confidence); {required_n(0.05, 0.95)} would bring it to 0.05 with"
                " linear interpolation.",
            )
    if found.guarantee is not None and found.guarantee.kind.endswith("approximate"):
        tie = found.guarantee.largest_tie
        share = tie / (found.guarantee.n + 1)
        yield Statement(
            "warn" if share > SMALL_TIE else "info",
            f"Calibration scores are tied, up to {tie} at a time ({100 * share:.2g}% of them): the guarantee holds only"
            " up to these ties.",
        )


def _interpolated(found: Findings) -> Iterator[Statement]:
    forecast = found.comparison.after.forecast
    if isinstance(forecast, InterpolatedForecast):
        yield Statement(
            "info",
            f"The forecasts are {forecast.words}. They are evaluated as distributions interpolated linearly between"
            f" {'them' if forecast.words == 'quantiles' else 'the sorted draws'}, with exponential tails"
            " beyond the outermost.",
        )


def _as_counts(found: Findings) -> Iterator[Statement]:
    if found.like_counts and (found.overall.fails or found.off or found.off_in_time):
        yield Statement("warn", HINT.format(found.interface.counts))
    if found.were.endswith("rates"):
        distribution = found.were.removesuffix(" rates")
        yield Statement("info", f"The forecasts are rates. They are evaluated as {distribution} distributions.")
    elif found.were:
        yield Statement(
            "info",
            f"The forecasts are {found.were}. They are evaluated as distributions of counts, interpolated linearly"
            f" between {'them' if found.were == 'quantiles' else 'the sorted draws'} and then rounded.",
        )


def _assumptions(found: Findings) -> Iterator[Statement]:
    raw = "these, and if the model was not trained on these rows"
    calibrated = "the calibration data, and if neither these rows nor those were used to train the model"
    like = raw if found.known == "raw" else calibrated
    yield Statement(
        "info",
        f"This page describes these rows. It carries over to new data as long as they are like {like}. Ranges in"
        " brackets are 95% intervals.",
    )


def _ends(found: Findings, estimate: Any) -> str:
    return f"{percent(estimate.low, found.m)} to {percent(estimate.high, found.m)}"


def _range(estimate: Any) -> str:
    return "" if estimate.low is None else f" ({shown(estimate.low)} to {shown(estimate.high)})"


def _folds_allow(found: Findings, level: float) -> str:
    """What P(H(Y) <= c) <= 2 c + epsilon, and the same above 1 - c, allows at a level, in words."""
    tail, side = min(level, 1 - level), "below" if level < 0.5 else "above"
    allowed = percent(min(1.0, 2 * tail + found.guarantee.epsilon), found.m)
    return f"The guarantee of folds is weaker: it allows {allowed} of the labels {side} this quantile."
