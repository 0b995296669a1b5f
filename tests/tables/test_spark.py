"""Spark, a real one on this machine: the bits of one table for any partitions; bad partitions are named; whole output.

`make test-spark` installs what this needs. Without pyspark or Java it is skipped.
"""

from __future__ import annotations

import datetime
import decimal
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from parted import BY_REGION, COLUMNS, SPOILT, WANTED, WHOLE, judged, made, rewrite, said
from systems import on_posix

from calibrant import Calibrator, tables
from calibrant.interpolators import Random
from calibrant.tables import Columns, TableModel
from calibrant.tables.spark import sentence, to_parquet

FILES = 3
GIVEN = {"columns": COLUMNS, "ids": "id"}

# pyspark leaves sockets to the garbage collector
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
    # a partition for each file, however small, and batches that end within a file
    "spark.sql.files.openCostInBytes": str(2**27),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "300",
    "spark.log.level": "OFF",
    "spark.ui.showConsoleProgress": "false",
}


def started(master):
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java, which Spark runs on")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return sql.SparkSession.builder.master(master).config(map=SETTINGS).getOrCreate()


@pytest.fixture(scope="module")
def spark():
    session = started("local[2]")
    yield session
    session.stop()


@pytest.fixture
def patient_spark(spark):
    """Another, in which a task may fail three times, as on a cluster; for the last test that has a session."""
    spark.stop()
    session = started("local[2, 4]")
    yield session
    session.stop()


@pytest.fixture
def folder(tmp_path):
    target = tmp_path / "in"
    target.mkdir()
    for part in range(FILES):
        rewrite(target, part)
    return target


def rows_of(df):
    """All rows, in the order of their ids."""
    return df.toArrow().sort_by("id")


@pytest.mark.parametrize("partitions", [1, 40])
def test_any_partitions_give_the_bits_of_one_table(spark, folder, partitions):
    """40 partitions merge in two levels."""
    model = tables.fit(WHOLE, BY_REGION, ids="id", sample=500)
    df = spark.read.parquet(str(folder)).repartition(partitions)
    found = tables.fit(df, BY_REGION, ids="id", sample=500)
    assert said(found).equals(said(model))
    assert found.calibrated.guarantee == model.calibrated.guarantee
    assert rows_of(tables.predict(df, model, **WANTED)).cast(said(model).schema).equals(said(model))
    assert judged(tables.evaluate(df, model)) == judged(tables.evaluate(WHOLE, model))


