"""The options of `calibrant study`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from calibrant.cli.console import needing, reported
from calibrant.cli.later import later
from calibrant.cli.options import Data, Debug
from calibrant.cli.texts import parts_of

EXAMPLES = (
    "calibrant study --quick",
    "calibrant study --data raw --device cuda --jobs 16 --folder results/study",
    "calibrant study --tables-only --folder results/study --docs docs",
    "calibrant study --design tabular --quick",
    "calibrant study --design tabular --table sales.csv --target price",
    "calibrant study --design tabular --data raw --jobs 16 --splits 0:3 --folder results/league",
)


TABULAR = "Of the tabular design"


class Study(StrEnum):
    """What `calibrant study` can run."""

    paper = "paper"
    tabular = "tabular"


def study(
    *,
    design: Annotated[
        Study, typer.Option(help="paper: the paper's study; tabular: the league of methods on tabular models.")
    ] = Study.paper,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the results; a stopped run continues there. 'study', or 'league' if tabular.",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Three small datasets, and few splits: 4, or 2 if tabular.")
    ] = False,
    only: Annotated[
        str,
        typer.Option("--datasets", metavar="NAME,...", help="All that are available if not given.", show_default=False),
    ] = "",
    splits: Annotated[
        str | None,
        typer.Option(
            metavar="COUNT",
            help="Splits of each dataset: 16, or 10 if tabular, which may be run in parts: 0:3, then 3:10.",
            show_default=False,
        ),
    ] = None,
    data: Data = None,
    table: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="A csv or parquet file of your own, of numbers, in place of the datasets. May be repeated.",
            show_default=False,
            rich_help_panel=TABULAR,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Its column of labels, with --table.", show_default=False, rich_help_panel=TABULAR
        ),
    ] = None,
    bases: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="Base models among hgb, rf, ridge and lightgbm; all that are installed if not given.",
            show_default=False,
            rich_help_panel=TABULAR,
        ),
    ] = "",
    jobs: Annotated[int, typer.Option(help="Cells measured at a time; -1 is one for each core.")] = -1,
    device: Annotated[
        str, typer.Option(help="Where the networks of the paper's study are trained: cpu or cuda.")
    ] = "cpu",
    seed: Annotated[int, typer.Option(min=0, help="Seed of splits and draws.")] = 0,
    docs: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder of the page; that of the results if not given.")
    ] = None,
    tables_only: Annotated[
        bool, typer.Option("--tables-only", help="Only write the tables, from results that exist.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Run an empirical study, the paper's or the league of tabular models, and write its tables."""
    with reported(debug=debug), needing("study"):
        which = None if splits is None else _range(splits)
        if not tables_only:  # before the libraries of a study are asked for
            of_paper = {"--device": device != "cpu"}
            of_tabular = {"--table": bool(table), "--target": target is not None, "--bases": bool(bases)}
            _not_for(design, of_paper if design is Study.tabular else of_tabular)
            if design is Study.paper and which is not None and which.start:
                raise typer.BadParameter(
                    f"the paper's study takes a number of splits, got {splits!r}", param_hint="--splits"
                )
        studying = later("league" if design is Study.tabular else "study")
        folder = folder or Path("league" if design is Study.tabular else "study")
        if tables_only:
            studying.tables(folder, docs)
            return
        names = parts_of(only) or None
        if design is Study.tabular:
            options = studying.options_of(
                datasets=names,
                splits=which,
                data=data,
                own=table or [],
                target=target,
                bases=parts_of(bases) or None,
                jobs=jobs,
                seed=seed,
                quick=quick,
            )
            studying.league(folder, options, docs)
            return
        options = studying.options_of(
            datasets=names,
            splits=None if which is None else which.stop,
            data=data,
            jobs=jobs,
            device=device,
            seed=seed,
            quick=quick,
        )
        studying.study(folder, options, docs)


def _range(text: str) -> range:
    """The splits of a count, "3", or of a part of a run, "3:6"."""
    first, colon, last = text.partition(":")
    try:
        found = range(int(first), int(last)) if colon else range(int(first))
    except ValueError:
        found = range(0)
    if not found or found.start < 0:
        raise typer.BadParameter(f"expected a count from 1 on, or FIRST:END, got {text!r}", param_hint="--splits")
    return found


def _not_for(design: str, given: dict[str, bool]) -> None:
    for flag, there in given.items():
        if there:
            raise typer.BadParameter(f"the {design} design has no such option", param_hint=flag)
