"""Non-conformity a(f(x), y): how badly y fits the prediction; and the calibration score it makes, by Theorem 2.

A non-conformity score is small in the middle and larger on either side. It is proper if it is continuous and strictly
unimodal in y: it falls up to its minimiser and rises from there on. Its level sets {y : a(f(x), y) <= t} are then
intervals, of which `calibrant.intervals` finds the right one, and `signed` turns it into a calibration score.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

from calibrant._arguments import positive
from calibrant._arrays import Array, detached, namespace
from calibrant._batch import no_rows
from calibrant.predictions.point import as_prediction
from calibrant.scores.base import Score
from calibrant.scores.floors import upper_median
from calibrant.scores.transforms.base import Transform
from calibrant.scores.transforms.combined import shifted
from calibrant.scores.transforms.curves import ByFunctions, TwoSided


class Nonconformity(ABC):
    """a(f(x), y), strictly unimodal in y. To write your own, give four functions of one value per row.

    >>> import numpy as np
    >>> class SquaredResidual(Nonconformity):
    ...     def value(self, prediction, y):
    ...         return (y - prediction.values) ** 2
    ...
    ...     def minimiser(self, prediction):
    ...         return prediction.values
    ...
    ...     def level_set(self, prediction, t):
    ...         return prediction.values - np.sqrt(t), prediction.values + np.sqrt(t)
    ...
    ...     def log_slope(self, prediction, y):
    ...         return np.log(2 * np.abs(y - prediction.values))
    >>> from calibrant.testing import check_nonconformity
    >>> check_nonconformity(SquaredResidual(), [1.0, 2.0], np.linspace(-3, 5, 30))
    """

    @property
    def unit_free(self) -> bool:
        """Whether the value stays the same when y changes its unit."""
        return True

    @abstractmethod
    def value(self, prediction: Any, y: Array) -> Array:
        """a(f(x_i), y_i).

        Args:
            prediction: The prediction of each row.
            y: The labels: one number per row.
        """

    @abstractmethod
    def minimiser(self, prediction: Any) -> Array:
        """The y with the smallest a(f(x_i), y).

        Args:
            prediction: The prediction of each row.
        """

    @abstractmethod
    def level_set(self, prediction: Any, t: float | Array) -> tuple[Array, Array]:
        """The ends (lower, upper) of {y : a(f(x_i), y) <= t}, empty where lower > upper.

        Args:
            prediction: The prediction of each row.
            t: The threshold: one number, or one per row.
        """

    @abstractmethod
    def log_slope(self, prediction: Any, y: Array) -> Array:
        """log |da/dy| at y_i.

        Args:
            prediction: The prediction of each row.
            y: The labels: one number per row.
        """

    def learn(self, prediction: Any) -> tuple[Self, Array]:
        """What `fit` keeps, and which calibration rows needed it, as `Score.learn`: here itself, and none.

        Args:
            prediction: The prediction of each row.
        """
        return self, no_rows(prediction)

    def branches(self, prediction: Any) -> tuple[Transform, Transform, Array]:
        """-a below the minimiser and a above it, as increasing maps of y, and the minimiser.

        Args:
            prediction: The prediction of each row.
        """
        low, high = (
            ByFunctions(prediction, partial(self._signed, sign), partial(self._end, sign), self.log_slope)
            for sign in (-1, 1)
        )
        return low, high, self.minimiser(prediction)

    def _signed(self, sign: int, prediction: Any, y: Array) -> Array:
        return sign * self.value(prediction, y)

    def _end(self, sign: int, prediction: Any, u: Array) -> Array:
        """The end of the level set on one side; the minimiser for a level below the least one."""
        least = self.value(prediction, self.minimiser(prediction))
        return self.level_set(prediction, namespace(u).maximum(sign * u, least))[sign > 0]


@dataclass(frozen=True)
class SignedScore(Score):
    """phi(f(x), y) = sign(y - m) g(a(f(x), y) / scale), m the minimiser of a, g(v) = v + sqrt(v^2 + 1).

    g maps the line onto (0, inf) and increases strictly, so it changes no conformal interval, and phi increases
    strictly in y also where a is negative (CQR). exp would do too, but overflows at v = 710.

    `scale` has the unit of a. Without one it is 1, unless a has the unit of y, as `unit_free` says: then
    `Calibrator.fit` takes the median of |a| over the calibration rows, so that H changes with the unit of y by that
    unit alone. No scale changes the order of the scores, so none costs any of the guarantee.

    At m phi jumps from -g to g of the smallest a, so H has an atom at m: the mass that q puts between the
    two. With a linear q that is at most 1 / (n + 1) where all rows share the smallest a; CQR on rows of
    unequal width can have more.

    On either side of m, H is q pulled back through +-g(a(f(x), y) / scale); mean, std and crps come from a table of
    each row, to 5e-5 of the spread.

    >>> from calibrant import Calibrator
    >>> from calibrant.intervals import AbsoluteResidual
    >>> signed(AbsoluteResidual())([1.0, 1.0], [1.75, 0.25])
    array([ 2., -2.])
    >>> H = Calibrator(signed(AbsoluteResidual())).fit([1.0, 2.0, 3.0], [1.1, 1.8, 3.3])([10.0])
    >>> H.ppf(0.4)
    array([10.])
    """

    centre: ClassVar[float | None] = 0.0  # the score of the minimiser

    nonconformity: Nonconformity
    _: KW_ONLY
    scale: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.nonconformity, Nonconformity):
            raise TypeError(f"signed takes a Nonconformity, got {self.nonconformity!r}")
        if self.scale is not None:
            object.__setattr__(self, "scale", positive("the scale of a signed score", self.scale))

    @property
    def unit_free(self) -> bool:  # type: ignore[override]
        """That of the non-conformity."""
        return self.nonconformity.unit_free

    def learn(self, prediction: Any, y: Array | None = None) -> tuple[Self, Array]:
        """What the non-conformity learns; and the median of |a| > 0 as the scale, where it needs one and has none.

        The scale may depend on the labels, since it changes the order of no two scores.
        """
        (nonconformity, rows), scale = self.nonconformity.learn(prediction), self.scale
        if y is not None and scale is None and not self.unit_free:
            a = detached(nonconformity.value(prediction, y))
            xp = namespace(a)
            sizes = abs(a[xp.isfinite(a) & (a != 0)])
            scale = float(upper_median(sizes)) if sizes.shape[0] else None
        return replace(self, nonconformity=nonconformity, scale=scale), rows

    def transform(self, prediction: Any) -> Transform:
        """The two branches of the non-conformity, in units of the scale."""
        below, above, at = self.nonconformity.branches(as_prediction(prediction))
        low = shifted(below, 0.0, self.scale or 1.0)
        return TwoSided(low, low if above is below else shifted(above, 0.0, self.scale or 1.0), at)


signed = SignedScore
