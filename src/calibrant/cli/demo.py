"""`calibrant demo`: the other commands at work on a small problem."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable, Sequence
from contextlib import chdir
from pathlib import Path

import numpy as np
import pyarrow as pa
import typer
from pyarrow import parquet

from calibrant.cli.console import put
from calibrant.cli.tables import written

COMMANDS = (
    "calibrant fit cal.parquet --target y --mean mu --std sigma -o model.safetensors",
    "calibrant inspect model.safetensors",
    "calibrant evaluate test.parquet -m model.safetensors --target y",
    "calibrant report test.parquet -m model.safetensors --target y --groups hour -o report.html",
    "calibrant predict test.parquet -m model.safetensors --quantiles 0.05,0.5,0.95 --interval 0.9 -o out.parquet",
)


def forecasts(rng: np.random.Generator, n: int) -> pa.Table:
    """A day's demand, noisier at its peak, from a model that knows the mean but believes in half the noise."""
    hour = rng.uniform(0, 24, n)
    mu = 50 + 30 * np.sin(np.pi * (hour - 6) / 12)
    noise = 0.1 * mu
    return pa.table({"hour": hour, "mu": mu, "sigma": noise / 2, "y": mu + noise * rng.standard_t(5, n)})


def demo(folder: Path | None, run: Callable[[Sequence[str]], int | None]) -> None:
    """Write two files, then show each command and what it prints."""
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="calibrant-demo-"))
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for name, n in (("cal.parquet", 2000), ("test.parquet", 5000)):
        table = forecasts(rng, n)
        with written(folder / name, table.schema, table.column_names) as write:
            write(table.to_batches()[0])
    put(f"Forecasts that are too sure of themselves, in cal.parquet and test.parquet:\n$ cd {shlex.quote(str(folder))}")
    with chdir(folder):
        for command in COMMANDS:
            put(f"\n$ {command}")
            if code := run(shlex.split(command)[1:]):
                raise typer.Exit(code)
    put(f"\nThe first rows of out.parquet:\n{head(folder / 'out.parquet')}")


def head(path: Path, rows: int = 3) -> str:
    """The first rows, as text."""
    table = parquet.read_table(path).slice(0, rows)
    lines = [table.column_names, *([f"{value:.2f}" for value in row.values()] for row in table.to_pylist())]
    return "\n".join("".join(cell.rjust(9) for cell in line) for line in lines)
