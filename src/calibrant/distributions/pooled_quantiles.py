"""Quantiles of a mixture from the quantiles of its components.

For any levels v_k with sum of w_k v_k = p, the quantile at p lies between the least and the greatest of the components'
quantiles at v_k. A point y suggests the levels v_k = F_k(y) - (F(y) - p): every component gives up what the mixture has
too much. Their quantiles c_k lie close together, and if every component runs straight from y to its c_k, the quantile
is y less the weighted harmonic mean of the steps y - c_k. Atoms are found among the c_k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from calibrant._arrays import Array, anywhere, clip, detached, namespace
from calibrant._batch import take_rows
from calibrant._roots import between
from calibrant._search import gather
from calibrant._special import logit
from calibrant.distributions.base import Distribution

_ROUNDS = 200
_SMOOTH = 1e-9  # of p, by which F may miss it where steps are as small as floats are
_SINGLE = 3  # rounds with one trial a row; then few rows are left, and several trials cost little more than one


class LineEnd(NamedTuple):
    """The end of the line from which probabilities are counted, so that small ones keep their digits."""

    probability: Callable[[Distribution, Array], Array]
    quantile: Callable[[Distribution, Array], Array]
    sign: float
    """Of the slope of the probability."""


LOWER = LineEnd(lambda law, y: law._cdf(y), lambda law, p: law._ppf(p), 1.0)
UPPER = LineEnd(lambda law, y: law._sf(y), lambda law, p: law._ppf_logit(-logit(p)), -1.0)


class _Search(NamedTuple):
    """One value for each of the rows that are left."""

    p: Array
    a: Array
    """The greatest y tried with F(y) < p."""
    b: Array
    """The least y tried with F(y) >= p."""
    at_a: Array
    at_b: Array
    """F - p at both."""
    low: Array
    """No quantile at p is less."""
    y: Array
    """The point at which the levels start."""
    near: Array
    """Whether it was but for rounding where it is expected now."""


def pooled_quantiles(
    laws: Sequence[Distribution], weights: Sequence[float], p: Array, side: LineEnd, *, discrete: bool
) -> Array:
    """The quantiles of the mixture at p, (m,), 0 < p < 1: one level for each row, or m of single laws.

    `discrete` says that all components have atoms only, among which the quantile is then found exactly. Else the search
    ends when F(y) is p but for rounding, or where no float is left between F(a) < p <= F(b).
    """
    xp, eps = namespace(p), float(namespace(p).finfo(p.dtype).eps)
    some = [(law, weight) for law, weight in zip(laws, weights, strict=True) if weight > 0]
    laws, weights = [law for law, _ in some], [weight for _, weight in some]
    found, left, infinite = xp.zeros_like(p), p == p, xp.full_like(p, xp.inf)
    with np.errstate(all="ignore"):  # 0 / 0 where a step is 0, inf - inf where a quantile is infinite
        ends = [_at(side.quantile, law, p) for law in laws]
        now = _Search(p, -infinite, infinite, -p, 1 - p, reduce(xp.minimum, ends), infinite, p != p)
        trials = [_mean_of_finite(weights, ends)]
        for count in range(_ROUNDS):
            now, own = _tried(side, laws, weights, now, trials, discrete=discrete)
            over = _sum(weights, own) - now.p
            if not discrete:
                found[left] = xp.where(now.low >= now.b, now.b, now.y)
                # where F jumps, being near is not enough
                near = now.near & ((side.sign * over >= 0) | (xp.abs(over) <= _SMOOTH * now.p))
                on = (xp.abs(over) > _rounding(now.p)) & (now.low < now.b) & ~near
                left, now, laws, (over, *own) = _only(on, left, now, laws, over, *own)
                if not over.shape[0]:
                    break
            c = [_quantile(side, law, u - over) for law, u in zip(laws, own, strict=True)]
            now = _bounded(now, side.sign * over, c)
            if discrete:
                found[left] = now.b
                left, now, laws, (over, *c) = _only(now.low < now.b, left, now, laws, over, *c)
                if not over.shape[0]:
                    break
            mean = now.y - 1 / _sum(weights, [1 / (now.y - k) for k in c])
            now = now._replace(near=xp.abs(mean - now.y) <= 4 * eps * xp.abs(mean))
            trials = _trials(now, side.sign * over, c, mean, several=count + 1 >= _SINGLE, discrete=discrete)
    return found


def _tried(
    side: LineEnd,
    laws: Sequence[Distribution],
    weights: Sequence[float],
    now: _Search,
    trials: Sequence[Array],
    *,
    discrete: bool,
) -> tuple[_Search, list[Array]]:
    """The bracket after some trials, and the components' probabilities at the best: the last with F(y) < p of atoms."""
    xp = namespace(now.p)
    y = trials[0] if len(trials) == 1 else xp.stack(trials, axis=1)
    own = [_at(side.probability, law, y) for law in laws]
    if len(trials) == 1:
        gap = side.sign * (_sum(weights, own) - now.p)
        return _narrowed(now, y, gap, y, gap)._replace(y=y), own
    gap = side.sign * (_sum(weights, own) - now.p[:, None])
    below, infinite = gap < 0, xp.full_like(y, xp.inf)
    last, first = (
        xp.argmax(xp.where(below, y, -infinite), axis=1)[:, None],
        xp.argmin(xp.where(below, infinite, y), axis=1)[:, None],
    )
    some = xp.any(below, axis=1)[:, None]
    best = xp.where(some, last, first) if discrete else xp.argmin(xp.abs(gap), axis=1)[:, None]
    ends = [gather(column, end)[:, 0] for end in (last, first) for column in (y, gap)]
    y, *own = (gather(column, best)[:, 0] for column in (y, *own))
    return _narrowed(now, *ends)._replace(y=y), own


