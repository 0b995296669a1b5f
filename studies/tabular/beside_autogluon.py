"""`CalibratedRegressor()` on the splits that AutoGluon had, and the two side by side.

    python -m studies.tabular.beside_autogluon cuts.npz results/league/blend.jsonl results/league/autogluon.jsonl

A run that was stopped goes on where it was; the last file is what `studies.tabular.autogluon measure` wrote.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from calibrant import CalibratedRegressor
from studies.tabular.autogluon import EVEN, PARTS, SPLITS, measures

METHODS: dict[str, tuple[Any, Any]] = {
    "blend, split": (None, "auto"),
    "blend, every row": (None, 5),
    "scikit-learn only, split": ("sklearn", "auto"),
    "scikit-learn only, every row": ("sklearn", 5),
}
CHOSEN_ON = ("boston", "concrete", "forest-fires", "kin8nm", "protein", "wine", "yacht")
"""The tables on whose splits 0 to 4 the models of the blend and their settings were chosen."""


def run(path: str, results: str) -> None:
    """Every method on every split that `results` has no line for."""
    file, table = Path(results), np.load(path)
    known = map(json.loads, file.read_text(encoding="utf-8").splitlines()) if file.exists() else ()
    done = {(line["dataset"], line["split"], line["method"]) for line in known}
    for split in SPLITS:
        for name in sorted({key.partition("/")[0] for key in table.files}):
            train, y_train, cal, y_cal, test, y = (table[f"{name}/{split}/{part}"] for part in PARTS)
            for method, (estimator, cv) in METHODS.items():
                if (name, split, method) in done:
                    continue
                start, clock = time.process_time(), time.monotonic()
                with threadpool_limits(1), warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of ties and copies in the tables
                    model = CalibratedRegressor(estimator, cv=cv, random_state=split).fit(
                        np.concatenate([train, cal]), np.concatenate([y_train, y_cal])
                    )
                    used, passed, clock = time.process_time() - start, time.monotonic() - clock, time.monotonic()
                    quantiles = np.asarray(model.predict_distribution(test).quantiles(EVEN))
                line = {
                    "dataset": name,
                    "split": split,
                    "method": method,
                    "n": len(y_train) + len(y_cal),
                    **measures(y, quantiles),
                    "cpu_seconds": round(used, 1),
                    "fit_seconds": round(passed, 1),
                    "predict_seconds": round(time.monotonic() - clock, 2),
                    "weights": {key: round(float(value), 2) for key, value in model.weights_.items() if value},
                }
                with file.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(line) + "\n")


def table_of(results: str, others: str) -> str:
    """The two side by side, as lines of Markdown: on all tables, and on those that no choice has seen."""
    theirs = {(line["dataset"], line["split"]): line for line in _lines(others)}
    ours = [line for line in _lines(results) if (line["dataset"], line["split"]) in theirs]
    rows = [
        "| | splits | CRPS | 90% interval score | better on | coverage, mean | lowest | CPU seconds |",
        "|---|---|---|---|---|---|---|---|",
        _row("AutoGluon best_quality", list(theirs.values()), theirs),
    ]
    for method in METHODS:
        own = [line for line in ours if line["method"] == method]
        unseen = [line for line in own if line["dataset"] not in CHOSEN_ON and line["split"] >= 5]
        rows += [_row(method, own, theirs), _row(f"{method}, unseen", unseen, theirs)]
    return "\n".join(rows)


def _lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def _row(name: str, lines: list[dict[str, Any]], theirs: dict[tuple[str, int], dict[str, Any]]) -> str:
    """Geometric means of the ratios to AutoGluon's measures on the same split."""
    if not lines:
        return f"| {name} | 0 | | | | | | |"

    def ratio(key: str) -> Any:
        return np.array([line[key] / theirs[line["dataset"], line["split"]][key] for line in lines])

    crps, score = ratio("crps"), ratio("interval_score")
    seconds = np.mean([line.get("cpu_seconds", line["fit_seconds"]) for line in lines])
    coverage = [line["coverage"] for line in lines]
    cells = [
        len(lines),
        f"{np.exp(np.mean(np.log(crps))):.3f}",
        f"{np.exp(np.mean(np.log(score))):.3f}",
        f"{np.sum(crps < 1)} of {len(lines)}",
        f"{np.mean(coverage):.3f}",
        f"{np.min(coverage):.3f}",
        f"{seconds:.0f}",
    ]
    return f"| {name} | " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cuts")
    parser.add_argument("results")
    parser.add_argument("autogluon")
    asked = parser.parse_args()
    run(asked.cuts, asked.results)
    print(table_of(asked.results, asked.autogluon))
