"""`calibrant report`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from calibrant._words import in_all
from calibrant.batches.columns import Columns
from calibrant.batches.missing import Gaps
from calibrant.cli.console import show, show_statement, spinner
from calibrant.cli.forecasts import Forecasts, read_forecasts
from calibrant.cli.model import Model
from calibrant.cli.tables import refuse_overwrite
from calibrant.distributions.base import Distribution
from calibrant.judging.interface import TERMINAL
from calibrant.metrics.label_kinds import for_labels
from calibrant.reports.forecast import page_path, report_for


@dataclass(frozen=True)
class PageOptions:
    """What the page shows."""

    target: str
    groups: Sequence[str]
    coverage: float
    title: str | None
    time: str | None = None
    features: Sequence[str] = ()
    """Columns to show with a chosen row."""


def report(
    path: Path,
    model: Model,
    columns: Columns,
    options: PageOptions,
    out: Path,
    seed: int | None,
    *,
    gaps: Gaps,
    others: Sequence[Model] = (),
) -> None:
    """Write the page on the rows of a file, and print its verdict; `others` are compared with the model."""
    out = page_path(out)
    refuse_overwrite(out, path, model.path, *(each.path for each in others))
    read = dict.fromkeys([*options.groups, *options.features, *([] if options.time is None else [options.time])])
    found = read_forecasts(path, model, columns, options.target, list(read), gaps=gaps)
    groups = {name: found.groups[name] for name in options.groups}
    distributions = {each.path: _distribution_of(path, found, each, options.target, seed, gaps) for each in others}
    with spinner("looking"), found.naming():
        distributions = {model.path: found.calibrated(model, seed), **distributions}
        named = _named(list(distributions))
        page = report_for(
            TERMINAL,
            {named[each]: distribution for each, distribution in distributions.items()}
            if others
            else distributions[model.path],
            found.y,
            base=for_labels(found.prediction, found.y, model.kind_of_labels),
            groups={**found.by_group(model.by), **groups} or None,
            time=None if options.time is None else found.groups[options.time],
            features={name: found.groups[name] for name in options.features} or None,
            guarantee={named[each.path]: each.calibrated.guarantee for each in (model, *others)}
            if others
            else model.calibrated.guarantee,
            coverage=options.coverage,
            title=options.title,
            label=options.target,
        )
    page.save(out)
    for statement in (page.headline, *page.verdict):
        show_statement(statement)
    show(f"Wrote {out}: open it in a browser.")


def _distribution_of(
    path: Path, found: Forecasts, other: Model, target: str, seed: int | None, gaps: Gaps
) -> Distribution:
    """What another model says of the same rows."""
    theirs = read_forecasts(path, other, other.columns({}), target, gaps=Gaps(refused=gaps.refused))
    if (distinct_label := theirs.complete != found.complete).any():
        raise ValueError(
            f"{path}: row {int(distinct_label.argmax())} has a prediction for one of the models only"
            f" ({in_all(int(distinct_label.sum()))}), and {other.path} can be compared on the same rows only"
        )
    with theirs.naming():
        return theirs.calibrated(other, seed)


def _named(paths: Sequence[Path]) -> dict[Path, str]:
    """The names of files without folder and ending, where these differ."""
    short = {path: path.stem for path in paths}
    return short if len(set(short.values())) == len(paths) else {path: str(path) for path in paths}
