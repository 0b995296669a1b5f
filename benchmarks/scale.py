"""Tables larger than memory: `python benchmarks/scale.py`, 1e8 rows in one process, 2e7 by engines, or as told.

A folder of parquet files, a million rows each, is fitted, predicted and evaluated: in one process by
`calibrant.tables`, by Dask on a LocalCluster of one and of two worker processes, and by Spark on one and on two cores,
if pyspark is there. Beside it a process that merely reads the same columns and writes as many.
Every work is a process of its own, taken in turn; the table is printed and written to results/scale.md.
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
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

PER_FILE, BATCH = 10**6, 2**18
LEVELS = [0.05, 0.5, 0.95]
NAMES = {"target": "y", "mean": "mu", "std": "sigma"}
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
    from calibrant import tables

    tables.fit(read(folder, ["id", "mu", "sigma", "y"]), tables.Columns(**NAMES), ids="id").save(model)


def predict(folder: str, target: str, model: str) -> None:
    from calibrant import tables

    known = tables.TableModel.read(model)
    result = tables.predict(read(folder, ["mu", "sigma"]), known, quantiles=LEVELS, keep=[])
    write(target, result.schema, result)


def evaluate(folder: str, target: str, model: str) -> None:
    from calibrant import tables

    tables.evaluate(read(folder, ["mu", "sigma", "y"]), tables.TableModel.read(model))


def dask_fit(folder: str, target: str, model: str) -> None:
    from calibrant import tables
    from calibrant.tables.dask import read_parquet

    tables.fit(read_parquet(folder), tables.Columns(**NAMES), ids="id").save(f"{model}.dask")
    if Path(model).read_bytes() != Path(f"{model}.dask").read_bytes():
        raise SystemExit("Dask gave another model")


def dask_predict(folder: str, target: str, model: str) -> None:
    from calibrant import tables
    from calibrant.tables.dask import read_parquet, to_parquet

    ddf = read_parquet(folder, ["mu", "sigma"])
    to_parquet(tables.predict(ddf, tables.TableModel.read(model), quantiles=LEVELS, keep=[]), target)


def dask_copy(folder: str, target: str, model: str) -> None:
    """What Dask itself takes to read two columns and write three."""
    import dask.dataframe as dd

    ddf = dd.read_parquet(folder, columns=["mu", "sigma"])
    ddf.assign(again=ddf["mu"]).to_parquet(target, write_index=False)


def spark_fit(folder: str, target: str, model: str) -> None:
    from calibrant import tables

    df = session(1).read.parquet(folder)
    tables.fit(df, tables.Columns(**NAMES), ids="id").save(f"{model}.spark")
    if Path(model).read_bytes() != Path(f"{model}.spark").read_bytes():
        raise SystemExit("Spark gave another model")


def spark_predict(folder: str, target: str, model: str) -> None:
    from calibrant import tables
    from calibrant.tables.spark import to_parquet

    df = session(1).read.parquet(folder)
    to_parquet(tables.predict(df, tables.TableModel.read(model), quantiles=LEVELS, keep=[]), target)


def spark_copy(folder: str, target: str, model: str) -> None:
    """What Spark itself takes to send two columns to Python, get three back and write them."""
    df = session(1).read.parquet(folder).select("mu", "sigma")

    def three(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in rows:
            mu, sigma = batch.columns
            yield pa.RecordBatch.from_arrays([mu, sigma, mu], names=["a", "b", "c"])

    df.mapInArrow(three, "a double, b double, c double").write.parquet(target)


def session(cores: int) -> Any:
    """The session that there is, or a new one on so many cores."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.log.level": "OFF",
        "spark.ui.showConsoleProgress": "false",
    }
    return SparkSession.builder.master(f"local[{cores}]").config(map=settings).getOrCreate()


def session_used() -> tuple[float, float]:
    """As `used`, of all processes of this session, the virtual machine of Java among them (Linux only)."""
    processors, memory = 0.0, 0.0
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            status = (path / "status").read_text(encoding="utf-8")
        except OSError:  # gone
            continue
        if int(fields[3]) == os.getsid(0) and "VmHWM:" in status:  # a process that has ended has no memory
            processors += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
            memory = max(memory, int(status.partition("VmHWM:")[2].split()[0]) / 2**20)
    return processors, memory


