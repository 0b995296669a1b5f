"""Long work: how far it is, and what there is still time for."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Numbers = np.ndarray[Any, Any]

BAR = 24
PROBE = 2_000
"""Rows on which a model is timed before it is fitted on many more."""
FOR_REFINING = 0.2
"""Of the time, kept for what follows the models."""


class Bar:
    """How far fitting is, in a terminal or a notebook.

    Args:
        steps: The fits to come.
        verbose: Whether to show it.
    """

    def __init__(self, steps: int = 0, *, verbose: bool = False) -> None:
        self.steps = steps
        self.verbose = verbose
        self.done = 0
        self.start = time.monotonic()

    def step(self, what: str, count: int = 1) -> None:
        """So many fits more are done.

        Args:
            what: What was fitted.
            count: How many fits it took.
        """
        self.done += count
        if not self.verbose:
            return
        share, passed = min(1.0, self.done / max(self.steps, 1)), time.monotonic() - self.start
        bar = "#" * round(BAR * share) + "." * (BAR - round(BAR * share))
        left = f", about {passed / share - passed:,.0f} s left" if share < 1 else ""
        sys.stderr.write(
            f"\r{f'{bar} {share:4.0%}  {what}, {passed:,.0f} s{left}':<100}" + ("\n" if share == 1 else "")
        )
        sys.stderr.flush()

    def finish(self) -> None:
        """All is done, be it in fewer fits than expected."""
        if self.verbose and self.done < self.steps:
            self.step("done", self.steps - self.done)


@dataclass(frozen=True)
class Budget:
    """Which models of a blend there is time for.

    Args:
        seconds: The time for it all; None is as long as it takes.
        only: The models that take part, by name; None is all.
        bar: How far it is.
    """

    seconds: float | None = None
    only: Collection[str] | None = None
    bar: Bar = field(default_factory=Bar)
    start: float = field(default_factory=time.monotonic)

    def part(self, share: float, only: Collection[str] | None = None) -> Budget:
        """A share of the time that is left, from now on.

        Args:
            share: The part of the time.
            only: The models that take part.
        """
        left = None if self.seconds is None else share * (self.start + self.seconds - time.monotonic())
        return Budget(left, only, self.bar)

    def has_time(self, seconds: float) -> bool:
        """Whether there is time for models that take so long, and for what follows them."""
        if self.seconds is None:
            return True
        return time.monotonic() - self.start + seconds <= (1 - FOR_REFINING) * self.seconds

    def affords(self, fit: Callable[[Numbers], Any], count: int, folds: int) -> bool:
        """Whether there seems to be time for a model, by a fit on some of the rows where there are many.

        Args:
            fit: Fits the model on rows by their numbers.
            count: The number of rows.
            folds: How often the model is fitted.
        """
        if self.seconds is None or count <= 2 * PROBE:
            return self.has_time(0.0)
        before = time.monotonic()
        fit(np.linspace(0, count - 1, PROBE).astype(np.int64))
        return self.has_time((time.monotonic() - before) * folds * count / PROBE)
