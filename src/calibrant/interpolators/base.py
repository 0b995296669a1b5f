"""An interpolation algorithm: from calibration scores to the map q."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from calibrant._arrays import Array, floats, namespace
from calibrant.distributions.context import Context
from calibrant.guarantee import Guarantee
from calibrant.interpolators.support import REAL_LINE, as_support

if TYPE_CHECKING:
    from calibrant.distributions.base import Distribution


@runtime_checkable
class Interpolator(Protocol):
    """Makes q, the law of the calibration scores, of the scores. To write your own, write these two methods.

    >>> from calibrant import Calibrator, Normal
    >>> class Gaussian:  # a normal law fitted to the scores; it promises no accuracy
    ...     def fit(self, scores, *, support=(-np.inf, np.inf), rng=None):
    ...         return Normal(scores.mean(), scores.std())
    ...
    ...     def accuracy(self, n):
    ...         return n
    >>> Calibrator(interpolator=Gaussian()).fit([1.0, 2.0, 3.0], [1.5, 2.0, 3.1]).guarantee.epsilon
    1.0
    """

    def fit(self, scores: Array, *, support: Any = REAL_LINE, rng: np.random.Generator | None = None) -> Distribution:
        """The single law q of n scores, with q(u_(i)) near i / (n + 1)."""

    def accuracy(self, n: int) -> float:
        """The lambda with q(u_(i)) in (i +- lambda) / (n + 1) for any n distinct scores, fixed before the data."""


@runtime_checkable
class ContextInterpolator(Protocol):
    """An interpolator whose q depends on the row: what it makes says in `for_rows` which law a new row gets."""

    def fit_rows(self, scores: Array, context: Context, *, support: Any = REAL_LINE) -> tuple[Distribution, Guarantee]:
        """q, and the guarantee that holds for it."""


def interpolate(
    interpolator: Interpolator, scores: Array, context: Context, *, support: Any
) -> tuple[Distribution, Guarantee]:
    """q and what it promises, from the scores and what else is known of their rows."""
    if not context.unused():
        return interpolator.fit(scores, support=support, rng=context.rng), Guarantee.of(interpolator, scores)
    if not isinstance(interpolator, ContextInterpolator):
        raise TypeError(f"{interpolator!r} makes one q for all rows and takes no {'=, '.join(context.unused())}=")
    return interpolator.fit_rows(scores, context, support=support)


def sorted_scores(scores: Any, support: Any) -> Array:
    """The scores in increasing order: finite, at least one, inside the support."""
    scores = floats("scores", scores, ndim=1)
    if scores.shape[0] == 0:
        raise ValueError("calibration needs at least one score, got none")
    as_support(support).check(scores)
    return namespace(scores).sort(scores)
