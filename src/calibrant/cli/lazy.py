"""Imports that wait until a command runs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from calibrant.cli.options import Gap


def module_of(command: str) -> Any:
    """The file of a command, imported when it is run: `--help` waits for no library that only some commands need."""
    return import_module(f"calibrant.cli.{command}")


def gaps_of(missing: Gap) -> Any:
    """What becomes of rows that lack a number."""
    return import_module("calibrant.batches.missing").Gaps(refused=missing is Gap.error)
