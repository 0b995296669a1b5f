"""The file of a run's results, read for its tables and checked line by line."""

from __future__ import annotations

import json
import lzma
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

from studies.columns import OPTIONAL, REQUIRED
from studies.design import Design, design_of
from studies.names import Method
from studies.results import Results, Values
from studies.store import refuse_odd


def read(path: str | os.PathLike[str], design: Design) -> Results:
    """The results of a run; a torn last line, as a killed run leaves one, is passed over.

    Args:
        path: The file of results, `cells.jsonl`, or the same compressed, `cells.jsonl.xz`.
        design: The study that they are of.
    """
    about: Mapping[str, Any] | None = None
    resumed: list[Mapping[str, Any]] = []
    cells: dict[tuple[str, Method], dict[int, Values]] = {}
    seconds: dict[str, float] = {}
    for where, line in _lines(path):
        if "study" in line:
            about = line["study"]
            _check(about, where, design)
        elif "training" in line:
            _add(seconds, "training", line["training"].get("seconds"))
        elif "phase" in line:
            phase = line["phase"]
            _add(seconds, str(phase.get("name")), phase.get("seconds"))
            if phase.get("name") == "resumed":
                resumed.append(phase)
        else:
            dataset, split, method, cell = _cell(line, where, design)
            cells.setdefault((dataset, method), {})[split] = cell
            _add(seconds, f"cells, {method.interpolator}", line.get("seconds"))
    if about is None:
        raise ValueError(f"{os.fspath(path)}: a study's results begin with a line that holds 'study', and none does")
    if not cells:
        raise ValueError(f"{os.fspath(path)}: a table needs at least one finished cell, and there is none")
    ordered = {key: dict(sorted(splits.items())) for key, splits in cells.items()}
    return Results(design, about, tuple(resumed), ordered, dict(sorted(seconds.items())))


def _lines(path: str | os.PathLike[str]) -> Iterable[tuple[str, dict[str, Any]]]:
    refuse_odd(path)
    opened = lzma.open if os.fspath(path).endswith(".xz") else open
    with opened(path, "rt", encoding="utf-8", errors="replace") as file:
        lines = [(number, text) for number, text in enumerate(file, start=1) if text.strip()]
    for number, text in lines:
        where = f"{os.fspath(path)}, line {number}"
        try:
            line = json.loads(text, parse_constant=_no_number)
        except ValueError as error:
            if number == lines[-1][0]:
                return
            raise ValueError(f"{where}: one JSON object was wanted, got {text.strip()[:60]!r}") from error
        if not isinstance(line, dict):
            raise ValueError(f"{where}: one JSON object was wanted, got {text.strip()[:60]!r}")
        yield where, line


def _check(about: Mapping[str, Any], where: str, design: Design) -> None:
    if design_of(about) != design.name:
        raise ValueError(
            f"{where}: results of the design {design.name!r} were wanted, got those of {design_of(about)!r}"
        )


def _no_number(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _cell(line: dict[str, Any], where: str, design: Design) -> tuple[str, int, Method, Values]:
    names = ("dataset", "split", "base", "score", "interpolator")
    absent = [name for name in (*names, *REQUIRED.values()) if name not in line]
    if absent:
        raise ValueError(f"{where}: a cell needs {absent[0]!r}, which it lacks")
    dataset, split, *method = (line[name] for name in names)
    if Method(*method) not in design.methods:
        raise ValueError(f"{where}: base, score and interpolator must be those of the study, got {', '.join(method)}")
    columns = {**REQUIRED, **{name: name for name in OPTIONAL}}
    return (
        dataset,
        split,
        Method(*method),
        {ours: _number(line.get(name), where, name) for ours, name in columns.items()},
    )


def _number(value: Any, where: str, name: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{where}: {name!r} must be a number or null, got {value!r}")
    return float(value) if math.isfinite(value) else None


def _add(seconds: dict[str, float], phase: str, more: Any) -> None:
    if isinstance(more, (int, float)):
        seconds[phase] = seconds.get(phase, 0.0) + more
