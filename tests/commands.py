"""The command line in this process, and files for it to read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyarrow import csv, feather, parquet
from typer.testing import CliRunner

from calibrant.cli.app import app

WRITE = {"parquet": parquet.write_table, "feather": feather.write_feather, "csv": csv.write_csv}


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def refused(*arguments, code=1):
    """The one sentence on stderr."""
    result = run(*arguments, code=code)
    assert not result.stdout
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("error: ")
    return result.stderr[len("error: ") : -1]


def forecasts(n=400):
    rng = np.random.default_rng(0)
    mu = rng.normal(size=n)
    return {"mu": mu, "sigma": rng.uniform(0.5, 1.5, n), "y": mu + rng.normal(size=n)}


def write(path, columns):
    WRITE[path.suffix[1:]](pa.table(columns), path)
    return path