def test_the_model_is_the_file_that_the_command_line_and_dask_write(spark, folder, tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    runner = pytest.importorskip("typer.testing").CliRunner()
    from calibrant.cli.app import app

    columns = ["--target", "y", "--mean", "mu", "--std", "sigma", "--ids", "id", "--sample", "500"]
    WHOLE.to_parquet(tmp_path / "t.parquet")
    done = runner.invoke(app, ["fit", str(tmp_path / "t.parquet"), *columns, "--output", str(tmp_path / "cli")])
    assert done.exit_code == 0, done.output
    frames = [WHOLE, dask.from_pandas(WHOLE, npartitions=5), spark.read.parquet(str(folder)).repartition(4)]
    for number, each in enumerate(frames):
        tables.fit(each, **GIVEN, sample=500).save(tmp_path / str(number))
    assert len({(tmp_path / name).read_bytes() for name in ("cli", "0", "1", "2")}) == 1


def test_without_ids_rows_are_told_apart_by_partition_and_place(spark, folder):
    df = spark.read.parquet(str(folder)).coalesce(1)  # three files in one partition
    model = tables.fit(df, COLUMNS, sample=None)
    assert said(model).equals(said(tables.fit(WHOLE, **GIVEN)))


def test_predict_is_lazy_and_its_schema_is_right(spark, folder):
    model = tables.fit(WHOLE, **GIVEN)
    df = spark.read.parquet(str(folder))
    for file in folder.iterdir():
        file.unlink()
    lazy = tables.predict(df, model, **WANTED, keep=["region", "mu"])  # there is nothing to read any more
    assert [(field.name, field.dataType.simpleString()) for field in lazy.schema] == [
        ("mu", "double"),
        ("region", "string"),
        *((name, "double") for name in ("q0.05", "q0.5", "lower", "upper", "cdf_0")),
    ]
    for part in range(FILES):
        rewrite(folder, part)
    assert lazy.toArrow().schema.names == lazy.schema.names
    assert lazy.count() == len(WHOLE)


def test_columns_of_any_type_stay_as_they_are(spark):
    when = datetime.datetime(2026, 3, 29, 1, 30)
    row = (1.5, when.date(), when, decimal.Decimal("1.25"), [1, None], {"a": "b"}, ("x", 2), None, True, b"0")
    kinds = "f double, d date, t timestamp, n decimal(9,2), l array<int>, m map<string,string>"
    df = spark.createDataFrame([row], f"{kinds}, `s.t` struct<u:string,v:int>, z string, b boolean, x binary")
    model = TableModel(Calibrator().fit([1.0, 2.0], [1.5, 2.0]), Columns(point="f"))
    found = tables.predict(df, model, quantiles=0.5)
    assert found.schema.fields[:-1] == df.schema.fields
    assert tuple(found.collect()[0])[:-1] == row


def test_a_random_q_is_the_same_in_any_partitions_and_needs_a_seed(spark, folder):
    model = tables.fit(WHOLE, **GIVEN, calibrator=Calibrator(interpolator=Random()))
    df = spark.read.parquet(str(folder)).repartition(5)
    assert rows_of(tables.predict(df, model, **WANTED, seed=0)).cast(said(model).schema).equals(said(model))
    with pytest.raises(ValueError, match="the model is randomised and needs a seed"):
        tables.evaluate(df, model)


BAD = {
    "unreadable": r"part-1\.parquet: this cannot be read",
    "another type": r"part-1\.parquet: this cannot be read \(.*\[mu\]",
    "a column less": r"^partition \d \(file:.*part-2\.parquet\): column 'sigma' is missing in all 1,000 rows$",
    "all missing": r"^partition \d \(file:.*part-1\.parquet\): column 'mu' is missing in all 1,000 rows$",
    "negative": r"^partition \d \(file:.*part-2\.parquet\): column 'sigma' is negative in row 409 \(counting from 0\)$",
    "no group": r"^partition \d \(.*part-2\.parquet\): column 'region' is missing in row 7",
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_partition_is_named_with_its_file_and_leaves_no_output(spark, folder, tmp_path, kind):
    df = spark.read.parquet(str(folder))
    SPOILT[kind](folder)
    for old in folder.glob(".*.crc"):
        old.unlink()
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ValueError, match=BAD[kind]):
        tables.fit(df, BY_REGION, ids="id")
    if kind != "no group":
        with pytest.raises(ValueError, match=BAD[kind]):
            to_parquet(tables.predict(df, tables.fit(WHOLE, **GIVEN), **WANTED), tmp_path / "out")
    assert sorted(tmp_path.iterdir()) == before


def test_a_bad_file_among_others_in_one_partition_is_named(spark, folder):
    SPOILT["all missing"](folder)
    df = spark.read.parquet(str(folder)).where("id >= 0").coalesce(1)
    with pytest.raises(
        ValueError, match=r"^partition 0 \(.*part-1.parquet\): column 'mu' is missing in all 1,000 rows"
    ):
        tables.fit(df, **GIVEN)


def test_partitions_that_no_file_is_known_of_are_named_by_number(spark):
    df = spark.createDataFrame(made(0, 10).assign(sigma=-1.0, region="north")).coalesce(1)
    with pytest.raises(ValueError, match=r"^partition 0: column 'sigma' is negative in row 0 \(counting from 0\)$"):
        tables.fit(df, **GIVEN)
    both = df.crossJoin(df.select(df["id"].alias("other")))
    with pytest.raises(ValueError, match=r"^partition \d+: column 'sigma' is negative in row 0"):
        tables.fit(both, **GIVEN)


def test_an_empty_partition_is_left_out_and_named(spark, folder):
    df = spark.read.parquet(str(folder)).where("id >= 1000")
    with pytest.warns(UserWarning, match=r"the frame: there are no rows in partition \d$"):
        model = tables.fit(df, **GIVEN)
    assert model.calibrated.guarantee.n == 2000
    assert tables.predict(df, model, **WANTED).count() == 2000
    with pytest.raises(ValueError, match="the frame: there are no rows in partition 0, partition 1"):
        tables.evaluate(df.where("id < 0"), model)


def test_what_cannot_be_written_or_taken_is_told(spark, folder, tmp_path):
    df = spark.read.parquet(str(folder))
    with pytest.raises(FileExistsError, match="is there already"):
        to_parquet(df, folder)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        to_parquet(df, tmp_path / "nowhere" / "out")
    with pytest.raises(ValueError, match="the frame: there is no column 'mean'"):
        tables.fit(df, replace(COLUMNS, mean="mean"))


def test_a_trace_about_something_else_is_left_as_it_is():
    assert sentence("java.lang.OutOfMemoryError: Java heap space\n\tat org.apache.spark") is None
    trace = "Traceback:\n  ValueError: an inner one\n\nValueError: partition 3: this\n\n\tat org.apache.spark"
    assert sentence(trace) == "partition 3: this"


KILLED = """
import time
from calibrant import Calibrator, tables
from calibrant.tables import Columns, TableModel
from calibrant.tables.spark import to_parquet
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config(map={settings!r}).getOrCreate()

def slowly(rows):
    time.sleep(2)
    yield from rows

df = spark.range(40, numPartitions=20).selectExpr("cast(id as double) as f")
model = TableModel(Calibrator().fit([1.0, 2.0], [1.5, 2.0]), Columns(point="f"))
found = tables.predict(df.mapInArrow(slowly, df.schema), model, quantiles=0.5)
to_parquet(found, {out!r})
"""


@on_posix
@pytest.mark.usefixtures("spark")
def test_a_run_that_is_killed_leaves_nothing_that_looks_finished(tmp_path):
    code = KILLED.format(settings=SETTINGS, out=str(tmp_path / "out"))
    with subprocess.Popen([sys.executable, "-c", code], start_new_session=True, stderr=subprocess.DEVNULL) as run:
        try:
            end = time.monotonic() + 100
            while not list(tmp_path.glob(".out-*-unfinished/_temporary/**/*.parquet")):
                assert run.poll() is None, "it ended before it could be killed"
                assert time.monotonic() < end, "nothing was written"
                time.sleep(0.1)
        finally:
            os.killpg(run.pid, signal.SIGKILL)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".out-")
    assert left.name.endswith("-unfinished")


def deadly(marker):
    """Kills the first Python worker that works on the second batch of a partition."""

    def kill_once(rows):
        for number, batch in enumerate(rows):
            if number == 1 and not os.path.exists(marker):
                Path(marker).touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch

    return kill_once


@on_posix
def test_a_killed_worker_changes_no_bit(patient_spark, folder, tmp_path):
    model = tables.fit(WHOLE, **GIVEN, sample=500)
    df = patient_spark.read.parquet(str(folder))

    def fragile(name):
        return df.mapInArrow(deadly(str(tmp_path / name)), df.schema)

    assert said(tables.fit(fragile("fit"), **GIVEN, sample=500)).equals(said(model))
    found = tables.predict(fragile("predict"), model, **WANTED)
    to_parquet(found, tmp_path / "out")
    again = rows_of(patient_spark.read.parquet(str(tmp_path / "out")))
    assert again.cast(said(model).schema).equals(said(model))
    assert judged(tables.evaluate(fragile("evaluate"), model)) == judged(tables.evaluate(WHOLE, model))
    assert all((tmp_path / name).exists() for name in ("fit", "predict", "evaluate"))
