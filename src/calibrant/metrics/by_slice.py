"""Coverage and PITs by slice, with what chance allows in all slices at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kstwo

from calibrant.metrics.bands import reliability_band
from calibrant.metrics.calibration import LargestGap, kolmogorov_pvalue, largest_gap
from calibrant.metrics.interval_coverage import Flags, Floats, InsideFlags, IntervalResult
from calibrant.metrics.slices import Slices, distinct_label, slices_of

LEVELS = np.arange(1, 200) / 200
"""The grid on which the PITs of a slice are compared with the levels."""
SMALLEST = 20
"""Slices of fewer rows are not tested."""
PARTS = 5
OWN = ("predicted value", "width")


@dataclass(frozen=True)
class SliceResult:
    """How the forecasts of the m rows of one slice do."""

    by: str
    value: str
    m: int
    intervals: tuple[IntervalResult, ...]
    gap: float | None
    """sup_c |share of PITs <= c - c|; None where there are no PITs."""
    level: float | None
    """Where it is."""
    below: float | None
    """The share of PITs at or below that level, or just below it."""
    pvalue: float
    """How often chance gives so large a gap in any of the slices: Kolmogorov's p-value times the comparisons made."""
    risk: float
    """The p-value from which on the gap is more than chance allows."""
    size: int = 1
    """The number of true PITs that vary as much: m, or fewer where few rows calibrated the forecasts."""
    comparisons: int = 1
    """How many shares and gaps were compared."""
    mean: float | None = field(default=None, compare=False)  # a sum of floats, which the order of rows rounds
    """The mean of the PITs, 1/2 for calibrated forecasts; None where there are no PITs."""
    spread: float | None = field(default=None, compare=False)
    """The mean of |2 PIT - 1|, also 1/2 for calibrated forecasts."""

    @property
    def name(self) -> str:
        """Which rows these are."""
        return rows_named(self.by, self.value)

    @property
    def off(self) -> bool:
        """Whether chance does not explain a coverage, or the PITs."""
        return self.pvalue < self.risk or any(each.off for each in self.intervals)

    @property
    def direction(self) -> Literal["low", "high", "narrow", "wide"]:
        """Whether the forecasts are rather too low, too high, too narrow or too wide.

        PITs above 1/2 on average are labels above their forecasts, and PITs near 0 and 1 are labels in the tails. For
        calibrated forecasts both means have the same distribution, so the one that is farther from 1/2 says what is
        wrong.
        """
        if self.mean is None or self.spread is None:
            return "narrow" if self.intervals[0].tested < self.intervals[0].coverage else "wide"
        if abs(self.mean - 0.5) >= abs(self.spread - 0.5):
            return "low" if self.mean > 0.5 else "high"
        return "narrow" if self.spread > 0.5 else "wide"

    @property
    def only_wide(self) -> bool:
        """Whether it is off because the forecasts are too wide, and for nothing else."""
        inside = all(each.tested >= each.low - 1e-12 for each in self.intervals)
        return self.off and inside and (self.pvalue >= self.risk or self.direction == "wide")

    @cached_property
    def allowed(self) -> float:
        """The largest gap that chance allows."""
        return float(kstwo.isf(self.risk / self.comparisons, self.size))

    @cached_property
    def distance(self) -> float:
        """The largest gap in what is off."""
        gaps = [abs(each.tested - each.coverage) for each in self.intervals if each.off]
        return max([*gaps, self.gap if self.gap is not None and self.pvalue < self.risk else 0.0])

    @cached_property
    def excess(self) -> float:
        """How far beyond what chance allows that is, at most: slices of few rows and of many can be compared by it."""
        beyond = [max(each.low - each.tested, each.tested - each.high) for each in self.intervals]
        return max([0.0, *beyond, 0.0 if self.gap is None else self.gap - self.allowed])


def rows_named(by: str, value: str) -> str:
    """The rows of a slice in words.

    >>> rows_named("age", "(24, 49]"), rows_named("region", "north"), rows_named("", "all rows")
    ('age in (24, 49]', 'region = north', 'all rows')
    """
    cut = value[:1] in ("(", "[") and value.endswith("]")
    return f"{by} {'in' if cut else '='} {value}" if by else value


