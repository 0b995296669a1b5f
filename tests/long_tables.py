"""Long tables of forecasts for the tests."""

from __future__ import annotations

import numpy as np
import pandas as pd

STEPS = 12


def forecasts(rng, cutoffs, steps=STEPS, series=("a",), spacing=None):
    """Forecasts of random walks by their last value; the stated 80% intervals are right one step ahead only."""
    spacing = steps if spacing is None else spacing
    parts = []
    for name in series:
        walk = np.concatenate([[0.0], rng.normal(size=(cutoffs - 1) * spacing + steps).cumsum()])
        for k in range(cutoffs):
            made = k * spacing
            h = np.arange(1, steps + 1)
            last = walk[made]
            parts.append(
                pd.DataFrame(
                    {
                        "unique_id": name,
                        "ds": made + h,
                        "cutoff": made,
                        "y": walk[made + h],
                        "RW": last,
                        "RW-lo-80": last - 1.2816,
                        "RW-hi-80": last + 1.2816,
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)
