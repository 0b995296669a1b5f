"""torch: every `torch.nn.Module` of one input."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np

from calibrant._arrays import to_numpy
from calibrant.distributions import Normal, from_torch
from calibrant.models.generic import as_output
from calibrant.models.outputs import column, named, quantiles


def adapt(module: Any, X: Any) -> Any:
    """`module(X)`, in evaluation mode and without gradients: a pair is (mean, scale), columns are quantiles.

    The levels of the quantiles are the module's attribute `levels`. X is brought to the dtype and device of the
    module's parameters, where the result stays.
    """
    import torch

    name = named(module)
    with torch.no_grad(), _evaluating(module):
        output = module(_tensor(X, module))
        if isinstance(output, torch.distributions.Distribution):
            return as_output(name, from_torch(output))
        if isinstance(output, (tuple, list)) and all(isinstance(part, torch.Tensor) for part in output):
            if len(output) != 2:
                raise TypeError(f"{name} must return one tensor or the pair (mean, scale), got {len(output)} tensors")
            mean, scale = (column(name, _precise(part)) for part in output)
            return Normal(mean, scale)
        if not isinstance(output, torch.Tensor):
            return as_output(name, output)
        return _of_tensor(module, _precise(output))


def _of_tensor(module: Any, output: Any) -> Any:
    levels = getattr(module, "levels", None)
    if levels is not None:
        levels = to_numpy(levels) if hasattr(levels, "detach") else np.asarray(levels)
        return quantiles(named(module), [float(level) for level in levels], output)
    if output.ndim == 2 and output.shape[1] > 1:
        raise TypeError(
            f"{named(module)} returned {output.shape[1]} columns but has no levels: set its attribute levels "
            f"to the levels of these quantiles, or return (mean, scale) or a distribution of torch.distributions"
        )
    return as_output(named(module), output)


def _tensor(X: Any, module: Any) -> Any:
    import torch

    like = next((t for t in chain(module.parameters(), module.buffers()) if t.is_floating_point()), None)
    if not isinstance(X, torch.Tensor):
        X = torch.as_tensor(np.require(X, np.float64, "W"))  # what pandas 3 gives is read-only
        X = X.to(torch.get_default_dtype()) if like is None else X
    if like is None:
        return X
    return X.to(device=like.device, dtype=like.dtype if X.is_floating_point() else X.dtype)  # integers are categories


def _precise(output: Any) -> Any:
    """Half precision has too few digits for labels."""
    return output.float() if output.dtype.itemsize < 4 else output


@contextmanager
def _evaluating(module: Any) -> Iterator[None]:
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training
