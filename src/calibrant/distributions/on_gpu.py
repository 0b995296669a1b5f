"""loc + scale * S on a CUDA GPU, S drawn through straight lines: one kernel in the place of a dozen array operations.

Each array operation reads and writes all rows; a kernel reads a row once and writes its answer. The numbers are those of
`LocationScale` and `PiecewiseLinear`, which stay the definition: `tests/test_on_gpu.py` compares them.
"""

from __future__ import annotations

import math
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import array_api_compat
import numpy as np

from calibrant._arrays import Array, concatenate, device_like, namespace
from calibrant._kept import keep
from calibrant.distributions.base import Distribution
from calibrant.distributions.piecewise import PiecewiseLinear

METHODS = ("cdf", "crps", "logpdf")


def one_pass(method: str, base: Distribution, loc: Array, scale: Array, y: Array) -> Array | None:
    """What `method` gives of loc + scale * S, S ~ base, at y, (n, 1); None where array operations must do it.

    They must off the GPU, without Triton, in single precision, for other laws than lines, for several y a row, and
    where gradients are asked for.
    """
    if not isinstance(base, PiecewiseLinear) or not array_api_compat.is_torch_array(y) or not y.is_cuda:
        return None
    torch: Any = namespace(y)
    arrays = (y, loc, scale, base.knots, base.probs)
    if y.shape != (*loc.shape, 1) or any(each.dtype != torch.float64 for each in arrays) or any(base._infinite_mass()):
        return None
    if not _triton() or (torch.is_grad_enabled() and any(each.requires_grad for each in arrays)):
        return None
    return by_kernel(method, base, loc, scale, y)


def by_kernel(method: str, base: PiecewiseLinear, loc: Array, scale: Array, y: Array) -> Array:
    """The same, whatever the device of the arrays."""
    kernels: Any = import_module("calibrant.distributions.triton_lines")
    return kernels.run(method, y, loc, scale, *keep(base, "tables of kernels", lambda: tables(base)))


def tables(base: PiecewiseLinear) -> tuple[Array, Array, Array, Array, int]:
    """The knots, followed by infinities up to a power of two; lines of pieces, of knots; the tails; the power.

    The line of a piece has its start, level, slope and log slope, that of a knot itself, its probability and CRPS: what
    one row needs lies side by side.
    """
    xp, own, count = namespace(base.knots), base._tables, base.knots.shape[0]
    steps = count.bit_length()  # 2^steps > count
    beyond = xp.full((2**steps - count,), xp.inf, dtype=base.knots.dtype, device=array_api_compat.device(base.knots))
    pieces = xp.stack([own.start, own.level, own.slope, own.log_slope], axis=1)
    ends = xp.stack([base.knots, base.probs, own.crps, own.crps], axis=1)
    # a tail without mass gets a scale that divides
    tails = [(mass, excess) if mass > 0 else (0.0, 1.0) for mass, excess in (base._tail(0), base._tail(1))]
    logs = [math.log(mass / excess) if mass > 0 else -math.inf for mass, excess in tails]
    numbers = np.asarray([*base._ends[:2], *tails[0], *tails[1], *logs])
    return concatenate([base.knots, beyond]), pieces, ends, device_like(numbers, base.knots), steps


@cache
def _triton() -> bool:
    return find_spec("triton") is not None
