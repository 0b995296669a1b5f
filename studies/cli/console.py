"""What the commands say beside their results."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from calibrant.cli.console import reported, show
from studies.datasets.dataset import INSTALL


@contextmanager
def told(*, debug: bool) -> Iterator[None]:
    """Turn exceptions into one sentence and an exit code; of a library that is absent, say what installs it."""
    with reported(debug=debug):
        try:
            yield
        except ModuleNotFoundError as error:
            if "pip install" in str(error):
                raise
            raise ModuleNotFoundError(f"this command needs {error.name}: {INSTALL}", name=error.name) from error


def typed() -> str:
    """The command as it was typed."""
    return shlex.join(["python", "-m", "studies", *sys.argv[1:]])


def show_written(paths: list[Path]) -> None:
    """Name the files that were written."""
    for path in paths:
        show(f"wrote {path}")
