"""torch: two quantiles, whose levels the module names; here least squares, shifted down and up."""

import torch

from calibrant import Calibrator
from calibrant.models import prediction_of

X = torch.rand(405, 3, generator=torch.manual_seed(0))
y = X.sum(1) + X[:, 0] * torch.randn(405)
model = torch.nn.Linear(3, 2, bias=False)
model.weight.data = torch.linalg.lstsq(X[:200], torch.stack([y - 1, y + 1], dim=1)[:200]).solution.T
model.levels = [0.1, 0.9]
calibrated = Calibrator().fit(prediction_of(model, X[200:400]), y[200:400])
print(calibrated(prediction_of(model, X[400:])).interval(0.9))
