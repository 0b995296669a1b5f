"""`calibrant report`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from calibrant._words import in_all
from calibrant.cli import horizons
from calibrant.cli.commands import command
from calibrant.cli.console import show, show_statement, spinner
from calibrant.cli.judging import JudgedRows, groups_of
from calibrant.cli.model import Model
from calibrant.cli.options import (
    Csv,
    Input,
    Output,
    PredictionColumns,
    Seed,
    Text,
    Texts,
    level,
    names_of,
    option,
    refuse,
    wrong,
)
from calibrant.cli.reading import refuse_overwrite
from calibrant.distributions.base import Distribution
from calibrant.horizons.calibration import HorizonCalibrated
from calibrant.judging.interface import TERMINAL
from calibrant.metrics.label_kinds import distribution_for_labels, for_labels
from calibrant.reports.forecast import Report, page_path, report_for
from calibrant.tables import TableModel
from calibrant.tables.counts import RowCounts
from calibrant.tables.in_memory import Rows
from calibrant.tables.rows import naming


@command(
    "calibrant report test.parquet -m m.safetensors --target y -o report.html",
    "calibrant report test.csv -m m.safetensors --groups site --time day -o r.html",
    "calibrant report test.csv -m m.safetensors --compare n.safetensors -o r.html",
    "calibrant report test.csv --target count --rate rate -o report.html",
)
def report(
    file: Input,
    *,
    output: Output,
    rows: JudgedRows,
    groups: Annotated[
        Texts,
        option(
            "Columns to slice the rows by: text, numbers or dates. May be repeated; a name with a comma in it goes in"
            " double quotes.",
            metavar="NAME,...",
        ),
    ] = None,
    features: Annotated[
        Texts,
        option("Columns to show with the row chosen on the page: its features, or an id.", metavar="NAME,..."),
    ] = None,
    compare: Annotated[
        list[Path] | None,
        option(
            "Another model file, to compare on the same rows. May be repeated; the page is on that of --model.",
            metavar="FILE",
        ),
    ] = None,
    coverage: Annotated[float, typer.Option(help="Coverage of the intervals in the verdict and the table.")] = 0.9,
    title: Annotated[Text, option("Title of the page.", metavar=None)] = None,
    prediction: PredictionColumns,
    seed: Seed = 0,
    csv: Csv,
) -> None:
    """Write a page with text and charts: how good the forecasts are, before and after calibration.

    Without --model it is on the predictions as they are. It is one HTML file that opens in any browser, without a
    network.
    """
    shown: dict[str, Any] = {"coverage": level(coverage, "coverage"), "title": title}
    slices, beside, model, out = names_of(groups), names_of(features), rows.read_model(), page_path(output)
    by: dict[str, Any] = {}
    if model is None:
        refuse("it goes with --model only", compare=compare)
        refuse_overwrite(out, file)
        found = rows.read_raw(file, csv, prediction, [*slices, *beside])
        with found.naming():
            if not distribution_for_labels(found.prediction, found.y, found.kind).has_distribution:
                raise ValueError(
                    f"{found.prediction!r} is no distribution of each row, and a report is of distributions:"
                    " calibrate it with calibrant fit and name the model by --model"
                )
        judged, shown["labels"] = found.prediction, found.kind
    elif by_horizon := model.by_horizon:
        why = "a model of horizons is reported by horizon alone"
        refuse(why, groups=groups, features=features, time=rows.time, compare=compare)
        refuse_overwrite(out, file, model.path)
        _save(_of_horizons(file, csv, by_horizon, seed, **shown), out)
        return
    else:
        model = model.of_target(rows.target)
        named = model.named(prediction, target=rows.target, weights=rows.weights, by=rows.by)
        label = named.columns.target
        others = [_other(each, model.path, label) for each in dict.fromkeys(compare or [])]
        refuse_overwrite(out, file, model.path, *(each.path for each in others))
        found = rows.read(file, csv, named.columns, named.calibrated.labels, [*slices, *beside])
        by = groups_of(found)
        with spinner("looking"), found.naming():
            judged = _calibrated(named, found, seed)
            shown["base"] = for_labels(found.prediction, found.y, model.kind_of_labels)
        shown["guarantee"] = named.calibrated.guarantee
        if others:
            names = _names_of([model, *others])
            judged = {names[model.path]: judged}
            for each in others:
                judged[names[each.path]] = _on_the_same_rows(file, csv, rows, found, each, label, seed)
            shown["guarantee"] = {names[each.path]: each.calibrated.guarantee for each in (model, *others)}
    with spinner("looking"), found.naming():
        page = report_for(
            TERMINAL,
            judged,
            found.y,
            groups={**by, **{name: found.others[name] for name in slices}} or None,
            time=rows.times(found),
            features={name: found.others[name] for name in beside} or None,
            label=found.columns.target,
            **shown,
        )
    _save(page, out)


def _save(page: Report, out: Path) -> None:
    """Write the page, and print its verdict."""
    page.save(out)
    for statement in (page.headline, *page.verdict):
        show_statement(statement)
    show(f"Wrote {out}: open it in a browser.")


def _of_horizons(path: Path, csv: Csv, calibrated: HorizonCalibrated, seed: int, **shown: Any) -> Report:
    """The page on the rows of a file, sliced by horizon."""
    table = horizons.read(path, csv)
    with spinner("looking"), naming(str(path)):
        rows = calibrated.labelled(table)
        return report_for(
            TERMINAL,
            calibrated(rows, seed=seed),
            rows.y,  # type: ignore[arg-type]
            base=rows.prediction,
            groups={"horizon": list(map(str, rows.horizon))},
            guarantee=calibrated.guarantee,
            label=calibrated.columns.target,
            **shown,
        )


def _calibrated(model: TableModel, rows: Rows, seed: int) -> Distribution:
    """H of every row."""
    with RowCounts.silenced():
        return model.calibrated(rows.prediction, **rows.known, seed=seed)


def _other(path: Path, model: Path, target: str | None) -> Model:
    """Another model of the same label."""
    if path == model:
        raise wrong(f"{path} is the model that the page is on", "compare")
    return Model.read(path).of_target(target)


def _on_the_same_rows(
    path: Path, csv: Csv, rows: JudgedRows, found: Rows, other: Model, target: str | None, seed: int
) -> Distribution:
    """What another model says of the same rows."""
    named = other.named(PredictionColumns(), target=target)
    theirs = rows.read(path, csv, named.columns, named.calibrated.labels)
    distinct = np.setxor1d(np.asarray(theirs.batch.kept), np.asarray(found.batch.kept))
    if distinct.size:
        raise ValueError(
            f"{path}: row {int(distinct[0])} has a prediction for one of the models only ({in_all(distinct.size)}),"
            f" and {other.path} can be compared on the same rows only"
        )
    with theirs.naming():
        return _calibrated(named, theirs, seed)


def _names_of(models: Sequence[Model]) -> Mapping[Path, str]:
    """The names of files without folder and ending, where these differ."""
    short = {each.path: each.path.stem for each in models}
    return short if len(set(short.values())) == len(models) else {each.path: str(each.path) for each in models}
