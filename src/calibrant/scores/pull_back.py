"""H[x](y) = q(phi(f(x), y)): what pulling q back through a chart gives. One table, the first rule that fits decides."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from calibrant._arguments import same_length
from calibrant._batch import take_rows
from calibrant._kept import keep
from calibrant.distributions.base import Distribution
from calibrant.distributions.by_row import ByRow
from calibrant.distributions.folded import Folded
from calibrant.distributions.joined import Joined
from calibrant.distributions.lines import Lines
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.moved_atoms import MovedAtoms, are_atoms
from calibrant.distributions.pulled import Pulled, PulledOne
from calibrant.distributions.pulled_broken import PulledBroken
from calibrant.distributions.spliced import Spliced
from calibrant.scores.charts import Affine, BrokenLine, Chart, SignedChart

Rule = tuple[Callable[[Distribution, Any], Any], Callable[[Any, Any], Distribution]]


def pull_back(q: Distribution, chart: Chart) -> Distribution:
    """The law of the y with chart(y) ~ q, for each row of the chart; q has one law for all rows, or one a row."""
    if q.shape and chart.shape:
        same_length("the prediction", chart.shape[0], "q", q.shape[0])
    return next(make(q, chart) for fits, make in RULES if fits(q, chart))


def _of_one_map(q: Distribution, chart: Any) -> Distribution:
    """q(G((y - loc) / scale)) = (q o G)(z): again one shared law, worked out once for each q and G."""
    # of a copy of q, which shares its arrays: what is kept for q would keep q alive if it held q itself
    loc, scale, key, one = chart.standard
    law = keep(q, ("pulled back", key), lambda: (one, pull_back(copy(q), one)))[1]
    return LocationScale(loc, scale, law)


def _part_by_part(q: Joined, chart: Chart) -> Distribution:
    return q.mapped(lambda law, rows: pull_back(law, take_rows(chart, rows)))


def _two_sides(q: Distribution, chart: SignedChart) -> Distribution:
    low, high = chart.folds
    left = keep(q, "folded down", lambda: Folded(low, copy(q)))
    right = keep(q, "folded up", lambda: Folded(high, copy(q)))
    return Spliced(pull_back(left, chart.below), pull_back(right, chart.above), chart.at, Pulled(chart, q))


RULES: tuple[Rule, ...] = (
    (lambda q, chart: isinstance(q, Joined) and chart.shape, _part_by_part),
    (lambda q, chart: isinstance(q, ByRow), lambda q, chart: q.pulled(chart, pull_back)),
    (
        lambda q, chart: isinstance(q, Lines) and chart.shape and not isinstance(chart, (Affine, BrokenLine)),
        lambda q, chart: pull_back(q.joined(), chart),
    ),
    (lambda q, chart: isinstance(chart, SignedChart) and q.shape, lambda q, chart: pull_back(Joined.rows(q), chart)),
    (lambda q, chart: isinstance(chart, SignedChart), _two_sides),
    (lambda q, chart: isinstance(chart, Affine), lambda q, chart: LocationScale(chart.loc, chart.scale, q)),
    (lambda q, chart: isinstance(chart, BrokenLine), lambda q, chart: PulledBroken(chart, q)),
    (lambda q, chart: not q.shape and chart.standard, _of_one_map),
    (lambda q, chart: not chart.shape and are_atoms(q), lambda q, chart: MovedAtoms(chart, q)),
    (lambda q, chart: not chart.shape and not q.shape, lambda q, chart: PulledOne(chart, q)),
    (lambda q, chart: True, lambda q, chart: Pulled(chart, q)),
)
