"""What a comparison with another library is: the same numbers, or theirs wrong and ours right.

The tests run all of them, and docs_tools/conformance.py prints them as docs/conformance.md.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

Pairs = Iterator[tuple[Any, Any]]


@dataclass(frozen=True)
class Agreement:
    """Two libraries that must give the same numbers: `pairs` yields (ours, theirs)."""

    library: str
    what: str
    theirs: str
    ours: str
    tolerance: float
    pairs: Callable[[], Pairs]

    @property
    def name(self) -> str:
        return f"{self.library}: {self.what}"

    @cache  # noqa: B019
    def found(self) -> tuple[int, float]:
        """How many numbers were compared, and the largest |ours - theirs| / max(1, |theirs|)."""
        count, largest = 0, 0.0
        for ours, theirs in self.pairs():
            ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
            if ours.shape != theirs.shape:
                raise ValueError(f"{self.name}: ours has shape {ours.shape}, theirs {theirs.shape}")
            count, largest = count + ours.size, max(largest, difference(ours, theirs))
        return count, largest

    def verdict(self) -> str:
        return "the same" if self.found()[1] <= self.tolerance else "DIFFERENT"


def difference(ours: Any, exact: Any) -> float:
    """The largest |ours - exact| / max(1, |exact|); equal infinities do not differ, and NaN differs from all.

    >>> difference([1.0, np.inf], [1.0, np.inf]), difference([np.nan], [1.0]), difference([200.0], [100.0])
    (0.0, inf, 1.0)
    """
    ours, exact = np.broadcast_arrays(np.asarray(ours, dtype=float), np.asarray(exact, dtype=float))
    finite = np.isfinite(ours) & np.isfinite(exact)
    if np.any(ours[~finite] != exact[~finite]):
        return np.inf
    off = np.abs(ours[finite] - exact[finite]) / np.maximum(1.0, np.abs(exact[finite]))
    return float(np.max(off, initial=0.0))


@dataclass(frozen=True)
class Fault:
    """A case in which a library is wrong.

    Both codes are what the page prints, as ruff formats them. The last statement is the value.
    """

    library: str
    title: str
    why: str
    theirs: str
    ours: str
    exact: Callable[[], Any]
    """Found in another way. None is: there is no right value, and to refuse is the answer."""
    how: str
    """In which way."""
    tolerance: float = 1e-9

    @cache  # noqa: B019
    def values(self) -> tuple[Any, Any, Any]:
        """Theirs, ours and the exact one."""
        return run(self.theirs), run(self.ours), self.exact()

    def verdict(self) -> str:
        theirs, ours, exact = self.values()
        return "ours is right, theirs is not" if self.right(ours, exact) and not self.right(theirs, exact) else "WRONG"

    def right(self, value: Any, exact: Any) -> bool:
        """Relative to the exact value, however small it is."""
        if exact is None or isinstance(value, Refusal):
            return exact is None and isinstance(value, Refusal)
        value, exact = np.asarray(value, dtype=float), np.asarray(exact, dtype=float)
        unit = np.where(np.isfinite(exact) & (exact != 0), np.abs(exact), 1.0)
        return difference(value / unit, exact / unit) <= self.tolerance


@dataclass(frozen=True)
class Measured(Fault):
    """The same of a library that is not installed beside ours: what it said once is kept."""

    of: str = ""
    """Its version, or the commit."""
    said: Any = None

    def values(self) -> tuple[Any, Any, Any]:
        """Theirs as it was measured, ours and the exact one."""
        return self.said, run(self.ours), self.exact()


@dataclass(frozen=True)
class Refusal:
    """An error in place of a value."""

    kind: str
    said: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.said}"


def run(code: str) -> Any:
    """The value of the last statement, after those before it; an error is a `Refusal`."""
    *before, last = ast.parse(code).body
    if not isinstance(last, ast.Expr):
        raise ValueError(f"the last statement must have a value, got {ast.unparse(last)}")
    names: dict[str, Any] = {"np": np}
    state = np.random.get_state()  # noqa: NPY002
    try:
        with warnings.catch_warnings(record=True):  # of an infinite interval, of an overflow
            warnings.simplefilter("always")
            exec(compile(ast.Module(before, []), "<before>", "exec"), names)
            return eval(compile(ast.Expression(last.value), "<last>", "eval"), names)
    except ModuleNotFoundError:
        raise
    except Exception as error:
        return Refusal(type(error).__name__, re.sub(r"\s+", " ", str(error)))
    finally:
        np.random.set_state(state)  # noqa: NPY002


def installed(library: str) -> str:
    """Its version, without what says how it was built."""
    return version(library).partition("+")[0]


class Given:
    """A generator whose uniforms are known beforehand."""

    def __init__(self, uniforms: Any) -> None:
        self.uniforms = np.asarray(uniforms)

    def random(self, size: int) -> Any:
        if size != len(self.uniforms):
            raise ValueError(f"{size} uniforms were asked for, {len(self.uniforms)} were given")
        return self.uniforms


def heteroscedastic(seed: int, count: int) -> tuple[Any, Any, Any]:
    """Forecasts, scales and labels with heavy tails."""
    rng = np.random.default_rng(seed)
    mean, scale = rng.normal(size=count), rng.uniform(0.5, 2, size=count)
    return mean, scale, mean + scale * rng.standard_t(4, size=count)


def on_a_grid(seed: int, count: int) -> tuple[Any, Any, Any]:
    """The same on a grid of eighths, scales that are powers of two: sums are exact, ties abound."""
    rng = np.random.default_rng(seed)
    mean = rng.integers(-16, 16, size=count) / 8
    scale = 2.0 ** rng.integers(-1, 2, size=count)
    return mean, scale, mean + scale * rng.integers(-12, 13, size=count) / 8