def by_spark(work: str, cores: int, folder: str, target: str, model: str) -> None:
    """One work of Spark's, measured as those of the other engines: without the start, with Python workers there."""

    def ready(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        __import__("calibrant.tables.spark")
        time.sleep(1)  # so that every core has a worker
        yield from rows

    session(cores).range(cores, numPartitions=cores).mapInArrow(ready, "id long").collect()
    start, (before, _) = time.perf_counter(), session_used()
    WORKS[work](folder, target, model)
    seconds, (after, memory) = time.perf_counter() - start, session_used()
    session(cores).stop()
    print(json.dumps([seconds, after - before, memory]))


def used() -> tuple[float, float]:
    """The seconds that this process had of a processor so far, and its peak memory in GiB."""
    found = resource.getrusage(resource.RUSAGE_SELF)
    return found.ru_utime + found.ru_stime, found.ru_maxrss / 2**20


def child(work: str, workers: int, folder: str, target: str, model: str) -> None:
    """One work, in this process or by workers; prints its seconds, those of processors, and the largest peak memory."""
    if not workers:
        start, (before, _) = time.perf_counter(), used()
        WORKS[work](folder, target, model)
        after, memory = used()
        print(json.dumps([time.perf_counter() - start, after - before, memory]))
        return
    if work.startswith("spark"):
        by_spark(work, workers, folder, target, model)
        return
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        client.run(lambda: __import__("calibrant.tables.dask"))  # what is measured is the work, not the imports
        start, before = time.perf_counter(), [used(), *client.run(used).values()]
        WORKS[work](folder, target, model)
        seconds, after = time.perf_counter() - start, [used(), *client.run(used).values()]
        processors = sum(each for each, _ in after) - sum(each for each, _ in before)
        print(json.dumps([seconds, processors, max(memory for _, memory in after)]))


ALL = (copy, fit, predict, evaluate, dask_copy, dask_fit, dask_predict, spark_copy, spark_fit, spark_predict)
WORKS = {f.__name__: f for f in ALL}
ENGINES = ["dask", *(["spark"] if find_spec("pyspark") and shutil.which("java") else [])]
ALONE = [("copy", 0), ("fit", 0), ("predict", 0)]
LONGER = [
    ("fit", 0),
    ("predict", 0),
    ("evaluate", 0),
    *((f"{engine}_{work}", n) for engine in ENGINES for n in (1, 2) for work in ("copy", "fit", "predict")),
]


def measured(work: str, workers: int, source: Path, folder: Path) -> list[float]:
    target = folder / "out"
    arguments = [sys.executable, __file__, "--child", work, str(workers), str(source), str(target)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    found = subprocess.run(
        [*arguments, str(folder / f"{source.name}.safetensors")],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
        start_new_session=True,
    )
    if target.is_dir():
        shutil.rmtree(target)
    target.unlink(missing_ok=True)
    return list(json.loads(found.stdout.splitlines()[-1]))


def table(runs: dict[tuple[str, int, int], list[list[float]]], command: str) -> str:
    lines = [
        "# Tables larger than memory",
        "",
        f"`{command}`:",
        f"files of a million rows, on {os.cpu_count()} cores.",
        "Seconds are the least of the rounds. The copy reads mean and standard deviation and writes three columns,",
        "as predict does; that of Dask is Dask's own, by as many workers, and that of Spark sends these columns",
        "through mapInArrow. The share is the copy's processor time over that of the work.",
        "",
        "| work | workers | rows | seconds | of processors | share of the copy's speed | peak memory of a process |",
        "|---|---|---|---|---|---|---|",
    ]
    least = {run: [min(column) for column in zip(*found, strict=True)] for run, found in runs.items() if found}
    for (work, workers, rows), (seconds, processors, _) in least.items():
        copied = least.get(("_".join([*work.split("_")[:-1], "copy"]), workers, rows))
        share = "" if copied is None else f"{100 * copied[1] / processors:.0f}%"
        memory = max(each[2] for each in runs[work, workers, rows])
        name = work.replace("_", ", ").replace("dask", "Dask").replace("spark", "Spark")
        lines.append(
            f"| {name} | {workers or 'one process'} | {rows:,} | {seconds:.1f} | {processors:.1f} | {share} |"
            f" {memory:.2f} GiB |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=float, default=1e8, help="of what one process does")
    parser.add_argument("--few", type=float, default=2e7, help="of evaluate and of what Dask and Spark do")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where the files are kept for another run")
    parser.add_argument("--child", nargs=5)
    options = parser.parse_args()
    if options.child:
        work, workers, *paths = options.child
        child(work, int(workers), *paths)
        return
    rows, few = int(options.rows), int(options.few)
    sizes = {"in": rows, "few": few}
    all_runs = [("in", run) for run in ALONE] + [("few", run) for run in [("copy", 0), *LONGER]]
    runs: dict[tuple[str, int, int], list[list[float]]] = {(*run, sizes[name]): [] for name, run in all_runs}
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name)
        if not (folder / "in").is_dir():
            (folder / "in").mkdir(parents=True)
            make(folder / "in", rows)
        shutil.rmtree(folder / "few", ignore_errors=True)
        (folder / "few").mkdir()
        for number in range(few // PER_FILE):
            os.link(folder / "in" / f"part.{number}.parquet", folder / "few" / f"part.{number}.parquet")
        for _ in range(options.rounds):
            for size, run in all_runs:
                found = runs[(*run, sizes[size])]
                found.append(measured(*run, folder / size, folder))
                print(*run, size, found[-1], file=sys.stderr, flush=True)
                command = f"python benchmarks/scale.py --rows {rows} --few {few} --rounds {options.rounds}"
                text = table(runs, command)
                Path(__file__).parents[1].joinpath("results", "scale.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
