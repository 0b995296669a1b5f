"""The command line in this process, and files for it to read."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet
from typer.testing import CliRunner

from calibrant.cli.app import app

WRITE = {"parquet": parquet.write_table, "feather": feather.write_feather, "csv": csv.write_csv, "gz": csv.write_csv}
READ = {"parquet": parquet.read_table, "feather": feather.read_table, "csv": csv.read_csv, "gz": csv.read_csv}


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="calibrant")
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def plain(*arguments, code=0):
    """All that is printed, in one line."""
    return " ".join(run(*arguments, code=code).output.split())


def refused(*arguments, code=1):
    """The one sentence on stderr."""
    result = run(*arguments, code=code)
    assert not result.stdout
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("error: ")
    return result.stderr[len("error: ") : -1]


def as_json(*arguments):
    """The object that a command prints: strict JSON, and nothing else."""
    return json.loads(run(*arguments, "--json").stdout, parse_constant=pytest.fail)


def forecasts(n=400, seed=0):
    """A mean, a standard deviation that is too small by half, and the label."""
    rng = np.random.default_rng(seed)
    mu, sigma = rng.normal(size=n), rng.uniform(0.5, 1.5, n)
    return {"mu": mu, "sigma": sigma, "y": mu + 2 * sigma * rng.normal(size=n)}


LEVELS = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}
QUANTILES = ",".join(f"{name}:{level}" for name, level in LEVELS.items())
"""The columns of `counts`, as --quantiles takes them."""


def counts(n=300, seed=0):
    """Rentals, their rate, and quantiles of them that a model of real numbers gave."""
    rng = np.random.default_rng(seed)
    rate = rng.uniform(0.5, 9.0, n)
    draws = rng.gamma(2.0, rate[:, None] / 2, (n, 200))
    quantiles = np.quantile(draws, list(LEVELS.values()), axis=1)
    rentals = rng.poisson(rng.gamma(2.0, rate / 2)).astype(float)
    return {"rate": rate, "rentals": rentals, **dict(zip(LEVELS, quantiles, strict=True))}


def write(path, columns):
    if path.suffix == ".gz":
        with pa.output_stream(str(path)) as stream:  # packs what ends in .gz
            csv.write_csv(pa.table(columns), stream)
    else:
        WRITE[path.suffix[1:]](pa.table(columns), path)
    return path


def columns_of(path):
    """The columns of a file, by name."""
    table = READ[path.suffix[1:]](path)
    return {name: table[name].to_numpy() for name in table.column_names}


def assert_same(found, wanted):
    assert list(found) == list(wanted)
    for name, column in wanted.items():
        np.testing.assert_array_equal(found[name], column, err_msg=name)
