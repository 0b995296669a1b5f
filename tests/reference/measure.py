"""What each case is asked, how answers are kept in a file, and how far others are from them."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.cases import CASES, INTEGRALS, Case
from reference.tolerances import TOLERANCES

FILE = Path(__file__).parent / "values.npz"
LEVELS = np.array([0.001, 0.05, 0.25, 0.5, 0.75, 0.95, 0.999])
FUNCTIONS = (*INTEGRALS, "ppf", "cdf", "logpdf")
FLOOR = {True: math.log(1e-6), False: math.log(1e-30)}
"""Log masses of counts, and log densities in units of the spread, are compared from here on: below lies rounding."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """Where a case is asked: points of cdf and logpdf, the same for all rows, and the bounds of its clip."""

    points: Numbers
    clip: tuple[float, float]


def answers(case: Case, asked: Asked, H: Any, functions: tuple[str, ...] = FUNCTIONS) -> dict[str, Numbers]:
    """Of all rows, each (rows,) or (rows, k)."""
    points = asked.points[None, :]
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clipped = None
        for function in functions:
            name = function.removeprefix("clip ")
            distribution = H
            if name != function:
                clipped = H.clip(*asked.clip) if clipped is None else clipped
                distribution = clipped
            if name in ("mean", "std"):
                value = getattr(distribution, name)()
            elif name == "crps":
                value = distribution.crps(case.y if H.shape else case.y[:1])
            elif name == "ppf":
                value = distribution.ppf(LEVELS[None, :] if H.shape else LEVELS)
            else:
                method = (
                    distribution.logpmf
                    if name == "logpdf" and distribution.lattice is not None
                    else getattr(distribution, name)
                )
                value = method(points if H.shape else points[0])
            value = np.asarray(value, np.float64)
            found[function] = (
                value if H.shape else value.reshape(1, -1) if name in ("ppf", "cdf", "logpdf") else value.reshape(1)
            )
    return found


@dataclass(frozen=True)
class Reference:
    """The answers of the commit that is the truth, and the spread of each row; NaN in `compared` is not compared."""

    asked: Asked
    spread: Numbers
    lattice: bool
    answers: dict[str, Numbers]
    left_out: dict[str, NDArray[np.bool_]]

    def errors(self, function: str, now: Numbers) -> Numbers:
        """|now - then| in the function's unit; inf where only one is finite, 0 where left out."""
        then = self.answers[function]
        squared = function == "clip std"  # see `tolerances`
        now, then = (now**2, then**2) if squared else (now, then)
        unit = (
            np.ones_like(self.spread) if function in ("cdf", "logpdf") else self.spread**2 if squared else self.spread
        )
        unit = unit[:, None] if then.ndim == 2 else unit
        if function == "logpdf":
            floor = FLOOR[self.lattice] - (0.0 if self.lattice else np.log(self.spread)[:, None])
            now, then = (np.where(np.isnan(x), x, np.maximum(x, floor)) for x in (now, then))
        with np.errstate(invalid="ignore"):
            error = np.abs(now - then) / unit
            same = (now == then) | (np.isnan(now) & np.isnan(then))
        error = np.where(same, 0.0, np.where(np.isfinite(now) & np.isfinite(then), error, np.inf))
        return np.where(self.left_out[function], 0.0, error)


def write(references: dict[str, Reference], about: dict[str, str]) -> None:
    """One file, the same bytes for the same numbers."""
    index, numbers, masks = {}, [], []
    for name, r in references.items():
        entry: dict[str, Any] = {"rows": len(r.spread), "points": len(r.asked.points), "lattice": r.lattice}
        numbers += [r.asked.points, np.asarray(r.asked.clip), r.spread]
        for function in FUNCTIONS:
            numbers.append(r.answers[function].ravel())
            masks.append(r.left_out[function].ravel())
        index[name] = entry
    text = json.dumps({"about": about, "index": index}, separators=(",", ":"))
    np.savez_compressed(
        FILE,
        text=np.frombuffer(text.encode(), np.uint8),
        values=np.concatenate(numbers),
        left_out=np.packbits(np.concatenate(masks)),
    )


def read() -> tuple[dict[str, Reference], dict[str, str]]:
    with np.load(FILE) as file:
        values, bits = file["values"], np.unpackbits(file["left_out"]).astype(bool)
        known = json.loads(file["text"].tobytes().decode())
    at, bit, references = 0, 0, {}

    def taken(*shape: int) -> Numbers:
        nonlocal at
        at += math.prod(shape)
        return values[at - math.prod(shape) : at].reshape(shape)

    for name, entry in known["index"].items():
        rows, k = entry["rows"], entry["points"]
        points, clip, spread = taken(k), taken(2), taken(rows)
        found, left_out = {}, {}
        for function in FUNCTIONS:
            shape = {"ppf": (rows, len(LEVELS)), "cdf": (rows, k), "logpdf": (rows, k)}.get(function, (rows,))
            found[function] = taken(*shape)
            left_out[function] = bits[bit : bit + math.prod(shape)].reshape(shape)
            bit += math.prod(shape)
        asked = Asked(points, (float(clip[0]), float(clip[1])))
        references[name] = Reference(asked, spread, entry["lattice"], found, left_out)
    return references, known["about"]


@dataclass(frozen=True)
class Error:
    """The worst of one function of one case."""

    case: Case
    function: str
    error: float
    """In units of the spread; of cdf a probability, of logpdf a difference of logarithms."""
    row: int
    now: float
    then: float

    @property
    def allowed(self) -> float:
        return TOLERANCES[self.case.kind].of(self.function)

    def __str__(self) -> str:
        return (
            f"{self.case}\n    {self.function} of row {self.row}: {self.error:.2g} of the spread, allowed"
            f" {self.allowed:g} ({self.case.kind}); now {self.now!r}, reference {self.then!r}"
        )


def errors(case: Case, reference: Reference, functions: tuple[str, ...] = FUNCTIONS) -> Iterator[Error]:
    """The worst error of each function."""
    found = answers(case, reference.asked, case.H(), functions)
    for function, now in found.items():
        error = reference.errors(function, now)
        place = np.unravel_index(int(np.argmax(error)), error.shape)
        yield Error(
            case,
            function,
            float(error[place]),
            int(place[0]),
            float(now[place]),
            float(reference.answers[function][place]),
        )


def cases_of(pattern: str = "") -> list[Case]:
    """Those whose family, name or class has this in it."""
    return [case for case in CASES if pattern in f"{case} ({case.kind})"]
