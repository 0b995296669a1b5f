"""A calibrator of millions of scores in a file of a hundred kilobytes."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from calibrant.calibration import Calibrated
from calibrant.guarantee import Guarantee
from calibrant.interpolators.linear import Linear
from calibrant.interpolators.thinned import Thinned, fewer


def thinned(calibrated: Calibrated, max_knots: int = 6000) -> Calibrated[Guarantee]:
    """The same calibrator with at most `max_knots` of the knots of its linear q, and the lambda that this costs.

    The law is exact in all it says, mean and CRPS too, and differs from that of all knots by at most lambda / (n + 1),
    which is measured, not estimated: about 3e-5 for 6,000 knots of a million. It can no longer be updated.

    >>> import numpy as np
    >>> from calibrant import Calibrator
    >>> rng = np.random.default_rng(0)
    >>> small = thinned(Calibrator().fit(np.zeros(100_000), rng.normal(size=100_000)), 1000)
    >>> small.q.knots.size, round(small.guarantee.accuracy / 100_001, 5)
    (998, 0.00021)
    """
    if isinstance(max_knots, bool) or not isinstance(max_knots, int) or max_knots < 2:
        raise ValueError(f"max_knots must be a whole number, 2 or larger, got {max_knots!r}")
    if not isinstance(calibrated, Calibrated) or type(calibrated.interpolator) is not Linear:
        made = calibrated.interpolator if isinstance(calibrated, Calibrated) else calibrated
        raise TypeError(f"thinned takes what Linear calibrated, got {made!r}")
    q, off = fewer(calibrated.q, max_knots)
    guarantee = cast(Guarantee, calibrated.guarantee)  # Linear knows no groups
    measured = off * (guarantee.n + 1)
    return Calibrated(
        calibrated.score,
        q,
        replace(guarantee, accuracy=guarantee.accuracy + measured),
        Thinned(max_knots, measured, calibrated.interpolator),
        calibrated.form,
        calibrated.labels,
    )
