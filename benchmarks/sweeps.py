"""How the times grow with n and with m, and the picture of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from side_by_side import DENSE, OURS, YARDSTICK, Problem, library, works
from timing import interleaved, shown

WORKS = ("PIT", "19 quantiles", "CRPS")
FIXED = 1_000
SIZES = (1_000, 10_000, 100_000, 1_000_000)
LIMIT = 1.0
"""Seconds: a library that took longer is not asked for the next size."""
LARGEST = 100_000_000
"""Numbers: no table of n times m is made beyond."""


@dataclass
class Line:
    """The best times of one library, by size."""

    times: dict[int, float] = field(default_factory=dict)
    stopped: str = ""

    @property
    def exponent(self) -> float | None:
        """Of the two largest sizes: time ~ size ** exponent."""
        if len(self.times) < 2:
            return None
        (small, before), (large, after) = sorted(self.times.items())[-2:]
        return math.log(after / before) / math.log(large / small)


Sweep = dict[str, dict[str, Line]]
"""By work and library."""


def sweep(axis: str) -> Sweep:
    """Over n with m fixed, or over m with n fixed."""
    found: Sweep = {work: {} for work in WORKS}
    for size in SIZES:
        n, m = (size, FIXED) if axis == "n" else (FIXED, size)
        entries = works(Problem(n, m))
        for work in WORKS:
            asked = dict(_asked(entries[work], found[work], work, n * m))
            for name, times in interleaved({name: entries[work][name].do for name in asked}, seconds=1.0).items():
                asked[name].times[size] = times.best
                if times.best > LIMIT:
                    asked[name].stopped = "time"
    return found


def _asked(entries: dict, lines: dict[str, Line], work: str, numbers: int) -> Iterator[tuple[str, Line]]:
    for name in entries:
        line = lines.setdefault(name, Line())
        dense = library(name) in DENSE and (work == "CRPS" or library(name) == "tinyconformal")
        if dense and numbers > LARGEST and not line.stopped:
            line.stopped = "memory"
        if not line.stopped:
            yield name, line


def exponents(by_n: Sweep, by_m: Sweep) -> list[list[str]]:
    """A row for each work and library."""
    return [
        [work, name, *(cell for sweep in (by_n, by_m) for cell in _cells(sweep[work][name]))]
        for work in WORKS
        for name in by_n[work]
    ]


def _cells(line: Line) -> tuple[str, str]:
    last = max(line.times)
    reached = f"{shown(line.times[last])} at 10{_raised(last)}"
    return f"{line.exponent:.2f}", reached + (f", stopped: {line.stopped}" if line.stopped and last < SIZES[-1] else "")


def _raised(size: int) -> str:
    return str(round(math.log10(size))).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def picture(by_n: Sweep, by_m: Sweep, path: Path) -> None:
    """Times against n and against m, on two logarithmic axes."""
    import matplotlib.pyplot as plt

    from calibrant import plots
    from calibrant.plots import AFTER, BEFORE, COLOURS

    libraries = [
        OURS, YARDSTICK, "crepes", "MAPIE", "uncertainty-toolbox", "tinyconformal", "scoringrules", "scikit-learn",
    ]  # fmt: skip
    colours = dict(zip(libraries, [AFTER, "#888888", BEFORE, *COLOURS[2:7]], strict=True))
    marks = dict(zip(libraries, "osv^D<>P", strict=True))
    with plots.theme():
        figure, axes = plt.subplots(2, 3, figsize=(6.9, 4.3), sharey=True, sharex=True, layout="constrained")
        for row, (axis, sweep) in enumerate((("n", by_n), ("m", by_m))):
            for column, work in enumerate(WORKS):
                ax = axes[row, column]
                for name, line in sweep[work].items():
                    if name in ("calibrant, steps", "calibrant, isotonic"):
                        continue
                    of = library(name)
                    ax.plot(
                        list(line.times),
                        [1e3 * seconds for seconds in line.times.values()],
                        color=colours[of],
                        marker=marks[of],
                        linewidth=1.6 if of == OURS else 0.8,
                        zorder=3 if of == OURS else 2,
                        label=of,
                    )
                ax.set(xscale="log", yscale="log")
                ax.set_title(f"{work}, {'m' if axis == 'n' else 'n'} = {FIXED:,}")
                ax.set_xlabel("calibration rows n" if axis == "n" else "new rows m")
                ax.tick_params(labelbottom=True)
            axes[row, 0].set_ylabel("best time, ms")
        keys = {}
        for ax in axes.flat:
            handles, labels = ax.get_legend_handles_labels()
            keys |= dict(zip(labels, handles, strict=True))
        order = [name for name in libraries if name in keys]
        figure.legend([keys[name] for name in order], order, loc="outside lower center", ncols=4)
        figure.savefig(path)
        plt.close(figure)
