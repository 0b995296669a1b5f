"""Files of a study, each written whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from calibrant import atomic


def write_all(folder: Path, files: Mapping[str, str | bytes]) -> list[Path]:
    """Write files into a folder, which is made where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        atomic.write(folder / name, content.encode() if isinstance(content, str) else content)
    return [folder / name for name in files]
