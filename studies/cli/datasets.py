"""`python -m studies datasets`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from calibrant.cli.console import show
from studies.datasets import DATASETS, DatasetError
from studies.datasets.find import at_hand


def listed(data: Path | None) -> list[dict[str, Any]]:
    """The study's datasets and where each is at hand, its file checked, as JSON values; nothing is downloaded."""
    return [
        {
            "name": each.name,
            "rows": each.n,
            "features": each.d,
            "target": each.target,
            "at_hand": found and found.source,
            "path": found and str(found.path),
            "problem": found and _problem(found),
            "served": each.url is not None,
            "home": each.page,
            "licence": each.licence,
        }
        for each, found in ((each, at_hand(each, data)) for each in DATASETS.values())
    ]


def _problem(found: Any) -> str | None:
    try:
        found.content()
    except DatasetError as error:
        return str(error)
    return None


def show_list(data: Path | None) -> None:
    """Print it as a table."""
    from rich import box
    from rich.table import Table

    table = Table("dataset", "rows", "features", "at hand", "target", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in table.columns[1:3]:
        column.justify = "right"
    table.columns[0].no_wrap = True
    found = listed(data)
    for each in found:
        where = each["at_hand"] or ("to be downloaded" if each["served"] else "no, nor to be downloaded")
        table.add_row(
            each["name"],
            f"{each['rows']:,}",
            str(each["features"]),
            f"{where}: {each['problem']}" if each["problem"] else where,
            each["target"],
        )
    show(table)
    ready = sum(each["at_hand"] is not None and each["problem"] is None for each in found)
    show(f"{ready} of {len(found)} are available; their sources and licences are in --json.")
