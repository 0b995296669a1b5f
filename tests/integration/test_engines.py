"""polars and DuckDB: their lazy frames and relations are tables, and what comes back is theirs to read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from calibrant import tables
from calibrant.tables import Columns

pytestmark = pytest.mark.integration

N = 5000
RNG = np.random.default_rng(0)
MU, SIGMA = RNG.normal(size=N), RNG.uniform(0.5, 2.0, N)
TABLE = pa.table(
    {
        "id": np.arange(N),
        "mu": MU,
        "sigma": SIGMA,
        "y": MU + SIGMA * RNG.normal(size=N),
        "region": np.asarray(["north", "south"])[RNG.integers(0, 2, N)],
    }
)
GIVEN = {"columns": Columns(target="y", mean="mu", std="sigma", by="region"), "ids": "id"}
WANTED = {"quantiles": [0.05, 0.95], "probabilities": 0.0}


@pytest.fixture(scope="module")
def model():
    return tables.fit(TABLE, **GIVEN)


@pytest.fixture(scope="module")
def expected(model):
    return tables.predict(TABLE, model, **WANTED, keep=["id"]).read_all()


def test_a_lazy_frame_of_polars_is_fitted_and_predicted_batch_by_batch(model, expected, tmp_path):
    pl = pytest.importorskip("polars")
    parquet.write_table(TABLE, tmp_path / "t.parquet", row_group_size=700)
    lazy = pl.scan_parquet(tmp_path / "t.parquet").filter(pl.col("id") >= 0)
    again = tables.fit(lazy, **GIVEN)
    found = pl.DataFrame(tables.predict(lazy, again, **WANTED, keep=["id"]))
    assert found.sort("id").to_arrow().cast(expected.schema).equals(expected)
    assert tables.evaluate(lazy, again).calibrated == tables.evaluate(TABLE, model).calibrated


def test_a_relation_of_duckdb_is_fitted_and_predicted_batch_by_batch(model, expected, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    parquet.write_table(TABLE, tmp_path / "t.parquet", row_group_size=700)
    with duckdb.connect() as connection:

        def relation():
            return connection.sql(f"select * from '{tmp_path / 't.parquet'}' where id >= 0")

        again = tables.fit(relation(), **GIVEN)
        predicted = tables.predict(relation(), again, **WANTED, keep=["id"])  # noqa: F841
        with duckdb.connect() as other:  # a reader is a table in SQL
            rows = other.sql("select * from predicted order by id").to_arrow_table()
        assert rows.cast(expected.schema).equals(expected)
        assert tables.evaluate(relation(), again).base == tables.evaluate(TABLE, model).base
