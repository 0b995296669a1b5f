"""`calibrant report`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from calibrant.cli.columns import Columns
from calibrant.cli.console import naming, progress, show, working
from calibrant.cli.mending import Mender
from calibrant.cli.model import Model
from calibrant.cli.tables import Table, not_over


@dataclass(frozen=True)
class Wanted:
    """What the page is to speak of."""

    target: str
    groups: Sequence[str]
    coverage: float
    title: str | None


def report(path: Path, model: Model, columns: Columns, wanted: Wanted, out: Path, seed: int | None) -> None:
    """Write the page on the rows of a file, and say its verdict."""
    from calibrant.reports import report as report_of

    not_over(out, path, model.path)
    calibrated, target = model.calibrated, wanted.target
    table = Table(path)
    columns = columns.found_in(table, target)
    with progress("reading", table.count) as done:
        rows, groups = table.labelled([target, *columns.names], wanted.groups, done=done)
    mender = Mender(model.usual_width)
    prediction, y = columns.prediction(rows, mender), rows.numbers(target)
    mender.report(path)
    with working("looking"), naming(str(path)):
        H = calibrated(prediction, rng=None if seed is None else np.random.default_rng(seed))
        page = report_of(
            H,
            y,
            base=prediction,
            groups=groups or None,
            guarantee=calibrated.guarantee,
            coverage=wanted.coverage,
            title=wanted.title,
            label=target,
        )
    page.save(out)
    show(str(page))
    show(f"Wrote {out}: open it in a browser.")
