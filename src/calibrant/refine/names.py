"""The refiners by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from calibrant.refine.auto import SIMPLEST_FIRST, Auto
from calibrant.refine.base import Refiner
from calibrant.refine.forest import Forest

REFINERS: dict[str, Callable[[], Refiner]] = {
    "auto": Auto,
    "forest": Forest,
    **{name: (lambda refiner=refiner: refiner) for name, refiner in SIMPLEST_FIRST.items()},  # type: ignore[misc]
}


RefinerLike = Refiner | str | Sequence[Refiner | str | tuple[str, Refiner]] | Mapping[str, Refiner | str]
"""A refiner or its name; or several, by name or as they are, to choose among."""


def refiner_named(value: Any) -> Refiner:
    """The refiner of a name; a refiner as it is; of a list or dict of refiners or names the choice among them."""
    if isinstance(value, Refiner):
        return value
    if isinstance(value, dict):
        return Auto({name: _known(each) for name, each in value.items()})
    if isinstance(value, (list, tuple)):
        return Auto([(each, _known(each)) if isinstance(each, str) else each for each in value])
    if value not in REFINERS:
        raise ValueError(
            f"refine must be a Refiner, a list of them, or one of {', '.join(sorted(REFINERS))}, got {value!r}"
        )
    return REFINERS[value]()


def _known(each: Any) -> Any:
    return refiner_named(each) if isinstance(each, str) else each
