"""`calibrant report`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from calibrant.batches.columns import Columns
from calibrant.batches.missing import Gaps
from calibrant.batches.rows import naming
from calibrant.cli.console import show, tell, working
from calibrant.cli.forecasts import judged
from calibrant.cli.model import Model
from calibrant.cli.tables import not_over
from calibrant.reports import report as report_of


@dataclass(frozen=True)
class PageWanted:
    """What the page is to speak of."""

    target: str
    groups: Sequence[str]
    coverage: float
    title: str | None
    time: str | None = None


def report(
    path: Path, model: Model, columns: Columns, wanted: PageWanted, out: Path, seed: int | None, *, gaps: Gaps
) -> None:
    """Write the page on the rows of a file, and say its verdict."""
    not_over(out, path, model.path)
    guarantee = model.calibrated.guarantee
    others = wanted.groups if wanted.time is None else dict.fromkeys([*wanted.groups, wanted.time])
    found = judged(path, model, columns, wanted.target, list(others), gaps=gaps)
    groups = {name: found.groups[name] for name in wanted.groups}
    with working("looking"), naming(found.where):
        page = report_of(
            found.calibrated(model, seed),
            found.y,
            base=found.prediction,
            groups={**found.by_group(model.by), **groups} or None,
            time=None if wanted.time is None else found.groups[wanted.time],
            guarantee=guarantee,
            coverage=wanted.coverage,
            title=wanted.title,
            label=wanted.target,
        )
    page.save(out)
    for said in (page.headline, *page.verdict):
        tell(said)
    show(f"Wrote {out}: open it in a browser.")
