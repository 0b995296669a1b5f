"""A user on torch: tensors go in as they are and are arrays; `torch.as_tensor` says what comes out, at no cost."""

from __future__ import annotations

import numpy as np
import torch

from calibrant import Calibrator, Normal, Point
from calibrant.scores import MonotoneScore
from calibrant.typing import Array

f = torch.zeros(100)
calibrated = Calibrator().fit(Normal(f, 0.5), torch.linspace(-1.0, 1.0, 100))
H = calibrated(Normal(f, 0.5))
loss: torch.Tensor = torch.as_tensor(H.crps(f)).mean()
lower, upper = H.interval(0.9)
print(torch.exp(torch.as_tensor(upper - lower)), loss)


def middle(lower: Array, upper: Array) -> Array:
    return ((lower + upper) / 2).round(decimals=1)


class Asinh(MonotoneScore):
    def score(self, prediction: Point, y: Array) -> Array:
        return torch.asinh(torch.as_tensor(y)) - torch.asinh(torch.as_tensor(prediction.values))

    def inverse(self, prediction: Point, s: Array) -> Array:
        return torch.sinh(torch.as_tensor(s) + torch.asinh(torch.as_tensor(prediction.values)))

    def log_slope(self, prediction: Point, y: Array) -> Array:
        return -torch.log1p(torch.as_tensor(y) ** 2) / 2


tensor: Array = f
print(middle(f, f + 1), middle(np.zeros(3), np.ones(3)), middle(lower, f), tensor.mean(), tensor.sum(axis=0))
Calibrator(Asinh()).fit(f, f)
