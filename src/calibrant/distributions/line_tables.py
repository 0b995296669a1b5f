"""A law of straight lines laid out for a kernel: what one row needs lies side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import array_api_compat
import numpy as np

from calibrant._arrays import Array, concatenate, device_like, namespace
from calibrant.distributions.piecewise import PiecewiseLinear

_CELLS = 4096  # of the guide; it and the knots should stay in the cache of a processor
_OUTER = 1000  # one knot in so many lies below the first cell, and one above the last


@dataclass(frozen=True, eq=False)
class Tables:
    """What the kernels of `triton_lines` read."""

    knots: Array
    """Followed by as many infinities as a search may look ahead."""
    guide: Array
    """The number of knots before each cell; the cell of z is (z - origin) * per_unit, kept in the table."""
    steps: int
    """Halvings that find a place among the knots of one cell."""
    pieces: Array
    """A line a piece: its start, level, slope and log slope."""
    ends: Array
    """A line a knot: itself, its probability, its CRPS and the slope of the piece before it."""
    numbers: Array
    """First and last knot, mass and mean excess of the lower tail, of the upper, their first log densities, and origin
    and per_unit of the guide."""

    @classmethod
    def of(cls, base: PiecewiseLinear) -> Tables:
        xp, own = namespace(base.knots), base._tables
        guide, origin, per_unit, crowd = _guide(base.knots)
        steps = crowd.bit_length()  # 2^steps - 1 >= crowd
        device: Any = array_api_compat.device(base.knots)
        beyond = xp.full((2**steps,), xp.inf, dtype=base.knots.dtype, device=device)
        # a tail without mass gets a scale that divides
        tails = [(mass, excess) if mass > 0 else (0.0, 1.0) for mass, excess in (base._tail(0), base._tail(1))]
        logs = [math.log(mass / excess) if mass > 0 else -math.inf for mass, excess in tails]
        return cls(
            concatenate([base.knots, beyond]),
            guide,
            steps,
            xp.stack([own.start, own.level, own.slope, own.log_slope], axis=1),
            xp.stack([base.knots, base.probs, own.crps, own.slope[:-1]], axis=1),
            device_like(np.asarray([*base._ends[:2], *tails[0], *tails[1], *logs, origin, per_unit]), base.knots),
        )


def _guide(knots: Any) -> tuple[Any, float, float, int]:
    """Equal cells over the inner knots: how many knots lie before each, origin, cells to a unit, knots of the fullest.

    A cell is a non-decreasing function of z, so a knot in an earlier cell is smaller than z, one in a later larger.
    """
    torch: Any = namespace(knots)
    outer = knots.shape[0] // _OUTER
    low, high = float(knots[outer]), float(knots[-1 - outer])
    per_unit = _CELLS / (high - low) if high > low else math.inf
    origin = low - (high - low) / _CELLS  # cell 0 holds what lies below the inner knots, the last what lies above
    if not (math.isfinite(per_unit) and math.isfinite(origin)):
        origin, per_unit = 0.0, 0.0  # one cell holds all
    cell = ((knots - origin) * per_unit).clamp(0, _CELLS + 1).to(torch.int64)
    counts = torch.bincount(cell, minlength=_CELLS + 2)
    return (counts.cumsum(0) - counts).to(torch.int32), origin, per_unit, int(counts.max())
