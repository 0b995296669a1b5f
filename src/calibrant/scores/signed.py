"""A calibration score from a non-conformity score: the construction of Theorem 2."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

from calibrant._arrays import Array, detached, namespace
from calibrant.predictions import as_prediction
from calibrant.scores.base import TransformScore
from calibrant.scores.floors import positive, upper_median
from calibrant.scores.nonconformity import Nonconformity
from calibrant.scores.transforms import Transform, TwoSided, shifted


def signed(nonconformity: Nonconformity, *, scale: float | None = None) -> SignedScore:
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

    Args:
        nonconformity: A measure a(f(x), y) of how far a label is from its prediction, see `Nonconformity`.
        scale: One number in the unit of a. By default 1, or the median of |a| where a has the unit of y.

    >>> from calibrant import Calibrator
    >>> from calibrant.intervals import AbsoluteResidual
    >>> signed(AbsoluteResidual())([1.0, 1.0], [1.75, 0.25])
    array([ 2., -2.])
    >>> H = Calibrator(signed(AbsoluteResidual())).fit([1.0, 2.0, 3.0], [1.1, 1.8, 3.3])([10.0])
    >>> H.ppf(0.4)
    array([10.])
    """
    return SignedScore(nonconformity, scale=scale)


@dataclass(frozen=True, repr=False)
class SignedScore(TransformScore):
    """sign(y - m) g(a(f(x), y) / scale): see `signed`."""

    _middle = 0.0  # the score of the minimiser

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

    def learn(self, prediction: Any) -> tuple[Self, Array]:
        """What the non-conformity learns."""
        kept, mended = self.nonconformity.learn(prediction)
        return replace(self, nonconformity=kept), mended

    def scaled(self, prediction: Any, y: Array) -> Self:
        """The same score with the median of |a| > 0 as its scale; as it is, if it has one or needs none.

        It may see the labels, since it changes the order of no two scores, and calibration depends on that order alone.
        """
        if self.scale is not None or self.unit_free:
            return self
        a = detached(self.nonconformity.value(prediction, y))
        xp = namespace(a)
        sizes = xp.abs(a[xp.isfinite(a) & (a != 0)])
        return replace(self, scale=float(upper_median(sizes))) if sizes.shape[0] else self

    def transform(self, prediction: Any) -> Transform:
        """The two branches of the non-conformity, in units of the scale."""
        below, above, at = self.nonconformity.branches(as_prediction(prediction))
        low = shifted(below, 0.0, self.scale or 1.0)
        return TwoSided(low, low if above is below else shifted(above, 0.0, self.scale or 1.0), at)

    def __repr__(self) -> str:
        scale = "" if self.scale is None else f", scale={self.scale:.3g}"
        return f"{type(self).__name__}({self.nonconformity!r}{scale})"