def slice_results(
    columns: Sequence[Slices],
    inside: Mapping[float, InsideFlags],
    pit: Floats | None,
    *,
    confidence: float = 0.95,
    n: int | None = None,
    own: Mapping[str, int] | None = None,
    groups: Sequence[Slices] = (),
) -> tuple[SliceResult, ...]:
    """The results of every slice of at least 20 rows, in the order of the columns.

    A calibrated forecast has no slice that is off, with probability `confidence`: every share and every gap is
    compared at the level (1 - confidence) / (their number), after Bonferroni. Shares are compared with exact binomial
    quantiles, beta-binomial ones where n rows calibrated the forecasts; gaps by Kolmogorov's test, with n m / (n + m)
    rows for m. `inside` says, by coverage, whether the interval of each row holds its label. `own` has the number of
    rows that calibrated each group by itself, see `rows_behind`; `groups` are columns that are not tested, which may
    name the group of a row.

    >>> from calibrant.metrics.interval_coverage import inside
    >>> rng = np.random.default_rng(0)
    >>> sure, pit = np.arange(2000) % 2, rng.random(2000)
    >>> pit = np.where(sure, pit.round(), pit)  # labels in the tails where the forecast is sure
    >>> flags = {0.9: InsideFlags(inside(pit, 0.9))}
    >>> [(each.name, each.off) for each in slice_results([slices_of("sure", sure, 2000)], flags, pit)]
    [('sure = 0', False), ('sure = 1', True)]
    """
    large = [(column, k) for column in columns for k, m in enumerate(column.counts) if m >= SMALLEST]
    risk, comparisons = 1 - confidence, len(large) * (len(inside) + (pit is not None))
    local = 1 - risk / max(comparisons, 1)
    order = None if pit is None else np.argsort(pit, kind="stable")
    counted = {id(column): _counts(column, inside, pit, order) for column in columns}
    behind = calibration_rows_of([*columns, *groups], n, own)
    found = []
    for column, k in large:
        m, (hits, gaps, means) = int(column.counts[k]), counted[id(column)]
        rows = behind(column, k)
        shares = []
        for coverage, (hit, drawn) in hits.items():
            (low,), (high,) = reliability_band(m, [coverage], local, n=rows)
            split_share = None if drawn is None else float(drawn[k] / m)
            shares.append(IntervalResult(coverage, float(hit[k] / m), float(low), float(high), split_share))
        gap = level = below = None
        pvalue, size = 1.0, m if rows is None else max(1, m * rows // (m + rows))
        if gaps is not None:
            gap, level, below = gaps[k]
            pvalue = min(1.0, comparisons * kolmogorov_pvalue(gap, size))
        result = SliceResult(column.name, column.labels[k], m, tuple(shares), gap, level, below, pvalue, risk)
        mean, spread = (None, None) if means is None else (float(means[0][k]), float(means[1][k]))
        found.append(replace(result, size=size, comparisons=comparisons, mean=mean, spread=spread))
    return tuple(found)


def calibration_rows_of(
    columns: Sequence[Slices], n: int | None, own: Mapping[str, int] | None
) -> Callable[[Slices, int], int | None]:
    """How many rows calibrated slice k of a column: all n, unless each group was calibrated by its own n_g rows.

    Of a slice with the share a_g of its rows in group g, that is 1 / (sum of a_g^2 / n_g), which is n_g for a group.
    Which rows are in which group is known if a column says so.
    """
    groups = next((column for column in columns if own is not None and set(column.labels) <= set(own)), None)
    if groups is None or own is None:
        return lambda column, k: n
    sizes = np.asarray([own[label] for label in groups.labels])

    def behind(column: Slices, k: int) -> int:
        inside = np.bincount(groups.index[column.index == k], minlength=len(sizes))
        return max(1, int(np.sum(inside) ** 2 / np.sum(inside**2 / sizes) + 1e-9))

    return behind


def _counts(
    column: Slices, inside: Mapping[float, InsideFlags], pit: Floats | None, order: NDArray[np.int64] | None
) -> tuple[dict[float, tuple[Floats, Floats | None]], list[LargestGap] | None, tuple[Floats, Floats] | None]:
    """Labels inside, by coverage and slice; the largest gap of the PITs of each slice, their means and spreads."""
    size = len(column.labels)

    def by_slice(flags: Flags) -> Floats:
        return np.asarray(np.bincount(column.index, flags, size), np.float64)

    hits = {
        coverage: (by_slice(each.counted), None if each.drawn is None else by_slice(each.drawn))
        for coverage, each in inside.items()
    }
    if pit is None or order is None:
        return hits, None, None
    means = tuple(np.bincount(column.index, values, size) / column.counts for values in (pit, np.abs(2 * pit - 1)))
    return hits, gaps_by_slice(column, pit, order), (means[0], means[1])


def gaps_by_slice(column: Slices, pit: Floats, order: NDArray[np.int64]) -> list[LargestGap]:
    """The largest gap of the PITs of each slice; `order` sorts them all."""
    small = column.index[order].astype(np.int16 if len(column.labels) < 2**15 else np.int64)  # sorted in one pass
    parts = np.split(pit[order[np.argsort(small, kind="stable")]], np.cumsum(column.counts)[:-1])
    return [largest_gap(part) for part in parts]


def own_slices(centre: Any, width: Any, taken: Sequence[str] = ()) -> list[Slices]:
    """The rows by the forecast's own centre and the width of its interval, in five parts each.

    A column with one value makes no slices. Widths are compared to six digits, so that rounding does not matter.
    """
    names = [distinct_label(name, taken) for name in OWN]
    with np.errstate(divide="ignore", invalid="ignore"):
        power = 10.0 ** np.clip(5 - np.floor(np.log10(np.abs(width))), -300, 300)
        short = np.round(width * power) / power
    columns = [centre, np.where(np.isfinite(short), short, width)]
    made = [slices_of(name, values, len(values), parts=PARTS) for name, values in zip(names, columns, strict=True)]
    return [column for column in made if len(column.labels) > 1]
