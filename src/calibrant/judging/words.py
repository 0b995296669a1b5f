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
        text = (
            "The quantiles are right at their levels; linear interpolation between them, or the tails beyond, is not."
        )
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
        moves = MOVES[cause.parts[0].fault]
        if j.known == "raw":
            return (
                f"Calibrate them, with {ways.calibrate}, on rows that the model has not seen: that {moves}.",
                "calibrate",
            )
        return f"Calibrate again on rows like these, which the model has not seen: that {moves}.", "calibrate again"
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
    parts = [*_slices(j), *_time(j), *_features(j)]
    bad = [each for each in parts if each.kind in ("bad", "warn")]
    overall = [*_overall(j), *_coverage(j)]
    if bad and not j.overall.off:  # what is right on average is no good news where a part of the rows is off
        overall = [_together(each) for each in overall]
        first = [*bad, *overall]
    else:
        first = [*overall, *bad]
    fine = [each for each in parts if each not in bad]
    return (*first, *_base(j), *_accuracy(j), *_width(j), *fine, *_notes(j))


def _together(statement: Statement) -> Statement:
    """A good statement about all rows together, without praise."""
    if statement.kind != "good":
        return statement
    return replace(statement, kind="info", text=f"Over all rows together, {_lower(statement.text)}")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _overall(j: Facts) -> Iterator[Statement]:
    part = j.overall
    rows = count(j.m, "row")
    gap = "" if part.gap is None else f"; the largest gap is {shown(part.gap)}, at level {part.level:.3g}"
    before = "" if j.before is None or j.before.gap is None else f" Before calibration it was {shown(j.before.gap)}."
    if part.off:
        kind: Kind = "warn" if j.right_at_levels or part.size <= SMALL_GAP or part.pvalue > CLEAR else "bad"
        fault = f"{MEANING[part.fault]}: {part.evidence}"
        are = "look" if part.pvalue > CLEAR else "are"
        yield Statement(kind, f"Over all rows together, the forecasts {are} {part.fault}. {fault}.{_reason(j)}{before}")
    elif j.m < FEW:
        yield Statement("info", f"{rows} {'says' if j.m == 1 else 'say'} little{gap}.{before}")
    elif j.too_good:
        yield Statement(
            "warn", f"The forecasts fit these rows better than chance allows even for perfect ones{gap}.{before}"
        )
    elif j.wide_folds:
        text = (
            "The forecasts are wider than necessary, as the mean over folds is. The guarantee of folds bounds how many"
        )
        yield Statement("info", f"{text} labels lie in the tails, not how few.{before}")
    elif j.explained:
        many = count(j.n or 0, "calibration row")
        text = f"The forecasts are as well calibrated as {many} can make them{gap}, which so few rows leave to chance."
        yield Statement("good", f"{text} More calibration rows would make it smaller.{before}")
    else:
        text = f"The forecasts are calibrated as far as {rows} can tell"
        yield Statement("good", f"{text}: no share of labels is beyond what chance allows{gap}.{before}")


def _reason(j: Facts) -> str:
    """Why it may be so."""
    if j.known == "raw" or j.cause is None or j.cause.kind != "all rows":
        return ""
    if j.n is None:
        return " The number of calibration rows is not known: if they were few, part of the gap is theirs."
    more = f" That is more than {count(j.n, 'calibration row')} would leave to chance:"
    return f"{more} these rows may be unlike them, or the model was trained on the calibration rows."


def _coverage(j: Facts) -> Iterator[Statement]:
    part, found = j.overall, j.changes["covered"]
    text = f"The {100 * j.coverage:.6g}% intervals hold {part.in_words()}"
    if found.before is not None:
        text += f"; before calibration they held {percent(found.before.value, j.m)}"
    if part.off and part.shown_by == "intervals" and found.before is None:  # said already
        return
    few, many = part.tested < part.low - 1e-12, part.tested > part.high + 1e-12
    if few:
        yield Statement(_how_bad(j, [part]), f"{text}: too few.", topic="coverage")
    elif many:
        wide = "wider than necessary, as the mean over folds is" if part.one_sided else "wider than necessary"
        yield Statement("info" if part.one_sided else "warn", f"{text}: the intervals are {wide}.", topic="coverage")
    else:
        yield Statement("info" if j.m < FEW else "good", f"{text}.", topic="coverage")


