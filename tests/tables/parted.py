"""A table in parts, as files of parquet, some of which can be spoilt; for the tests of Dask and Spark."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from calibrant import tables
from calibrant.tables import Columns

ROWS = 1000
"""Of a part."""
COLUMNS = Columns(target="y", mean="mu", std="sigma")
BY_REGION = replace(COLUMNS, by="region")
WANTED = {"quantiles": [0.05, 0.5], "interval": 0.9, "probabilities": 0.0}


def made(part, n=ROWS):
    rng = np.random.default_rng(part)
    mu, sigma = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    y, region = mu + 1.4 * sigma * rng.normal(size=n), rng.choice(["north", "south"], n)
    ids = np.arange(part * n, (part + 1) * n)
    return pd.DataFrame({"id": ids, "mu": mu, "sigma": sigma, "y": y, "region": pd.array(region, "string[pyarrow]")})


WHOLE = pd.concat(map(made, range(3)), ignore_index=True)


def said(model):
    """What a model says of all rows."""
    return tables.predict(WHOLE, model, **WANTED, seed=0).read_all()


def judged(found):
    """All that an evaluation found."""
    return found.base, found.calibrated, found.mae, found.intervals, found.pits.tolist()


def rewrite(folder, part, change=lambda rows: rows):
    table = pa.Table.from_pandas(change(made(part)), preserve_index=False)
    parquet.write_table(table, folder / f"part-{part}.parquet")


SPOILT = {
    "unreadable": lambda folder: (folder / "part-1.parquet").write_bytes(b"no parquet"),
    "another type": lambda folder: rewrite(folder, 1, lambda rows: rows.assign(mu="high")),
    "a column less": lambda folder: rewrite(folder, 2, lambda rows: rows.drop(columns="sigma")),
    "all missing": lambda folder: rewrite(folder, 1, lambda rows: rows.assign(mu=np.nan)),
    "negative": lambda folder: rewrite(
        folder, 2, lambda rows: rows.assign(sigma=rows["sigma"].where(rows.index != 409, -1.0))
    ),
    "no group": lambda folder: rewrite(
        folder, 2, lambda rows: rows.assign(region=rows["region"].where(rows.index < 7))
    ),
}
