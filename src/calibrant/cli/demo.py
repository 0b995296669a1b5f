"""`calibrant demo`: the other commands at work on a small problem."""

from __future__ import annotations

import shlex
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer
from pyarrow import parquet
from typer.main import get_command

from calibrant.cli.app import app
from calibrant.cli.commands import command
from calibrant.cli.console import put
from calibrant.cli.options import option
from calibrant.tables.files import written

COMMANDS = (
    "calibrant fit cal.parquet --target y --mean mu --std sigma -o model.safetensors",
    "calibrant inspect model.safetensors",
    "calibrant evaluate test.parquet -m model.safetensors --target y",
    "calibrant report test.parquet -m model.safetensors --target y --groups hour -o report.html",
    "calibrant predict test.parquet -m model.safetensors --quantiles 0.05,0.5,0.95 --interval 0.9 -o out.parquet",
)


@command("calibrant demo", "calibrant demo --to demo")
def demo(
    *,
    to: Annotated[Path | None, option("Where to write; a new temporary folder if not given.", metavar="FOLDER")] = None,
) -> None:
    """Run the other commands on a small example."""
    folder = Path(tempfile.mkdtemp(prefix="calibrant-demo-")) if to is None else to
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for name, n in (("cal.parquet", 2000), ("test.parquet", 5000)):
        table = forecasts(rng, n)
        with written(folder / name, table.schema, table.column_names) as write:
            write(table.to_batches()[0])
    put(f"Forecasts that are too sure of themselves, in cal.parquet and test.parquet:\n$ cd {shlex.quote(str(folder))}")
    with chdir(folder):
        for line in COMMANDS:
            put(f"\n$ {line}")
            if code := get_command(app).main(shlex.split(line)[1:], standalone_mode=False):
                raise typer.Exit(code)
    put(f"\nThe first rows of out.parquet:\n{head(folder / 'out.parquet')}")


def forecasts(rng: np.random.Generator, n: int) -> pa.Table:
    """A day's demand, noisier at its peak, from a model that knows the mean but believes in half the noise."""
    hour = rng.uniform(0, 24, n)
    mu = 50 + 30 * np.sin(np.pi * (hour - 6) / 12)
    noise = 0.1 * mu
    return pa.table({"hour": hour, "mu": mu, "sigma": noise / 2, "y": mu + noise * rng.standard_t(5, n)})


def head(path: Path, rows: int = 3) -> str:
    """The first rows, as text."""
    table = parquet.read_table(path).slice(0, rows)
    lines = [table.column_names, *([f"{value:.2f}" for value in row.values()] for row in table.to_pylist())]
    return "\n".join("".join(cell.rjust(9) for cell in line) for line in lines)
