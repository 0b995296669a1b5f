"""The three modules on one page: scores, q, H.

Calibration is one formula, `H[x](y) = q(φ(f(x), y))`. Here are its parts, one by one, on forty rows, so that every step
is visible.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import Calibrator, Normal, plots
from calibrant.interpolators import NAF, Linear, Naive, Random
from calibrant.scores import ZScore

# %%
# ## 1. A prediction
#
# A model predicts normal distributions. Their means are right; their standard deviations are half of what they should
# be.

rng = np.random.default_rng(3)
mean, scale = rng.normal(size=40), rng.uniform(0.5, 1.5, size=40)
y = mean + scale * rng.normal(size=40)
prediction = Normal(mean, scale / 2)

# %%
# ## 2. A score
#
# How large is the label relative to the prediction? The z-score counts predicted standard deviations. Were the
# prediction right, two of three would lie between -1 and 1.

score = ZScore()
scores = score(prediction, y)
print(np.sort(scores).round(1))
print("between -1 and 1:", np.mean(np.abs(scores) < 1))

# %%
# ## 3. An interpolator
#
# It turns the scores into their distribution q. Each of the four maps the i-th smallest score to about i / (n + 1);
# they differ between the scores.

ax = plots.interpolators(scores[:8], [Naive(), Linear(), Random(), NAF()])
ax.figure.set_label("Four interpolators of the same eight scores: steps, lines, random steps, a smooth curve")

# %%
# `Linear` on all forty scores. Every q of this accuracy λ lies inside the band; the guarantee is (1 + λ) / (n + 1),
# whatever the data.

calibrated = Calibrator(score, Linear()).fit(prediction, y)
ax = plots.scores(calibrated, prediction, y)
ax.figure.set_label("Forty scores as points, q as the broken line through them, and the band around it")
print(calibrated.guarantee)

# %%
# ## H = q(φ(f(x), y))
#
# A new prediction, through score and q: what was too narrow is now as wide as the labels require. Linear
# interpolation shows every gap between the scores in its density; `NAF` is smooth.

new = Normal([0.0], [0.5])
H = calibrated(new)
smooth = Calibrator(score, NAF()).fit(prediction, y)(new)
with plots.theme():
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.3, 2.4), layout="constrained", sharex=True)
    plots.cdf(H, rows=[0], base=new, ax=left)
    plots.density(smooth, rows=[0], base=new, ax=right)
    figure.set_label("The distribution before and after: distribution function with Linear, density with NAF")
    left.set_title("Linear: distribution function")
    right.set_title("NAF: density")
print("90% interval, before:", *(end.round(2) for end in new.interval(0.9)))
print("90% interval, after: ", *(end.round(2) for end in H.interval(0.9)))
