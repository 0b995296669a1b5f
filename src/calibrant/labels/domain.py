"""Which predictions a kind of label can take."""

from __future__ import annotations

from calibrant.labels.base import Labels
from calibrant.predictions.quantiles import Quantiles


def takes_any_quantile(labels: Labels | None) -> bool:
    """Whether it takes quantiles wherever they are, as refined ones may be below 0: a bare logarithm does not.

    >>> from calibrant.labels.named import labels_named
    >>> [name for name in ("0:", "counts", "log", "log1p", "0:,log1p") if takes_any_quantile(labels_named(name))]
    ['0:', 'counts', '0:,log1p']
    """
    if labels is None or labels.by_row:
        return True
    try:
        labels.spread_prediction(Quantiles([0.1, 0.5, 0.9], [[-9.0, 0.5, 9.0]]))
    except ValueError:
        return False
    return True
