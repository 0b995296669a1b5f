"""H[x](y) = q(phi(f(x), y)): what pulling q back through a transform gives. The first rule that fits decides."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._arguments import same_length
from calibrant._arrays import Array
from calibrant._batch import same, take_rows
from calibrant.distributions.base import Distribution
from calibrant.distributions.joined import Joined
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.piecewise_linear import PiecewiseLinear
from calibrant.distributions.pulled import ByRow, Pulled, PulledBroken, landed
from calibrant.scores.transforms.base import Affine, BrokenLine, Transform


def pull_back(q: Distribution, transform: Transform) -> Distribution:
    """The distribution of the y with transform(y) ~ q, for each row; q is one for all rows, or one per row."""
    if q.shape and transform.shape:
        same_length("the prediction", transform.shape[0], "q", q.shape[0])
    if isinstance(q, Joined) and transform.shape:
        return q.mapped(lambda part, rows: pull_back(part, take_rows(transform, rows)))
    if isinstance(q, ByRow):
        return q.pulled(transform, pull_back)
    if isinstance(transform, Affine):
        return LocationScale(transform.loc, transform.scale, q)
    if isinstance(transform, BrokenLine):
        return PulledBroken(transform, q)
    if isinstance(q, PiecewiseLinear) and q.shape:
        return pull_back(_apart(q), transform)
    if not q.shape and transform.standard:
        return _of_one_map(q, *transform.standard)
    return landed(Pulled(transform, q))


def _of_one_map(q: Distribution, loc: Array, scale: Array, one: Transform) -> Distribution:
    """q(G((y - loc) / scale)) = (q o G)(z): again one shared distribution, with one table, stored with q."""
    found = q.__dict__.get("_kept_pulled")
    if found is None or not same(found[0], one):
        found = q.__dict__["_kept_pulled"] = one, landed(Pulled(one, q))
    return LocationScale(loc, scale, found[1])


def _apart(q: Any) -> Joined:
    """The rows of many lines as single distributions, one for each that occurs: what one can share, its rows share."""
    which, part = np.unique(q.group, return_inverse=True)
    return Joined.of([q.lines.one(int(g)) for g in which], part.reshape(-1))
