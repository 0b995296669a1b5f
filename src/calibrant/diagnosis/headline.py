"""The verdict in one sentence, and the next step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

from calibrant._words import count
from calibrant.diagnosis.opposite_slices import opposite_slices
from calibrant.diagnosis.over_time import Period
from calibrant.diagnosis.overall import FAIR_GAP, SMALL_GAP, Overall
from calibrant.guarantee import Guarantee
from calibrant.judging.interface import PYTHON, Interface
from calibrant.judging.words import WORDS as WORDS
from calibrant.judging.words import Headline as Headline
from calibrant.judging.words import Kind as Kind
from calibrant.metrics.by_slice import OWN, SliceResult
from calibrant.metrics.interval_coverage import TIES_SPLIT
from calibrant.metrics.rounding import shown

Known = Literal["calibrated", "by group", "unknown", "raw"]


AS_COUNTS = "If they are forecasts of counts, evaluate them as such first: {}."
"""The next step where labels look like counts; to be filled in with how to say it."""
RIGHT_AT_LEVELS = Headline(
    "warn",
    "The quantiles are right at their levels; linear interpolation between them, or the tails beyond, is not.",
    "Use them at their levels, or calibrate them to get the rest of the distribution.",
)


def headline(
    overall: Overall,
    groups: Sequence[SliceResult] = (),
    periods: Sequence[Period] = (),
    *,
    known: Known = "calibrated",
    interface: Interface = PYTHON,
) -> Headline:
    """The headline on all rows, on groups, and on periods in time order.

    `known` is what is known of the forecasts: that they were calibrated, or each group by itself, that they were but
    not by how many rows, or that they are as a model gave them; `interface` is where the next step is read.

    >>> import numpy as np
    >>> from calibrant.diagnosis.overall import overall_of
    >>> print(headline(overall_of(np.random.default_rng(0).beta(2, 1, 1000), 0.9), known="raw"))
    Not calibrated: the forecasts are too low. Calibrate them, with Calibrator().fit(forecasts, labels), on rows that
    the model has not seen.
    """

    def off(parts: Sequence[Any]) -> list[Any]:
        return [each for each in parts if each.off and not (overall.one_sided and each.only_wide)]

    off_in_time, off_groups = off(periods), off(groups)
    if overall.fails:
        text = f"Not calibrated: the forecasts are {overall.fault}."
        if found := opposite_slices(off_groups):
            return Headline(
                "bad",
                f"Not calibrated: the forecasts are {found}.",
                found.step(interface, by_group=known == "by group"),
            )
        if since := change_since(periods, off_in_time, off_groups):
            text += f" A change since {since} is the likely cause."
        elif 0 < len(off_in_time) < len(periods):
            text += f" {_off_in_time(periods, off_in_time)}{_but_farther(off_groups, off_in_time)}."
            if known != "raw" and groups_stand_out(off_groups, off_in_time):
                return Headline("bad", text, _for_group(off_groups, interface))
        again = f"Calibrate again on rows {f'since {since}' if since else 'like these'}, which the model has not seen."
        few = f" With {interface.guarantee} it shows how much of this a small calibration set explains."
        step = _calibrate(interface) if known == "raw" else again + few if known == "unknown" else again
        return Headline("bad", text, step)
    if not off_in_time and not off_groups:
        return _overall(overall, known, interface)
    if not off_in_time or groups_stand_out(off_groups, off_in_time):
        text, step = _in_groups(overall, off_groups, len(groups), interface, known)
        text += f"; and {_off_in_time(periods, off_in_time)}" if off_in_time else ""
    else:
        text, step = _over_time(overall, off_in_time, since_when(periods, off_in_time), interface)
        text += f"; and {_off(off_groups, len(groups))}" if off_groups else ""
    return Headline(how_bad([*off_groups, *off_in_time]), f"{text}.", step)


def known_by(guarantee: Guarantee) -> Known:
    """What is known of forecasts with this guarantee: that they were calibrated, or each group by itself."""
    parts = guarantee.parts if guarantee.basis == "cross" else (guarantee,)
    return "by group" if any(each.basis in ("group", "horizon") for each in parts) else "calibrated"


def how_bad(off: Sequence[SliceResult]) -> Kind:
    """A problem, or something to watch: how bad it is that these slices, or periods, are off.

    A problem is far from its target, and by more than a small gap beyond what chance allows. A slice of few rows is far
    from its target where it is off at all, so that its distance alone would make every crossing a problem.
    """
    return "bad" if any(each.distance > FAIR_GAP and each.excess > SMALL_GAP for each in off) else "warn"


def _calibrate(interface: Interface) -> str:
    return f"Calibrate them, with {interface.calibrate}, on rows that the model has not seen."


def change_since(periods: Sequence[Period], off: Sequence[Period], groups: Sequence[SliceResult]) -> str:
    """Since when the forecasts are off, where that is a change: all was well before, and no group is farther off."""
    since = since_when(periods, off)
    last = [each for each in periods if each.start == since]
    before = bool(last) and any(each in off for each in periods[: periods.index(last[0])])
    return "" if before or groups_stand_out(groups, off) else since


def groups_stand_out(groups: Sequence[SliceResult], off: Sequence[Period]) -> bool:
    """Whether a group is farther beyond chance than any period: then it is the groups that differ."""
    return max((each.excess for each in groups), default=0.0) > max((each.excess for each in off), default=0.0)


def _off_in_time(periods: Sequence[Period], off: Sequence[Period]) -> str:
    """What is seen, where nothing says that a change is the cause."""
    if len(off) == 1:
        return f"1 of {len(periods)} periods is off, from {off[0].start} to {off[0].end}"
    return f"{len(off)} of {len(periods)} periods are off, the first from {off[0].start}"


def _but_farther(groups: Sequence[SliceResult], off: Sequence[Period]) -> str:
    """The group that is farther off than any period, if there is one."""
    if not groups_stand_out(groups, off):
        return ""
    worst = max(groups, key=lambda each: each.excess)
    interval = worst.intervals[0]
    share = (
        f", whose {100 * interval.coverage:.6g}% intervals hold {interval.in_words(worst.m)}" if interval.off else ""
    )
    return f"; farthest off is {worst.name}{share}"


def _together(overall: Overall, but: str) -> str:
    """What holds over all rows together, and what does not hold in their parts."""
    if overall.state == "borderline":
        return f"Borderline over all rows together ({overall.fault}), and"
    return f"{'Nearly calibrated' if overall.state == 'nearly' else 'Calibrated'} over all rows together, but{but}"


def _over_time(overall: Overall, off: Sequence[Period], since: str, interface: Interface) -> tuple[str, str]:
    worst = max(off, key=lambda each: each.distance)
    when = f"since {since}" if since else f"from {worst.start} to {worst.end}"
    how = off[-1].direction if since else worst.direction
    text = f"{_together(overall, '')} {when} the forecasts are too {how}"
    step = f"Calibrate again on rows {f'since {since}' if since else 'like those to come'}"
    return text, f"{step}, or follow the labels as they come with a Tracker."


def since_when(periods: Sequence[Period], off: Sequence[Period]) -> str:
    """The first moment of the periods, one after the other, that are off as the last one is; "" if there is none."""
    start = ""
    for each in reversed(periods):
        if each not in off or each.direction != periods[-1].direction:
            return start
        start = each.start
    return ""  # all of them: no change


def _for_group(off: Sequence[SliceResult], interface: Interface) -> str:
    """The next step for the group that is farthest off."""
    worst = max(off, key=lambda each: each.distance)
    if worst.by.strip("()") in OWN:
        return f"Let the width follow the forecast, by {interface.refine}."
    return f"Calibrate by {worst.by} ({interface.by})."


def _in_groups(
    overall: Overall, off: Sequence[SliceResult], looked: int, interface: Interface, known: Known
) -> tuple[str, str]:
    worst = max(off, key=lambda each: each.distance)
    found = opposite_slices(off)
    how = str(found) if found else f"most of all {worst.name}, too {worst.direction}"
    text = f"{_together(overall, ' not in each group:')} {_off(off, looked)}, {how}"
    return text, found.step(interface, by_group=known == "by group") if found else _for_group(off, interface)


def _off(off: Sequence[SliceResult], looked: int) -> str:
    which = f"{len(off)} of {looked} groups" if looked > 1 else "its one group"
    return f"{which} {'are' if len(off) > 1 else 'is'} off"


def _overall(overall: Overall, known: Known, interface: Interface) -> Headline:
    rows = count(overall.m, "row")
    says = "says" if overall.m == 1 else "say"
    if overall.state == "nearly":
        text = (
            f"Nearly calibrated: the largest gap, {shown(overall.gap, 2)}, is small, but {rows} show more than chance."
        )
        return Headline("warn", text, "No action is needed unless so small a gap matters.")
    if overall.state == "borderline":
        text = f"Perhaps not calibrated: the forecasts look {overall.fault}, by little more than chance allows."
        return Headline(
            "warn", text, "Evaluate them on other rows too: calibrated forecasts look like this one time in 20."
        )
    if overall.state == "too good":
        text = "These fit better than chance allows: they look like the rows that calibrated the forecasts."
        return Headline("warn", text, "Evaluate on rows that neither trained the model nor calibrated it.")
    if overall.state == "few":
        text = f"Nothing speaks against calibration, but {rows} {says} little."
        return Headline("info", text, "Evaluate on 100 rows or more.")
    if overall.state == "wide folds":
        text = "Not too narrow: the forecasts are wider than necessary, as the mean over folds is."
        return Headline("info", text, "No action is needed.")
    if overall.coverage_fault == "too few":
        text = f"The {100 * overall.interval.coverage:.6g}% intervals hold fewer labels than asked for"
        if overall.interval.split_share is not None:
            text += f", {TIES_SPLIT}"
        return Headline("warn", f"{text}, by little more than chance allows.", "Evaluate them on other rows too.")
    if overall.coverage_fault == "too many":
        text = f"The {100 * overall.interval.coverage:.6g}% intervals are wider than necessary"
        if overall.one_sided:
            return Headline("info", f"{text}, as the mean over folds is.", "No action is needed.")
        narrower = "Calibrate again on rows like these to make them narrower."
        return Headline("warn", f"{text}.", _calibrate(interface) if known == "raw" else narrower)
    if overall.state == "explained":
        n = cast(int, overall.n)  # which explains the gap
        text = f"As well calibrated as {count(n, 'calibration row')} can make them."
        fair = overall.gap <= FAIR_GAP
        step = "More calibration rows would bring the gap down."
        return Headline("good" if fair else "warn", text, _USE if fair else step)
    text = f"Calibrated, as far as {rows} can tell."
    return Headline("good", text, "They can be used as they are, on data like these." if known == "raw" else _USE)


_USE = "Use them, as long as new data are like the calibration data."