def _slices(j: Facts) -> Iterator[Statement]:
    parts = [*j.slices, *j.features, *j.groups, *([] if j.worst is None else [j.worst])]
    off = sorted((part for part in parts if part.off), key=lambda part: part.pvalue)
    promise = {
        "by group": "The guarantee holds in each group that was calibrated by itself, and promises nothing for others.",
        "raw": "Calibration over all rows together does not extend to each slice.",
    }.get(j.known, "The guarantee is for all rows together; it does not extend to each slice.")
    if not parts:
        if j.by:
            yield Statement("info", f"Every group has fewer than {SMALLEST} rows, too few to judge it.", topic="slices")
        return
    by = _listed(list(dict.fromkeys(part.by for part in parts if part.by)))
    if not off:
        text = f"None of {count(len(parts), 'slice')} is off by more than chance allows, by {by}."
        yield Statement("good", f"{text} {promise}", topic="slices")
        return
    worst = [off[0], *(part for part in off[1:] if part.fault != off[0].fault)][:2]
    text = (
        f"{len(off)} of {count(len(parts), 'slice')} {'is' if len(off) == 1 else 'are'} off by more than chance allows"
    )
    yield Statement(_how_bad(j, off), f"{text}. {' '.join(map(_why, worst))} {promise}", topic="slices")


def _why(part: Part) -> str:
    """The rows, the fault and what shows it."""
    return f"With {part.name} ({count(part.m, 'row')}) the forecasts are {part.fault}: {part.evidence}."


def _how_bad(j: Facts, off: Sequence[Part]) -> Kind:
    clear = any(part.pvalue <= CLEAR and part.size > SMALL_GAP for part in off)
    return "bad" if clear and not j.right_at_levels else "warn"


def _time(j: Facts) -> Iterator[Statement]:
    if j.periods is None:
        return
    if len(j.periods) < 2:
        text = f"There is no result over time: it needs two periods of {SMALLEST} rows or more."
        yield Statement("info", text, topic="time")
        return
    promise = "What chance allows is for independent rows; neighbours in time often are not."
    off = [part for part in j.periods if part.off]
    looked = count(len(j.periods), "period")
    if not off:
        text = f"Over time, none of {looked} is off by more than chance allows. {promise}"
        yield Statement("good", text, topic="time")
        return
    worst = min(off, key=lambda part: part.pvalue)
    since = f", since {j.cause.since}" if j.cause is not None and j.cause.since else ""
    text = (
        f"Over time, {len(off)} of {looked} {'is' if len(off) == 1 else 'are'} off by more than chance allows{since}."
    )
    text += f" From {worst.start} to {worst.end} the forecasts are {worst.fault}: {worst.evidence}."
    yield Statement(_how_bad(j, off), f"{text} {promise}", topic="time")


def _features(j: Facts) -> Iterator[Statement]:
    found = j.dependence
    if found is None:
        return
    p = f"p = {found.pvalue:.2g}"
    if not found.off:
        text = f"The features do not tell where labels lie in their forecasts ({p})."
        yield Statement("good", text, topic="features")
        return
    where = "low or high" if found.kind == "location" else "near the middle or far out"
    text = f"The features tell which labels lie {where} in their forecasts ({p}), most of all {found.by}."
    yield Statement("warn", text, topic="features")


def _base(j: Facts) -> Iterator[Statement]:
    if j.before is not None and j.m >= FEW and not j.before.off:
        text = (
            f"The base was calibrated already, as far as {count(j.m, 'row')} can tell: calibration has little to gain."
        )
        yield Statement("info", text)


