"""What is measured of a method on the test rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from studies.tabular.bench import Bench
from studies.tabular.excess import excess_risk
from studies.tabular.said import COVERAGES, Said
from studies.tabular.slices import FEATURES, FEWEST_TEST_ROWS, Masks, slice_pit_error, slices, worst_coverage

HEADINGS = {
    "crps": "CRPS",
    "is90": "90% interval score",
    "is50": "50% interval score",
    "width": "90% width",
    "nll": "NLL (NAF)",
    "cov90": "90% coverage",
    "cov50": "50% coverage",
    "slice_pit": "slice PIT error",
    "worst": "worst slice coverage",
    "excess": "excess risk",
    "fit_seconds": "fit, s",
    "predict_seconds": "predict, s",
}


def masks_of(bench: Bench) -> Masks:
    """The slices of a job's test rows; none where the rows are few."""
    cut = bench.cut
    if len(cut.y_test) < FEWEST_TEST_ROWS:
        return []
    test, calibration = (
        np.column_stack([f, X[:, :FEATURES]]) for f, X in ((bench.point_test, cut.X_test), (bench.point_cal, cut.X_cal))
    )
    return slices(test, calibration)


def measured(said: Said, bench: Bench, masks: Masks) -> dict[str, Any]:
    """All that the method allows; a value that is infinite or not a number is None."""
    y = bench.cut.y_test
    of_the_distribution = {"crps": said.crps, "nll": said.nll}
    values: dict[str, float] = {name: value for name, value in of_the_distribution.items() if value is not None}
    inside = np.ones(len(y), dtype=bool)
    for coverage in COVERAGES:
        lower, upper = said.bounds[coverage]
        inside = (lower <= y) & (y <= upper)
        outside = np.maximum(lower - y, 0) + np.maximum(y - upper, 0)
        percent = f"{100 * coverage:.0f}"
        values[f"is{percent}"] = float(np.mean(upper - lower + 2 / (1 - coverage) * outside))
        values[f"cov{percent}"] = float(np.mean(inside))
        values["width"] = float(np.mean(upper - lower))  # the last coverage is the largest
    if masks:
        values["worst"] = worst_coverage(inside, masks)
        if said.pit is not None:
            values["slice_pit"] = slice_pit_error(said.pit, masks)
            X = np.column_stack([bench.point_test, bench.cut.X_test])
            values["excess"] = excess_risk(said.pit, X, bench.seed)
    values |= {"fit_seconds": round(said.fit_seconds, 4), "predict_seconds": round(said.predict_seconds, 4)}
    return {name: _finite(values[name]) for name in HEADINGS if name in values}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
