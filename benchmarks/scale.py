"""Tables larger than memory: `python benchmarks/scale.py`, with `--rows 1e8` by default.

A folder of parquet files, a million rows each, is fitted, predicted and evaluated: in one process by
`calibrant.batches`, and by `calibrant.dask` on a LocalCluster of one and of two worker processes. Beside it a process
that merely reads the same columns and writes as many. Every work is a process of its own, taken in turn; the table is
printed and written to results/scale.md.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

PER_FILE, BATCH = 10**6, 2**18
LEVELS = [0.05, 0.5, 0.95]
NAMES = {"target": "y", "mean": "mu", "std": "sigma", "ids": "id"}
SNAPPY: dict[str, Any] = {"compression": "snappy", "use_dictionary": False}


def make(folder: Path, rows: int) -> None:
    """An id, a mean, a standard deviation and a label, in files of a million rows."""
    for number in range(rows // PER_FILE):
        rng = np.random.default_rng(number)
        mu, sigma = rng.normal(size=PER_FILE), rng.uniform(0.5, 1.5, PER_FILE)
        y = mu + 1.2 * sigma * rng.normal(size=PER_FILE)
        ids = np.arange(number * PER_FILE, (number + 1) * PER_FILE)
        table = pa.table({"id": ids, "mu": mu, "sigma": sigma, "y": y})
        parquet.write_table(table, folder / f"part.{number}.parquet", **SNAPPY)


def read(folder: str, columns: list[str]) -> Iterator[pa.RecordBatch]:
    for path in sorted(Path(folder).glob("*.parquet"), key=lambda path: int(path.name.split(".")[1])):
        with parquet.ParquetFile(path, pre_buffer=False, buffer_size=2**20) as file:
            yield from file.iter_batches(batch_size=BATCH, columns=columns)


def write(path: str, schema: pa.Schema, rows: Any) -> None:
    with parquet.ParquetWriter(path, schema, **SNAPPY) as out:
        for batch in rows:
            out.write_batch(batch)


def copy(folder: str, target: str, model: str) -> None:
    """Read two columns, write three."""
    schema = pa.schema([(f"q{level}", pa.float64()) for level in LEVELS])
    rows = read(folder, ["mu", "sigma"])
    write(target, schema, (pa.RecordBatch.from_arrays([b["mu"], b["sigma"], b["mu"]], schema=schema) for b in rows))


def fit(folder: str, target: str, model: str) -> None:
    from calibrant import batches

    batches.fit(read(folder, ["id", "mu", "sigma", "y"]), **NAMES).save(model)


def predict(folder: str, target: str, model: str) -> None:
    from calibrant import batches

    known = batches.TableModel.read(model)
    result = batches.predict(read(folder, ["mu", "sigma"]), known, quantiles=LEVELS, keep=[])
    write(target, result.schema, result)


def evaluate(folder: str, target: str, model: str) -> None:
    from calibrant import batches

    batches.evaluate(read(folder, ["mu", "sigma", "y"]), batches.TableModel.read(model))


def dask_fit(folder: str, target: str, model: str) -> None:
    import calibrant.dask

    ddf = calibrant.dask.read_parquet(folder)
    calibrant.dask.fit(ddf, **NAMES).save(f"{model}.dask")
    if Path(model).read_bytes() != Path(f"{model}.dask").read_bytes():
        raise SystemExit("Dask gave another model")


def dask_predict(folder: str, target: str, model: str) -> None:
    import calibrant.dask
    from calibrant import batches

    ddf = calibrant.dask.read_parquet(folder, ["mu", "sigma"])
    predicted = calibrant.dask.predict(ddf, batches.TableModel.read(model), quantiles=LEVELS, keep=[])
    calibrant.dask.to_parquet(predicted, target)


def dask_copy(folder: str, target: str, model: str) -> None:
    """What Dask itself takes to read two columns and write three."""
    import dask.dataframe as dd

    ddf = dd.read_parquet(folder, columns=["mu", "sigma"])
    ddf.assign(again=ddf["mu"]).to_parquet(target, write_index=False)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def child(work: str, workers: int, folder: str, target: str, model: str) -> None:
    """One work, in this process or by workers; prints its seconds and the peak memory of a process in GiB."""
    if not workers:
        start = time.perf_counter()
        WORKS[work](folder, target, model)
        print(json.dumps([time.perf_counter() - start, peak()]))
        return
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        client.run(lambda: __import__("calibrant.dask"))  # what is measured is the work, not the imports
        start = time.perf_counter()
        WORKS[work](folder, target, model)
        seconds = time.perf_counter() - start
        print(json.dumps([seconds, max(peak(), *client.run(peak).values())]))


WORKS = {f.__name__: f for f in (copy, fit, predict, evaluate, dask_copy, dask_fit, dask_predict)}
RUNS = [
    ("copy", 0),
    ("fit", 0),
    ("predict", 0),
    ("evaluate", 0),
    ("dask_copy", 1),
    ("dask_fit", 1),
    ("dask_predict", 1),
    ("dask_copy", 2),
    ("dask_fit", 2),
    ("dask_predict", 2),
]


def measured(work: str, workers: int, folder: Path) -> tuple[float, float]:
    target = folder / "out"
    arguments = [sys.executable, __file__, "--child", work, str(workers), str(folder / "in"), str(target)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    found = subprocess.run(
        [*arguments, str(folder / "model.safetensors")], check=True, capture_output=True, text=True, env=environment
    )
    if target.is_dir():
        shutil.rmtree(target)
    target.unlink(missing_ok=True)
    seconds, memory = json.loads(found.stdout.splitlines()[-1])
    return seconds, memory


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=float, default=1e8)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--child", nargs=5)
    options = parser.parse_args()
    if options.child:
        work, workers, *paths = options.child
        child(work, int(workers), *paths)
        return
    rows, runs = int(options.rows), {run: [] for run in RUNS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in").mkdir()
        make(folder / "in", rows)
        for _ in range(options.rounds):
            for run in RUNS:
                runs[run].append(measured(*run, folder))
                print(*run, runs[run][-1], file=sys.stderr, flush=True)
    lines = [
        f"# Tables larger than memory: {rows:,} rows in files of {PER_FILE:,}",
        "",
        f"`python benchmarks/scale.py --rows {rows} --rounds {options.rounds}`, 2 shared cores, one thread a process;",
        "the fastest of the rounds. The copy reads mean and standard deviation and writes three columns, as predict",
        "does. The share is its time over that of the work, for Dask that of Dask's own copy by as many workers.",
        "",
        "| work | workers | seconds | million rows a second | share of the copy's speed | peak memory of a process |",
        "|---|---|---|---|---|---|",
    ]
    best = {run: min(seconds for seconds, _ in found) for run, found in runs.items()}
    for run, found in runs.items():
        work, workers = run
        beside = best["dask_copy" if workers else "copy", workers]
        memory = max(memory for _, memory in found)
        lines.append(
            f"| {work.replace('_', ', ').replace('dask', 'Dask')} | {workers or 'one process'} | {best[run]:.1f} |"
            f" {rows / best[run] / 1e6:.1f} | {100 * beside / best[run]:.0f}% | {memory:.2f} GiB |"
        )
    text = "\n".join(lines) + "\n"
    Path(__file__).parents[1].joinpath("results", "scale.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