def _accuracy(j: Facts) -> Iterator[Statement]:
    found = j.changes.get("crps")
    if found is None:
        return
    if math.isinf(found.after.value):
        text = "The CRPS is infinite: some forecasts put probability at infinity, or have no mean. Clip them, or choose"
        yield Statement("warn", f"{text} other tails.", topic="accuracy")
    elif found.before is None or found.change is None:
        text = f"The CRPS, which is better when smaller, is {shown(found.after.value)}{ends(found.after)}."
        yield Statement("info", text, topic="accuracy")
    else:
        note = "" if j.base_rows is None else j.base_rows.forecast.crps_note
        both = f"from {shown(found.before.value)}{f', {note},' if note else ''} to {shown(found.after.value)}"
        change = f", a change of {shown(found.change.value)}{ends(found.change)}"
        if found.outcome == "better":
            yield Statement("good", f"The forecasts are better: their CRPS fell {both}{change}.", topic="accuracy")
        elif found.outcome == "worse":
            yield Statement("warn", f"The forecasts lost accuracy: their CRPS rose {both}{change}.", topic="accuracy")
        else:
            text = f"The CRPS went {both}, which {count(j.m, 'row')} cannot tell from no change"
            yield Statement("info", f"{text}{ends(found.change)}.", topic="accuracy")
    nll = j.changes.get("nll")
    if nll is not None and math.isinf(nll.after.value):
        rows = count(int(np.isposinf(j.rows.columns["nll"]).sum()), "label")
        text = f"The NLL is infinite: the density is zero at {rows}, as that of steps (naive, random) is."
        yield Statement("info", text, topic="accuracy")


def _width(j: Facts) -> Iterator[Statement]:
    found, name = j.changes["width"], f"{100 * j.coverage:.6g}% intervals"
    if not math.isfinite(found.after.value):
        text = f"Some {name} are infinite, as those of infinite tails are where scores are too few."
        yield Statement("warn", text, topic="width")
    elif found.before is None or found.change is None or not math.isfinite(found.before.value):
        text = f"The {name} are {shown(found.after.value)} wide on average{ends(found.after)}."
        yield Statement("info", text, topic="width")
    else:
        clear = found.change.excludes(0.0)
        how = ("wider than" if found.change.value > 0 else "narrower than") if clear else "about as wide as"
        text = f"The {name} are {how} before: {shown(found.after.value)} now, {shown(found.before.value)} then."
        yield Statement("info", text, topic="width")


def _notes(j: Facts) -> Iterator[Statement]:
    if j.metrics.note:
        yield Statement("info", j.metrics.note.removesuffix(f" {HINT.format('labels=Counts()')}"), topic="notes")
    if j.like_counts and j.cause is not None:
        yield Statement("warn", HINT.format(j.interface.counts), topic="notes")
    if 1 < j.m < FEW:
        (low,), (high,) = reliability_band(j.m, [j.coverage])
        text = f"{count(j.m, 'row')} are few: with perfect forecasts, the {100 * j.coverage:.6g}% intervals may"
        yield Statement(
            "warn", f"{text} hold anything from {percent(low, j.m)} to {percent(high, j.m)} of them.", topic="notes"
        )
    promise = j.guarantee
    if promise is not None and promise.basis in ("marginal", "weighted"):
        room = replace(promise, largest_tie=1).conditional()
        if room > 0.1:
            left = count(promise.n, "calibration row leaves", "calibration rows leave")
            text = (
                f"{left} room for an error of up to {shown(room, 2)} (95% confidence); {required_n(0.05, 0.95)} would"
            )
            yield Statement("warn", f"{text} bring it to 0.05 with linear interpolation.", topic="notes")
    if promise is not None and promise.kind.endswith("approximate"):
        tie = promise.largest_tie
        share = tie / (promise.n + 1)
        text = (
            f"Calibration scores are tied, up to {tie} at a time ({100 * share:.2g}% of them): the guarantee holds only"
        )
        yield Statement("warn" if share > SMALL_TIE else "info", f"{text} up to these ties.", topic="notes")
    like = "these" if j.known == "raw" else "the calibration data"
    text = f"All this describes these rows. It carries over to new data as long as they are like {like}."
    yield Statement(
        "info",
        f"{text} If forecasts are calibrated, {100 * (1 - j.alarm):.3g}% of such judgements find nothing.",
        topic="notes",
    )


def ends(estimate: Estimate) -> str:
    """The 95% interval of an estimate in brackets; "" where there is none, or none that shows."""
    if estimate.low is None or estimate.high is None:
        return ""
    low, high = shown(estimate.low), shown(estimate.high)
    return "" if low == high else f" ({low} to {high})"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
