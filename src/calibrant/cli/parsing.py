"""Parsing of the texts of options."""

from __future__ import annotations

import csv

import typer

from calibrant._arguments import percentage


def flags_of(
    point: str | None,
    rate: str | None,
    mean: str | None,
    std: str | None,
    lower: str | None,
    upper: str | None,
    quantiles: str | None,
    samples: str | None,
) -> dict[str, str | None]:
    """The columns of the prediction, by option."""
    return {
        "point": point,
        "rate": rate,
        "mean": mean,
        "std": std,
        "lower": lower,
        "upper": upper,
        "quantiles": quantiles,
        "samples": samples,
    }


def names_of(options: list[str]) -> list[str]:
    """The names of an option that may be repeated, as csv has them: "a, b" in double quotes is one name."""
    parts = (part.strip() for row in csv.reader(options, skipinitialspace=True) for part in row)
    return list(dict.fromkeys(part for part in parts if part))


def parts_of(text: str) -> list[str]:
    """a, b of "a,b"."""
    return [part.strip() for part in text.split(",") if part.strip()]


def levels_of(text: str | None, flag: str = "--quantiles") -> tuple[float, ...]:
    """Different numbers in (0, 1)."""
    levels = tuple(level_of(part, flag) for part in parts_of(text or ""))
    if len(set(levels)) < len(levels):
        raise typer.BadParameter(f"expected each level once, got {text!r}", param_hint=flag)
    return levels


def coverages_of(interval: list[str] | None) -> tuple[float, ...]:
    """The coverages of --interval, each in (0, 1)."""
    return tuple(level_of(part, "--interval") for each in interval or () for part in parts_of(each))


def numbers_of(text: str | None, flag: str) -> tuple[float, ...]:
    """Any numbers."""
    try:
        return tuple(float(part) for part in parts_of(text or ""))
    except ValueError:
        raise typer.BadParameter(f"expected numbers, got {text!r}", param_hint=flag) from None


def level_of(text: str, flag: str) -> float:
    """A number in (0, 1)."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < 1:
        message = f"expected a number strictly inside (0, 1), got {text!r}{percentage(number)}"
        raise typer.BadParameter(message, param_hint=flag)
    return number
