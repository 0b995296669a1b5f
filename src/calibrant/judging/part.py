"""Some of the rows, judged: what their labels show, what chance allows, and the fault if that is not enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from calibrant.judging.rows import Floats, ForecastRows
from calibrant.metrics.bands import band_pvalue, reliability_band
from calibrant.metrics.calibration import largest_gap
from calibrant.metrics.rounding import percent, percents
from calibrant.metrics.slices import SMALLEST as SMALLEST
from calibrant.metrics.slices import Slices

LEVELS = np.arange(1, 200) / 200
"""The levels at which the share of PITs below is compared with the level."""
TAILS = (0.005, 0.01, 0.025, 0.05)
"""The tails are what lies below the quantiles at these levels, above those at 1 less them, and both together."""
TIES_SPLIT = "with ties at their ends split"

Fault = Literal["", "too low", "too high", "too narrow", "too wide", "wrong in the tails", "wrong in shape"]


class Tail(NamedTuple):
    """A part of the tails: below the quantile at a level, above that at 1 less it, or both; and its share of labels."""

    side: Literal["low", "high", "both"]
    level: float
    share: float
    most: float
    """The share that chance allows."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """The m rows of one slice, group or period, or all rows: two tests, a p-value that covers both, and the fault.

    The share of labels inside the intervals is compared with its binomial distribution, the share of PITs below each of
    199 levels with an exact simultaneous band. Both allow for the error that n calibration rows leave. The p-value, the
    bounds, `off` and the fault come from the same two tests, so that none of them can contradict another.
    """

    by: str
    """What the rows are sliced by; "" of all rows."""
    value: str
    m: int
    n: int | None
    """The number of rows that calibrated their forecasts; None if unknown, or if nothing was calibrated."""
    coverage: float
    """The probability of the intervals."""
    share: float
    """The share of labels inside them, as counted."""
    split_share: float | None
    """The share with ties at the ends of intervals split, where labels have atoms: this one is tested."""
    below: Floats | None
    """The share of PITs at or below each of `LEVELS`; None where there is no distribution."""
    gap: float | None
    """sup_c |share of PITs <= c - c|."""
    level: float | None
    """Where it is."""
    shift: float
    """The mean of the PITs - 1/2: above 0 where labels lie above their forecasts."""
    spread: float
    """The mean of |2 PIT - 1| - 1/2: above 0 where labels lie far out. Both vary by 1 / sqrt(12 m)."""
    alarm: float
    """The rate of false alarms of the whole judgement."""
    risk: float
    """This part's share of it."""
    one_sided: bool = False
    """Whether too wide is no fault: the mean of folds is wider than its members, and promises the tails alone."""
    start: str = ""
    end: str = ""
    """The time of the first and the last row of a period."""

    @property
    def name(self) -> str:
        """Which rows these are, such as "age in (24, 49]" or "region = north"."""
        return rows_named(self.by, self.value)

    @property
    def tested(self) -> float:
        """The share inside the intervals that is tested."""
        return self.share if self.split_share is None else self.split_share

    @property
    def _confidence(self) -> float:
        """Of each of the two tests, or of the one."""
        return 1 - self.risk / (1 if self.below is None else 2)

    @cached_property
    def _share_bounds(self) -> tuple[float, float]:
        (low,), (high,) = reliability_band(self.m, [self.coverage], self._confidence, n=self.n)
        return float(low), float(high)

    @property
    def low(self) -> float:
        """The least share inside the intervals that chance allows."""
        return self._share_bounds[0]

    @property
    def high(self) -> float:
        """The largest share that chance allows."""
        return self._share_bounds[1]

    @cached_property
    def band(self) -> tuple[Floats, Floats]:
        """The shares of PITs that chance allows at each of `LEVELS`, all at once."""
        return reliability_band(self.m, LEVELS, self._confidence, n=self.n)

    @cached_property
    def pvalue(self) -> float:
        """How often calibrated forecasts look as bad here, times what was looked at: off where `alarm` or less."""
        found = [band_pvalue([self.tested], self.m, [self.coverage], n=self.n)]
        if self.below is not None:
            found.append(band_pvalue(self.below, self.m, LEVELS, n=self.n))
        return min(1.0, min(found) * len(found) * self.alarm / self.risk)

    @cached_property
    def excess(self) -> dict[str, Floats]:
        """By fault: by how much the labels are beyond what chance allows, at each level and inside the intervals."""
        inside = np.array([self.low - self.tested, self.tested - self.high])
        none = np.zeros(0)
        if self.below is None:
            more = less = many = few = none
        else:
            low, high = self.band
            more, less = self.below - high, low - self.below
            few, many = np.where(LEVELS < 0.5, less, more), np.where(LEVELS < 0.5, more, less)
        return {
            "too low": less,
            "too high": more,
            "too narrow": np.append(many, inside[0]),
            "too wide": np.append(few, inside[1]),
        }

    @property
    def only_wide(self) -> bool:
        """Whether the forecasts are off because they are too wide, and for nothing else."""
        return self.pvalue <= self.alarm and not (self.excess["too narrow"] > _HAIR).any()

    @property
    def off(self) -> bool:
        """Whether chance does not explain what the labels show."""
        return self.pvalue <= self.alarm and not (self.one_sided and self.only_wide)

    @cached_property
    def fault(self) -> Fault:
        """What is wrong, if it is off; else "".

        For calibrated forecasts the shift and the spread have the same distribution, so the one that is farther from 0
        says what is wrong, if the shares beyond their bounds agree. Where chance explains both, or the forecasts are
        too wide by their spread, it is the tails, if too many labels lie there; else the shape.
        """
        if not self.off:
            return ""
        shift, spread = self.shift, self.spread
        explained = max(abs(shift), abs(spread)) <= 2 * self.standard_error
        moved: Fault = "too low" if shift > 0 else "too high"
        wide: Fault = "too narrow" if spread > 0 else "too wide"
        if (explained or -spread > abs(shift)) and self.tail is not None:
            return "wrong in the tails"
        likely = [] if explained else [moved, wide] if abs(shift) >= abs(spread) else [wide, moved]
        if self.below is None:
            return (
                likely[0] if likely and abs(shift) >= abs(spread) else "too narrow" if self.tested < self.low else wide
            )
        shown = [fault for fault in likely if (self.excess[fault] > _HAIR).any()]
        return shown[0] if shown else "wrong in shape"

    @property
    def standard_error(self) -> float:
        """Of shift and spread, for calibrated forecasts."""
        size = self.m if self.n is None else self.m * self.n / (self.m + self.n)
        return float(1 / (12 * size) ** 0.5)

    @cached_property
    def tail(self) -> Tail | None:
        """The part of the tails that holds most labels for what it should; None where chance allows each part.

        Each is asked by itself: it gives a name to forecasts that are off, and does not say whether they are.
        """
        if self.below is None:
            return None
        found = []
        for level in TAILS:
            low, high = (float(self.below[np.searchsorted(LEVELS, at - 1e-9)]) for at in (level, 1 - level))
            parts = (("both", low + 1 - high, 2 * level), ("low", low, level), ("high", 1 - high, level))
            for side, share, part in parts:
                _, (most,) = reliability_band(self.m, [part], n=self.n)
                found.append(Tail(side, level, share, float(most)))  # type: ignore[arg-type]
        worst = max(found, key=lambda tail: tail.share / tail.most)
        return worst if worst.share > worst.most + _HAIR else None

    @property
    def size(self) -> float:
        """How far off: the largest distance of a share that chance does not explain from what it should be."""
        if self.pvalue > self.alarm:
            return 0.0
        inside = abs(self.tested - self.coverage) if max(self.low - self.tested, self.tested - self.high) > _HAIR else 0
        if self.below is None:
            return inside
        beyond = np.maximum(self.excess["too low"], self.excess["too high"]) > _HAIR
        return max(float(inside), float(np.max(np.abs(self.below - LEVELS), where=beyond, initial=0.0)))

    @property
    def shown_by(self) -> Literal["intervals", "levels", "tails"]:
        """What shows the fault best: the share inside the intervals, or that below a level, or in the tails."""
        fault = self.fault
        if fault == "wrong in the tails":
            return "tails"
        by_share = fault in ("too narrow", "too wide") and self.excess[fault][-1] > _HAIR
        return "intervals" if self.below is None or not fault or by_share else "levels"

    @property
    def evidence(self) -> str:
        """What shows the fault, in words: a share of the labels, where chance allows so much.

        Where nothing is off, it is the share inside the intervals.
        """
        fault = self.fault
        if self.shown_by == "tails" and self.tail is not None:
            return self._in_tail(self.tail)
        if self.below is None or self.shown_by == "intervals":
            return f"the {100 * self.coverage:.6g}% intervals hold {self.in_words()}"
        beyond = np.maximum(self.excess["too low"], self.excess["too high"])
        k = int(np.argmax(self.excess[fault][: LEVELS.size] if fault in self.excess else beyond))
        share, low, high = percents(self.m, float(self.below[k]), *(float(end[k]) for end in self.band))
        split = "" if self.split_share is None else " (ties split)"
        return (
            f"{share} of the labels{split} lie below the quantile at level {LEVELS[k]:.3g}, where chance allows"
            f" {low} to {high}"
        )

    def in_words(self) -> str:
        """The share of labels inside the intervals, counted and, where it differs, tested; with what chance allows."""
        tested, low, high = percents(self.m, self.tested, self.low, self.high)
        counted = tested if self.split_share is None else percent(self.share, self.m)
        split = "" if tested == counted else f", and {tested} {TIES_SPLIT}"
        return f"{counted} of the labels{split}, where chance allows {low} to {high}"

    def _in_tail(self, tail: Tail) -> str:
        share, most, _ = percents(self.m, tail.share, tail.most, tail.most)
        where = {
            "both": f"outside the {100 * (1 - 2 * tail.level):.6g}% intervals",
            "low": f"below the quantile at level {tail.level:g}",
            "high": f"above the quantile at level {1 - tail.level:g}",
        }[tail.side]
        split = "" if self.split_share is None else " (ties split)"
        return f"{share} of the labels{split} lie {where}, where chance allows up to {most}"

    def to_dict(self) -> dict[str, Any]:
        """Its numbers by name, as JSON has them."""
        found: dict[str, Any] = {"by": self.by, "value": self.value, "rows": self.m, "coverage": self.share}
        if self.start:
            found |= {"from": self.start, "to": self.end}
        return found | {
            "coverage_ties_split": self.split_share,
            "chance_allows": [self.low, self.high],
            "gap": self.gap,
            "pvalue": self.pvalue,
            "off": self.off,
            "fault": self.fault or None,
            "size": self.size,
        }


