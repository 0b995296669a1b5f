"""H[x](y) = q(phi(f(x), y)): what pulling q back through a chart gives. One table, the first rule that fits decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant._arguments import same_length
from calibrant._batch import take_rows
from calibrant.distributions.base import Distribution
from calibrant.distributions.joined import Joined
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.piecewise_linear import PiecewiseLinear
from calibrant.distributions.pulled import ByRow, Pulled, landed
from calibrant.distributions.pulled_broken import PulledBroken
from calibrant.scores.charts import Affine, BrokenLine, Chart

Rule = tuple[Callable[[Distribution, Any], Any], Callable[[Any, Any], Distribution]]


def pull_back(q: Distribution, chart: Chart) -> Distribution:
    """The distribution of the y with chart(y) ~ q, for each row of the chart; q is one for all rows, or one per row."""
    if q.shape and chart.shape:
        same_length("the prediction", chart.shape[0], "q", q.shape[0])
    return next(make(q, chart) for fits, make in RULES if fits(q, chart))


def _of_one_map(q: Distribution, chart: Any) -> Distribution:
    """q(G((y - loc) / scale)) = (q o G)(z): again one shared distribution, with one table, kept with q."""
    loc, scale, key, one = chart.standard
    found = q.__dict__.get("_kept_pulled")
    if found is None or found[0] != key:
        found = q.__dict__["_kept_pulled"] = key, landed(Pulled(one, q))
    return LocationScale(loc, scale, found[1])


def _apart(q: Any) -> Joined:
    """The rows of many lines as single distributions, one for each that occurs: what one can share, its rows share."""
    which, part = np.unique(q.group, return_inverse=True)
    return Joined.of([q.lines.one(int(g)) for g in which], part.reshape(-1))


def _part_by_part(q: Joined, chart: Chart) -> Distribution:
    return q.mapped(lambda law, rows: pull_back(law, take_rows(chart, rows)))


RULES: tuple[Rule, ...] = (
    (lambda q, chart: isinstance(q, Joined) and chart.shape, _part_by_part),
    (lambda q, chart: isinstance(q, ByRow), lambda q, chart: q.pulled(chart, pull_back)),
    (
        lambda q, chart: isinstance(q, PiecewiseLinear) and q.shape and not isinstance(chart, (Affine, BrokenLine)),
        lambda q, chart: pull_back(_apart(q), chart),
    ),
    (lambda q, chart: isinstance(chart, Affine), lambda q, chart: LocationScale(chart.loc, chart.scale, q)),
    (lambda q, chart: isinstance(chart, BrokenLine), lambda q, chart: PulledBroken(chart, q)),
    (lambda q, chart: not q.shape and chart.standard, _of_one_map),
    (lambda q, chart: True, lambda q, chart: landed(Pulled(chart, q))),
)
