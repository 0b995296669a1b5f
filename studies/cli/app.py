"""The commands of `python -m studies` and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calibrant.cli.commands import DEBUG, Commands
from calibrant.cli.options import Json, names_of
from studies.cli.console import told

app: typer.Typer = typer.Typer(
    cls=Commands,
    help="The paper's study and the league of tabular models, from the datasets to the tables.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Quick = Annotated[bool, typer.Option("--quick", help="Three small datasets, and few splits: 4, or 2 of the league.")]
Names = Annotated[
    str,
    typer.Option("--datasets", metavar="NAME,...", help="All that are available if not given.", show_default=False),
]
Data = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Where the original files are, a folder for each.", show_default=False),
]
Jobs = Annotated[int, typer.Option(help="Cells measured at a time; -1 is one for each core.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of splits and draws.")]
Folder = Annotated[Path, typer.Option(help="Folder of the results; a stopped run continues there.")]
Docs = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Folder of the page; that of the results if not given.")
]
TablesOnly = Annotated[bool, typer.Option("--tables-only", help="Only write the tables, from results that exist.")]


def study(
    *,
    folder: Folder = Path("study"),
    quick: Quick = False,
    only: Names = "",
    splits: Annotated[
        int | None, typer.Option(metavar="COUNT", min=1, help="Splits of each dataset: 16.", show_default=False)
    ] = None,
    data: Data = None,
    jobs: Jobs = -1,
    device: Annotated[str, typer.Option(help="Where the networks are trained: cpu or cuda.")] = "cpu",
    seed: Seed = 0,
    docs: Docs = None,
    tables_only: TablesOnly = False,
    debug: DEBUG = False,
) -> None:
    """Run the paper's empirical study, and write its tables."""
    with told(debug=debug):
        from studies.cli import study as studying

        if tables_only:
            studying.tables(folder, docs)
            return
        options = studying.options_of(
            datasets=names_of([only]) or None,
            splits=splits,
            data=data,
            jobs=jobs,
            device=device,
            seed=seed,
            quick=quick,
        )
        studying.study(folder, options, docs)


def league(
    *,
    folder: Folder = Path("league"),
    quick: Quick = False,
    only: Names = "",
    splits: Annotated[
        str | None,
        typer.Option(
            metavar="COUNT",
            help="Splits of each dataset: 10, which may be run in parts: 0:3, then 3:10.",
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
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="NAME", help="Its column of labels, with --table.", show_default=False)
    ] = None,
    entrants: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="Who takes part; all that are installed, but those of minutes a split, if not given.",
            show_default=False,
        ),
    ] = "",
    beside_autogluon: Annotated[
        bool, typer.Option("--beside-autogluon", help="The splits that AutoGluon had, and who uses every row, too.")
    ] = False,
    jobs: Jobs = 1,
    docs: Docs = None,
    tables_only: TablesOnly = False,
    debug: DEBUG = False,
) -> None:
    """Measure who forecasts tables most sharply, and write the page."""
    with told(debug=debug):
        which = None if splits is None else range_of(splits)
        from studies.cli import league as studying

        if tables_only:
            studying.tables(folder, docs)
            return
        asked = {
            "names": names_of([only]) or None,
            "splits": which,
            "entrants": names_of([entrants]) or None,
            "data": data,
        }
        options = {name: value for name, value in asked.items() if value is not None} | {"jobs": jobs}
        studying.league(
            folder, options, own=table or [], target=target, quick=quick, autogluon=beside_autogluon, docs=docs
        )


def datasets(*, data: Data = None, as_json: Json = False, debug: DEBUG = False) -> None:
    """List the datasets of the paper's study, and which of them are available."""
    with told(debug=debug):
        from calibrant.cli.console import put_json
        from studies.cli import datasets as listing

        if as_json:
            put_json(listing.listed(data))
        else:
            listing.show_list(data)


def range_of(text: str) -> range:
    """The splits of a count, "3", or of a part of a run, "3:6".

    >>> range_of("3"), range_of("3:6")
    (range(0, 3), range(3, 6))
    """
    first, colon, last = text.partition(":")
    try:
        found = range(int(first), int(last)) if colon else range(int(first))
    except ValueError:
        found = range(0)
    if not found or found.start < 0:
        raise typer.BadParameter(f"expected a count from 1 on, or FIRST:END, got {text!r}", param_hint="--splits")
    return found


COMMANDS = (
    (
        study,
        "study --quick",
        "study --data raw --device cuda --jobs 16 --folder results/study",
        "study --tables-only --folder results/study --docs docs",
    ),
    (
        league,
        "league --quick",
        "league --table sales.csv --target price",
        "league --data raw --splits 0:3 --folder results/league",
    ),
    (datasets, "datasets", "datasets --data raw --json"),
)

for command, *examples in COMMANDS:
    app.command(epilog="\n\n".join(["Examples:", *(f"python -m studies {each}" for each in examples)]))(command)
