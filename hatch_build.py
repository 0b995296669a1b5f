"""The README as the package index shows it: its links lead to this version's files on the public host."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

HOST = "https://github.com/calibrant/calibrant"
RAW = "https://raw.githubusercontent.com/calibrant/calibrant"
# H[x](y) is a formula: the path of a file has a dot or a slash.
LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!https?:|#|mailto:)([^)\s]*[./][^)\s]*)\)")


def absolute(text: str, version: str) -> str:
    """Links to files of the repository, made absolute, and the package by its name; pictures come as they are."""

    def led(found: re.Match[str]) -> str:
        picture, words, path = found.groups()
        base = f"{RAW}/v{version}" if picture else f"{HOST}/{'blob' if Path(path).suffix else 'tree'}/v{version}"
        return f"{picture}{words}({base}/{path})"

    # Where this page is, the package is too; a clone has only itself.
    return LINK.sub(led, text).replace("pip install .`", "pip install calibrant`").replace("'.[", "'calibrant[")


class AbsoluteLinks(MetadataHookInterface):
    """Hatch asks it for `readme`, which pyproject.toml calls dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Write the README's text into the package's metadata."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, metadata["version"])}
