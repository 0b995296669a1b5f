r"""What kind of number a label is: Y = g(Y') with g non-decreasing and Y' continuous.

Calibration happens on Y', and the distribution of Y is that of g(Y'). Predictions, labels and distributions are in the
label's own unit: `Calibrator(labels=Real(0))` is all that is needed.

| kind | g |
|---|---|
| `Real(lower, upper)` | clips to the bounds |
| `Transformed("log")` and others | the inverse of the function |
| `Counts(step, lower)` | rounds down to whole numbers, or another lattice |
| `AtomAt(0)` | takes all below 0 to 0, where many labels are |
| `a \| b` | g_a(g_b(Y')) |

The kinds have names too: `Calibrator(labels="0:")`.
"""

from calibrant.labels.atom import AtomAt
from calibrant.labels.base import Labels
from calibrant.labels.counts import Counts
from calibrant.labels.real import Real
from calibrant.labels.transformed import Transformed

__all__ = ["AtomAt", "Counts", "Labels", "Real", "Transformed"]
