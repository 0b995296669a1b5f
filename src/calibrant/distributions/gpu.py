"""loc + scale * S on a CUDA GPU, S drawn through straight lines: one kernel in the place of a dozen array operations.

Each array operation reads and writes all rows; a kernel reads a row once and writes its answer. The numbers are those
of `LocationScale` and `PiecewiseLinear`, which stay the definition: `tests/test_on_gpu.py` compares them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import array_api_compat
import numpy as np

from calibrant._arrays import Array, concatenate, device_like, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.piecewise_linear import PiecewiseLinear

METHODS = ("cdf", "crps", "logpdf")
_CELLS = 4096  # of the guide; it and the knots should stay in the cache of a processor
_OUTER = 1000  # one knot in so many lies below the first cell, and one above the last


@dataclass(frozen=True, eq=False)
class Tables:
    """What the kernels of `gpu_kernels` read: what one row needs lies side by side."""

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
        xp, own = namespace(base.knots), base.lines.pieces
        guide, origin, per_unit, crowd = _guide(base.knots)
        steps = crowd.bit_length()  # 2^steps - 1 >= crowd
        device: Any = array_api_compat.device(base.knots)
        beyond = xp.full((2**steps,), xp.inf, dtype=base.knots.dtype, device=device)
        (first, *low), (last, *high) = (tuple(float(column[0]) for column in tail) for tail in base.lines.tails)
        # a tail without mass gets a scale that divides
        tails = [(mass, excess) if mass > 0 else (0.0, 1.0) for mass, excess in (low, high)]
        flat = xp.zeros_like(base.knots[:1])
        start, level = (concatenate([column[:1], column]) for column in (base.knots, base.probs))
        slope, log_slope = concatenate([flat, own.slope]), concatenate([flat - xp.inf, own.log_slope])
        logs = [math.log(mass / excess) if mass > 0 else -math.inf for mass, excess in tails]
        return cls(
            concatenate([base.knots, beyond]),
            guide,
            steps,
            xp.stack([start, level, slope, log_slope], axis=1),
            xp.stack([base.knots, base.probs, base._crps(base.knots), slope[:-1]], axis=1),
            device_like(np.asarray([first, last, *tails[0], *tails[1], *logs, origin, per_unit]), base.knots),
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


def one_pass(method: str, base: Distribution, loc: Array, scale: Array, y: Array) -> Array | None:
    """What `method` gives of loc + scale * S, S ~ base, at y, (n, 1); None where array operations must do it.

    They must off the GPU, without Triton, in single precision, for other laws than lines, for several y a row, and
    where gradients are asked for.
    """
    if not isinstance(base, PiecewiseLinear) or not array_api_compat.is_torch_array(y):
        return None
    values: Any = y
    torch: Any = namespace(y)
    arrays: tuple[Any, ...] = (y, loc, scale, base.knots, base.probs)
    if not values.is_cuda or y.shape != (*loc.shape, 1) or any(each.dtype != torch.float64 for each in arrays):
        return None
    if not _triton() or base.shape or any(np.isinf(scale[0]) for _, _, scale in base.lines.tails):
        return None
    if torch.is_grad_enabled() and any(each.requires_grad for each in arrays):
        return None
    return by_kernel(method, base, loc, scale, y)


def by_kernel(method: str, base: PiecewiseLinear, loc: Array, scale: Array, y: Array) -> Array:
    """The same, whatever the device of the arrays."""
    kernels: Any = import_module("calibrant.distributions.gpu_kernels")
    answer: Array = kernels.run(method, y, loc, scale, base.remember("_kept_kernels", lambda: Tables.of(base)))
    return answer


@cache
def _triton() -> bool:
    return find_spec("triton") is not None
