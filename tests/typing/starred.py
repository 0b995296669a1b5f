"""A star brings every public name to a type checker too, and does not hide the library dask."""

from __future__ import annotations

from typing import Any, assert_type

import dask
import numpy as np

from calibrant import *  # noqa: F403
from calibrant import Calibrated

calibrated = Calibrator().fit(Normal(np.zeros(3), 1.0), np.zeros(3))  # noqa: F405
assert_type(calibrated, Calibrated)
model = CalibratedRegressor(None).fit(np.zeros((3, 1)), np.zeros(3))  # noqa: F405
assert_type(model.predict_interval(np.zeros((3, 1))), np.ndarray[Any, Any])
print(plots.fan, evaluate, report, load, dask.config)  # noqa: F405
