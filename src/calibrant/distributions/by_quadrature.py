"""Integrals of a law that has no closed forms of its own: what `Distribution` falls back on."""

from __future__ import annotations

from array_api_compat import device

from calibrant._arrays import Array, namespace
from calibrant._kept import keep
from calibrant.distributions.base import Distribution, handed_in
from calibrant.distributions.integrals import PartialMoments, Squares, between, in_double
from calibrant.distributions.logistic import STANDARD_LOGISTIC
from calibrant.distributions.logits import OwnLogit
from calibrant.distributions.smooth_rows import SmoothRows
from calibrant.distributions.tabulated import Tabulated


def _table(law: Distribution, y: Array) -> Tabulated:
    key = ("table", namespace(y).__name__, str(y.dtype), str(device(y)))
    return keep(law, key, lambda: Tabulated.of(law, y))


def _rows(law: Distribution) -> SmoothRows:
    """Any law is the standard logistic one pulled back through its own logit."""
    return SmoothRows(OwnLogit(law), STANDARD_LOGISTIC)


def partial_moments(law: Distribution, y: Array) -> PartialMoments:
    """See `PartialMoments`."""
    return _rows(law).partial_moments(y) if law.shape else in_double(_table(law, y).partial_moments, y)


def squares(law: Distribution, y: Array) -> Squares:
    """See `Squares`."""
    return _rows(law).squares(y) if law.shape else in_double(_table(law, y).squares, y)


def moments_within(law: Distribution, y: Array, lower: Array, upper: Array) -> PartialMoments:
    """The same between two bounds."""
    if law.shape:
        return between(lambda a, b: _rows(law).partial_moments(y, a, b), y, lower, upper)
    return in_double(_table(law, y)._moments_within, y, lower, upper)


def squares_within(law: Distribution, y: Array, lower: Array, upper: Array) -> Squares:
    """The same between two bounds."""
    if law.shape:
        return between(lambda a, b: _rows(law).squares(y, a, b), y, lower, upper)
    return in_double(_table(law, y)._squares_within, y, lower, upper)


handed_in["partial moments"] = partial_moments
handed_in["squares"] = squares
handed_in["moments within"] = moments_within
handed_in["squares within"] = squares_within
