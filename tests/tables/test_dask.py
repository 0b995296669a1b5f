"""Dask: the same bits on any scheduler and after a worker was killed; bad partitions are named; output is whole."""

from __future__ import annotations

import os
import signal
import threading
import time

import pyarrow as pa
import pytest
from parted import BY_REGION, COLUMNS, SPOILT, WANTED, WHOLE, judged, made, rewrite, said
from systems import on_posix

pytest.importorskip("dask.dataframe", reason="dask is not installed")

import dask
import dask.dataframe as dd

from calibrant import Calibrator, tables
from calibrant.interpolators import Random
from calibrant.tables.dask import read_parquet, to_parquet

PARTS, SMALL = 12, 250
GIVEN = {"columns": COLUMNS, "ids": "id"}


def small(part):
    """A twelfth of the table."""
    return WHOLE[SMALL * part : SMALL * (part + 1)]


def frame():
    return dd.from_map(small, range(PARTS))


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
        assert judged(tables.evaluate(frame(), model)) == judged(tables.evaluate(WHOLE, model))


def test_other_partitions_and_another_order_give_the_same_model():
    shuffled = WHOLE.sample(frac=1.0, random_state=0)
    frames = dd.from_pandas(WHOLE, npartitions=3, sort=False), dd.from_pandas(shuffled, npartitions=20, sort=False)
    models = [tables.fit(each, **GIVEN, sample=700) for each in frames]
    assert said(models[0]).equals(said(models[1]))


def test_without_ids_rows_are_told_apart_by_partition_and_place():
    model = tables.fit(frame(), COLUMNS, sample=None)
    assert model.calibrated.guarantee.n == len(WHOLE)
    assert said(model).equals(said(tables.fit(WHOLE, **GIVEN)))


def test_predict_is_lazy_and_its_meta_is_right():
    ran = []

    def noted(part):
        ran.append(part)
        return small(part)

    ddf = dd.from_map(noted, range(3), meta=WHOLE.iloc[:0])
    model = tables.fit(WHOLE, **GIVEN)
    lazy = tables.predict(ddf, model, **WANTED, keep=["region", "mu"])
    assert not ran
    with dask.config.set(scheduler="synchronous"):
        found = lazy.compute()
    assert list(lazy.columns) == ["mu", "region", "q0.05", "q0.5", "lower", "upper", "cdf_0"]
    assert lazy.dtypes.to_dict() == found.dtypes.to_dict()
    assert lazy.divisions == ddf.divisions
    with pytest.raises(TypeError, match="update takes a table that is read in this process, got DataFrame"):
        tables.update(ddf, model)


def slowly(part):
    time.sleep(0.25)
    return small(part)


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
        rewrite(tmp_path, part)
    return tmp_path


BAD = {
    "unreadable": r"part-1\.parquet: this cannot be read as parquet",
    "another type": r"part-1\.parquet has another schema than .*part-0\.parquet: column 'mu' is \w*string, not double",
    "a column less": r"part-2\.parquet: there is no column 'sigma'",
    "all missing": r"^partition 1 \(.*part-1\.parquet\): column 'mu' is missing in all 1,000 rows",
    "negative": r"^partition 2 \(.*part-2\.parquet\): column 'sigma' is negative in row 409",
    "no group": r"^partition 2 \(.*part-2\.parquet\): column 'region' is missing in row 7",
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_partition_is_named_with_its_file_and_leaves_no_output(folder, tmp_path, kind):
    SPOILT[kind](folder)
    model, ddf = tables.fit(WHOLE, **GIVEN), read_parquet(folder)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ValueError, match=BAD[kind]):
        tables.fit(ddf, BY_REGION)
    if kind != "no group":
        with pytest.raises(ValueError, match=BAD[kind]):
            to_parquet(tables.predict(ddf, model, **WANTED), tmp_path / "out")
    assert sorted(tmp_path.iterdir()) == before


def test_an_empty_partition_is_left_out_and_named(folder):
    rewrite(folder, 1, lambda rows: rows.iloc[:0])
    ddf = read_parquet(folder)
    with pytest.warns(UserWarning, match=r"the frame: there are no rows in partition 1 \(.*part-1\.parquet\)"):
        model = tables.fit(ddf, **GIVEN)
    assert model.calibrated.guarantee.n == 2000
    assert len(tables.predict(ddf, model, **WANTED).compute()) == 2000
    for part in (0, 2):
        rewrite(folder, part, lambda rows: rows.iloc[:0])
    with pytest.raises(ValueError, match="the frame: there are no rows in partition 0"):
        tables.fit(ddf, **GIVEN)


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
