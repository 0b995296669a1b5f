"""What can go wrong with a dataset, and with the libraries that read it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

INSTALL = "pip install --requirement studies/requirements.txt"


class DatasetError(ValueError):
    """A dataset that is not at hand, or not what it should be."""


class AbsentError(DatasetError):
    """A dataset that is nowhere at hand and could not be downloaded; the others may still be used."""


def need(module: str) -> Any:
    """An optional module, or the error that says how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"the study's datasets need {error.name or module}: {INSTALL}", name=error.name
        ) from error
