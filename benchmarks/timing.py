"""Times that can be compared: taken in turn, in one process, round after round."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

ROUNDS = 7
QUICK = 0.02
"""Seconds below which a work is done ten times a round."""


@dataclass(frozen=True)
class Times:
    """The best is the machine at its least disturbed; the median is what one gets."""

    best: float
    median: float


def interleaved(works: Mapping[str, Callable[[], object]], seconds: float, rounds: int = ROUNDS) -> dict[str, Times]:
    """The time of each work: at least `rounds` rounds, every other one backwards, and on until `seconds` are over."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()
    end, done = time.perf_counter() + seconds, 0
    while done < rounds or time.perf_counter() < end:
        for name in list(works)[:: 1 if done % 2 else -1]:
            for _ in range(10 if times[name] and times[name][-1] < QUICK else 1):
                start = time.perf_counter()
                works[name]()
                times[name].append(time.perf_counter() - start)
        done += 1
    return {name: Times(min(values), median(values)) for name, values in times.items()}


def shown(seconds: float) -> str:
    """In the unit that leaves one to three digits before the point."""
    unit, size = next((pair for pair in (("s", 1.0), ("ms", 1e-3)) if seconds >= pair[1]), ("µs", 1e-6))
    return f"{three(seconds / size)}&nbsp;{unit}"


def three(number: float) -> str:
    """Three digits, or all before the point."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def peak(work: Callable[[], object]) -> int:
    """The bytes that a call holds at most, its answer included."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
