"""Several predictions of the same rows as one: the mean of a model's copies, the weighted stack of several models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtri

from calibrant._arrays import concatenate, to_numpy
from calibrant._batch import row_fields, same
from calibrant.distributions.base import Distribution
from calibrant.distributions.counts import Binomial, NegativeBinomial, Poisson
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.mixture import Mixture
from calibrant.predictions import Ensemble, Interval, Point, Quantiles, Samples

Numbers = np.ndarray[Any, Any]

LEVELS = tuple((k + 0.5) / 25 for k in range(25))
"""Of the quantiles that are averaged."""
BY_NUMBER = (Point, Interval, Quantiles, LocationScale, Poisson, NegativeBinomial, Binomial)
"""Kinds whose mean is that of their numbers; of a location and a scale it is the mean of the quantiles."""
MOST = 10_000
"""Rows by which weights are chosen, drawn at random."""


def at_levels(prediction: Any) -> Numbers:
    """The quantiles at `LEVELS`; those of a `Quantiles` lie on straight lines in the normal score."""
    if isinstance(prediction, Distribution):
        return to_numpy(prediction.quantiles(LEVELS))
    if not isinstance(prediction, Quantiles):
        raise TypeError(f"a mean is taken of distributions and quantiles, got {prediction!r}")
    values = to_numpy(prediction.values)
    if prediction.quantile_levels() == LEVELS:
        return values
    if values.shape[1] == 1:
        raise TypeError(f"a mean needs quantiles at two levels or more, got {prediction!r}")
    own, asked = ndtri(to_numpy(prediction.levels)), ndtri(np.asarray(LEVELS))
    left = np.clip(np.searchsorted(own, asked, side="right") - 1, 0, len(own) - 2)
    share = (asked - own[left]) / (own[left + 1] - own[left])
    return np.asarray(values[:, left] * (1 - share) + values[:, left + 1] * share)


def averaged(predictions: Sequence[Any]) -> Any:
    """The mean of what a model's copies predict, quantile by quantile: its kind stays where it can.

    >>> averaged([Point([1.0, 2.0]), Point([3.0, 2.0])]).values
    array([2., 2.])
    """
    first = predictions[0]
    if len(predictions) == 1:
        return first
    if all(each.form() == first.form() for each in predictions):
        if isinstance(first, BY_NUMBER) and all(_alike(each, first) for each in predictions):
            return _mean_of_numbers(predictions)
        if isinstance(first, Samples):  # the k-th smallest draw is the quantile at (k - 1/2) / K
            return Samples(sum(np.sort(to_numpy(each.values), axis=1) for each in predictions) / len(predictions))
    if isinstance(first, Distribution):
        if first.lattice is not None:
            return Mixture(tuple(predictions))
        return Quantiles(LEVELS, sum(map(at_levels, predictions)) / len(predictions))
    return Ensemble(predictions)


def _alike(one: Any, other: Any) -> bool:
    """Whether they differ in the numbers of their rows alone."""
    return type(one) is type(other) and same(getattr(one, "base", None), getattr(other, "base", None))


def _mean_of_numbers(predictions: Sequence[Any]) -> Any:
    changed = {
        name: sum(getattr(each, name) for each in predictions) / len(predictions)
        for name, value in row_fields(predictions[0])
        if getattr(value, "ndim", 0)
    }
    return replace(predictions[0], **changed)


@dataclass(frozen=True)
class Stack:
    """Non-negative weights, of sum 1, of several models.

    Points (and intervals, and the trees of forests, by their centres) are added up to one point. Where some models
    predict quantiles or distributions, these are added up level by level, and the point takes part with the quantiles
    of its own out-of-fold errors around it.
    """

    names: tuple[str, ...]
    weights: tuple[float, ...]
    errors: tuple[float, ...] | None = None
    """The quantiles of the point's out-of-fold errors; None where every model predicts points, or none does."""
    single: bool = False
    """Whether there is one model, whose prediction stays as it is."""

    @classmethod
    def learned(
        cls,
        names: Sequence[str],
        predictions: Sequence[Any],
        y: Numbers,
        sample_weight: Numbers | None = None,
        seed: int = 0,
    ) -> Stack:
        """The weights with the least CRPS of out-of-fold predictions.

        Args:
            names: What the models are called.
            predictions: The prediction of every model for the same rows, by copies that did not see them.
            y: The labels of these rows.
            sample_weight: How much each row counts.
            seed: For the rows that are drawn, where there are many.
        """
        if len(names) == 1:
            return cls(tuple(names), (1.0,), single=True)
        if len(y) > MOST:
            some = np.sort(np.random.default_rng(seed).choice(len(y), MOST, replace=False))
            predictions, y = [each[some] for each in predictions], y[some]
            sample_weight = None if sample_weight is None else sample_weight[some]
        share = np.full(len(y), 1 / len(y)) if sample_weight is None else sample_weight / np.sum(sample_weight)
        flat = np.array([not has_quantiles(each) for each in predictions])
        weights, errors, columns = np.zeros(len(names)), None, []
        if flat.any():
            centres = np.stack([centre_of(each) for each in predictions if not has_quantiles(each)], axis=1)
            weights[flat] = _least(_crps_of_points, centres, y, share)
            errors = np.quantile(y - centres @ weights[flat], LEVELS, method="inverted_cdf", weights=share)
            columns = [(centres @ weights[flat])[:, None] + errors]
        if flat.all():
            return cls(tuple(names), tuple(weights.tolist()))
        columns += [at_levels(each) for each in predictions if has_quantiles(each)]
        own = _least(_pinball, np.stack(columns, axis=2), y, share)
        if errors is not None:
            weights[flat] *= own[0]
        weights[~flat] = own[len(own) - np.sum(~flat) :]
        return cls(tuple(names), tuple(weights.tolist()), None if errors is None else tuple(errors.tolist()))

    def __call__(self, predictions: Sequence[Any]) -> Any:
        """The stacked prediction: points, or quantiles at 25 levels.

        Args:
            predictions: The prediction of every model for the same rows, in the order of `names`.
        """
        if self.single:
            return predictions[0]
        pairs = list(zip(self.weights, predictions, strict=True))
        flat = [(weight, centre_of(each)) for weight, each in pairs if not has_quantiles(each)]
        centre = sum(weight * each for weight, each in flat)
        if self.errors is None and len(flat) == len(pairs):
            return Point(centre)
        values: Any = sum(weight * at_levels(each) for weight, each in pairs if has_quantiles(each))
        if self.errors is not None and flat:
            of_point = sum(weight for weight, _ in flat)
            values = values + np.asarray(centre)[:, None] + of_point * np.asarray(self.errors)
        return Quantiles(LEVELS, np.sort(values, axis=1))


