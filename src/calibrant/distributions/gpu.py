"""loc + scale * S on a CUDA GPU, S drawn through straight lines: one kernel in the place of a dozen array operations.

Each array operation reads and writes all rows; a kernel reads a row once and writes its answer. The numbers are those
of `LocationScale` and `PiecewiseLinear`, which stay the definition: `tests/test_on_gpu.py` compares them. This file
needs Triton: `LocationScale` imports it where an array lies on a GPU.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import array_api_compat
import numpy as np
import torch
import triton
import triton.language as tl

from calibrant._arrays import Array, concatenate, device_like, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.piecewise_linear import PiecewiseLinear

METHODS = ("cdf", "crps", "logpdf")
_CELLS = 4096  # of the guide; it and the knots should stay in the cache of a processor
_OUTER = 1000  # one knot in so many lies below the first cell, and one above the last
_BLOCK, _WARPS = 256, 4


def one_pass(method: str, base: Distribution, loc: Array, scale: Array, y: Array) -> Array | None:
    """What `method` gives of loc + scale * S, S ~ base, at y, (n, 1); None where array operations must do it.

    They must in single precision, for other distributions than lines, for several y per row, and where gradients are
    asked for.
    """
    if not isinstance(base, PiecewiseLinear) or base.shape or y.shape != (*loc.shape, 1):
        return None
    arrays: tuple[Any, ...] = (y, loc, scale, base.knots, base.probs)
    if any(each.dtype != torch.float64 for each in arrays) or any(
        np.isinf(scale[0]) for _, _, scale in base.lines.tails
    ):
        return None
    if torch.is_grad_enabled() and any(each.requires_grad for each in arrays):
        return None
    return by_kernel(method, base, loc, scale, y)


def by_kernel(method: str, base: PiecewiseLinear, loc: Any, scale: Any, y: Any) -> Array:
    """The same, whatever the device of the arrays."""
    tables = base.remember("_kept_kernels", lambda: Tables.of(base))
    y = y.contiguous()
    out = torch.empty_like(y)
    rows = y.numel()
    if rows:
        kernel = {"cdf": _cdf, "crps": _crps, "logpdf": _logpdf}[method]
        grid = (triton.cdiv(rows, _BLOCK),)
        where = tables.knots, tables.guide, tables.guide.shape[0] - 1, tables.numbers
        table = tables.ends if method == "crps" else tables.pieces
        row = y, loc, scale, loc.stride(0), scale.stride(0), out
        kernel[grid](*row, *where, table, rows, tables.ends.shape[0], tables.steps, _BLOCK, num_warps=_WARPS)
    return out


@dataclass(frozen=True, eq=False)
class Tables:
    """What the kernels read: what one row needs lies side by side."""

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
    outer = knots.shape[0] // _OUTER
    low, high = float(knots[outer]), float(knots[-1 - outer])
    per_unit = _CELLS / (high - low) if high > low else math.inf
    origin = low - (high - low) / _CELLS  # cell 0 holds what lies below the inner knots, the last what lies above
    if not (math.isfinite(per_unit) and math.isfinite(origin)):
        origin, per_unit = 0.0, 0.0  # one cell holds all
    cell = ((knots - origin) * per_unit).clamp(0, _CELLS + 1).to(torch.int64)
    counts = torch.bincount(cell, minlength=_CELLS + 2)
    return (counts.cumsum(0) - counts).to(torch.int32), origin, per_unit, int(counts.max())


# ---- the kernels ----------------------------------------------------------------------------------------------------


@triton.jit
def _score(y, loc, scale, loc_stride, scale_stride, row, there):
    """z = (y - loc) / scale, and the scale."""
    s = tl.load(scale + row * scale_stride, mask=there, other=1.0)
    return (tl.load(y + row, mask=there, other=0.0) - tl.load(loc + row * loc_stride, mask=there, other=0.0)) / s, s


@triton.jit
def _place(z, knots, guide, last_cell, numbers, steps: tl.constexpr):
    """#{knots <= z}: those before the cell of z, and then by halving."""
    cell = (z - tl.load(numbers + 8)) * tl.load(numbers + 9)  # as in `gpu`, to the last bit: no sum of a product
    cell = tl.minimum(tl.maximum(cell, 0.0), last_cell.to(tl.float64)).to(tl.int32)
    place = tl.load(guide + cell)
    for k in tl.static_range(steps):
        step = 1 << (steps - 1 - k)
        place = tl.where(tl.load(knots + place + (step - 1)) <= z, place + step, place)
    return place