def _narrowed(now: _Search, lower: Array, at_lower: Array, upper: Array, at_upper: Array) -> _Search:
    """The bracket, with new ends where they have F < p and F >= p."""
    xp = namespace(lower)
    below, above = (at_lower < 0) & (lower > now.a), (at_upper >= 0) & (upper < now.b)
    return now._replace(
        a=xp.where(below, lower, now.a),
        at_a=xp.where(below, at_lower, now.at_a),
        b=xp.where(above, upper, now.b),
        at_b=xp.where(above, at_upper, now.at_b),
    )


def _bounded(now: _Search, gap: Array, c: Sequence[Array]) -> _Search:
    """What the components' quantiles at the new levels say of the quantile."""
    xp = namespace(gap)
    infinite = xp.full_like(gap, xp.inf)
    low = xp.where(gap < 0, reduce(xp.minimum, c), now.low)
    beyond = xp.where(now.a > -infinite, xp.nextafter(now.a, infinite), -infinite)
    low = xp.maximum(xp.maximum(low, now.low), beyond)
    # where all go to -inf, p lies in the mass there
    return now._replace(low=low, b=xp.where((gap >= 0) & (reduce(xp.maximum, c) == -xp.inf), -infinite, now.b))


def _trials(now: _Search, gap: Array, c: Sequence[Array], mean: Array, *, several: bool, discrete: bool) -> list[Array]:
    """Where to try next, inside the bracket: the mean, or the components' quantiles, or beside an end of it."""
    xp = namespace(mean)
    if not (several or discrete or anywhere(~((mean > now.a) & (mean < now.b)))):
        return [mean]
    none = xp.full_like(mean, xp.inf)
    beside = xp.where((gap < 0) | (reduce(xp.maximum, c) <= now.a), now.low, xp.nextafter(now.b, -none))
    halfway = between(now.a, now.b)
    secant = now.a - now.at_a * (now.b - now.a) / (now.at_b - now.at_a)
    if several:
        points = [*c, halfway, now.low] if discrete else [mean, secant, halfway]
    elif discrete:
        # the least of the components' quantiles that is not below the mean, or else the greatest
        inside = [(k > now.a) & (k < now.b) for k in c]
        above = reduce(xp.minimum, (xp.where(i & (k >= mean), k, none) for i, k in zip(inside, c, strict=True)))
        greatest = reduce(xp.maximum, (xp.where(i, k, -none) for i, k in zip(inside, c, strict=True)))
        points = [xp.where(above < none, above, greatest)]
    else:
        points = [mean]
        beside = xp.where((mean == now.y) | ~xp.isfinite(halfway), beside, halfway)
    return [xp.where((point > now.a) & (point < now.b), point, beside) for point in points]


def _sum(weights: Sequence[float], terms: Sequence[Array]) -> Array:
    return reduce(lambda a, b: a + b, (weight * term for weight, term in zip(weights, terms, strict=True)))


def _at(function: Callable[[Distribution, Array], Array], law: Distribution, value: Array) -> Array:
    """One value or several for each row, or those of a single law."""
    return detached(function(law, value[:, None])[:, 0] if law.shape and value.ndim == 1 else function(law, value))


def _quantile(side: LineEnd, law: Distribution, level: Array) -> Array:
    """Infinite for a level beyond 0 or 1."""
    xp = namespace(level)
    inside = clip(level, 0.0, 1.0)
    y, beyond = _at(side.quantile, law, inside), level != inside
    return xp.where(beyond, side.sign * (level - inside) * xp.inf, y) if anywhere(beyond) else y


def _rounding(p: Array) -> Array:
    """By how much F may differ from p for rounding alone; and little enough in the tails."""
    xp = namespace(p)
    eps = float(xp.finfo(p.dtype).eps)
    return xp.maximum(64 * eps * xp.minimum(p, 1 - p), 4 * eps * p)


def _mean_of_finite(weights: Sequence[float], points: Sequence[Array]) -> Array:
    """0 where all are infinite."""
    xp, mean = namespace(points[0]), _sum(weights, points)
    if bool(xp.all(xp.isfinite(mean))):
        return mean
    zero, finite = xp.zeros_like(points[0]), [xp.isfinite(point) for point in points]
    total = _sum(weights, [xp.astype(each, zero.dtype) for each in finite])
    mean = _sum(weights, [xp.where(ok, point, zero) for ok, point in zip(finite, points, strict=True)]) / total
    return xp.where(total > 0, mean, zero)


def _only(
    on: Array, left: Array, now: _Search, laws: Sequence[Distribution], *columns: Array
) -> tuple[Array, _Search, Sequence[Distribution], list[Array]]:
    """The rows that are not done."""
    xp = namespace(on)
    if bool(xp.all(on)):
        return left, now, laws, list(columns)
    rows = xp.nonzero(on)[0]
    laws = [take_rows(law, rows) if law.shape else law for law in laws]
    still = xp.zeros_like(left)
    still[left] = on
    return still, _Search(*(part[on] for part in now)), laws, [column[on] for column in columns]
