"""The base predictors of a study: kinds of three-layer networks, trained together for all splits of a dataset.

What a design names (the kinds, the recipe) is imported at once; what trains needs torch, and waits until it is asked
for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from studies.learners.heads import BASES
from studies.learners.recipe import Recipe, Split, splits

if TYPE_CHECKING:
    from studies.learners.training import Fitted as Fitted
    from studies.learners.training import train as train

__all__ = ["BASES", "Fitted", "Recipe", "Split", "splits", "train"]

_LATER = ("Fitted", "train")


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module("studies.learners.training"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
