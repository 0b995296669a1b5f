"""All the files of the paper's study: its tables, its figure, and the page that compares it with the paper."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from studies.files import tables_and_figure
from studies.folder import write_all
from studies.paper.page import page
from studies.paper.reading import read
from studies.paper.tables import per_dataset, table1, table2
from studies.paper.why import explanations
from studies.results import Results
from studies.tables import MeansTable, intervals

PAGE = "reproduction.md"
WHY = "why.json"


def write(
    cells: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    docs: str | os.PathLike[str] | None = None,
    *,
    why: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write the tables, the figure and the pages of the paper's study, and return the files, each whole or not at all.

    Args:
        cells: The file of results, `cells.jsonl`.
        folder: Where table1, table2, per_dataset and intervals go (.csv, .md), and the figure (.png).
        docs: The folder of the page, `reproduction.md`; without it the page goes to `folder`.
        why: For datasets that come out worse than published, a sentence that says why. Without it, those of
            `why.json` in `folder` are taken, {dataset: sentence}, if it is there.
    """
    results, folder = read(cells), Path(folder)
    home = folder if docs is None else Path(docs)
    why = explanations(folder / WHY) if why is None else why
    files = tables_and_figure(results, _tables(results))
    text = page(results, why=why, home=Path(os.path.relpath(folder, home)))
    return [*write_all(folder, files), *write_all(home, {PAGE: text})]


def _tables(results: Results) -> dict[str, tuple[MeansTable, ...]]:
    return {
        "table1": (table1(results),),
        "table2": (table2(results),),
        "intervals": (intervals(results),),
        "per_dataset": per_dataset(results),
    }