_HAIR = 1e-12


def rows_named(by: str, value: str) -> str:
    """The rows of a slice in words.

    >>> rows_named("age", "(24, 49]"), rows_named("region", "north"), rows_named("", "all rows")
    ('age in (24, 49]', 'region = north', 'all rows')
    """
    cut = value[:1] in ("(", "[") and value.endswith("]")
    return f"{by} {'in' if cut else '='} {value}" if by else value


def parts_of(
    columns: Sequence[Slices],
    rows: ForecastRows,
    *,
    alarm: float,
    risk: float,
    behind: Callable[[Slices, int], int | None] = lambda column, k: None,
    one_sided: bool = False,
    chosen: Any = slice(None),
) -> tuple[Part, ...]:
    """Each slice of at least 20 rows, or all rows, in the order of the columns; `risk` is divided among them.

    `behind` says how many rows calibrated a slice, see `calibration_rows_of`; `chosen` are the rows that the columns
    are of.
    """
    large = [(column, k) for column in columns for k, m in enumerate(column.counts) if m >= SMALLEST or not column.name]
    made = {id(column): _numbers(column, rows, chosen) for column in columns}
    found = []
    for column, k in large:
        start, end = column.ends[k] if column.ends else ("", "")
        found.append(
            Part(
                by=column.name,
                value=column.labels[k],
                m=int(column.counts[k]),
                n=behind(column, k),
                coverage=rows.coverage,
                alarm=alarm,
                risk=risk / len(large),
                one_sided=one_sided,
                start=start,
                end=end,
                **made[id(column)][k],
            )
        )
    return tuple(found)


