"""Where the results of the paper's study come from: the command, the versions, the devices, the training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from studies.results import Results


def origin(results: Results) -> str:
    """What made the results, and what else did if the run was resumed elsewhere."""
    about, starts = results.about, [results.about, *results.resumed]
    names = dict.fromkeys(name for start in starts for name in start.get("versions") or {})
    versions = {name: _distinct((start.get("versions") or {}).get(name) for start in starts) for name in names}
    facts = {
        "seed": _distinct([about.get("seed")]),
        "device": _distinct(start.get("device") for start in starts),
        "started": _distinct([about.get("started")]),
        "starts": str(len(starts)) if results.resumed else "",
    }
    recipe = _listed(about.get("recipe") or {})
    lines = [
        f"Made by `{about.get('command', 'python -m studies study')}`; do not edit.",
        _listed({name: fact for name, fact in facts.items() if fact}),
        _listed(versions),
        recipe and f"Training: {recipe}.",
    ]
    return "\n\n".join(line for line in lines if line)


def _listed(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {fact}" for name, fact in facts.items())


def _distinct(values: Iterable[Any]) -> str:
    return " and ".join(dict.fromkeys(str(value) for value in values if value is not None))
