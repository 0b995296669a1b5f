"""AutoGluon on some of the league's splits, in an environment of its own: the strongest that one could take instead.

From the root of the repository, the first and the last with the project's Python, the second with one that has
AutoGluon, on a core of its own, since its time is that of the clock:

    python -m studies.league.with_autogluon splits splits.npz --data FOLDER
    taskset --cpu-list 0 python studies/league/with_autogluon.py run splits.npz quantiles.jsonl
    python -m studies.league.with_autogluon measure splits.npz quantiles.jsonl results/league/results.csv

A run that was stopped goes on where it was, also after the lines of results/league/results.csv.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

SECONDS, PRESET = 240, "best_quality"
LEVELS = [0.01, 0.025, *(round(0.05 * k, 2) for k in range(1, 20)), 0.975, 0.99]
PARTS = ("X", "y", "X_new", "y_new")
MEASURED = Path(__file__).parents[2] / "results" / "league" / "results.csv"


def splits(path: str, data: str | None) -> None:
    """The splits as one file."""
    from studies.datasets import DATASETS, AbsentError, load
    from studies.league.running import FEW_ROWS, FEW_SPLITS
    from studies.league.table import Split

    found: dict[str, Any] = {}
    for name in DATASETS:
        try:
            table = load(name, folder=data)
        except AbsentError as error:
            print(f"left out: {error}")
            continue
        for number in FEW_SPLITS:
            split = Split.of(table, number, FEW_ROWS)
            found |= {f"{name}/{number}/{part}": getattr(split, part) for part in PARTS}
    np.savez_compressed(path, **found)


def run(path: str, results: str) -> None:
    """AutoGluon's quantiles of the test rows of every split that has no line yet."""
    for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[threads] = "1"
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 (else its workers yield to whatever else runs)
    import pandas as pd  # type: ignore[import-untyped, unused-ignore]
    from autogluon.tabular import TabularPredictor, __version__  # type: ignore[import-not-found, unused-ignore]

    file, table = Path(results), np.load(path)
    done = {(line["table"], line["split"]) for line in _lines(file)} | _measured()
    for key in sorted({tuple(key.split("/")[:2]) for key in table.files}, key=lambda key: (-int(key[1]), key[0])):
        name, number = key[0], int(key[1])
        if (name, number) in done:
            continue
        X, y, new = (table[f"{name}/{number}/{part}"] for part in PARTS[:3])
        columns, start = [f"f{k}" for k in range(X.shape[1])], time.time()
        with tempfile.TemporaryDirectory() as folder:
            model = TabularPredictor(
                label="y", problem_type="quantile", quantile_levels=LEVELS, path=folder, verbosity=0
            ).fit(
                pd.DataFrame(X, columns=columns).assign(y=y), presets=PRESET, time_limit=SECONDS, num_cpus=1, num_gpus=0
            )
            fitted = time.time()
            quantiles = model.predict(pd.DataFrame(new, columns=columns)).to_numpy()
        line = {
            "table": name,
            "split": number,
            "rows": len(y),
            "fit": fitted - start,
            "predict": time.time() - fitted,
            "version": __version__,
            "quantiles": np.round(np.sort(quantiles, axis=1), 6).tolist(),
        }
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(line) + "\n")


def measure(path: str, results: str, to: str) -> None:
    """A line of results for each, its distribution straight between the quantiles."""
    from studies.league.entrants import LEVELS as EVEN
    from studies.league.running import add_autogluon, measures

    table, found = np.load(path), []
    for line in _lines(Path(results)):
        quantiles = np.stack([np.interp(EVEN, LEVELS, row) for row in np.array(line.pop("quantiles"))])
        found.append(line | measures(table[f"{line['table']}/{line['split']}/y_new"], quantiles) | {"failed": ""})
    add_autogluon(Path(to), found)


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def _measured() -> set[tuple[str, int]]:
    with MEASURED.open(encoding="utf-8") as file:
        return {(line["table"], int(line["split"])) for line in csv.DictReader(file) if line["entrant"] == "AutoGluon"}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["splits", "run", "measure"])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--data")
    asked = parser.parse_args()
    if asked.step == "splits":
        splits(asked.files[0], asked.data)
    elif asked.step == "run":
        run(*asked.files)
    else:
        measure(*asked.files)
