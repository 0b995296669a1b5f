"""The command line on large files: `python benchmarks/cli.py`, and `--big` for 1e8 rows as well.

`calibrant predict` against a process that merely reads the same columns and writes as many, taken in turn. The table
is printed and written to results/cli.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

WANTED = {3: ["--quantiles", "0.05,0.5,0.95"], 5: ["--quantiles", "0.05,0.5,0.95", "--interval", "0.9"]}
"""What is asked for, by the number of columns that it makes."""
BATCH, BUFFER = 2**18, 2**20  # as in calibrant.tables


def copy(source: str, target: str, count: str) -> None:
    """Read two columns and write some, with the reader's and writer's options of the command line."""
    if source.endswith(".csv"):
        columns = csv.ConvertOptions(include_columns=["mu", "sigma"])
        batches = csv.open_csv(source, csv.ReadOptions(block_size=2**22), convert_options=columns)
        writer = csv.CSVWriter
    else:
        file = parquet.ParquetFile(source, pre_buffer=False, buffer_size=BUFFER)
        batches = file.iter_batches(batch_size=BATCH, columns=["mu", "sigma"])
        writer = parquet.ParquetWriter
    names = [f"column {k}" for k in range(int(count))]
    options = {} if writer is csv.CSVWriter else {"compression": "snappy", "use_dictionary": False}
    with writer(target, pa.schema([(name, pa.float64()) for name in names]), **options) as out:
        for batch in batches:
            columns = [batch["mu" if k % 2 else "sigma"] for k in range(len(names))]
            out.write_batch(pa.RecordBatch.from_arrays(columns, names))


def make(path: Path, rows: int) -> None:
    """A file of normal forecasts, written in pieces: an id that nobody reads, a mean and a standard deviation."""
    rng = np.random.default_rng(0)
    kind = pa.schema([("id", pa.int64()), ("mu", pa.float64()), ("sigma", pa.float64())])
    writer = csv.CSVWriter if path.suffix == ".csv" else parquet.ParquetWriter
    with writer(path, kind) as out:
        for start in range(0, rows, 2**20):
            n = min(2**20, rows - start)
            columns = [np.arange(start, start + n), rng.normal(size=n), rng.uniform(0.5, 1.5, n)]
            out.write_batch(pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=kind))


def child(arguments: Sequence[str | Path]) -> tuple[float, float, float]:
    """Of a fresh interpreter: the seconds it takes, the seconds of its processors, and its peak memory in MiB."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *map(str, arguments)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{arguments} ended with {process.returncode}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(folder: Path, suffix: str, rows: int, columns: int, rounds: int) -> str:
    """A line of the table."""
    source, target = folder / f"in{suffix}", folder / f"out{suffix}"
    make(source, rows)
    predict = ["-m", "calibrant", "predict", source, "-m", folder / "model.safetensors", "-o", target]
    copying = [__file__, "--copy", source, target, columns]
    works = {"predict": [*predict, *WANTED[columns]], "copy": copying}
    runs: dict[str, list[tuple[float, float, float]]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            runs[name].append(child(work))
            target.unlink()
    source.unlink()
    best = [[min(column) for column in zip(*runs[name], strict=True)] for name in works]
    ours, other = best
    peak = max(memory for _, _, memory in runs["predict"])
    cells = [f"{ours[k]:.2f} / {other[k]:.2f} = {ours[k] / other[k]:.2f}" for k in range(2)]
    return f"| {suffix[1:]} | {rows:.0e} | {columns} | {cells[0]} | {cells[1]} | {peak:.0f} MiB |"


def main(rounds: int, *, big: bool) -> None:
    with tempfile.TemporaryDirectory(dir=".") as name:
        folder = Path(name)
        rng = np.random.default_rng(1)
        mu = rng.normal(size=10_000)
        calibration = {"mu": mu, "sigma": rng.uniform(0.5, 1.5, 10_000), "y": mu + rng.normal(size=10_000)}
        parquet.write_table(pa.table(calibration), folder / "cal.parquet")
        fit = ["-m", "calibrant", "fit", folder / "cal.parquet", "--target", "y", "--mean", "mu", "--std", "sigma"]
        child([*fit, "-o", folder / "model.safetensors"])
        lines = [
            "| file | rows | new columns | seconds: predict / copy | processor seconds | peak of predict |",
            "|---|---|---|---|---|---|",
            measure(folder, ".parquet", 1_000, 5, rounds),
            measure(folder, ".parquet", 10_000_000, 5, rounds),
            measure(folder, ".parquet", 10_000_000, 3, rounds),
            measure(folder, ".csv", 10_000_000, 3, min(rounds, 2)),
        ]
        if big:
            lines.append(measure(folder, ".parquet", 100_000_000, 3, 1))
    text = "\n".join(
        [
            "# `calibrant predict` on large files\n",
            "Whole processes, from start to end, in turn with one that merely reads the two columns and writes as many",
            f"as `predict` does, with the same options: the best of {rounds} runs each (csv: 2; 1e8 rows: 1), on"
            f" {os.cpu_count()} cores.",
            "z-score, linear, n = 10,000. The first line is what it takes to start.\n",
            *lines,
            "\nMade by `python benchmarks/cli.py --big`.\n",
        ]
    )
    print(text)
    Path(__file__).parent.parent.joinpath("results", "cli.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--copy", nargs=3, metavar=("FROM", "TO", "COLUMNS"), help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--big", action="store_true", help="1e8 rows too: 10 GB of disk for a few minutes")
    arguments = parser.parse_args()
    if arguments.copy:
        copy(*arguments.copy)
    else:
        main(arguments.rounds, big=arguments.big)
