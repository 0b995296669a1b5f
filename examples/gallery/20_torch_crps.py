"""Train a network through its calibrated CRPS.

With torch, gradients flow through the calibrated distribution to the predictions. So a network can be trained on the
measure by which it is judged: the CRPS of its calibrated distribution, not the squared error.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

from calibrant import Calibrator, Normal, plots
from calibrant.metrics import crps

# %%
# ## Data with a noise that changes
#
# A sensor that is exact in the middle of its range and poor at both ends.

rng = np.random.default_rng(0)
x = rng.uniform(-2, 2, 2400)
y = np.sin(2 * x) + (0.05 + 0.25 * x**2) * rng.standard_t(5, 2400)
inputs, labels = torch.tensor(x[:, None], dtype=torch.float64), torch.tensor(y)
train, calibration, test = slice(1200), slice(1200, 1700), slice(1700, None)

# %%
# ## The loss
#
# The network gives a mean and a standard deviation. At each step a random half of the batch calibrates, and the CRPS of
# H on the other half is the loss; its gradient reaches the network through the score's location and scale. The
# calibrated scale is free, so only the shape of the standard deviation counts: where it is large and where it is small.

torch.manual_seed(0)
layers = [torch.nn.Linear(1, 32), torch.nn.Tanh(), torch.nn.Linear(32, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2)]
network = torch.nn.Sequential(*layers).double()


def forecast(rows):
    mean, raw = network(inputs[rows]).T
    return Normal(mean, torch.nn.functional.softplus(raw) + 1e-3)


optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
history = []
for _ in range(400):
    batch = torch.as_tensor(rng.choice(1200, 600, replace=False))
    half, other = batch[:300], batch[300:]
    calibrated = Calibrator().fit(forecast(half), labels[half])
    loss = crps(calibrated(forecast(other)), labels[other])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(float(loss.detach()))

# %%
# ## The result
#
# Calibrated once more, on rows that it has not seen, the network has found where the sensor is poor.

with torch.no_grad():
    H = Calibrator().fit(forecast(calibration), labels[calibration])(forecast(test))
with plots.theme():
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.3, 2.6), width_ratios=[1, 1.6], layout="constrained")
    figure.set_label("The loss falls over the steps; the fan is narrow in the middle and wide at both ends")
    left.plot(history, color=plots.AFTER, linewidth=0.7)
    left.set(xlabel="step", ylabel="calibrated CRPS", ylim=(0, None))
    plots.fan(H, x=x[test], y=y[test], ax=right)
print(f"CRPS on the test rows: {float(crps(H, labels[test])):.4f}")
