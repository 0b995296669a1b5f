"""What a user's type checker is told about every public parameter and result: `python tests/typing/public_any.py`.

Public is what the packages below list, with the public methods, properties and fields of their classes, inherited
ones included. A place is `module.name(parameter)`, `module.Class.method ->`, or `module.Class.field`, and of overloads
each one counts. It says nothing where its annotation is `Any` or a name for it, alone or in a union; `dict[str, Any]`
says something.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import sys
import typing
from collections.abc import Iterator
from typing import Any

PACKAGES = (
    "calibrant",
    "calibrant.distributions",
    "calibrant.horizons",
    "calibrant.interpolators",
    "calibrant.intervals",
    "calibrant.judging",
    "calibrant.labels",
    "calibrant.metrics",
    "calibrant.models",
    "calibrant.files",
    "calibrant.plots",
    "calibrant.predictions",
    "calibrant.refine",
    "calibrant.reports",
    "calibrant.scores",
    "calibrant.several",
    "calibrant.sklearn",
    "calibrant.tables",
    "calibrant.testing",
    "calibrant.typing",
)


def places() -> Iterator[tuple[str, str, Any]]:
    """Each public place once: its name, its annotation as it is written, and the module whose names that uses."""
    seen: set[str] = set()
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in sorted(module.__all__):
            value = getattr(module, name)
            if inspect.ismodule(value) or not getattr(value, "__module__", "").startswith("calibrant"):
                continue
            whole = f"{value.__module__}.{value.__qualname__}" if hasattr(value, "__qualname__") else ""
            if not whole or whole in seen:
                continue
            seen.add(whole)
            if not isinstance(value, type):
                yield from of_function(value, whole)
                continue
            for base in value.__mro__:
                inherited = f"{base.__module__}.{base.__qualname__}"
                if base is value or (base.__module__.startswith("calibrant") and inherited not in seen):
                    seen.add(inherited)
                    yield from of_class(base, inherited)


def of_class(cls: type, whole: str) -> Iterator[tuple[str, str, Any]]:
    if "__init__" in vars(cls):
        yield from of_function(cls.__init__, whole, result=False)
    for name, value in vars(cls).items():
        if name.startswith("_") and name not in ("__call__", "__getitem__"):
            continue
        if isinstance(value, (classmethod, staticmethod)):
            value = value.__func__
        if isinstance(value, property):
            value = value.fget
        value = inspect.unwrap(value) if callable(value) else value
        if inspect.isfunction(value):
            yield from of_function(value, f"{whole}.{name}")
    if dataclasses.is_dataclass(cls):
        own = inspect.get_annotations(cls)
        for field in dataclasses.fields(cls):
            if field.name in own and not field.name.startswith("_"):
                yield f"{whole}.{field.name}", str(own[field.name]), sys.modules[cls.__module__]


def of_function(function: Any, whole: str, *, result: bool = True) -> Iterator[tuple[str, str, Any]]:
    if not inspect.isfunction(function):
        return
    module = sys.modules[function.__module__]
    if function.__qualname__.endswith("__init__") and "__create_fn__" in function.__qualname__:
        return
    for each in typing.get_overloads(function) or [function]:
        signature = inspect.signature(each)
        for parameter in signature.parameters.values():
            if parameter.name not in ("self", "cls"):
                yield f"{whole}({parameter.name})", str(parameter.annotation), module
        if result:
            yield f"{whole} ->", str(signature.return_annotation), module


def says_nothing(annotation: str, module: Any) -> bool:
    """Whether it is `Any`, or an alias of it, or a union with one."""
    parts = [part.strip() for part in top_level(annotation, "|")]
    inner = [part for whole in parts for part in elements(whole)]
    return any(part == "Any" or getattr(module, part, None) is typing.Any for part in [*parts, *inner])


def elements(part: str) -> list[str]:
    """The entries of a tuple, list or sequence: `tuple[Any, Any]` says as little as `Any` does."""
    for head in ("tuple", "list", "Sequence", "Iterable", "Iterator"):
        if part.startswith(f"{head}[") and part.endswith("]"):
            return [
                e for piece in top_level(part[len(head) + 1 : -1], ",") for e in map(str.strip, top_level(piece, "|"))
            ]
    return []


def top_level(text: str, separator: str) -> list[str]:
    pieces, depth, current = [], 0, ""
    for letter in text:
        depth += (letter in "[(") - (letter in "])")
        if letter == separator and not depth:
            pieces.append(current)
            current = ""
        else:
            current += letter
    return [*pieces, current]


def silent() -> tuple[list[str], int]:
    """The places that say nothing, and the number of all; a place of several overloads is one."""
    found = list(places())
    nothing = {name for name, annotation, module in found if says_nothing(annotation, module)}
    return sorted(nothing), len({name for name, *_ in found})


if __name__ == "__main__":
    nothing, count = silent()
    print(*nothing, sep="\n")
    print(f"{len(nothing)} of {count}")
