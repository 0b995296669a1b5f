"""Dask: the same bits on any scheduler and after a worker was killed; bad partitions are named; output is whole."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from systems import on_posix

pytest.importorskip("dask.dataframe", reason="dask is not installed")

import dask
import dask.dataframe as dd

from calibrant import Calibrator, tables
from calibrant.interpolators import Random
from calibrant.tables import Columns
from calibrant.tables.dask import read_parquet, to_parquet

N, PARTS = 3000, 12
WANTED = {"quantiles": [0.05, 0.5], "interval": 0.9, "probabilities": 0.0}


def made(part, n=N // PARTS):
    rng = np.random.default_rng(part)
    mu, sigma = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    return pd.DataFrame(
        {
            "id": np.arange(part * n, (part + 1) * n),
            "mu": mu,
            "sigma": sigma,
            "y": mu + 1.4 * sigma * rng.normal(size=n),
            "region": pd.array(rng.choice(["north", "south"], n), dtype="string[pyarrow]"),
        }
    )


WHOLE = pd.concat(map(made, range(PARTS)), ignore_index=True)
COLUMNS = Columns(target="y", mean="mu", std="sigma")
BY_REGION = replace(COLUMNS, by="region")
GIVEN = {"columns": COLUMNS, "ids": "id"}


def frame():
    return dd.from_map(made, range(PARTS))


def said(model):
    return tables.predict(WHOLE, model, **WANTED, seed=0).read_all()


@pytest.mark.few(2)
@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_every_scheduler_gives_the_bits_of_one_table(scheduler):
    model = tables.fit(WHOLE, BY_REGION, ids="id", sample=500)
    with dask.config.set(scheduler=scheduler):
        found = tables.fit(frame(), BY_REGION, ids="id", sample=500)
        assert said(found).equals(said(model))
        assert found.calibrated.guarantee == model.calibrated.guarantee
        predicted = tables.predict(frame(), model, **WANTED).compute()
        assert pa.Table.from_pandas(predicted, preserve_index=False).equals(said(model))
        judged, whole = tables.evaluate(frame(), model), tables.evaluate(WHOLE, model)
    assert (judged.base, judged.calibrated) == (whole.base, whole.calibrated)
    assert (judged.mae, judged.intervals) == (whole.mae, whole.intervals)
    assert np.array_equal(judged.pits, whole.pits)


def test_other_partitions_and_another_order_give_the_same_model():
    shuffled = WHOLE.sample(frac=1.0, random_state=0)
    given = {**GIVEN, "sample": 700}
    models = [
        tables.fit(dd.from_pandas(rows, npartitions=count, sort=False), **given)
        for rows, count in ((WHOLE, 3), (shuffled, 20))
    ]
    assert said(models[0]).equals(said(models[1]))


def test_without_ids_rows_are_told_apart_by_partition_and_place():
    model = tables.fit(frame(), COLUMNS, sample=None)
    assert model.calibrated.guarantee.n == N
    assert said(model).equals(said(tables.fit(WHOLE, **GIVEN)))
    few = [tables.fit(frame(), COLUMNS, sample=40) for _ in range(2)]
    assert said(few[0]).equals(said(few[1]))


def test_predict_is_lazy_and_its_meta_is_right():
    ran = []

    def noted(part):
        ran.append(part)
        return made(part)

    ddf = dd.from_map(noted, range(3), meta=made(0).iloc[:0])
    model = tables.fit(WHOLE, **GIVEN)
    lazy = tables.predict(ddf, model, **WANTED, keep=["region", "mu"])
    assert not ran
    with dask.config.set(scheduler="synchronous"):
        found = lazy.compute()
    assert list(lazy.columns) == ["mu", "region", "q0.05", "q0.5", "lower", "upper", "cdf_0"]
    assert lazy.dtypes.to_dict() == found.dtypes.to_dict()
    assert lazy.divisions == ddf.divisions


def slowly(part):
    time.sleep(0.25)
    return made(part)


# distributed warns of a slow disk and of busy ports, which say nothing of us
@pytest.mark.filterwarnings(
    "ignore:.*surprisingly long time:UserWarning", "ignore:Port .* is already in use:UserWarning"
)
@pytest.mark.slow
@on_posix
def test_a_killed_worker_changes_no_bit(tmp_path):
    """Two worker processes; one is killed while partitions are being worked on, and another takes its place."""
    distributed = pytest.importorskip("distributed")
    patient = {"distributed.comm.timeouts.connect": "120s", "distributed.comm.timeouts.tcp": "120s"}
    with (
        dask.config.set(patient),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=50,
            local_directory=tmp_path,
        ) as cluster,
        # by its address: a client of the cluster makes it read the list of workers anew while it waits for them, and
        # the cluster then fails to find the killed one in that list
        distributed.Client(cluster.scheduler_address) as client,
    ):
        ddf = dd.from_map(slowly, range(PARTS))
        random = {"calibrator": Calibrator(interpolator=Random())}

        def run(folder):
            model = tables.fit(ddf, **GIVEN, **random, sample=500)
            to_parquet(tables.predict(ddf, model, **WANTED, seed=0), folder)
            return model, tables.evaluate(ddf, model, seed=0)

        def kill():
            for _ in range(3):  # once in the fit, once in the prediction, once in the evaluation
                time.sleep(1.0)
                pids = client.run(os.getpid)
                os.kill(next(iter(pids.values())), signal.SIGKILL)
                killed.append(time.monotonic())
                client.wait_for_workers(2, timeout=60)

        killed = []
        model, judged = run(tmp_path / "whole")
        killer = threading.Thread(target=kill)
        killer.start()
        again, judged_again = run(tmp_path / "killed")
        done = time.monotonic()
        killer.join()
    assert len([when for when in killed if when < done]) >= 2
    assert said(model).equals(said(again))
    assert (judged.calibrated, judged.intervals) == (judged_again.calibrated, judged_again.intervals)
    files = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert len(files) == PARTS
    assert files == sorted(path.name for path in (tmp_path / "killed").iterdir())
    for name in files:
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "killed" / name).read_bytes()
    assert not list(tmp_path.glob(".*"))


@pytest.fixture
def folder(tmp_path):
    for part in range(3):
        parquet.write_table(pa.Table.from_pandas(made(part), preserve_index=False), tmp_path / f"part.{part}.parquet")
    return tmp_path


def rewrite(folder, part, change):
    table = pa.Table.from_pandas(change(made(part)), preserve_index=False)
    parquet.write_table(table, folder / f"part.{part}.parquet")


BAD = {
    "unreadable": (
        lambda folder: (folder / "part.1.parquet").write_bytes(b"no parquet"),
        r"part\.1\.parquet: this cannot be read as parquet",
    ),
    "another type": (
        lambda folder: rewrite(folder, 1, lambda rows: rows.assign(mu="high")),
        r"part\.1\.parquet has another schema than .*part\.0\.parquet: column 'mu' is \w*string, not double",
    ),
    "a column less": (
        lambda folder: rewrite(folder, 2, lambda rows: rows.drop(columns="sigma")),
        r"part\.2\.parquet: there is no column 'sigma'; ",
    ),
    "all missing": (
        lambda folder: rewrite(folder, 1, lambda rows: rows.assign(mu=np.nan)),
        r"partition 1 \(.*part\.1\.parquet\): column 'mu' is missing in all 250 rows",
    ),
    "negative": (
        lambda folder: rewrite(folder, 2, lambda rows: rows.assign(sigma=rows["sigma"].where(rows.index != 9, -1.0))),
        r"partition 2 \(.*part\.2\.parquet\): column 'sigma' is negative in row 9",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_partition_is_named_with_its_file_and_leaves_no_output(folder, tmp_path, kind):
    spoil, words = BAD[kind]
    spoil(folder)
    model = tables.fit(WHOLE, **GIVEN)
    ddf = read_parquet(folder)
    works = [
        lambda: tables.fit(ddf, **GIVEN),
        lambda: tables.evaluate(ddf, model),
        lambda: to_parquet(tables.predict(ddf, model, **WANTED), tmp_path / "out"),
    ]
    before = sorted(tmp_path.iterdir())
    for work in works:
        with pytest.raises(ValueError, match=words):
            work()
    assert sorted(tmp_path.iterdir()) == before


def test_a_partition_without_groups_is_named(folder):
    rewrite(folder, 1, lambda rows: rows.assign(region=rows["region"].where(rows.index < 7)))
    words = r"partition 1 \(.*part\.1\.parquet\): column 'region' is missing in row 7"
    with pytest.raises(ValueError, match=words):
        tables.fit(read_parquet(folder), BY_REGION, ids="id")


def test_an_empty_partition_is_left_out_and_named(folder):
    rewrite(folder, 1, lambda rows: rows.iloc[:0])
    ddf = read_parquet(folder)
    with pytest.warns(UserWarning, match=r"the frame: there are no rows in partition 1 \(.*part\.1\.parquet\)"):
        model = tables.fit(ddf, **GIVEN)
    assert model.calibrated.guarantee.n == 500
    with pytest.warns(UserWarning, match="there are no rows in partition 1"):
        assert tables.evaluate(ddf, model).base.n == 500
    assert len(tables.predict(ddf, model, **WANTED).compute()) == 500
    for part in (0, 2):
        rewrite(folder, part, lambda rows: rows.iloc[:0])
    with pytest.raises(ValueError, match="the frame: there are no rows in partition 0"):
        tables.fit(ddf, **GIVEN)


def test_rows_without_labels_are_counted_over_all_partitions(folder):
    for part in (1, 2):
        rewrite(folder, part, lambda rows: rows.assign(y=rows["y"].where(rows.index > 4)))
    with pytest.warns(UserWarning, match=r"the frame: 10 rows, the first is row 0 of partition 1 \(.*have no label"):
        model = tables.fit(read_parquet(folder), **GIVEN)
    assert model.calibrated.guarantee.n == 740


def test_files_are_written_and_read_again_whole(tmp_path):
    model = tables.fit(WHOLE, **GIVEN)
    lazy = tables.predict(frame(), model, **WANTED)
    to_parquet(lazy, tmp_path / "out")
    again = read_parquet(tmp_path / "out")
    assert again.npartitions == PARTS
    assert pa.Table.from_pandas(again.compute(), preserve_index=False).equals(said(model))
    with pytest.raises(FileExistsError, match="is there already"):
        to_parquet(lazy, tmp_path / "out")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        to_parquet(lazy, tmp_path / "nowhere" / "out")
    (tmp_path / "bare").mkdir()
    with pytest.raises(ValueError, match="bare: there is no file in this folder"):
        read_parquet(tmp_path / "bare")


def test_a_run_that_is_killed_leaves_nothing_that_looks_finished(tmp_path):
    """While it is written, and for ever if the process dies then, the folder has another name."""
    seen = []

    def watched(part):
        seen.append(sorted(path.name for path in tmp_path.iterdir()))
        return made(part)

    with dask.config.set(scheduler="synchronous"):
        to_parquet(dd.from_map(watched, range(2), meta=made(0).iloc[:0]), tmp_path / "out")
    assert all(name.startswith(".out-") and name.endswith("-unfinished") for names in seen for name in names)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
