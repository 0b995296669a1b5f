"""What a run of the league says of itself in the first line of its results."""

from __future__ import annotations

import platform
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from studies.datasets.errors import need
from studies.tabular.design import NAME, Tabular

PACKAGES = ("calibrant", "numpy", "scipy", "scikit-learn", "joblib", "lightgbm", "MAPIE", "crepes")


def about(design: Tabular, seed: int, command: str) -> dict[str, Any]:
    """What would have to be the same for the same numbers, and when and by what it was started."""
    found = {name: known for name in PACKAGES if (known := _version(name)) is not None}
    return {
        "command": command,
        "design": NAME,
        "versions": {"python": platform.python_version(), **found},
        "seed": seed,
        "recipe": {"rows": design.rows, "folds": design.folds},
        "device": f"{platform.system()} {platform.machine()}",
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:  # absent, or carried along without its metadata
        with suppress(ImportError):
            return getattr(need(name.lower()), "__version__", None)
        return None
