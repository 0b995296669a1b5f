"""One small problem for every library: the noise grows with the first feature."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pandas", reason="pandas is not installed")
pytest.importorskip("polars", reason="polars is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

import pandas as pd
import polars as pl
import pyarrow as pa

from calibrant import Calibrator
from calibrant.models import prediction_of

NAMES = ["size", "age", "rooms"]
FRAMES = {
    "numpy": lambda X: X,
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "pyarrow": lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))),
}


def rows(count, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(count, 3))
    return X, 10 + 3 * X[:, 1] + X[:, 2] ** 2 + (0.2 + X[:, 0]) * rng.normal(size=count)


X_TRAIN, Y_TRAIN = rows(300, 0)
X_CAL, Y_CAL = rows(600, 1)
X_NEW, Y_NEW = rows(1000, 2)


def coverage(model, frame=lambda X: X):
    """How many new labels the calibrated 90% interval holds."""
    calibrated = Calibrator().fit(prediction_of(model, frame(X_CAL)), Y_CAL)
    lower, upper = (np.asarray(end) for end in calibrated(prediction_of(model, frame(X_NEW))).interval(0.9))
    return np.mean((lower <= Y_NEW) & (upper >= Y_NEW))


NEAR_NOMINAL = 0.05
"""Three standard deviations of the coverage, over calibration and test sets of these sizes."""


def covers(model, frame=lambda X: X):
    return abs(coverage(model, frame) - 0.9) < NEAR_NOMINAL
