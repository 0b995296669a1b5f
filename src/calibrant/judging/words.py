"""The words of a judgement: the headline, the next step, and statements with their numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from calibrant._words import count
from calibrant.guarantee import required_n
from calibrant.judging.cause import Cause
from calibrant.judging.changes import Estimate
from calibrant.judging.columns import OWN
from calibrant.judging.facts import Facts
from calibrant.judging.part import SMALLEST, Part
from calibrant.metrics.bands import reliability_band
from calibrant.metrics.label_kinds import HINT
from calibrant.metrics.rounding import percent, shown

Kind = Literal["good", "warn", "bad", "info"]
Said = Iterator[tuple[Kind, str]]
Remedy = Literal[
    "none", "more rows", "other rows", "as counts", "at levels", "calibrate", "calibrate again", "since", "by group",
    "fit location", "fit width",
]  # fmt: skip
WORDS: dict[Kind, str] = {"good": "Good", "warn": "Take care", "bad": "Problem", "info": "Note"}
FEW = 100
"""Fewer rows than this say little."""
SMALL_GAP = 0.02
"""A gap of this size or less is small, even where so many rows show that it is there."""
CLEAR = 0.01
"""A p-value above this is little less than chance allows."""
SMALL_TIE = 0.01
"""A share of equal calibration scores that is no cause for alarm: the jump of H there is no larger."""


@dataclass(frozen=True)
class Statement:
    """A sentence or two, and what they are: good, warn, bad or info."""

    kind: Kind
    text: str
    topic: str = field(default="calibration", kw_only=True)
    """calibration, coverage, slices, time, features, accuracy, width or notes."""

    @property
    def word(self) -> str:
        """The kind in words: Good, Take care, Problem or Note."""
        return WORDS[self.kind]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Headline(Statement):
    """Calibrated or not, and what to do."""

    step: str = ""
    """The next step."""
    remedy: Remedy = "none"
    """What kind of step that is."""

    def __str__(self) -> str:
        return f"{self.text} {self.step}"


MOVES = {
    "too low": "raises them",
    "too high": "lowers them",
    "too narrow": "widens them",
    "too wide": "narrows them",
    "wrong in the tails": "gives them the tails that the labels have",
    "wrong in shape": "gives them the shape that the labels have",
}
MEANING = {
    "too low": "Too many labels lie above the forecast",
    "too high": "Too many labels lie below the forecast",
    "too narrow": "Too many labels lie far out, in the tails of the forecast",
    "too wide": "Too many labels lie near the middle of the forecast",
    "wrong in the tails": "Too many labels lie in the outermost tails of the forecast",
    "wrong in shape": "Too many labels lie in some parts of the forecast, and too few in others",
}
"""What each fault means for where the labels lie."""
USE = "Use them, as long as new data are like the calibration data."


def headline(j: Facts) -> Headline:
    """The verdict in one sentence, and the next step."""
    rows = count(j.m, "row")
    if j.cause is None:
        if j.m < FEW:
            text = f"Nothing speaks against calibration, but {rows} {'says' if j.m == 1 else 'say'} little."
            return Headline("info", text, step=f"Judge them on {FEW} rows or more.", remedy="more rows")
        if j.too_good:
            text = "These fit better than chance allows: they look like the rows that calibrated the forecasts."
            step = "Judge them on rows that neither trained the model nor calibrated it."
            return Headline("warn", text, step=step, remedy="other rows")
        use = "They can be used as they are, on data like these." if j.known == "raw" else USE
        if j.wide_folds:
            text = "Not too narrow: the forecasts are wider than necessary, as the mean over folds is."
            return Headline("good", text, step="No action is needed.")
        if j.explained:
            text = f"As well calibrated as {count(j.n or 0, 'calibration row')} can make them."
            return Headline("good", text, step=use)
        return Headline("good", f"Calibrated, as far as {rows} can tell.", step=use)
    if j.right_at_levels:
        right = "The quantiles are right at their levels"
        text = f"{right}; linear interpolation between them, or the tails beyond, is not."
        step = "Use them at their levels, or calibrate them to get the rest of the distribution."
        return Headline("warn", text, step=step, remedy="at levels")
    step, remedy = next_step(j, j.cause)
    if j.like_counts and j.known == "raw":
        step = f"If they are forecasts of counts, judge them as such first: {j.interface.counts}."
        remedy = "as counts"
    unsure, small = j.pvalue > CLEAR, j.size <= SMALL_GAP
    what = f"{'look' if unsure else 'are'} {j.cause.words}"
    if j.cause.kind == "features":
        text = f"Calibrated in each slice, but {j.cause.by} together tell where labels lie in their forecasts"
        return Headline("warn", f"{text}.", step=step, remedy=remedy)
    if small:
        lead = f"Nearly calibrated: the largest gap is {shown(j.size, 2)}, but {rows} show that"
    elif j.overall.off:
        lead = "Perhaps not calibrated:" if unsure else "Not calibrated:"
    else:
        lead = f"Calibrated over all rows together, but {'perhaps ' if unsure else ''}not everywhere:"
    text = f"{lead} the forecasts {what}{', by little more than chance allows' if unsure else ''}."
    if unsure:
        again = "Judge them on other rows too: one set of calibrated forecasts in 20 looks like this."
        step = f"{again} If it stays: {_lower(step)}"
    return Headline("warn" if unsure or small else "bad", text, step=step, remedy=remedy)


def next_step(j: Facts, cause: Cause) -> tuple[str, Remedy]:
    """The remedy for this fault."""
    ways, by = j.interface, cause.by
    if cause.kind == "all rows":
        moves = f"that {MOVES[cause.parts[0].fault]}."
        if j.known == "raw":
            return f"Calibrate them, with {ways.calibrate}, on rows that the model has not seen: {moves}", "calibrate"
        return f"Calibrate again on rows like these, which the model has not seen: {moves}", "calibrate again"
    if cause.kind == "time":
        rows = f"rows since {cause.since}" if cause.since else "rows like those to come"
        return f"Calibrate again on {rows}, or follow the labels as they come with a Tracker.", "since"
    if cause.kind == "column" and by in j.by:
        finer = "again, with finer groups, " if j.known == "by group" else ""
        return f"Calibrate {finer}by {by} ({ways.by}).", "by group"
    if cause.about == "location":
        misses = f"The model misses how y depends on {by}: fit it better there, then calibrate it again."
        return misses, "fit location"
    return f"Let the width follow {'the forecast' if by.strip('()') in OWN else by}, by {ways.refine}.", "fit width"


def statements(j: Facts) -> tuple[Statement, ...]:
    """What there is to say, the most important first."""

    def about(topic: str, said: Said) -> list[Statement]:
        return [Statement(kind, text, topic=topic) for kind, text in said]

    parts = [*about("slices", _slices(j)), *about("time", _time(j)), *about("features", _features(j))]
    bad = [each for each in parts if each.kind in ("bad", "warn")]
    overall = [*about("calibration", _overall(j)), *about("coverage", _coverage(j))]
    # what is right on average is no good news where a part of the rows is off
    first = [*bad, *map(_together, overall)] if bad and not j.overall.off else [*overall, *bad]
    fine = [each for each in parts if each not in bad]
    means = [*about("accuracy", _accuracy(j)), *about("width", _width(j))]
    return (*first, *about("calibration", _base(j)), *means, *fine, *about("notes", _notes(j)))


def _together(statement: Statement) -> Statement:
    """A good statement about all rows together, without praise."""
    if statement.kind != "good":
        return statement
    return replace(statement, kind="info", text=f"Over all rows together, {_lower(statement.text)}")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _overall(j: Facts) -> Said:
    part = j.overall
    rows = count(j.m, "row")
    gap = "" if part.gap is None else f"; the largest gap is {shown(part.gap)}, at level {part.level:.3g}"
    before = "" if j.before is None or j.before.gap is None else f" Before calibration it was {shown(j.before.gap)}."
    if part.off:
        kind: Kind = "warn" if j.right_at_levels or part.size <= SMALL_GAP or part.pvalue > CLEAR else "bad"
        fault = f"{MEANING[part.fault]}: {part.evidence}"
        are = "look" if part.pvalue > CLEAR else "are"
        yield kind, f"Over all rows together, the forecasts {are} {part.fault}. {fault}.{_reason(j)}{before}"
    elif j.m < FEW:
        yield "info", f"{rows} {'says' if j.m == 1 else 'say'} little{gap}.{before}"
    elif j.too_good:
        yield "warn", f"The forecasts fit these rows better than chance allows even for perfect ones{gap}.{before}"
    elif j.wide_folds:
        text = "The forecasts are wider than necessary, as the mean over folds is."
        yield "info", f"{text} The guarantee of folds bounds how many labels lie in the tails, not how few.{before}"
    elif j.explained:
        many = count(j.n or 0, "calibration row")
        text = f"The forecasts are as well calibrated as {many} can make them{gap}, which so few rows leave to chance."
        yield "good", f"{text} More calibration rows would make it smaller.{before}"
    else:
        text = f"The forecasts are calibrated as far as {rows} can tell"
        yield "good", f"{text}: no share of labels is beyond what chance allows{gap}.{before}"


def _reason(j: Facts) -> str:
    """Why it may be so."""
    if j.known == "raw" or j.cause is None or j.cause.kind != "all rows":
        return ""
    if j.n is None:
        return " The number of calibration rows is not known: if they were few, part of the gap is theirs."
    more = f" That is more than {count(j.n, 'calibration row')} would leave to chance:"
    return f"{more} these rows may be unlike them, or the model was trained on the calibration rows."


def _coverage(j: Facts) -> Said:
    part, found = j.overall, j.changes["covered"]
    text = f"The {100 * j.coverage:.6g}% intervals hold {part.in_words()}"
    if found.before is not None:
        text += f"; before calibration they held {percent(found.before.value, j.m)}"
    if part.off and part.shown_by == "intervals" and found.before is None:  # said already
        return
    if part.tested < part.low - 1e-12:
        yield _how_bad(j, [part]), f"{text}: too few."
    elif part.tested > part.high + 1e-12:
        wide = "wider than necessary, as the mean over folds is" if part.one_sided else "wider than necessary"
        yield "info" if part.one_sided else "warn", f"{text}: the intervals are {wide}."
    else:
        yield "info" if j.m < FEW else "good", f"{text}."


def _slices(j: Facts) -> Said:
    parts = [*j.slices, *j.features, *j.groups, *([] if j.worst is None else [j.worst])]
    off = sorted((part for part in parts if part.off), key=lambda part: part.pvalue)
    promise = {
        "by group": "The guarantee holds in each group that was calibrated by itself, and promises nothing for others.",
        "raw": "Calibration over all rows together does not extend to each slice.",
    }.get(j.known, "The guarantee is for all rows together; it does not extend to each slice.")
    if not parts:
        if j.by:
            yield "info", f"Every group has fewer than {SMALLEST} rows, too few to judge it."
        return
    by = _listed(list(dict.fromkeys(part.by for part in parts if part.by)))
    if not off:
        text = f"None of {count(len(parts), 'slice')} is off by more than chance allows, by {by}."
        yield "good", f"{text} {promise}"
        return
    worst = [off[0], *(part for part in off[1:] if part.fault != off[0].fault)][:2]
    why = [f"With {each.name} ({count(each.m, 'row')}) the forecasts are {_shown_fault(each)}" for each in worst]
    yield _how_bad(j, off), f"{_how_many(off, parts, 'slice')}. {' '.join(why)} {promise}"


def _how_many(off: Sequence[Part], of: Sequence[Part], what: str) -> str:
    return f"{len(off)} of {count(len(of), what)} {'is' if len(off) == 1 else 'are'} off by more than chance allows"


def _shown_fault(part: Part) -> str:
    return f"{part.fault}: {part.evidence}."


def _how_bad(j: Facts, off: Sequence[Part]) -> Kind:
    clear = any(part.pvalue <= CLEAR and part.size > SMALL_GAP for part in off)
    return "bad" if clear and not j.right_at_levels else "warn"


def _time(j: Facts) -> Said:
    if j.periods is None:
        return
    if len(j.periods) < 2:
        yield "info", f"There is no result over time: it needs two periods of {SMALLEST} rows or more."
        return
    promise = "What chance allows is for independent rows; neighbours in time often are not."
    off = [part for part in j.periods if part.off]
    if not off:
        yield (
            "good",
            f"Over time, none of {count(len(j.periods), 'period')} is off by more than chance allows. {promise}",
        )
        return
    worst = min(off, key=lambda part: part.pvalue)
    since = f", since {j.cause.since}" if j.cause is not None and j.cause.since else ""
    text = f"From {worst.start} to {worst.end} the forecasts are {_shown_fault(worst)}"
    yield _how_bad(j, off), f"Over time, {_how_many(off, j.periods, 'period')}{since}. {text} {promise}"


def _features(j: Facts) -> Said:
    found = j.dependence
    if found is None:
        return
    p = f"p = {found.pvalue:.2g}"
    if not found.off:
        yield "good", f"The features do not tell where labels lie in their forecasts ({p})."
        return
    where = "low or high" if found.kind == "location" else "near the middle or far out"
    yield "warn", f"The features tell which labels lie {where} in their forecasts ({p}), most of all {found.by}."


def _base(j: Facts) -> Said:
    if j.before is not None and j.m >= FEW and not j.before.off:
        rows = count(j.m, "row")
        yield "info", f"The base was calibrated already, as far as {rows} can tell: calibration has little to gain."


def _accuracy(j: Facts) -> Said:
    found = j.changes.get("crps")
    if found is None:
        return
    if math.isinf(found.after.value):
        text = "The CRPS is infinite: some forecasts put probability at infinity, or have no mean."
        yield "warn", f"{text} Clip them, or choose other tails."
    elif found.before is None or found.change is None:
        yield "info", f"The CRPS, which is better when smaller, is {shown(found.after.value)}{ends(found.after)}."
    else:
        note = "" if j.base_rows is None else j.base_rows.forecast.crps_note
        both = f"from {shown(found.before.value)}{f', {note},' if note else ''} to {shown(found.after.value)}"
        change = f", a change of {shown(found.change.value)}{ends(found.change)}"
        if found.outcome == "better":
            yield "good", f"The forecasts are better: their CRPS fell {both}{change}."
        elif found.outcome == "worse":
            yield "warn", f"The forecasts lost accuracy: their CRPS rose {both}{change}."
        else:
            text = f"The CRPS went {both}, which {count(j.m, 'row')} cannot tell from no change"
            yield "info", f"{text}{ends(found.change)}."
    nll = j.changes.get("nll")
    if nll is not None and math.isinf(nll.after.value):
        rows = count(int(np.isposinf(j.rows.columns["nll"]).sum()), "label")
        yield "info", f"The NLL is infinite: the density is zero at {rows}, as that of steps (naive, random) is."


def _width(j: Facts) -> Said:
    found, name = j.changes["width"], f"{100 * j.coverage:.6g}% intervals"
    if not math.isfinite(found.after.value):
        yield "warn", f"Some {name} are infinite, as those of infinite tails are where scores are too few."
    elif found.before is None or found.change is None or not math.isfinite(found.before.value):
        yield "info", f"The {name} are {shown(found.after.value)} wide on average{ends(found.after)}."
    else:
        clear = found.change.excludes(0.0)
        how = ("wider than" if found.change.value > 0 else "narrower than") if clear else "about as wide as"
        yield "info", f"The {name} are {how} before: {shown(found.after.value)} now, {shown(found.before.value)} then."


def _notes(j: Facts) -> Said:
    if j.metrics.note:
        yield "info", j.metrics.note.removesuffix(f" {HINT.format('labels=Counts()')}")
    if j.like_counts and j.cause is not None:
        yield "warn", HINT.format(j.interface.counts)
    if 1 < j.m < FEW:
        (low,), (high,) = reliability_band(j.m, [j.coverage])
        text = f"{count(j.m, 'row')} are few: with perfect forecasts, the {100 * j.coverage:.6g}% intervals may"
        yield "warn", f"{text} hold anything from {percent(low, j.m)} to {percent(high, j.m)} of them."
    promise = j.guarantee
    if promise is not None and promise.basis in ("marginal", "weighted"):
        room = replace(promise, largest_tie=1).conditional()
        if room > 0.1:
            left = count(promise.n, "calibration row leaves", "calibration rows leave")
            text = f"{left} room for an error of up to {shown(room, 2)} (95% confidence)"
            yield "warn", f"{text}; {required_n(0.05, 0.95)} would bring it to 0.05 with linear interpolation."
    if promise is not None and promise.kind.endswith("approximate"):
        share = promise.largest_tie / (promise.n + 1)
        text = f"Calibration scores are tied, up to {promise.largest_tie} at a time ({100 * share:.2g}% of them)"
        yield "warn" if share > SMALL_TIE else "info", f"{text}: the guarantee holds only up to these ties."
    like = "these" if j.known == "raw" else "the calibration data"
    text = f"All this describes these rows. It carries over to new data as long as they are like {like}."
    yield "info", f"{text} If forecasts are calibrated, {100 * (1 - j.alarm):.3g}% of such judgements find nothing."


def ends(estimate: Estimate) -> str:
    """The 95% interval of an estimate in brackets; "" where there is none, or none that shows."""
    if estimate.low is None or estimate.high is None:
        return ""
    low, high = shown(estimate.low), shown(estimate.high)
    return "" if low == high else f" ({low} to {high})"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
