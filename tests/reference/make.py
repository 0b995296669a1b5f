"""Writes tests/reference/values.npz: what the library on the path answers to every case.

The numbers are those of commit 5808dfa. To add or change cases, check that commit out beside this one and let its
library answer, with this tree's cases:

    git worktree add ../reference 5808dfa
    PYTHONPATH=../reference/src python tests/reference/make.py

This takes some minutes, on one thread, and gives the same bytes each time. So the reference is not only what the old
code happened to say: mean, std, crps and those of the clip of every row are integrated here a second time, by
Gauss-Legendre on its cdf and sf, and where both disagree by more than CHECKED of the spread nothing is written. Where
the old code is known to be wrong another number is stored, and printed here: the integral for `Case.wrong`, for a mean
or std that is said to be infinite and is not, and for the std of heavy tails; a closed form for `Case.points`. With
`--check` nothing is written.
"""

from __future__ import annotations

import argparse
import inspect
import platform
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy

sys.path.insert(0, str(Path(__file__).parents[1]))

import calibrant
from reference.cases import INTEGRALS, Case, Single
from reference.measure import LEVELS, Asked, Numbers, Reference, answers, cases_of, write

COMMIT = "5808dfa"
CHECKED = {"straight": 1e-7}
"""Of the spread, by class; 1e-5 for all others."""
ASKED_AT = np.array([0.002, 0.03, 0.2, 0.45, 0.6, 0.85, 0.97, 0.999])
NODES, SHARES = (each.astype(np.float64) for each in np.polynomial.legendre.leggauss(10))


# ---- where a case is asked -------------------------------------------------------------------------------------------


def rounded(values: Numbers, unit: float) -> Numbers:
    """To about a hundredth of the unit, at places that no grid has."""
    step = 10.0 ** np.floor(np.log10(unit / 30))
    return np.asarray(np.round(values / step) * step + 0.137 * step)


def quantiles(H: Any, levels: Numbers) -> Numbers:
    value = np.asarray(H.ppf(levels[None, :] if H.shape else levels), np.float64)
    return value if H.shape else value[None, :]


def spread_of(H: Any) -> Numbers:
    """The std of each row; where it is infinite or 0, how far the quantiles of the middle 90% are apart."""
    std = np.atleast_1d(np.asarray(H.std(), np.float64))
    q = quantiles(H, np.array([0.05, 0.25, 0.75, 0.95]))
    with np.errstate(invalid="ignore"):
        for other in (q[:, 3] - q[:, 0], q[:, 2] - q[:, 1], np.ones(len(q))):
            std = np.where(np.isfinite(std) & (std > 0), std, other)
    return std


def asked_of(case: Case, H: Any, spread: Numbers) -> Asked:
    unit = float(np.min(spread))
    q = quantiles(H, ASKED_AT)
    q = np.array([q[j % len(q), j] for j in range(q.shape[1])])
    q = q[np.isfinite(q)]
    clip = case.clip
    ends = quantiles(H, np.array([0.2, 0.9]))
    ends = np.nanmedian(np.where(np.isfinite(ends), ends, np.nan), axis=0)
    ends = ends if ends[0] < ends[1] else float(case.y[0]) + np.array([-unit, unit])
    if H.lattice is not None:
        points = np.unique(np.concatenate([q, q[1::3] + 0.3 * H.lattice[1]]))
    else:
        points = np.unique(np.concatenate([rounded(q, unit) if len(q) else case.y, case.atoms]))
        ends = rounded(ends, min(unit, float(ends[1] - ends[0])))
    clip = (float(ends[0]), float(ends[1])) if case.clip is None else case.clip
    return Asked(points, clip)


def left_out(case: Case, H: Any, asked: Asked, spread: Numbers) -> dict[str, np.ndarray]:
    """Where the truth jumps, so that rounding decides: levels at an edge of an atom, points beside one."""
    out = {function: np.zeros(len(spread), bool) for function in INTEGRALS}
    tail = np.minimum(LEVELS, 1 - LEVELS)
    eps = 1e-5 if isinstance(case, Single) else 1e-7
    low, high = quantiles(H, LEVELS - eps * tail), quantiles(H, LEVELS + eps * tail)
    with np.errstate(invalid="ignore"):
        out["ppf"] = ~((low == high) | (np.abs(high - low) < 1e3 * eps * spread[:, None]))
    unit = spread[:, None] * eps
    points = np.broadcast_to(asked.points[None, :], (len(spread), len(asked.points)))

    def at(method: str, y: Numbers) -> Numbers:
        value = np.asarray(getattr(H, method)(y if H.shape else y[0]), np.float64)
        return value if H.shape else value[None, :]

    if H.lattice is not None:
        return {**out, "cdf": np.zeros(points.shape, bool), "logpdf": np.zeros(points.shape, bool)}
    known = np.isin(points, case.atoms)
    out["cdf"] = ~known & (np.abs(at("cdf", points + unit) - at("cdf", points - unit)) > 1e3 * eps)
    with np.errstate(invalid="ignore"):
        low, high = at("logpdf", points - unit), at("logpdf", points + unit)
        out["logpdf"] = known | ~((low == high) | (np.abs(high - low) < 1e3 * eps))
    return out