def has_quantiles(prediction: Any) -> bool:
    """Whether it says more than a point: a distribution, or quantiles at several levels."""
    return isinstance(prediction, Distribution) or (
        isinstance(prediction, Quantiles) and not is_one_quantile(prediction)
    )


def centre_of(prediction: Any) -> Numbers:
    """The middle of each row."""
    return to_numpy(prediction.centre_rows()).astype(np.float64)


def _least(cost: Callable[..., tuple[float, Numbers]], table: Numbers, y: Numbers, share: Numbers) -> Numbers:
    """The weights, of sum 1, with the least cost."""
    count, scale = table.shape[-1], float(np.std(y)) or 1.0
    found: Any = minimize(  # type: ignore[call-overload]
        lambda w: [each / scale for each in cost(w, table, y, share)],
        np.full(count, 1 / count),
        jac=True,
        method="SLSQP",
        bounds=[(0, 1)] * count,
        constraints=[{"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like}],
        options={"maxiter": 200, "ftol": 1e-8},
    )
    weights = np.where(found.x > 1e-3, found.x, 0.0)
    return np.asarray(weights / weights.sum())


def _crps_of_points(w: Numbers, centres: Numbers, y: Numbers, share: Numbers) -> tuple[float, Numbers]:
    """E |r - r'| / 2 of the errors r: the CRPS that their own distribution has around the point; and its slope."""
    r = y - centres @ w
    order = np.argsort(r)
    below = np.empty(len(r))
    below[order] = np.cumsum(share[order]) - share[order] / 2
    slope = share * (2 * below - 1)
    return float(slope @ r), -(centres.T @ slope)


def _pinball(w: Numbers, table: Numbers, y: Numbers, share: Numbers) -> tuple[float, Numbers]:
    """Twice the mean pinball loss over the levels, and its slope."""
    short = y[:, None] - table @ w
    slope = 2 / len(LEVELS) * share[:, None] * (np.asarray(LEVELS) - (short < 0))
    return float(np.sum(slope * short)), -np.einsum("ij,ijk->k", slope, table)


def is_one_quantile(prediction: Any) -> bool:
    """Whether it is of a model for one quantile."""
    return isinstance(prediction, Quantiles) and prediction.values.shape[1] == 1


def joined_levels(predictions: Sequence[Any]) -> Quantiles:
    """What models for one quantile each predict, together."""
    ordered = sorted(predictions, key=lambda each: float(each.levels[0]))
    levels = [float(each.levels[0]) for each in ordered]
    return Quantiles(levels, np.sort(to_numpy(concatenate([each.values for each in ordered], axis=1)), axis=1))
