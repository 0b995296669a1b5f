"""A user on torch: tensors go in as they are, and `torch.as_tensor` says what comes out, at no cost."""

from __future__ import annotations

import torch

from calibrant import Calibrator, Normal

f = torch.zeros(100)
calibrated = Calibrator().fit(Normal(f, 0.5), torch.linspace(-1.0, 1.0, 100))
H = calibrated(Normal(f, 0.5))
loss: torch.Tensor = torch.as_tensor(H.crps(f)).mean()
lower, upper = H.interval(0.9)
print(torch.exp(torch.as_tensor(upper - lower)), loss)