# ---- the same integrals, a second way --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One row of H, or a single distribution, as functions of 1-d arrays."""

    H: Any
    row: int

    def __call__(self, method: str, at: Any) -> Numbers:
        at = np.atleast_1d(np.asarray(at, np.float64))
        if not self.H.shape:
            return np.asarray(getattr(self.H, method)(at), np.float64)
        return np.asarray(getattr(self.H[self.row : self.row + 1], method)(at[None, :]), np.float64)[0]


def integrals(H: Row, y: float, clip: tuple[float, float]) -> dict[str, float]:
    """Mean, std and crps(y) of a row and of its clip, from cdf and sf alone; nan where none converges."""
    middle = float(H("ppf", 0.5)[0])
    lower, upper = clip
    cells = Cells.of(H, middle, y, clip)
    below, above = cells.b <= middle, cells.a >= middle
    finite = [
        cells.fades(name, side) and mass == 0
        for (name, side), mass in zip(
            (("F", below), ("S", above), ("tF", below), ("tS", above)),
            (float(H("cdf", -np.inf)[0]), float(H("sf", np.inf)[0])) * 2,
            strict=True,
        )
    ]
    found = cells.answers(middle, middle, y)
    found["mean"] = found["mean"] if all(finite[:2]) else np.nan
    found["std"] = found["std"] if all(finite) else np.nan
    found["crps"] = found["crps"] if all(finite[:2]) else np.nan
    inside = cells.inside(lower, upper).answers(min(max(middle, lower), upper), middle, y)
    inside["crps"] += max(lower - y, y - upper, 0.0)
    return {**found, **{f"clip {name}": value for name, value in inside.items()}}


@dataclass(frozen=True)
class Cells:
    """Integrals of F, S = 1 - F, F^2, S^2 and of |t - median| times F and S from a to b."""

    a: Numbers
    b: Numbers
    of_: dict[str, Numbers]

    NAMES: ClassVar = ("F", "S", "FF", "SS", "tF", "tS")

    @classmethod
    def of(cls, H: Row, middle: float, y: float, clip: tuple[float, float]) -> Cells:
        """Between many quantiles, in cells that are halved until both halves agree with the whole."""

        def panel(a: Numbers, b: Numbers) -> Numbers:
            t = (a + b)[:, None] / 2 + (b - a)[:, None] / 2 * NODES
            F, S = (H(name, t.ravel()).reshape(t.shape) for name in ("cdf", "sf"))
            far = np.abs(t - middle)
            return np.stack([np.sum(f * SHARES, 1) * (b - a) / 2 for f in (F, S, F * F, S * S, far * F, far * S)], 1)

        places = breakpoints(H, middle, y, clip)
        a, b = places[:-1], places[1:]
        whole, done = panel(a, b), []
        low, high = min(middle, y, clip[0]), max(middle, y, clip[1])

        def counts(m: Numbers) -> Numbers:
            """Far out only the smaller of F and S is asked for; the other is nearly 1."""
            return np.where((np.arange(6) % 2 == 0)[None, :], m[:, None] < high, m[:, None] > low)

        total = np.sum(np.where(counts((a + b) / 2), np.abs(whole), 0.0), axis=0)
        for _ in range(50):
            m = (a + b) / 2
            left, right = panel(a, m), panel(m, b)
            gap = np.where(counts(m), np.abs(left + right - whole), 0.0)
            bad = np.any(gap > 1e-10 * total, axis=1) & (m > a) & (m < b)
            done.append((a[~bad], b[~bad], (left + right)[~bad]))
            if not bad.any():
                break
            a, b = np.concatenate([a[bad], m[bad]]), np.concatenate([m[bad], b[bad]])
            whole = np.concatenate([left[bad], right[bad]])
        a, b, found = (np.concatenate(each) for each in zip(*done, strict=True))
        order = np.argsort(a)
        return cls(a[order], b[order], {name: found[order, k] for k, name in enumerate(cls.NAMES)})

    def inside(self, lower: float, upper: float) -> Cells:
        there = (self.a >= lower) & (self.b <= upper)
        return Cells(self.a[there], self.b[there], {name: values[there] for name, values in self.of_.items()})

    def answers(self, centre: float, middle: float, y: float) -> dict[str, float]:
        """About a place between two cells."""
        below, above = self.b <= centre, self.a >= centre
        F, S = self.of_["F"][below], self.of_["S"][above]
        # |t - centre| from |t - middle|, on both sides of both
        tF = (centre - middle) * np.sum(F) + np.sum(
            np.where(self.b <= middle, 1.0, -1.0)[below] * self.of_["tF"][below]
        )
        tS = (middle - centre) * np.sum(S) + np.sum(
            np.where(self.a >= middle, 1.0, -1.0)[above] * self.of_["tS"][above]
        )
        right, left = float(np.sum(S)), float(np.sum(F))
        crps = np.sum(self.of_["FF"][self.b <= y]) + np.sum(self.of_["SS"][self.a >= y])
        variance = 2 * (tF + tS) - (right - left) ** 2
        return {"mean": centre + right - left, "std": float(np.sqrt(max(variance, 0.0))), "crps": float(crps)}

    def fades(self, name: str, side: np.ndarray) -> bool:
        """Whether the outermost cells no longer count."""
        values = self.of_[name][side]
        if name.endswith("F"):
            values = values[::-1]
        return not values.size or bool(np.sum(values[-6:]) <= 1e-8 * np.sum(values)) or bool(values[-1] == 0)


