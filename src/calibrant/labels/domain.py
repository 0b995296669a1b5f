"""Which predictions a kind of label can take."""

from __future__ import annotations

import numpy as np

from calibrant.distributions.normal import Normal
from calibrant.labels.base import Labels


def takes_any_law(labels: Labels | None) -> bool:
    """Whether it takes a law with mass everywhere, as refined ones have: a bare logarithm does not.

    >>> from calibrant.labels.named import labels_named
    >>> [name for name in ("0:", "counts", "log", "log1p", "0:,log1p") if takes_any_law(labels_named(name))]
    ['0:', 'counts', '0:,log1p']
    """
    if labels is None or labels.by_row:
        return True
    try:
        labels.spread_prediction(Normal(np.array([0.5]), 10.0))
    except ValueError:
        return False
    return True
