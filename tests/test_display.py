"""What values show in a terminal and in a notebook."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import Calibrator, CrossCalibrated, Normal, Random, evaluate, judge
from calibrant._display import Weights
from calibrant.labels import Counts

F, Y = np.arange(40.0), np.arange(40.0) + np.sin(np.arange(40.0))
CALIBRATED = Calibrator().fit(F, Y)
SHOWN = {
    "forecast": CALIBRATED(F),
    "row": CALIBRATED(F)[3],
    "counts": Calibrator(labels=Counts()).fit(F, F)(F),
    "randomised": Calibrator(interpolator=Random()).fit(F, Y)(F, seed=0),
    "folds": CrossCalibrated((CALIBRATED, CALIBRATED))([F, F]),
    "normal": Normal(F, 1.0),
    "clipped": Normal(F, 1.0).clip(0.0),
    "calibration": CALIBRATED,
    "guarantee": CALIBRATED.guarantee,
    "by group": Calibrator().fit(F, Y, by=["a", "b"] * 20).guarantee,
    "weights": Weights({"Ridge": 0.25, "<forest>": 0.75}),
    "evaluation": evaluate(Normal(F, 1.0), Y),
    "judgement": judge(Normal(F, 1.0), Y),
}


@pytest.mark.parametrize("value", SHOWN.values(), ids=SHOWN)
def test_values_show_themselves_without_names_of_internal_classes(value):
    text, page = repr(value), value._repr_html_()
    assert page.startswith("<table>")
    for inner in (
        "Pulled",
        "Piecewise",
        "LocationScale",
        "Lattice",
        "Joined",
        "Grouped",
        "array(",
        "=None",
        "object at",
    ):
        assert inner not in text
        assert inner not in page


def test_a_forecast_says_its_rows_and_how_wide_it_is():
    assert repr(CALIBRATED(F[:12])).startswith("calibrated forecast of 12 rows, 90% interval ")
    assert repr(Normal([0.0, 0.0], [1.0, 2.0])) == "normal distribution of 2 rows, 90% interval 3.29 to 6.58 wide"
    assert repr(Normal(0.0, 1.0)) == "normal distribution, 90% interval -1.64 to 1.64"


def test_names_are_escaped_in_a_notebook():
    assert "&lt;forest&gt;" in SHOWN["weights"]._repr_html_()
