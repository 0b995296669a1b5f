"""How far a run is, and when it will end: bars on a terminal, nothing elsewhere.

A bar counts work, not items: a NAF on ten thousand rows is more of it than a straight line on sixty. The time that is
left follows from the work that is left, at the speed this run has had in that phase; before a phase has begun, at the
speed of the machine that the weights below were measured on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from studies.learners.recipe import Recipe

# An interpolator that is not listed counts as a linear one, until the speed of the run itself is known.
_FIT = {"linear": 0.01, "random": 0.01, "naf": 0.1}  # seconds on one core, whatever the rows
_ROW = {"linear": 5e-6, "random": 8e-6, "naf": 5e-5}  # and more for each test row
_NAF_ROWS, _NAF_SLOPE = 1000, 3.5e-4  # and for each calibration row of a NAF, up to the number that it bins
_STEP, _PRODUCT = 1.2e-4, 3e-10  # of training: for a network's step, and for each product in it or in a check


def cell_work(interpolator: str, n_calibration: int, n_test: int) -> float:
    """The seconds of a cell on one core, about."""
    fit = _NAF_SLOPE * min(n_calibration, _NAF_ROWS) if interpolator == "naf" else 0.0
    known = interpolator if interpolator in _FIT else "linear"
    return _FIT[known] + fit + _ROW[known] * n_test


def training_work(networks: int, features: int, recipe: Recipe, rows: int) -> float:
    """The seconds of training the networks of a split on one core, about."""
    seen = recipe.steps * recipe.batch_size(rows) + recipe.checks * recipe.held_out * rows
    products = seen * recipe.width * (features + recipe.width)
    return networks * (_STEP * recipe.steps + _PRODUCT * products)


class Clock:
    """The work of a phase, and the time it has taken."""

    def __init__(self, work: float, workers: int = 1) -> None:
        self.work: float = work
        self.done: float = 0.0
        self.workers: int = workers
        self.start: float | None = None
        self.seconds: float = 0.0

    def advance(self, work: float) -> None:
        """So much more is done."""
        self.done += work

    @contextmanager
    def running(self) -> Iterator[None]:
        """The phase, while it lasts."""
        self.start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds, self.start = self.elapsed(), None

    def elapsed(self) -> float:
        """The seconds it has taken."""
        return self.seconds if self.start is None else time.perf_counter() - self.start

    def left(self) -> float:
        """The seconds it will still take."""
        speed = self.done / self.elapsed() if self.done > 0 and self.elapsed() > 0 else self.workers
        return max(self.work - self.done, 0.0) / speed


def said(seconds: float) -> str:
    """A time as one says it.

    >>> said(42.4), said(200), said(9000)
    ('42 s', '3.3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


@contextmanager
def shown(clocks: dict[str, Clock]) -> Iterator[Callable[[str], None]]:
    """Bars of some phases on standard error; what is yielded says what is being done."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:12}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[left]:>14}"),
        TextColumn("{task.fields[doing]}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bars:
        tasks = {
            name: bars.add_task(name, total=clock.work or 1.0, left="", doing="")
            for name, clock in [*clocks.items(), ("in all", Clock(0.0))]
        }

        def show(doing: str) -> None:
            for name, clock in clocks.items():
                ended = clock.start is None and clock.done >= clock.work
                left = f"took {said(clock.seconds)}" if ended else f"{said(clock.left())} left"
                current = doing if clock.start is not None else ""
                bars.update(tasks[name], completed=clock.done if clock.work else 1.0, left=left, doing=current)
            spent, left_in_all = (sum(each(c) for c in clocks.values()) for each in (Clock.elapsed, Clock.left))
            bars.update(
                tasks["in all"], total=spent + left_in_all or 1.0, completed=spent, left=f"{said(left_in_all)} left"
            )

        show("")
        yield show
