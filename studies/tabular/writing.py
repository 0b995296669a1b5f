"""The tables and the page of the league as files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from studies.folder import write_all
from studies.tabular.outcomes import read
from studies.tabular.page import page
from studies.tabular.summary import duels_csv, per_dataset_csv, summary_csv, summary_md

PAGE = "league.md"


def write(
    cells: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    docs: str | os.PathLike[str] | None = None,
) -> list[Path]:
    """Write the tables and the page, and return the files, each whole or not at all.

    Args:
        cells: The file of results, `cells.jsonl`; several where the league was run in parts on several machines.
        folder: Where summary.csv, summary.md, tests.csv and per_dataset.csv go.
        docs: The folder of the page, `league.md`; without it the page goes to `folder`.
    """
    outcomes, folder = read(cells), Path(folder)
    files = {
        "summary.csv": summary_csv(outcomes),
        "summary.md": summary_md(outcomes),
        "tests.csv": duels_csv(outcomes),
        "per_dataset.csv": per_dataset_csv(outcomes),
    }
    return [*write_all(folder, files), *write_all(folder if docs is None else Path(docs), {PAGE: page(outcomes)})]
