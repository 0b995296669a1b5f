"""The command line, `calibrant` or `python -m calibrant`. It needs the extra: pip install 'calibrant[cli]'."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from calibrant._arguments import needs


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 all well, 1 something is wrong with the data or a file, 2 wrong usage."""
    try:
        needs("the command line", "cli", "typer", "rich", "pyarrow")
    except ModuleNotFoundError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    with import_module("calibrant.cli.exit").clean_exit():
        import_module("calibrant.cli.app").app(
            args=None if arguments is None else list(arguments), prog_name="calibrant"
        )
    sys.exit(0)
