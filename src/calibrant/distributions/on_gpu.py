"""loc + scale * S on a CUDA GPU, S drawn through straight lines: one kernel in the place of a dozen array operations.

Each array operation reads and writes all rows; a kernel reads a row once and writes its answer. The numbers are those
of `LocationScale` and `PiecewiseLinear`, which stay the definition: `tests/test_on_gpu.py` compares them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import array_api_compat

from calibrant._arrays import Array, namespace
from calibrant._kept import keep
from calibrant.distributions.base import Distribution
from calibrant.distributions.line_tables import Tables
from calibrant.distributions.piecewise import PiecewiseLinear

METHODS = ("cdf", "crps", "logpdf")


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
    if not _triton() or any(base._infinite_mass()):
        return None
    if torch.is_grad_enabled() and any(each.requires_grad for each in arrays):
        return None
    return by_kernel(method, base, loc, scale, y)


def by_kernel(method: str, base: PiecewiseLinear, loc: Array, scale: Array, y: Array) -> Array:
    """The same, whatever the device of the arrays."""
    kernels: Any = import_module("calibrant.distributions.triton_lines")
    answer: Array = kernels.run(method, y, loc, scale, keep(base, "tables of kernels", lambda: Tables.of(base)))
    return answer


@cache
def _triton() -> bool:
    return find_spec("triton") is not None
