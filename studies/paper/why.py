"""Why some datasets come out worse than published: sentences from a file that a person has written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def explanations(path: Path) -> dict[str, str]:
    """{dataset: sentence}; nothing where there is no such file."""
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(f"{path}: a JSON object of a sentence a dataset was wanted, got {error}") from error
    if not isinstance(content, dict) or not all(isinstance(text, str) for text in content.values()):
        raise ValueError(f"{path}: a JSON object of a sentence a dataset was wanted, got {content!r:.60}")
    return content
