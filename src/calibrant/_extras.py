"""What needs a library that not everybody has."""

from __future__ import annotations

from importlib.util import find_spec


def needs(what: str, extra: str, *libraries: str) -> None:
    """Raise unless these are installed, naming the extra of the package that brings them."""
    missing = [library for library in libraries if find_spec(library) is None]
    if missing:
        way = f"pip install 'calibrant[{extra}]'"
        raise ModuleNotFoundError(f"{what} needs {', '.join(missing)}: {way}", name=missing[0])
