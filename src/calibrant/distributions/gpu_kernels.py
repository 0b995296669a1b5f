"""The kernels of `gpu`, in Triton, which is imported only where it is needed: a row is read once."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

BLOCK, WARPS = 256, 4


def run(method: str, y: Any, loc: Any, scale: Any, tables: Any) -> Any:
    """Start the kernel of a method on all rows."""
    y = y.contiguous()
    out = torch.empty_like(y)
    rows = y.numel()
    if rows:
        kernel = {"cdf": _cdf, "crps": _crps, "logpdf": _logpdf}[method]
        grid = (triton.cdiv(rows, BLOCK),)
        where = tables.knots, tables.guide, tables.guide.shape[0] - 1, tables.numbers
        table = tables.ends if method == "crps" else tables.pieces
        row = y, loc, scale, loc.stride(0), scale.stride(0), out
        kernel[grid](*row, *where, table, rows, tables.ends.shape[0], tables.steps, BLOCK, num_warps=WARPS)
    return out


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
