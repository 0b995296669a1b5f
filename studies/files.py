"""The tables and the figure of a study as files, each written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from studies.figure import figure
from studies.folder import write_all
from studies.results import Results
from studies.tables import MeansTable, tables_of
from studies.writers import averages_csv, markdown, per_dataset_csv


def write_tables(results: Results, folder: str | os.PathLike[str]) -> list[Path]:
    """Write what every study has, and return the files: methods, intervals and per_dataset, and the figure."""
    return write_all(Path(folder), tables_and_figure(results, tables_of(results)))


def tables_and_figure(results: Results, tables: Mapping[str, tuple[MeansTable, ...]]) -> dict[str, str | bytes]:
    """The content of each file: the tables as .csv and .md, the intervals as .png too."""
    files: dict[str, str | bytes] = {}
    for name, several in tables.items():
        files[f"{name}.csv"] = per_dataset_csv(results) if name == "per_dataset" else averages_csv(*several)
    for name, several in tables.items():
        files[f"{name}.md"] = f"# The study: {name}\n\n" + "\n".join(map(markdown, several))
    return files | {"intervals.png": figure(results)}
