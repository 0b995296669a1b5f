"""Statements that are a goal of the study and a claim of the paper alike: small ECE, nominal coverage."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from studies.names import Method
from studies.paper.verdict import Verdict, full
from studies.results import Results


def small_ece(results: Results, statement: str, methods: Sequence[Method], bound: float) -> Verdict:
    """The mean ECE of each of the methods is at most the bound."""
    found = {method: results.average(method, "ece").value for method in methods}
    known = {method: value for method, value in found.items() if value is not None}
    if not known:
        return Verdict(statement, None, "no dataset has it")
    worst = max(known, key=lambda method: known[method])
    numbers = f"{known[worst]:.4f}" if len(methods) == 1 else f"largest {known[worst]:.4f}, {full(worst)}"
    if len(known) < len(methods):
        numbers += f"; {len(methods) - len(known)} of {len(methods)} methods have none"
    return Verdict(statement, known[worst] <= bound if len(known) == len(methods) else None, numbers)


def nominal(results: Results, statement: str) -> Verdict:
    """Both kinds of interval cover within 1.5 points of the design's coverage, for every base type and score."""
    target = results.design.coverage
    found = []
    for kind in ("conformal", "credible"):
        means = {
            method: results.average(method, f"{kind}_coverage").value for method in results.design.reference_methods
        }
        known = {method: value for method, value in means.items() if value is not None}
        if not known:
            return Verdict(statement, None, "no dataset has them")
        far = max(known, key=lambda method: abs(known[method] - target))
        found.append(
            (known[far], f"{kind} {np.mean(list(known.values())):.1%}, farthest {known[far]:.1%} ({full(far)})")
        )
    return Verdict(
        statement, all(abs(value - target) <= 0.015 for value, _ in found), "; ".join(text for _, text in found)
    )