def breakpoints(H: Row, middle: float, y: float, clip: tuple[float, float]) -> Numbers:
    levels = np.linspace(0, 1, 2101)[1:-1]
    tail = np.exp(-np.arange(5, 690, 0.25))
    q = np.concatenate([H("ppf", levels), H("ppf", tail), H("isf", tail)])
    q = q[np.isfinite(q) & (np.abs(q) < 1e140)]
    return np.unique(np.concatenate([q, np.linspace(*clip, 33), [y, middle]]))


def by_points(points: Numbers, y: float, clip: tuple[float, float]) -> dict[str, float]:
    """Mean, std and crps(y) of equal masses on points, and of their clip."""
    found = {}
    for prefix, at in (("", points), ("clip ", np.clip(points, *clip))):
        apart = np.mean(np.abs(at[:, None] - at))
        numbers = np.mean(at), np.std(at), np.mean(np.abs(at - y)) - apart / 2
        found |= {prefix + name: float(value) for name, value in zip(("mean", "std", "crps"), numbers, strict=True)}
    return found


def checked(case: Case, H: Any, asked: Asked, found: dict[str, Numbers], spread: Numbers) -> list[str]:
    """What the second way says otherwise; what is known to be wrong, or said to be infinite and is not, is replaced."""
    complaints = []
    clip_unit = max(asked.clip[1] - asked.clip[0], 0.0)
    points = None if case.points is None else case.points()
    for row in range(len(spread)):
        y = float(case.y[row])
        truth = integrals(Row(H, row), y, asked.clip) if points is None else by_points(points[row], y, asked.clip)
        for function, value in truth.items():
            said = found[function][row]
            doubted = points is not None or function in case.wrong or (case.kind, function) == ("heavy", "std")
            if np.isfinite(value) and (doubted or np.isinf(said)):
                if not abs(said - value) <= 1e-5 * spread[row]:
                    print(f"{case}: {function} of row {row} is {value:.6g}, not {said:.6g}", flush=True)
                found[function][row] = value
                continue
            if np.isnan(value) or (clip_unit == 0 and function.startswith("clip")):
                continue
            error = abs(said - value) / spread[row]
            if not error <= CHECKED.get(case.kind, 1e-5):
                complaints.append(f"{case}: {function} of row {row} is {said!r}, its integral {value!r}: {error:.1e}")
    return complaints


# ---- all of it -------------------------------------------------------------------------------------------------------


def commit_of_library() -> str:
    here = Path(inspect.getfile(calibrant)).parent
    return subprocess.run(
        ["git", "-C", str(here), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()


def reference_of(case: Case) -> tuple[Reference, list[str]]:
    H = case.H()
    if isinstance(case, Single):
        H = case.exact()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spread = spread_of(H)
        asked = asked_of(case, H, spread)
        found = answers(case, asked, H)
        complaints = checked(case, H, asked, found, spread)
        out = left_out(case, H, asked, spread)
    return Reference(asked, spread, H.lattice is not None, found, out), complaints


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", default="", help="with --check: only cases with this in their name")
    parser.add_argument("--check", action="store_true", help="integrate and compare, and write nothing")
    options = parser.parse_args()
    references, complaints, start = {}, [], time.perf_counter()
    for case in cases_of(options.pattern if options.check else ""):
        began = time.perf_counter()
        references[str(case)], said = reference_of(case)
        complaints += said
        if said or time.perf_counter() - began > 5:
            print(f"{time.perf_counter() - began:6.1f} s  {case}", *said, sep="\n", flush=True)
    print(
        f"{len(references)} cases, {time.perf_counter() - start:.0f} s, {len(complaints)} disagree with their integral"
    )
    if complaints or options.check:
        return int(bool(complaints))
    if not (commit := commit_of_library()).startswith(COMMIT):
        raise SystemExit(
            f"the library on the path is of commit {commit}, not {COMMIT}: see the first lines of this file"
        )
    about = {
        "commit": commit,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }
    write(references, about)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