@triton.jit
def _cdf(
    y, loc, scale, loc_stride, scale_stride, out, knots, guide, last_cell, numbers, pieces, rows, count,
    steps: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    there = row < rows
    z, _ = _score(y, loc, scale, loc_stride, scale_stride, row, there)
    first, last = tl.load(numbers), tl.load(numbers + 1)
    inside = tl.minimum(tl.maximum(z, first), last)
    piece = pieces + tl.minimum(_place(inside, knots, guide, last_cell, numbers, steps), count) * 4
    F = tl.load(piece + 1) + tl.load(piece + 2) * (inside - tl.load(piece))
    low, high = z < first, z > last
    mass = tl.where(low, tl.load(numbers + 2), tl.load(numbers + 4))
    excess = tl.where(low, tl.load(numbers + 3), tl.load(numbers + 5))
    beyond = mass * tl.exp(-tl.abs(z - inside) / excess)
    tl.store(out + row, tl.where(low, beyond, tl.where(high, 1 - beyond, F)), mask=there)


@triton.jit
def _crps(
    y, loc, scale, loc_stride, scale_stride, out, knots, guide, last_cell, numbers, ends, rows, count,
    steps: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    there = row < rows
    z, s = _score(y, loc, scale, loc_stride, scale_stride, row, there)
    first, last = tl.load(numbers), tl.load(numbers + 1)
    inside = tl.minimum(tl.maximum(z, first), last)
    place = _place(inside, knots, guide, last_cell, numbers, steps)
    above = tl.maximum(tl.minimum(place, count - 1), tl.minimum(1, count - 1))
    below = tl.maximum(above - 1, 0)
    left, right = inside - tl.load(ends + below * 4), inside - tl.load(ends + above * 4)
    closer = left <= -right
    near, t = tl.where(closer, below, above) * 4, tl.where(closer, left, right)
    crps = tl.load(ends + near + 2) + t * ((2 * tl.load(ends + near + 1) - 1) + tl.load(ends + above * 4 + 3) * t)
    low = z < first
    mass = tl.where(low, tl.load(numbers + 2), tl.load(numbers + 4))
    excess = tl.where(low, tl.load(numbers + 3), tl.load(numbers + 5))
    beyond = tl.abs(z - inside)
    crps += beyond - 2 * mass * excess * (1 - tl.exp(-beyond / excess))
    tl.store(out + row, s * crps, mask=there)


@triton.jit
def _logpdf(
    y, loc, scale, loc_stride, scale_stride, out, knots, guide, last_cell, numbers, pieces, rows, count,
    steps: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    there = row < rows
    z, s = _score(y, loc, scale, loc_stride, scale_stride, row, there)
    first, last = tl.load(numbers), tl.load(numbers + 1)
    inside = tl.minimum(tl.maximum(z, first), last)
    place = tl.minimum(_place(inside, knots, guide, last_cell, numbers, steps), count)
    density = tl.load(pieces + place * 4 + 3)
    density = tl.where(z < first, tl.load(numbers + 6) + (z - first) / tl.load(numbers + 3), density)
    density = tl.where(z >= last, tl.load(numbers + 7) + (last - z) / tl.load(numbers + 5), density)
    tl.store(out + row, density - tl.log(s), mask=there)