def _numbers(column: Slices, rows: ForecastRows, chosen: Any) -> list[dict[str, Any]]:
    """What a part knows of its labels, for each slice of a column of the chosen rows."""
    size, counts, index = len(column.labels), column.counts, column.index

    def mean(values: Any) -> Floats:
        return np.asarray(np.bincount(index, values, size) / counts, np.float64)

    share, none = mean(rows.covered[chosen]), [None] * size
    numbers: dict[str, Sequence[Any]] = {"share": share.tolist(), "split_share": none}
    if rows.has_atoms:
        numbers["split_share"] = mean(rows.tested[chosen]).tolist()
    if rows.is_distribution:
        pit = rows.drawn[chosen]
        place = np.searchsorted(LEVELS, pit, side="left")
        cells = np.bincount(index * (LEVELS.size + 1) + place, minlength=size * (LEVELS.size + 1))
        below = np.cumsum(cells.reshape(size, -1), axis=1)[:, :-1] / counts[:, None]
        shift, spread = mean(pit) - 0.5, mean(np.abs(2 * pit - 1)) - 0.5
        parts = np.split(pit[np.argsort(index, kind="stable")], np.cumsum(counts)[:-1])
        gaps = [largest_gap(np.sort(part)) for part in parts]
        numbers |= {"below": list(below), "gap": [gap.size for gap in gaps], "level": [gap.level for gap in gaps]}
    else:
        c, above = rows.coverage, mean(rows.columns["above"][chosen])
        shift = (2 * above - (1 - share)) / (12 * (1 - c)) ** 0.5  # in the unit that the means of PITs have
        spread = (c - share) / (12 * c * (1 - c)) ** 0.5
        numbers |= {"below": none, "gap": none, "level": none}
    numbers |= {"shift": shift.tolist(), "spread": spread.tolist()}
    return [dict(zip(numbers, of_part, strict=True)) for of_part in zip(*numbers.values(), strict=True)]


def calibration_rows_of(
    groups: Sequence[Slices], n: int | None, own: Mapping[str, int] | None
) -> Callable[[Slices, int], int | None]:
    """How many rows calibrated slice k of a column: all n, unless each group was calibrated by its own n_g rows.

    Of a slice with the share a_g of its rows in group g, that is 1 / (sum of a_g^2 / n_g), which is n_g for a group.
    Which rows are in which group is known if a column says so.
    """
    known = next((column for column in groups if own is not None and set(column.labels) <= set(own)), None)
    if known is None or own is None:
        return lambda column, k: n
    sizes = np.asarray([own[label] for label in known.labels])

    def behind(column: Slices, k: int) -> int:
        inside = np.bincount(known.index[column.index == k], minlength=len(sizes))
        return max(1, int(np.sum(inside) ** 2 / np.sum(inside**2 / sizes) + 1e-9))

    return behind
