"""For all tests and doctests: pictures are drawn without a screen, and closed; what a page defines can be pickled."""

import os
import sys
from types import ModuleType

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(autouse=True)
def _figures_are_closed():
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")  # most tests draw nothing
    if pyplot is not None:
        pyplot.close("all")


@pytest.fixture(autouse=True)
def _a_page_is_main(request, monkeypatch):
    """What a page of examples defines is found under `__main__`, as where a reader types it, so that it pickles."""
    names = getattr(getattr(request.node, "dtest", None), "globs", {})
    if names.get("__name__") != "__main__":
        return

    def found(name):
        try:
            return names[name]
        except KeyError:
            raise AttributeError(f"module '__main__' has no attribute {name!r}") from None

    main = ModuleType("__main__")
    main.__getattr__ = found
    monkeypatch.setitem(sys.modules, "__main__", main)
