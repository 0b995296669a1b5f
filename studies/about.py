"""What a run says of itself in the first line of its results."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from calibrant._version import __version__
from studies.design import Design
from studies.devices import device_name
from studies.learners import Recipe

PACKAGES = ("numpy", "scipy", "torch", "joblib")


def about(design: Design, recipe: Recipe, device: str, seed: int, command: str) -> dict[str, Any]:
    """What would have to be the same for the same numbers, and when and by what it was started."""
    versions = {"calibrant": __version__, **{name: version(name) for name in PACKAGES}}
    return {
        "command": command,
        **design.mark(),
        "versions": {"python": platform.python_version(), **versions},
        "seed": seed,
        "recipe": json.loads(json.dumps(asdict(recipe))),
        "device": device_name(device),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
