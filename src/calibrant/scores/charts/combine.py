"""The chart of a weighted sum of scores, in the simplest form there is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import cast

from calibrant._arrays import Array, concatenate, namespace
from calibrant.distributions.mixture import Mixture
from calibrant.scores.charts.affine import Affine
from calibrant.scores.charts.base import Chart
from calibrant.scores.charts.broken_line import BrokenLine
from calibrant.scores.charts.logit_cdf import CDF, LogitCDF
from calibrant.scores.charts.sum import SumChart


def combine(charts: Sequence[Chart], weights: Sequence[float]) -> Chart:
    """The chart of the weighted sum of scores: a line if all are lines, a broken line if all are lines or broken ones.

    Scores that are CDFs sum to a multiple of the CDF of the pooled law, so they become its cdf score.
    """
    if all(isinstance(chart, LogitCDF) for chart in charts):
        cdfs = cast(Sequence[LogitCDF], charts)
        shares = [weight * chart.weight for chart, weight in zip(cdfs, weights, strict=True)]
        total = sum(shares)
        pooled = Mixture(tuple(chart.law for chart in cdfs), tuple(share / total for share in shares))
        return LogitCDF(pooled, total)
    weighted = [_times(chart, weight) for chart, weight in zip(charts, weights, strict=True)]
    if all(isinstance(chart, Affine) for chart in weighted):
        return _sum_of_lines(weighted)  # type: ignore[arg-type]
    if all(isinstance(chart, (Affine, BrokenLine)) for chart in weighted):
        return _sum_of_broken_lines(weighted)
    terms = [term for chart in weighted for term in (chart.terms if isinstance(chart, SumChart) else ((chart, 1.0),))]
    return SumChart(tuple(c for c, _ in terms), tuple(w for _, w in terms))


def _sum_of_lines(lines: Sequence[Affine]) -> Affine:
    """scale = 1 / sum(1 / s_k), loc = scale * sum(m_k / s_k)."""
    scale = 1 / reduce(lambda a, b: a + b, (1 / line.scale for line in lines))
    # measured from the first line's loc, so that a common large loc does not cancel
    origin = lines[0].loc
    shift = reduce(lambda a, b: a + b, ((line.loc - origin) / line.scale for line in lines))
    return Affine(origin + scale * shift, scale)


def _sum_of_broken_lines(charts: Sequence[Chart]) -> BrokenLine:
    """The broken line with the knots of all: its levels are the sums of the levels there."""
    xp = namespace(charts[0].like)
    knots = xp.sort(concatenate([chart.values for chart in charts if isinstance(chart, BrokenLine)], axis=1), axis=1)
    levels = reduce(lambda a, b: a + b, (chart(knots) for chart in charts))
    ends = [_outer_slopes(chart) for chart in charts]
    first = reduce(lambda a, b: a + b, (low for low, _ in ends))
    last = reduce(lambda a, b: a + b, (high for _, high in ends))
    width = knots[:, 1:] - knots[:, :-1]
    wide = width > 0
    inner = (levels[:, 1:] - levels[:, :-1]) / xp.where(wide, width, xp.ones_like(width))
    inner = xp.where(wide & (inner > 0), inner, xp.broadcast_to(first[:, None], inner.shape))
    return BrokenLine(knots, levels, concatenate([first[:, None], inner, last[:, None]], axis=1))


def _outer_slopes(chart: Chart) -> tuple[Array, Array]:
    if isinstance(chart, BrokenLine):
        return chart.slopes[:, 0], chart.slopes[:, -1]
    assert isinstance(chart, Affine)
    return 1 / chart.scale, 1 / chart.scale


def _times(chart: Chart, weight: float) -> Chart:
    """The map weight * s(y)."""
    if isinstance(chart, Affine):  # the zero of s stays where it is: only the slope changes
        return Affine(chart.loc, chart.scale / weight)
    if isinstance(chart, BrokenLine):
        return BrokenLine(chart.values, weight * chart.levels, weight * chart.slopes)
    if isinstance(chart, LogitCDF):
        return SumChart((CDF(chart.law),), (weight * chart.weight,))
    if isinstance(chart, SumChart):
        return SumChart(chart.charts, tuple(weight * w for w in chart.weights))
    return SumChart((chart,), (weight,))
