"""The lambda guard: a learned distribution bent until it is as accurate as it promised to be."""

from __future__ import annotations

from calibrant._arrays import Array, clip, concatenate, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.logistic_linear import Guarded, LogisticLinear
from calibrant.distributions.mixture import Mixture
from calibrant.distributions.own_logit import OwnLogit
from calibrant.interpolators.linear import Linear
from calibrant.interpolators.weights import InOrder


def guard(distribution: Distribution, scores: Array, accuracy: float, weighted: InOrder | None = None) -> Distribution:
    """With q(u_(i)) clipped into (i +- lambda) / (n + 1) at the sorted scores; as it is if it lies there already.

    Scores that are `weighted` have levels of their own, and n is their effective number.

    Where it rounds distinct scores to the same probability, a thousandth of linear interpolation is mixed in first,
    which tells them apart.
    """
    xp, known = namespace(scores), weighted or InOrder(scores, total=float(scores.shape[0]))
    at, logits = distribution.cdf(scores), OwnLogit(distribution)(scores)
    tied = _rises(scores) & ~(_rises(at) & _rises(logits))
    if bool(xp.any(tied)) or bool(at[0] <= 0) or bool(at[-1] >= 1):
        distribution = Mixture((distribution, Linear().fit(scores)), (0.999, 0.001))
        at, logits = distribution.cdf(scores), OwnLogit(distribution)(scores)
    low, high = known.levels(-accuracy), known.levels(accuracy)
    if known.weights is not None:  # no weighted score lies in the mass of the new row, of which half is at each end
        end = 0.5 / (known.total + 1)
        low, high = clip(low, end, 1.0), clip(high, 0.0, 1 - end)
    clipped = xp.minimum(xp.maximum(at, low), high)
    moved = clipped != at
    if not bool(xp.any(moved)):
        return distribution
    # a knot stays only where the line bends: at a clipped score and at its neighbours
    edge = moved[:1] & False
    near = moved | concatenate([moved[1:], edge]) | concatenate([edge, moved[:-1]])
    return Guarded(OwnLogit(distribution), LogisticLinear(logits[near], clipped[near]))


def _rises(column: Array) -> Array:
    return column[1:] > column[:-1]
