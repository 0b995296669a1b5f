"""Forecasts as forecasts of labels of a kind, such as counts, for evaluation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from calibrant._arrays import Array, device_like, to_numpy
from calibrant.distributions.base import Distribution
from calibrant.distributions.mixture import Mixture
from calibrant.labels.base import Labels
from calibrant.labels.named import labels_named
from calibrant.metrics.interpolated import interpolated
from calibrant.predictions import Ensemble, Quantiles, Rates, Samples

COMMON = 0.02
"""Whole numbers are counts, and no rounded measurements, if one of them is so large a share of the labels."""
HINT = (
    "The labels are whole numbers, and the forecasts were evaluated as forecasts of any real number. If they are"
    " counts, pass {}: a quantile of 0.3 then means 0."
)
"""A hint; to be filled in with the argument or flag."""


def for_labels(H: Any, y: Array, labels: Any = None) -> Any:
    """The forecast H as one of labels y of this kind.

    A distribution is collapsed: of counts, P(Y <= k) = H(k + 1/2). Quantiles and draws become those of the labels: a
    quantile of 0.3 counts is 0. Rates become distributions of counts, also without `labels` if all labels are counts.
    Other forecasts stay as they are.

    >>> for_labels(Rates([0.5, 2.0]), np.array([0.0, 3.0])), for_labels(Rates([0.5, 2.0]), np.array([0.0, 3.5]))
    (Poisson distribution of 2 rows, 90% interval 2 to 5 wide, Rates(n=2))
    >>> for_labels(Quantiles([0.1, 0.9], [[0.3, 4.6]]), np.array([2.0]), "counts").values
    array([[0., 5.]])
    """
    kind = checked_labels(y, labels)
    if isinstance(H, Rates) and kind is None and are_counts(y):
        return H.distribution()
    if kind is None or getattr(H, "lattice", None) is not None:
        return H
    if isinstance(H, (Quantiles, Samples)):
        distribution = _interpolated_distribution(H, kind)
        if distribution is None:
            return H
        # g of the quantiles of Y', as g does not decrease
        levels = H.levels if isinstance(H, Quantiles) else H.as_quantiles().levels
        values = np.asarray(to_numpy(distribution.quantiles(to_numpy(levels))), np.float64)
        return replace(H, values=device_like(values, H.values))
    kind = kind.judging()
    spread = kind.spread_prediction(H) if isinstance(H, (Distribution, Rates)) else None
    return kind.collapse(spread) if isinstance(spread, Distribution) else H


def distribution_for_labels(H: Any, y: Array, labels: Any = None) -> Any:
    """The same, interpolated linearly between quantiles or sorted draws; other predictions stay the same.

    An ensemble is the mixture of its members, where each of them has a distribution.
    """
    kind = checked_labels(y, labels)
    if isinstance(H, Ensemble):
        members = [distribution_for_labels(member, y, kind) for member in H.members]
        whole = sum(H.weights)
        shares = tuple(weight / whole for weight in H.weights)
        complete = all(member.has_distribution for member in members)
        return Mixture(tuple(member.as_distribution() for member in members), shares) if complete else H
    H = for_labels(H, y, kind)
    if kind is None or not isinstance(H, (Quantiles, Samples)):
        return interpolated(H)
    return _interpolated_distribution(H, kind) or H


def evaluated_as(H: Any, y: Array, labels: Any = None) -> tuple[Any, str]:
    """What `evaluate` scores in place of H, and a note: one distribution per row wherever `report` has one.

    Draws of any real number stay draws, which are evaluated by rank and by their empirical distribution.
    """
    between = "distributions interpolated linearly between the {}, with exponential tails beyond"
    notes: dict[type, str] = {
        Ensemble: "the mixture of the members, with the weights of the ensemble",
        Quantiles: between.format("quantiles"),
        Samples: between.format("draws"),
    }
    if type(H) not in notes or (isinstance(H, Samples) and checked_labels(y, labels) is None):
        return for_labels(H, y, labels), ""
    distribution = distribution_for_labels(H, y, labels)
    return distribution, f"Evaluated as {notes[type(H)]}." if distribution.has_distribution else ""


def _interpolated_distribution(H: Any, kind: Labels) -> Distribution | None:
    kind = kind.judging()
    spread = interpolated(kind.spread_prediction(H))
    return kind.collapse(spread.as_distribution()) if spread.has_distribution else None


def checked_labels(y: Array, labels: Any) -> Labels | None:
    """The kind of labels, which y must be of."""
    kind = labels_named(labels)
    if kind is not None and not kind.by_row:
        kind.check(y)
    return kind


def are_counts(y: Array) -> bool:
    """Whether all labels are whole numbers from 0 on."""
    found = to_numpy(y)
    return bool(np.all((found >= 0) & (found == np.round(found))))


def look_like_counts(H: Any, y: Array) -> bool:
    """Whether the labels are whole numbers, one of them common, and the forecast does not know that."""
    if not are_counts(y) or (isinstance(H, Distribution) and H.lattice is not None):
        return False
    return int(np.unique(to_numpy(y), return_counts=True)[1].max()) > COMMON * y.shape[0]
