"""For all tests and doctests: pictures are drawn without a screen, and closed."""

import os
import sys

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(autouse=True)
def _figures_are_closed():
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")  # most tests draw nothing
    if pyplot is not None:
        pyplot.close("all")
