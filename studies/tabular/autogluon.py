"""AutoGluon on the league's splits, in an environment of its own: the strongest thing a user could take instead.

From the root of the repository, the first with the project's Python, the second with one that has AutoGluon:

    python -m studies.tabular.autogluon cuts cuts.npz --data FOLDER
    python studies/tabular/autogluon.py run cuts.npz autogluon.jsonl
    python -m studies.tabular.autogluon measure cuts.npz autogluon.jsonl results/league/autogluon.jsonl

A run that was stopped goes on where it was, also after the lines of results/league/autogluon.jsonl. Give it a machine
of its own: AutoGluon's time is that of the clock, and it fits two models at once whatever `num_cpus` says.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np

ROWS, SPLITS, SECONDS, PRESET = 2_000, (0, 5), 240, "best_quality"
LEVELS = [0.01, 0.025, *(round(0.05 * k, 2) for k in range(1, 20)), 0.975, 0.99]
EVEN = np.arange(1, 100) / 100
MEASURED = Path(__file__).parents[2] / "results" / "league" / "autogluon.jsonl"
PARTS = ("X_train", "y_train", "X_cal", "y_cal", "X_test", "y_test")


def cuts(path: str, data: str | None) -> None:
    """The splits as one file: what is 60% and 20% for others is 80% to train on here."""
    from studies.datasets import DATASETS, AbsentError, load
    from studies.tabular.cut import Cut

    found: dict[str, Any] = {}
    for name in DATASETS:
        try:
            table = load(name, folder=data)
        except AbsentError as error:
            print(f"left out: {error}")
            continue
        for split in SPLITS:
            cut = Cut.of(table, split, ROWS, 0)
            found |= {f"{name}/{split}/{part}": getattr(cut, part) for part in PARTS}
    np.savez_compressed(path, **found)


def run(path: str, results: str) -> None:
    """AutoGluon's quantiles of the test rows of every split that `results` has no line for."""
    for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[threads] = "1"
    import pandas as pd  # type: ignore[import-untyped, unused-ignore]
    from autogluon.tabular import TabularPredictor, __version__  # type: ignore[import-not-found, unused-ignore]

    file, table = Path(results), np.load(path)
    done = _done(results) | _done(MEASURED)
    for split in reversed(SPLITS):
        for name in sorted({key.partition("/")[0] for key in table.files}):
            if (name, split) in done:
                continue
            X, y, new = _training(table, name, split)
            columns = [f"f{k}" for k in range(X.shape[1])]
            folder, start = f"autogluon-{name}", time.time()
            shutil.rmtree(folder, ignore_errors=True)
            model = TabularPredictor(
                label="y", problem_type="quantile", quantile_levels=LEVELS, path=folder, verbosity=0
            ).fit(
                pd.DataFrame(X, columns=columns).assign(y=y), presets=PRESET, time_limit=SECONDS, num_cpus=1, num_gpus=0
            )
            seconds, start = time.time() - start, time.time()
            quantiles = model.predict(pd.DataFrame(new, columns=columns)).to_numpy()
            line = {
                "dataset": name,
                "split": split,
                "n": len(y),
                "autogluon": __version__,
                "fit_seconds": round(seconds, 1),
                "predict_seconds": round(time.time() - start, 2),
                "models": list(model.model_names()),
                "quantiles": np.round(np.sort(quantiles, axis=1), 6).tolist(),
            }
            with file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(line) + "\n")
            shutil.rmtree(folder, ignore_errors=True)


def _done(path: str | Path) -> set[tuple[str, int]]:
    """The splits that a file has a line for."""
    lines = Path(path).read_text(encoding="utf-8").splitlines() if Path(path).exists() else []
    return {(line["dataset"], line["split"]) for line in map(json.loads, lines)}


def _training(table: Any, name: str, split: int) -> tuple[Any, Any, Any]:
    train, y_train, cal, y_cal, test, _ = (table[f"{name}/{split}/{part}"] for part in PARTS)
    return np.concatenate([train, cal]), np.concatenate([y_train, y_cal]), test


def measure(path: str, results: str, to: str) -> None:
    """The measures of each line, without its quantiles."""
    table = np.load(path)
    known = _done(to)
    with Path(to).open("a", encoding="utf-8") as out:
        for line in map(json.loads, Path(results).read_text(encoding="utf-8").splitlines()):
            if (line["dataset"], line["split"]) in known:
                continue
            y = table[f"{line['dataset']}/{line['split']}/y_test"]
            quantiles = np.sort(np.array(line.pop("quantiles")), axis=1)
            line |= measures(y, np.stack([np.interp(EVEN, LEVELS, row) for row in quantiles]))
            out.write(json.dumps(line) + "\n")


def measures(y: Any, quantiles: Any) -> dict[str, float]:
    """CRPS (twice the mean pinball loss over 99 levels), 90% interval score, coverage and width of the 90% interval."""
    short = y[:, None] - quantiles
    lower, upper = quantiles[:, 4], quantiles[:, 94]
    outside = np.maximum(lower - y, 0) + np.maximum(y - upper, 0)
    return {
        "crps": float(2 * np.mean(np.maximum(EVEN * short, (EVEN - 1) * short))),
        "interval_score": float(np.mean(upper - lower + 20 * outside)),
        "coverage": float(np.mean((lower <= y) & (y <= upper))),
        "width": float(np.mean(upper - lower)),
    }


def main() -> None:
    """One of the three steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["cuts", "run", "measure"])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--data")
    asked = parser.parse_args()
    if asked.step == "cuts":
        cuts(asked.files[0], asked.data)
    elif asked.step == "run":
        run(*asked.files)
    else:
        measure(*asked.files)


if __name__ == "__main__":
    main()
