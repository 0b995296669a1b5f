"""A backtest of rows in time order."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._arrays import Array, concatenate, to_numpy
from calibrant.distributions.base import Distribution
from calibrant.distributions.joined import join
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.piecewise_linear import Lines, PiecewiseLinear
from calibrant.predictions import with_labels
from calibrant.predictions.point import as_prediction
from calibrant.updating import scores_of

MOST = 2_000_000
"""Knots of one table, some 200 MB with all that is read off them."""


def backtest_sequence(
    forecaster: Any, prediction: Any, y: Any, *, batch: int, delay: int
) -> tuple[Any, Array, Distribution]:
    """The prediction, the labels, and the distribution of each row, made before its label was revealed."""
    prediction, labels = with_labels(as_prediction(prediction), y)
    if not len(prediction):
        raise ValueError("a backtest needs at least one row, got none")
    _check_unseen(forecaster, prediction, labels)
    distributions, revealed = [], 0
    for start in range(0, len(prediction), batch):
        stop = min(start + batch, len(prediction))
        distributions.append(forecaster(prediction[start:stop]))
        known = max(stop - delay, revealed)
        if known > revealed:
            updated = forecaster.update(prediction[revealed:known], labels[revealed:known])
            forecaster, revealed = (forecaster if updated is None else updated), known
    return prediction, labels, joined(distributions)


def joined(distributions: list[Distribution]) -> Distribution:
    """The distributions in one batch: lines, moved and stretched, are rows of one table, which is asked all at once."""
    lines = [
        distribution.base
        for distribution in distributions
        if type(distribution) is LocationScale
        and type(distribution.base) is PiecewiseLinear
        and not distribution.base.shape
    ]
    if len(lines) < len(distributions) or sum(line.knots.shape[0] for line in lines) > MOST:
        return join(distributions)
    table = PiecewiseLinear(
        Lines.of(lines), np.repeat(np.arange(len(distributions)), [len(distribution) for distribution in distributions])
    )
    loc, scale = (
        concatenate([getattr(distribution, name) for distribution in distributions]) for name in ("loc", "scale")
    )
    return LocationScale(loc, scale, table)


def _check_unseen(forecaster: Any, prediction: Any, labels: Array) -> None:
    """Raise for a calibrator that was fitted on the rows it is to be tested on: their scores are among its own."""
    history = getattr(forecaster, "history", None)
    if history is None or getattr(forecaster, "labels", None) is not None:  # labels that are drawn have no fixed score
        return
    scores = np.unique(to_numpy(scores_of(forecaster, prediction, labels)[0]))
    if 2 * scores.size <= len(prediction):
        return  # ties tell nothing
    seen = int(np.isin(scores, to_numpy(history.scores)).sum())
    if 2 * seen > scores.size:
        raise ValueError(
            f"the calibrator was fitted on rows that it is to be tested on: it has {seen} of the {scores.size} scores"
            " already; fit it on earlier rows"
        )
