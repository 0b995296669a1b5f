"""q from the scores and what else is known of their rows."""

from __future__ import annotations

from inspect import signature
from typing import Any, Protocol, runtime_checkable

from calibrant._arrays import Array
from calibrant.distributions.base import Distribution
from calibrant.distributions.context import Context
from calibrant.guarantee import Guarantee
from calibrant.interpolators.base import Interpolator
from calibrant.interpolators.by_group import by_group
from calibrant.interpolators.history import Forgetting, Groups, History
from calibrant.interpolators.support import REAL_LINE, Support
from calibrant.interpolators.weights import as_weights


@runtime_checkable
class ContextInterpolator(Protocol):
    """An interpolator whose q depends on the row: its `for_rows` says which distribution a new row gets."""

    def fit_rows(
        self, scores: Array, context: Context, *, support: Support = REAL_LINE
    ) -> tuple[Distribution, Guarantee]:
        """q, and the guarantee that holds for it.

        Args:
            scores: The calibration scores, an array of n numbers.
            context: What is known of the rows beside their predictions: groups, weights and random numbers.
            support: The interval in which scores can lie; the real line by default.
        """


def interpolate(
    interpolator: Interpolator, scores: Array, context: Context, *, support: Any
) -> tuple[Distribution, Guarantee, Interpolator]:
    """q, what it promises, and what made it."""
    if context.by is None and context.weights is None:
        q = interpolator.fit(scores, support=support, rng=context.rng)  # type: ignore[arg-type]
        return q, Guarantee.of(interpolator, scores), interpolator
    if context.by is not None and not isinstance(interpolator, ContextInterpolator):
        interpolator = by_group(interpolator)
    if isinstance(interpolator, ContextInterpolator):
        return *interpolator.fit_rows(scores, context, support=support), interpolator
    if "weights" not in signature(interpolator.fit).parameters:
        raise TypeError(f"{interpolator!r} makes one q for all rows and takes no weights=")
    fit, weights = interpolator.fit, as_weights(context.weights)
    q = fit(scores, weights=weights, support=support, rng=context.rng)  # type: ignore[arg-type, call-arg]
    return q, weights.guarantee(interpolator, scores), interpolator


def remembered(
    scores: Array, context: Context, forget: Forgetting | None, floored: int
) -> tuple[History | None, Array, Context]:
    """What a later update must know; and the scores that are not forgotten, with what is known of them."""
    if context.by is not None:
        if forget is not None:
            raise TypeError("a calibrator by groups forgets nothing: forget= takes no by=")
        return History(scores, None, None, floored, Groups.of(context.by)), scores, context
    history = History.of(scores, context.weights, forget, floored)
    return (history, scores, context) if forget is None else (history, history.scores, history.context(context.rng))
