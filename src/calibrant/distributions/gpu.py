"""loc + scale * S on a CUDA GPU, S drawn through straight lines: one kernel in the place of a dozen array operations.

Each array operation reads and writes all rows; a kernel reads a row once and writes its answer. The numbers are those
of `LocationScale` and `PiecewiseLinear`, which stay the definition: `tests/test_on_gpu.py` compares them. This file
needs Triton: `LocationScale` imports it where an array lies on a GPU.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, cast

import numpy as np
import torch
import triton
import triton.language as tl

from calibrant._arrays import Array, device_like
from calibrant.distributions.base import Distribution
from calibrant.distributions.piecewise_linear import PiecewiseLinear
from calibrant.distributions.table import ONCE

METHODS = {"_cdf": 0, "_crps": 1, "_logpdf": 2}
_CELLS = 4096  # of the guide; it and the knots should stay in the cache of a processor
_OUTER = 1000  # one knot in so many lies below the first cell, and one above the last
_BLOCK, _WARPS = 256, 4


def one_pass(method: str, base: Distribution, loc: Array, scale: Array, y: Array) -> Array | None:
    """What `method` gives of loc + scale * S, S ~ base, at y, (n, 1); None where array operations must do it.

    They must in single precision, for other distributions than lines, for several y per row, and where gradients are
    asked for.
    """
    if method not in METHODS or not isinstance(base, PiecewiseLinear) or base.shape or y.shape != (*loc.shape, 1):
        return None
    arrays: tuple[Any, ...] = (y, loc, scale, base.knots, base.probs)
    if any(each.dtype != torch.float64 for each in arrays) or any(
        np.isinf(tail.scale[0]) for tail in base.lines.columns.tails
    ):
        return None
    if torch.is_grad_enabled() and any(each.requires_grad for each in arrays):
        return None
    return by_kernel(method, base, loc, scale, y)


def by_kernel(method: str, base: PiecewiseLinear, loc: Any, scale: Any, y: Any) -> Array:
    """The same, whatever the device of the arrays."""
    tables = base.remember("_kept_kernels", lambda: Tables.of(base))
    y = y.contiguous()
    out, rows = torch.empty_like(y), y.numel()
    if rows:
        table = tables.areas if method == "_crps" else tables.densities
        row = y, loc, scale, loc.stride(0), scale.stride(0), out, rows
        search = tables.knots, tables.guide, tables.guide.shape[0] - 1
        grid = (triton.cdiv(rows, _BLOCK),)
        _kernel[grid](*row, *search, table, tables.numbers, tables.steps, METHODS[method], _BLOCK, num_warps=_WARPS)
    return out


class Tables(NamedTuple):
    """What the kernel reads: what one row needs lies side by side."""

    knots: Any
    """From the second on, followed by as many infinities as a search may look ahead."""
    guide: Any
    """How many of these knots lie before each cell; the cell of z is (z - origin) * per_unit, clipped to the table."""
    steps: int
    """Halvings that find a place among the knots of one cell."""
    densities: Any
    """A line a knot: itself, its probability, the slope and the log slope after it."""
    areas: Any
    """A line a knot: itself, its probability, the slope after it and the integral of F up to it."""
    numbers: Any
    """End knot, mass and mean excess of the lower tail, of the upper; the shift of the crps; origin and per_unit."""

    @classmethod
    def of(cls, base: PiecewiseLinear) -> Tables:
        """Of a single distribution. A cell does not fall with z, so a knot in an earlier cell is smaller than z."""
        lines, own, knots = base.lines, base.lines.columns, cast(Any, base.knots)
        outer = knots.shape[0] // _OUTER
        low, high = float(knots[outer]), float(knots[-1 - outer])
        per_unit = _CELLS / (high - low) if high > low else math.inf
        origin = low - (high - low) / _CELLS  # cell 0 holds what lies below the inner knots, the last what lies above
        if not (math.isfinite(per_unit) and math.isfinite(origin)):
            origin, per_unit = 0.0, 0.0  # one cell holds all
        cell = ((knots[1:] - origin) * per_unit).clamp(0, _CELLS + 1).to(torch.int64)
        counts = torch.bincount(cell, minlength=_CELLS + 2)
        steps = int(counts.max()).bit_length()  # 2^steps - 1 >= the knots of the fullest cell
        guide = (counts.cumsum(0) - counts).to(torch.int32)
        piece: list[Any] = [knots, base.probs, own.slope]
        columns: list[Any] = [own.log_slope, own.sums[ONCE]]
        densities, areas = (torch.stack([*piece, column], dim=1) for column in columns)
        numbers = [float(part[0]) for tail in own.tails for part in tail]
        numbers += [float(lines.moments[2][0]), origin, per_unit]
        beyond = knots.new_full((2**steps,), math.inf)
        knots = torch.cat([knots[1:], beyond])
        return cls(knots, guide, steps, densities, areas, device_like(np.asarray(numbers), base.knots))


@triton.jit
def _kernel(
    y, loc, scale, loc_stride, scale_stride, out, rows, knots, guide, last_cell, table, numbers,
    steps: tl.constexpr, method: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    there = row < rows
    s = tl.load(scale + row * scale_stride, mask=there, other=1.0)
    z = (tl.load(y + row, mask=there, other=0.0) - tl.load(loc + row * loc_stride, mask=there, other=0.0)) / s
    first, low, low_scale = tl.load(numbers), tl.load(numbers + 1), tl.load(numbers + 2)
    last, high, high_scale = tl.load(numbers + 3), tl.load(numbers + 4), tl.load(numbers + 5)
    inside = tl.minimum(tl.maximum(z, first), last)
    cell = (inside - tl.load(numbers + 7)) * tl.load(numbers + 8)  # as in `Tables`, to the last bit
    place = tl.load(guide + tl.minimum(tl.maximum(cell, 0.0), last_cell.to(tl.float64)).to(tl.int32))
    for k in tl.static_range(steps):  # the last knot that is not above
        step = 1 << (steps - 1 - k)
        place = tl.where(tl.load(knots + place + (step - 1)) <= inside, place + step, place)
    piece = table + place * 4
    t = inside - tl.load(piece)
    below, above = first - z, z - last
    if method == 0:  # cdf
        answer = tl.load(piece + 1) + tl.load(piece + 2) * t
        answer = tl.where(below > 0, low * tl.exp(-below / low_scale), answer)
        answer = tl.where(above > 0, 1 - high * tl.exp(-above / high_scale), answer)
    elif method == 1:  # crps
        area = tl.load(piece + 3) + t * (tl.load(piece + 1) + tl.load(piece + 2) * t / 2)
        below, above = tl.maximum(below, 0.0), tl.maximum(above, 0.0)
        area -= low * low_scale * (1 - tl.exp(-below / low_scale))
        area += above - high * high_scale * (1 - tl.exp(-above / high_scale))
        answer = s * (2 * area - z + tl.load(numbers + 6))
    else:  # logpdf
        answer = tl.load(piece + 3)
        answer = tl.where(below > 0, tl.log(low / low_scale) - below / low_scale, answer)
        answer = tl.where(above >= 0, tl.log(high / high_scale) - above / high_scale, answer)
        answer -= tl.log(s)
    tl.store(out + row, answer, mask=there)
