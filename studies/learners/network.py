"""Three-layer networks, many at a time: N networks for each of S splits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import silu

Floats = np.ndarray[Any, np.dtype[np.float32]]


def starts(rng: np.random.Generator, networks: int, features: int, width: int, outputs: int) -> list[Floats]:
    """Weights and biases of the N networks of one split before training: (N, in, out) and (N, 1, out) a layer."""
    parameters = []
    for fan_in, fan_out in ((features, width), (width, width), (width, outputs)):
        weights = rng.normal(0, math.sqrt(2 / fan_in), (networks, fan_in, fan_out))
        biases = rng.uniform(-1, 1, (networks, 1, fan_out)) / math.sqrt(fan_in)
        parameters += [weights.astype(np.float32), biases.astype(np.float32)]
    return parameters


def forward(parameters: Sequence[Tensor], x: Tensor) -> Tensor:
    """W_3 silu(W_2 silu(W_1 x + b_1) + b_2) + b_3, of shape (S, N, rows, outputs), for x of shape (S, rows, features).

    The networks of a split see the same rows, so their first layers are one product with one wide matrix.
    """
    first, b1, second, b2, third, b3 = parameters
    wide = torch.bmm(x, first.transpose(1, 2).flatten(2))
    hidden = silu(wide.reshape(*x.shape[:2], first.shape[1], -1).transpose(1, 2) + b1)
    return torch.matmul(silu(torch.matmul(hidden, second) + b2), third) + b3
