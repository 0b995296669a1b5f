"""The kernels of `on_gpu`, in Triton, which is imported only where it is needed.

`tails` are the first and the last knot, mass and mean excess of the lower tail, those of the upper, and the logs of the
densities at which they begin.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

BLOCK = 1024


def run(
    method: str,
    y: Any,
    loc: Any,
    scale: Any,
    knots: Any,
    pieces: Any,
    ends: Any,
    tails: Any,
    steps: int,
) -> Any:
    """Start the kernel of a method on all rows."""
    y = y.contiguous()
    out = torch.empty_like(y)
    rows = y.numel()
    table = ends if method == "crps" else pieces
    if rows:
        kernel = {"cdf": _cdf, "crps": _crps, "logpdf": _logpdf}[method]
        kernel[(triton.cdiv(rows, BLOCK),)](
            y,
            loc,
            scale,
            loc.stride(0),
            scale.stride(0),
            out,
            knots,
            table,
            pieces,
            tails,
            rows,
            ends.shape[0],
            steps,
            BLOCK,
        )
    return out


@triton.jit
def _place(knots, z, steps: tl.constexpr, block: tl.constexpr):
    """#{knots <= z}: from the largest power of two down, a step where the knot before its end is no larger than z."""
    place = tl.zeros((block,), tl.int32)
    for k in tl.static_range(steps):
        step = 1 << (steps - 1 - k)
        place = tl.where(tl.load(knots + place + (step - 1)) <= z, place + step, place)
    return place


@triton.jit
def _score(y, loc, scale, loc_stride, scale_stride, row, there):
    """z = (y - loc) / scale, and the scale."""
    s = tl.load(scale + row * scale_stride, mask=there, other=1.0)
    return (tl.load(y + row, mask=there, other=0.0) - tl.load(loc + row * loc_stride, mask=there, other=0.0)) / s, s


@triton.jit
def _cdf(
    y, loc, scale, loc_stride, scale_stride, out, knots, table, pieces, tails, rows, count,
    steps: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    there = row < rows
    z, _ = _score(y, loc, scale, loc_stride, scale_stride, row, there)
    first, last = tl.load(tails), tl.load(tails + 1)
    inside = tl.minimum(tl.maximum(z, first), last)
    j = tl.minimum(_place(knots, inside, steps, block), count) * 4
    F = tl.load(table + j + 1) + tl.load(table + j + 2) * (inside - tl.load(table + j))
    short, beyond = tl.maximum(first - z, 0.0), tl.maximum(z - last, 0.0)
    F = tl.where(short > 0, tl.load(tails + 2) * tl.exp(-short / tl.load(tails + 3)), F)
    F = tl.where(beyond > 0, 1 - tl.load(tails + 4) * tl.exp(-beyond / tl.load(tails + 5)), F)
    tl.store(out + row, F, mask=there)


@triton.jit
def _crps(
    y, loc, scale, loc_stride, scale_stride, out, knots, table, pieces, tails, rows, count,
    steps: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    there = row < rows
    z, s = _score(y, loc, scale, loc_stride, scale_stride, row, there)
    first, last = tl.load(tails), tl.load(tails + 1)
    inside = tl.minimum(tl.maximum(z, first), last)
    place = tl.minimum(_place(knots, inside, steps, block), count)
    above = tl.maximum(tl.minimum(place, count - 1), tl.minimum(1, count - 1))
    below = tl.maximum(above - 1, 0)
    left, right = inside - tl.load(table + below * 4), inside - tl.load(table + above * 4)
    closer = left <= -right
    near, t = tl.where(closer, below, above) * 4, tl.where(closer, left, right)
    slope = tl.load(pieces + (below + 1) * 4 + 2)
    crps = tl.load(table + near + 2) + t * ((2 * tl.load(table + near + 1) - 1) + slope * t)
    low, high = tl.load(tails + 3), tl.load(tails + 5)
    short, beyond = tl.maximum(first - z, 0.0), tl.maximum(z - last, 0.0)
    crps += short - 2 * tl.load(tails + 2) * low * (1 - tl.exp(-short / low))
    crps += beyond - 2 * tl.load(tails + 4) * high * (1 - tl.exp(-beyond / high))
    tl.store(out + row, s * crps, mask=there)


@triton.jit
def _logpdf(
    y, loc, scale, loc_stride, scale_stride, out, knots, table, pieces, tails, rows, count,
    steps: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    there = row < rows
    z, s = _score(y, loc, scale, loc_stride, scale_stride, row, there)
    first, last = tl.load(tails), tl.load(tails + 1)
    density = tl.load(table + tl.minimum(_place(knots, z, steps, block), count) * 4 + 3)
    low, high = tl.load(tails + 3), tl.load(tails + 5)
    density = tl.where(z < first, tl.load(tails + 6) + (z - first) / low, density)
    density = tl.where(z >= last, tl.load(tails + 7) + (last - z) / high, density)
    tl.store(out + row, density - tl.log(s), mask=there)
