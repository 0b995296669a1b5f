"""Tables in batches: the same bits however they are cut, ordered or merged, and errors that name part and row."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

import calibrant
from calibrant import Calibrator, HalfLife, Normal, batches, files
from calibrant.batches.evaluating import BINS, evaluating, gaps_of
from calibrant.batches.exact_sum import ExactSum
from calibrant.batches.fitting import fitting
from calibrant.batches.header import Header
from calibrant.batches.model import TableModel
from calibrant.batches.output_columns import OutputColumns
from calibrant.batches.predicting import predicting
from calibrant.batches.repairs import silenced
from calibrant.batches.row_ids import row_keys, smallest
from calibrant.batches.rows import partition
from calibrant.cli.app import app
from calibrant.files import FileError
from calibrant.interpolators import NAF, Apart, ByGroup, Linear, Naive, Random
from calibrant.labels import Counts
from calibrant.metrics.calibration import pit

N = 700
RNG = np.random.default_rng(0)
MU, SIGMA = RNG.normal(size=N), RNG.uniform(0.5, 2.0, N)
Y = MU + 1.3 * SIGMA * RNG.normal(size=N)
DRAWS = np.sort(RNG.normal(MU[:, None], SIGMA[:, None], (N, 5)), axis=1)
TABLE = pa.table(
    {
        "id": RNG.permutation(N),
        "mu": MU,
        "sigma": SIGMA,
        "lower": MU - SIGMA,
        "upper": MU + SIGMA,
        **{f"s{k}": DRAWS[:, k] for k in range(5)},
        "rate": np.exp(MU),
        "count": RNG.poisson(np.exp(MU)),
        "y": Y,
        "w": RNG.uniform(0.5, 2.0, N).round(1),
        "region": np.asarray(["north", "south", "west"])[RNG.integers(0, 3, N)],
    }
)
KINDS = {
    "point": {"point": "mu"},
    "rate": {"rate": "rate"},
    "normal": {"mean": "mu", "std": "sigma"},
    "interval": {"lower": "lower", "upper": "upper"},
    "quantiles": {"quantiles": {"s0": 0.1, "s2": 0.5, "s4": 0.9}},
    "samples": {"samples": ["s?"]},
}
WANTED = {"quantiles": [0.05, 0.5], "interval": [0.8, 0.9], "probabilities": [0.0, 1.5]}
FITS = {
    "linear": {},
    "naive": {"calibrator": Calibrator(interpolator=Naive())},
    "random": {"calibrator": Calibrator(interpolator=Random())},
    "NAF": {"calibrator": Calibrator(interpolator=NAF())},
    "groups": {"by": "region"},
    "apart": {"by": ["region"], "calibrator": Calibrator(interpolator=Apart(Linear()))},
    "weights": {"weights": "w"},
    "counts": {"target": "count", "rate": "rate", "calibrator": Calibrator(labels=Counts())},
}


def cut(table, seed):
    """The same rows in another order, in batches of other sizes, empty ones among them."""
    rng = np.random.default_rng(seed)
    table = table.take(rng.permutation(len(table)))
    ends = np.sort(rng.integers(0, len(table), 9))
    return [
        table.slice(a, b - a).combine_chunks().to_batches()[0] if b > a else table.slice(0, 0).to_batches()[0]
        for a, b in zip([0, *ends], [*ends, len(table)], strict=True)
    ]


def arguments(kind):
    given = {"target": "y", "mean": "mu", "std": "sigma", **FITS[kind]}
    if "rate" in given:
        del given["mean"], given["std"]
    return given


def same(a, b, seed=1):
    """Whether two models say the same of all rows, to the bit."""
    said = [batches.predict(TABLE, each, seed=seed, **WANTED).read_all() for each in (a, b)]
    return said[0].equals(said[1]) and a.calibrated.guarantee == b.calibrated.guarantee


@pytest.mark.parametrize("kind", KINDS)
def test_batches_of_any_size_and_order_are_predicted_to_the_bit_as_the_library_does(kind, monkeypatch):
    monkeypatch.setattr("calibrant.batches.predicting.IN_CACHE", 64)
    model = batches.fit(TABLE, target="y", **KINDS[kind])
    whole = batches.predict(TABLE, model, **WANTED)
    names = ["q0.05", "q0.5", "lower_0.8", "upper_0.8", "lower_0.9", "upper_0.9", "cdf_0", "cdf_1.5"]
    assert whole.schema.names == [*TABLE.schema.names, *names]
    whole = whole.read_all()
    parts = batches.predict(cut(TABLE, 1), model, **WANTED).read_all()
    assert parts.sort_by("id").equals(whole.sort_by("id"))
    predictions = {
        "point": MU,
        "rate": calibrant.predictions.Rates(np.exp(MU)),
        "normal": Normal(MU, SIGMA),
        "interval": calibrant.Interval(MU - SIGMA, MU + SIGMA),
        "quantiles": calibrant.Quantiles([0.1, 0.5, 0.9], DRAWS[:, [0, 2, 4]]),
        "samples": calibrant.Samples(DRAWS),
    }
    H = Calibrator().fit(predictions[kind], Y)(predictions[kind])
    assert np.array_equal(H.quantiles([0.05, 0.5]), np.stack([whole["q0.05"], whole["q0.5"]], axis=1))
    assert np.array_equal(H.interval(0.9), [whole["lower_0.9"], whole["upper_0.9"]])
    assert np.array_equal(H.cdf(1.5), whole["cdf_1.5"])


@pytest.mark.parametrize("kind", FITS)
@pytest.mark.parametrize("k", [None, 100])
def test_a_fit_has_the_same_bits_in_any_batches_parts_and_order(kind, k, tmp_path):
    given = {**arguments(kind), "ids": "id", "sample": k}
    whole = batches.fit(TABLE, **given)
    whole.save(tmp_path / "whole")
    if k is not None:
        rows = whole.calibrated.history.scores.shape[0]
        assert rows == (3 * k if "by" in given else k)
    again = batches.fit(cut(TABLE, 2), **given)
    assert same(again, whole)
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "whole").read_bytes()
    columns = {name: given.pop(name) for name in ("rate", "mean", "std") if name in given}
    work = fitting(Header("it", tuple(TABLE.schema.names)), given.pop("target"), columns, **given)
    parts = [work.part(rows, f"part {number}", number) for number, rows in enumerate(cut(TABLE, 3))]
    with pytest.warns(UserWarning, match="there are no rows in part") if any(p.empty for p in parts) else nothing():
        assert same(work.finish(work.merge([work.merge(parts[6:]), work.merge(parts[:6])])), whole)


class nothing(warnings.catch_warnings):
    """No warning is awaited."""


@pytest.mark.parametrize("kind", ["linear", "random", "weights", "groups"])
def test_a_fit_on_all_rows_is_that_of_the_calibrator(kind):
    given = arguments(kind)
    known = {"weights": TABLE["w"].to_numpy()} if "weights" in given else {}
    known |= {"by": TABLE["region"].to_pylist()} if "by" in given else {}
    calibrated = given.get("calibrator", Calibrator()).fit(Normal(MU, SIGMA), Y, **known)
    named = {name: given[name] for name in ("by", "weights") if name in given}
    plain = TableModel.of(calibrated, mean="mu", std="sigma", **named)
    assert same(plain, batches.fit(TABLE, **given))


def test_groups_of_two_columns_are_pairs_of_their_values():
    half, apart = np.arange(N) % 2, Calibrator(interpolator=Apart(Linear()))
    table = TABLE.append_column("half", pa.array(half))
    pairs = list(zip(TABLE["region"].to_pylist(), half, strict=True))
    model = batches.fit(table, target="y", mean="mu", std="sigma", by=["region", "half"], calibrator=apart)
    found = batches.predict(table, model, quantiles=[0.05, 0.5], keep=[]).read_all()
    H = apart.fit(Normal(MU, SIGMA), Y, by=pairs)(Normal(MU, SIGMA), by=pairs)
    assert np.array_equal(H.quantiles([0.05, 0.5]), np.stack(found.columns, axis=1))


def test_an_id_of_two_columns_is_that_of_both():
    shop, day, y = np.arange(N) // 35, np.arange(N) % 35, np.random.default_rng(8).normal(size=N)
    table, few = pa.table({"shop": shop, "day": day, "f": np.zeros(N), "y": y}), 60
    model = batches.fit(table, target="y", point="f", ids=["shop", "day"], sample=few)
    assert model.calibrated.q.knots.tolist() == np.sort(y[smallest(row_keys((shop, day)), few)]).tolist()


@pytest.mark.parametrize("place", [0, N // 2, N - 2])
def test_an_id_of_two_rows_is_found_wherever_its_key_is(place):
    ids = np.arange(N)
    in_order = np.argsort(row_keys(ids))
    ids[in_order[-1]] = in_order[place]
    with pytest.raises(ValueError, match=r"^the batches: the ids in id must be of one row each, and two rows have the"):
        batches.fit(with_("id", ids), target="y", point="mu", ids="id")


def test_a_sample_has_the_smallest_keys_and_a_stream_keeps_no_more():
    ids = np.arange(5 * N)
    table = pa.table({"id": ids, "f": np.zeros(5 * N), "y": np.random.default_rng(1).normal(size=5 * N)})
    model = batches.fit(table.to_batches(max_chunksize=50), target="y", point="f", ids="id", sample=60)
    rows = smallest(row_keys(ids), 60)
    assert model.calibrated.q.knots.tolist() == np.sort(table["y"].to_numpy()[rows]).tolist()


def test_counts_of_a_sample_are_drawn_uniformly_over_their_steps():
    """The keys of a sample are small, and what is drawn for its rows must not be."""
    n = 4000
    table = pa.table({"rate": np.full(n, 1.0), "count": np.zeros(n)})
    calibrator = Calibrator(labels=Counts())
    model = batches.fit(table, target="count", rate="rate", calibrator=calibrator, sample=400)
    # z-scores of 0 - 1/2 + U under a Poisson distribution of rate 1, spread: mean 1, variance 1 + 1/12
    u = np.sort(model.calibrated.history.scores) * math.sqrt(13 / 12) + 1.5
    assert np.max(np.abs(u - (np.arange(400) + 0.5) / 400)) < 1.95 / math.sqrt(400)  # Kolmogorov, once in 1,000


def test_intervals_of_a_sample_keep_their_coverage():
    """19 rows of 60 by their keys: at the levels 1/20 and 19/20 the coverage is 90% exactly."""
    rng, inside, runs = np.random.default_rng(5), 0, 800
    for run in range(runs):
        y = rng.normal(size=61)
        table = pa.table({"id": 60 * run + np.arange(60), "f": np.zeros(60), "y": y[:60]})
        model = batches.fit(table, target="y", point="f", ids="id", sample=19)
        lower, upper = model.calibrated([0.0]).interval(0.9)
        inside += bool(lower[0] <= y[60] <= upper[0])
    assert abs(inside / runs - 0.9) < 3.5 * math.sqrt(0.09 / runs)


@pytest.mark.parametrize("kind", KINDS)
def test_metrics_in_one_pass_are_those_of_all_rows(kind):
    model = batches.fit(TABLE, target="y", **KINDS[kind])
    found = batches.evaluate(TABLE, model, ids="id", coverage=0.8)
    again = batches.evaluate(cut(TABLE, 4), model, ids="id", coverage=0.8)
    assert (found.base, found.calibrated, found.mae, found.intervals) == (
        again.base,
        again.calibrated,
        again.mae,
        again.intervals,
    )
    assert np.array_equal(found.pits, again.pits)
    rows = pa.table(TABLE)
    prediction = {
        "point": MU,
        "rate": calibrant.predictions.Rates(np.exp(MU)),
        "normal": Normal(MU, SIGMA),
        "interval": calibrant.Interval(rows["lower"].to_numpy(), rows["upper"].to_numpy()),
        "quantiles": calibrant.Quantiles([0.1, 0.5, 0.9], DRAWS[:, [0, 2, 4]]),
        "samples": calibrant.Samples(DRAWS),
    }[kind]
    H = model.calibrated(prediction)
    for side, forecast in (("base", prediction), ("calibrated", H)):
        whole, got = calibrant.evaluate(forecast, Y, coverage=0.8), getattr(found, side)
        assert dict(got.labels) == dict(whole.labels)
        for name in whole.labels:
            a, b = getattr(got, name), getattr(whole, name)
            about = {"ece": 2 / BINS + 1 / N, "debiased_ece": 2 / BINS + 1 / N, "sup_calibration_error": 2 / BINS}
            if side == "base" and kind == "samples" and name in {*about, "pit_pvalue"}:
                continue  # PITs by rank, drawn by row here
            if b is None:
                assert a is None, name
                continue
            assert a == pytest.approx(b, rel=1e-12, abs=about.get(name, 0.02 if name == "pit_pvalue" else 1e-12)), name
    assert found.mae == pytest.approx(np.mean(np.abs(Y - H.median())), rel=1e-12)
    inside, width = found.intervals[0.5]
    lower, upper = H.interval(0.5)
    assert inside == np.mean((lower <= Y) & (upper >= Y))
    assert width == pytest.approx(np.mean(upper - lower), rel=1e-12)
    assert found.histogram(10).sum() == N
    expected, _ = np.histogram(pit(H, Y), np.linspace(0, 1, 11))
    assert np.max(np.abs(found.histogram(10) - expected)) <= 2
    expected, _ = np.histogram(pit(H, Y), np.linspace(0, 1, 21))
    assert np.max(np.abs(found.histogram() - expected)) <= 2
    assert "CRPS" in str(found)


def test_pits_of_counts_are_drawn_by_row_in_any_parts():
    model = batches.fit(TABLE, **arguments("counts"), ids="id")
    whole = batches.evaluate(TABLE, model, ids="id")
    work = evaluating(model, Header("it", tuple(TABLE.schema.names)), ids="id")
    parts = [work.part(rows, "part", number) for number, rows in enumerate(cut(TABLE, 5)) if rows.num_rows]
    merged = work.finish(work.merge([work.merge(parts[3:]), work.merge(parts[:3])]))
    assert np.array_equal(whole.pits, merged.pits)
    agree(merged.calibrated, whole.calibrated)
    assert whole.calibrated.pit_pvalue > 0.01
    empty = work.part(TABLE.slice(0, 0), "part 9", 9)
    with pytest.warns(UserWarning, match=r"^the parts: there are no rows in part 9"):
        agree(work.finish(work.merge([*parts, empty])).calibrated, whole.calibrated)


def agree(found, whole):
    """A sum over the points of a count is cut to the widest row of a part: its last digits depend on the part."""
    sums = {"crps": whole.crps, "std": whole.std}
    assert {name: getattr(found, name) for name in sums} == pytest.approx(sums, rel=1e-12)
    assert replace(found, **sums) == whole


@pytest.mark.parametrize("y", [0.0, -0.6, 0.7])
def test_the_calibration_error_of_a_histogram_is_below_the_true_one_by_less_than_a_bin(y):
    table = pa.table({"mu": np.zeros(4), "sigma": np.ones(4), "y": np.full(4, y)})
    off = calibrant.evaluate(Normal(np.zeros(4), 1.0), np.full(4, y)).sup_calibration_error
    off -= batches.evaluate(table, MODEL).base.sup_calibration_error
    assert 0.0 <= off < 1 / BINS


def test_exact_sums_are_those_of_fractions():
    values = np.random.default_rng(6).normal(size=999) * 10.0 ** np.random.default_rng(7).integers(-12, 6, 999)
    exact = float(sum(map(Fraction, values)) / len(values))
    assert ExactSum.of(values).mean() == exact
    parts = [ExactSum.of(part) for part in np.array_split(values[::-1], 13)]
    assert sum(parts, start=ExactSum()).mean() == exact
    assert ExactSum.of(np.array([1.0, np.inf])).mean() == np.inf
    assert math.isnan((ExactSum.of(np.array([np.inf])) + ExactSum.of(np.array([-np.inf, 0.0]))).mean())


def test_a_model_is_a_file_of_the_command_line_and_back(tmp_path):
    batches.fit(TABLE, target="y", mean="mu", std="sigma", by="region").save(tmp_path / "m.safetensors")
    model = TableModel.read(tmp_path / "m.safetensors")
    parquet.write_table(TABLE, tmp_path / "t.parquet")
    command = ["predict", "t.parquet", "-m", "m.safetensors", "--quantiles", "0.05,0.5", "-o", "o.parquet"]
    run = CliRunner().invoke(app, [str(tmp_path / a) if "." in a and "0." not in a else a for a in command])
    assert run.exit_code == 0, run.output
    ours = batches.predict(TABLE, model, quantiles=[0.05, 0.5], keep=[]).read_all()
    assert parquet.read_table(tmp_path / "o.parquet").equals(ours)
    assert model.notes.by == ("region",)
    calibrated = Calibrator().fit(Normal(MU, SIGMA), Y)
    calibrated.save(tmp_path / "plain.safetensors")
    with pytest.raises(calibrant.files.FileError, match="does not say which columns it was fitted on"):
        TableModel.read(tmp_path / "plain.safetensors")


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_the_command_line_fits_a_sample_batch_by_batch(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr("calibrant.cli.tables.BATCH", 50)
    path, out = tmp_path / f"t.{suffix}", tmp_path / "m.safetensors"
    parquet.write_table(TABLE, path) if suffix == "parquet" else TABLE.to_pandas().to_csv(path, index=False)
    flags = ["--target", "y", "--mean", "mu", "--std", "sigma", "--by", "region", "--sample", "60"]
    run = CliRunner().invoke(app, ["fit", str(path), *flags, "--ids", "id", "-o", str(out)])
    assert run.exit_code == 0, run.output
    assert "on 180 rows of" in run.output
    ours = batches.fit(TABLE, target="y", mean="mu", std="sigma", by="region", ids="id", sample=60)
    assert same(TableModel.read(out), ours)
    for wrong, words in (
        (["--ids", "id"], "it is for --sample"),
        (["--sample", "9", "--last", "5"], "it goes with neither"),
    ):
        run = CliRunner().invoke(app, ["fit", str(path), *flags[:6], *wrong, "-o", str(out)])
        assert run.exit_code == 2
        assert words in run.output


def test_frames_tables_readers_and_lists_of_frames_are_batches():
    frame = TABLE.to_pandas()
    model = batches.fit(frame, target="y", point="mu")
    whole = batches.predict(TABLE, model, interval=0.9, keep=["id"]).read_all()
    for given in (frame, TABLE.to_reader(), iter([frame[:300], frame[300:]]), TABLE.combine_chunks().to_batches()[0]):
        assert batches.predict(given, model, interval=0.9, keep=["id"]).read_all().equals(whole)


def test_nothing_is_read_before_the_second_batch_is_asked_for():
    def endless():
        while True:
            yield TABLE.to_batches()[0]
            asked.append(1)

    asked, model = [], batches.fit(TABLE, target="y", point="mu")
    reader = batches.predict(endless(), model, quantiles=0.5)
    assert len([reader.read_next_batch() for _ in range(3)]) == 3
    assert len(asked) <= 4


def test_rows_without_a_prediction_are_nan_and_counted_and_rows_without_a_label_are_left_out():
    mu, y = MU.copy(), Y.copy()
    mu[[7, 9]], y[[1, 9, 11]] = np.nan, np.nan
    table = TABLE.set_column(1, "mu", pa.array(mu)).set_column(TABLE.schema.get_field_index("y"), "y", pa.array(y))
    there = np.isfinite(mu) & np.isfinite(y)
    with pytest.warns(UserWarning, match="have no") as caught:
        model = batches.fit(table, target="y", point="mu")
    assert [str(each.message) for each in caught] == [
        "the batches: 3 rows, the first is row 1, have no label: they are left out",
        "the batches: 2 rows, the first is row 7, have no prediction: they are left out",
    ]
    assert model.calibrated.q.knots.tolist() == np.sort((y - mu)[there]).tolist()
    with pytest.warns(UserWarning, match="2 rows, the first is row 7, have no prediction: what is written .* is NaN"):
        found = batches.predict(table.to_batches(max_chunksize=8), model, quantiles=0.5).read_all()
    assert np.flatnonzero(np.isnan(found["q0.5"].to_numpy())).tolist() == [7, 9]
    with pytest.raises(ValueError, match="the batches: column 'mu' is NaN or infinite in row 7"):
        batches.predict(table, model, quantiles=0.5, missing="error").read_all()
    with pytest.warns(UserWarning, match="have no"):
        assert batches.evaluate(table, model).calibrated.n == there.sum()


def with_(name, values):
    return TABLE.set_column(TABLE.schema.get_field_index(name), name, pa.array(values))


NEGATIVE = SIGMA.copy()
NEGATIVE[300] = -1.0
MODEL = batches.fit(TABLE, target="y", mean="mu", std="sigma")
APART = pa.table({"mu": [1.0, None, 3.0], "sigma": [1.0, 1.0, 1.0], "y": [None, 2.0, None]})
"""Each row has a prediction or a label, and none has both."""


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: batches.fit([], target="y", point="mu"), ValueError, "there is no batch"),
        (lambda: batches.fit(3, target="y", point="mu"), TypeError, "what Arrow can stream, got int"),
        (lambda: batches.fit([3], target="y", point="mu"), TypeError, "got int among them"),
        (
            lambda: batches.fit(TABLE.slice(0, 0), target="y", point="mu"),
            ValueError,
            "^the batches: there are no rows$",
        ),
        (lambda: batches.fit(TABLE, target="y", point="Mu"), ValueError, "no column 'Mu'; did you mean 'mu'"),
        (
            lambda: batches.fit(TABLE, target="y"),
            ValueError,
            "name the columns of the prediction with one of point=, rate=",
        ),
        (lambda: batches.fit(TABLE, target="y", mean="mu"), ValueError, "mean= needs std= too"),
        (lambda: batches.fit(TABLE, target="y", mean=3, std="sigma"), TypeError, "mean must be the name of a column"),
        (lambda: batches.fit(TABLE, target="mu", point="mu"), ValueError, "'mu' is the target, and among"),
        (lambda: batches.fit(TABLE, target="y", point="region"), ValueError, "column 'region' must hold numbers"),
        (
            lambda: batches.fit(TABLE, target="y", quantiles={"s0": 0.9, "s1": 0.9}),
            ValueError,
            "levels must differ",
        ),
        (
            lambda: batches.fit(
                with_("sigma", NEGATIVE).to_batches(max_chunksize=64), target="y", mean="mu", std="sigma"
            ),
            ValueError,
            "the batches: column 'sigma' is negative in row 300",
        ),
        (
            lambda: batches.fit(with_("mu", pa.nulls(N, pa.float64())), target="y", point="mu"),
            ValueError,
            "the batches: column 'mu' is missing in all 700 rows",
        ),
        (
            lambda: batches.predict(
                with_("sigma", pa.nulls(N)).to_batches(max_chunksize=64), MODEL, quantiles=0.5
            ).read_all(),
            ValueError,
            "the batches: column 'sigma' is missing in all 700 rows",
        ),
        (
            lambda: batches.evaluate(with_("y", pa.nulls(N)), MODEL),
            ValueError,
            "the batches: column 'y' is missing in all 700 rows",
        ),
        (
            lambda: batches.fit(
                [TABLE.to_batches()[0], with_("mu", ["?"] * N).to_batches()[0]], target="y", point="mu"
            ),
            ValueError,
            "batch 1 has another schema than the first: column 'mu' is string, not double",
        ),
        (
            lambda: batches.predict(
                [TABLE.to_batches()[0], TABLE.drop_columns("id").to_batches()[0]], MODEL, quantiles=0.5
            ).read_all(),
            ValueError,
            "batch 1 has another schema than the first: column 'id' is not there, not int64",
        ),
        (
            lambda: batches.fit(
                [TABLE.select(names).to_batches()[0] for names in (["mu", "y"], ["y", "mu"])], target="y", point="mu"
            ),
            ValueError,
            r"^the batches: batch 1 has its columns in another order than the first: \['y', 'mu'\], not \['mu', 'y'\]$",
        ),
        (lambda: batches.fit(TABLE, target="y", point="mu", ids="w"), ValueError, "ids must be whole numbers or texts"),
        (lambda: batches.fit(TABLE, target="y", point="mu", ids="count"), ValueError, "two rows have the same"),
        (
            lambda: batches.fit(with_("id", [None, *range(N - 1)]), target="y", point="mu", ids="id"),
            ValueError,
            "column 'id' of the ids is missing in row 0",
        ),
        (
            lambda: batches.fit(with_("region", ["north"] * 500 + [None] * (N - 500)), **arguments("groups")),
            ValueError,
            "the batches: column 'region' is missing in row 500",
        ),
        (lambda: batches.fit(TABLE, target="y", point="mu", sample=0), ValueError, "sample must be a whole number"),
        (lambda: batches.fit(TABLE, target="y", point="mu", missing="no"), ValueError, '"keep" or "error", got'),
        (
            lambda: batches.fit(TABLE, target="y", point="mu", calibrator=Calibrator(forget=HalfLife(9))),
            TypeError,
            "no time order",
        ),
        (
            lambda: batches.fit(TABLE, target="y", point="mu", by="region", weights="w"),
            ValueError,
            "groups go with neither weights",
        ),
        (
            lambda: batches.fit(TABLE, target="mu", rate="rate", calibrator=Calibrator(labels=Counts()), name="sales"),
            ValueError,
            "sales: .*whole numbers",
        ),
        (lambda: batches.predict(TABLE, MODEL), ValueError, "expected quantiles, interval or probabilities"),
        (lambda: batches.predict(TABLE, MODEL, quantiles=[0.5, 0.5]), ValueError, "quantiles must differ"),
        (lambda: batches.predict(TABLE, MODEL, quantiles=1.5), ValueError, r"strictly inside \(0, 1\), got 1.5"),
        (
            lambda: batches.predict(TABLE, MODEL, interval=0.9),
            ValueError,
            "column 'lower' cannot be kept: a new column",
        ),
        (lambda: batches.predict(TABLE, MODEL, quantiles=0.5, keep=["q"]), ValueError, "there is no column 'q'"),
        (lambda: batches.predict(TABLE, MODEL.calibrated, quantiles=0.5), TypeError, "which columns .* TableModel.of"),
        (lambda: batches.evaluate(TABLE, MODEL.calibrated), TypeError, "takes what calibrant.batches.fit gives"),
        (
            lambda: batches.predict(TABLE, batches.fit(TABLE, **arguments("random")), quantiles=0.5).read_all(),
            ValueError,
            "randomised and needs a seed",
        ),
        (
            lambda: batches.fit(TABLE, target="y", samples="y*,[y]"),
            ValueError,
            r"^the batches: no column matches y\*, \[y\]$",
        ),
        (
            lambda: batches.fit(TABLE, target="y", point="mu", ids="count", sample=9),
            ValueError,
            "^the batches: the ids in count must be of one row each, and two rows have the same$",
        ),
        (lambda: batches.fit(APART, target="y", point="mu"), ValueError, "^the batches: no row has both a label and"),
        (lambda: batches.evaluate(APART, MODEL), ValueError, "^the batches: no row has both a label and a prediction$"),
        (
            lambda: batches.fit(APART, target="y", point="mu", missing="error"),
            ValueError,
            "^the batches: column 'mu' is missing in row 1 ",
        ),
        (
            lambda: batches.fit(APART, target="mu", point="y", missing="error"),
            ValueError,
            "^the batches: column 'y' is missing in row 0 ",
        ),
        (lambda: TableModel.of(3, point="mu"), TypeError, "^a TableModel holds what Calibrator.fit gives, got int$"),
        (
            lambda: TableModel(MODEL.calibrated, replace(MODEL.notes, weights="w", event="count")).extra,
            ValueError,
            "^censored labels take no weights$",
        ),
        (
            lambda: batches.predict(TABLE.drop_columns("sigma"), MODEL, quantiles=0.5),
            ValueError,
            "^the batches: there is no column 'sigma'; ",
        ),
        (
            lambda: batches.predict(TABLE.append_column("mu", TABLE["y"]), MODEL, quantiles=0.5, keep=["y"]),
            ValueError,
            "^the batches: there are 2 columns named 'mu'$",
        ),
        (
            lambda: batches.predict(
                TABLE.drop_columns("region"), batches.fit(TABLE, **arguments("groups")), quantiles=0.5
            ),
            ValueError,
            "^the batches: there is no column 'region'; ",
        ),
        (
            lambda: TableModel.of(Calibrator().fit(MU, Y, by=TABLE["region"].to_pylist()), point="mu"),
            ValueError,
            "by= names them",
        ),
    ],
)
def test_bad_input_is_told_in_one_sentence(call, error, words):
    with pytest.raises(error, match=words) as told:
        call()
    assert "\n" not in str(told.value)


def test_parts_whose_groups_differ_in_type_are_named():
    work = fitting(Header("it", ("f", "y", "g")), "y", {"point": "f"}, by="g")
    frames = [pd.DataFrame({"f": [1.0], "y": [2.0], "g": [each]}) for each in ("1", 1)]
    parts = [work.part(frame, f"part {number}", number) for number, frame in enumerate(frames)]
    with pytest.raises(ValueError, match="part 1: column 'g' is int64, and string in part 0"):
        work.merge(parts)


def test_a_group_by_with_its_own_interpolator_is_kept():
    model = batches.fit(TABLE, target="y", point="mu", by="region", calibrator=Calibrator(interpolator=ByGroup()))
    assert isinstance(model.calibrated.interpolator, ByGroup)


@pytest.mark.parametrize(
    "notes",
    [
        None,
        {"target": 3},
        {"target": "y", "columns": 3},
        {"target": "y", "columns": {"kind": "point"}},
        {**MODEL.notes.to_json(), "by": "region"},
        {**MODEL.notes.to_json(), "by": ["region", 3]},
        {**MODEL.notes.to_json(), "weights": 3},
        {**MODEL.notes.to_json(), "event": ["seen"]},
    ],
)
def test_a_file_without_its_columns_is_told_the_way(tmp_path, notes):
    path = tmp_path / "m.safetensors"
    files.save(path, MODEL.calibrated, notes=notes)
    with pytest.raises(FileError, match=r"does not say which columns it was fitted on: .* TableModel.of"):
        TableModel.read(path)


def test_what_is_sent_to_be_predicted_goes_without_its_scores():
    work = predicting(MODEL, OutputColumns.of(0.5, (), ()), Header("it", tuple(TABLE.schema.names)))
    assert work.calibrated.history is not None
    assert work.without_history().calibrated.history is None
    assert same(TableModel(work.without_history().calibrated, MODEL.notes), MODEL)


def test_without_ids_a_row_of_the_only_part_is_known_by_its_number():
    work = fitting(Header("it", tuple(TABLE.schema.names)), "y", {"point": "mu"}, sample=60)
    raw, first, second = work.part(TABLE, "a"), work.part(TABLE, "a", 0), work.part(TABLE, "a", 1)
    assert raw.rows.equals(first.rows)
    assert not raw.rows.equals(second.rows)


@pytest.mark.parametrize("step", ["fit", "evaluate"])
def test_a_part_without_a_column_is_named(step):
    header = Header("it", tuple(TABLE.schema.names))
    work = fitting(header, "y", {"point": "mu"}) if step == "fit" else evaluating(MODEL, header)
    with pytest.raises(ValueError, match="part 3: there is no column 'mu'"):
        work.part(TABLE.drop_columns("mu"), "part 3")


def test_an_error_names_the_batches_once_and_the_row_among_all():
    rng = np.random.default_rng(0)
    table = pa.table({"mu": rng.normal(size=30), "sigma": np.ones(30), "y": rng.poisson(3.0, 30).astype(float)})
    counts = Calibrator(labels=Counts())
    model = batches.fit(table, target="y", mean="mu", std="sigma", calibrator=counts)
    sigma, y = np.ones(30), table["y"].to_numpy().copy()
    y[2], y[9] = np.nan, 2.5
    with pytest.raises(ValueError, match=r"^the batches: y is 2\.5 in row 9 \("):
        batches.evaluate(table.set_column(2, "y", pa.array(y)), model)
    sigma[7] = -1.0
    with pytest.raises(ValueError, match=r"^the batches: column 'sigma' is negative in row 7 "):
        batches.evaluate(table.set_column(1, "sigma", pa.array(sigma)), model)


@pytest.mark.parametrize("absent", ["y", "sigma", "id"])
def test_a_column_that_is_not_there_is_named_before_any_part_is_judged(absent):
    names = tuple(name for name in TABLE.schema.names if name != absent)
    with pytest.raises(ValueError, match=f"^the frame: there is no column '{absent}'; "):
        evaluating(MODEL, Header("the frame", names), ids="id")


@pytest.mark.parametrize("absent", ["y", "sigma", "id", "region"])
def test_a_column_that_is_not_there_is_named_before_any_part_is_fitted(absent):
    names = tuple(name for name in TABLE.schema.names if name != absent)
    with pytest.raises(ValueError, match=f"^the frame: there is no column '{absent}'; "):
        fitting(Header("the frame", names), "y", {"mean": "mu", "std": "sigma"}, by="region", ids="id")


def test_of_many_columns_ten_are_named_and_the_rest_counted():
    for count, rest in ((10, "'c9'"), (11, "'c9', 'c10'"), (12, "'c9' and 2 more"), (30, "'c9' and 20 more")):
        names = tuple(f"c{k}" for k in range(count))
        with pytest.raises(
            ValueError, match=rf"^it: there is no column 'price'; the columns are 'c0', .*'c8', {rest}$"
        ):
            Header("it", names).check(["price"])


ROUGH = pa.table(
    {
        "lower": [0.0, 2.0, 1.0, 0.0, None, 0.0, 0.0, 0.0],
        "upper": [1.0, 0.0, 1.0, 2.0, 1.0, 3.0, 1.0, 1.0],
        "y": [0.5, 1.0, 2.0, None, 1.0, 1.5, 3.0, -1.0],
    }
)
"""Row 1 crosses, row 2 has no width, row 3 no label, row 4 no prediction."""


def said(rows, work):
    """What is warned of while work is done on rows, in order."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work(rows)
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("step", ["fit", "evaluate", "predict"])
def test_what_was_mended_and_what_is_missing_is_told_once_for_all_batches(step):
    table, model = pa.concat_tables([ROUGH, ROUGH]), batches.fit(TABLE, target="y", lower="lower", upper="upper")
    works = {
        "fit": lambda rows: batches.fit(rows, target="y", lower="lower", upper="upper"),
        "evaluate": lambda rows: batches.evaluate(rows, model),
        "predict": lambda rows: batches.predict(rows, model, quantiles=0.5).read_all(),
    }
    fate = "what is written for them is NaN" if step == "predict" else "they are left out"
    mended = [
        "the batches: 2 rows, the first is row 1, have bounds or quantiles that cross: they are sorted",
        "the batches: 2 rows, the first is row 2, have no width of their own:"
        " they are given the floor that was learned when fitting",
    ]
    missing = [f"the batches: 2 rows, the first is row {row}, have no {what}: {fate}" for row, what in MISSING[step]]
    for rows in (table, table.to_batches(max_chunksize=5)):
        assert said(rows, works[step]) == [*mended, *missing]


MISSING = {
    "fit": [(3, "label"), (4, "prediction")],
    "evaluate": [(3, "label"), (4, "prediction")],
    "predict": [(4, "prediction")],
}


@pytest.mark.parametrize("step", ["fit", "evaluate"])
def test_what_was_mended_and_what_is_missing_is_told_once_for_all_parts(step):
    header = Header("it", tuple(ROUGH.schema.names))
    model = batches.fit(TABLE, target="y", lower="lower", upper="upper")
    columns = {"lower": "lower", "upper": "upper"}
    work = fitting(header, "y", columns) if step == "fit" else evaluating(model, header)
    whole = ROUGH.take([0, 5, 6, 7])
    tables = [whole, ROUGH, whole.slice(0, 0), ROUGH.take([3, 1, 4, 2, 0])]
    parts = [work.part(rows, f"part {number}", number) for number, rows in enumerate(tables)]
    for merged in (work.merge(parts), work.merge([work.merge(parts[:2]), work.merge(parts[2:])])):
        assert said(merged, work.finish) == [
            "the parts: 2 rows, the first is row 1 of part 1, have bounds or quantiles that cross: they are sorted",
            "the parts: 2 rows, the first is row 2 of part 1, have no width of their own:"
            " they are given the floor that was learned when fitting",
            "the parts: 2 rows, the first is row 3 of part 1, have no label: they are left out",
            "the parts: 2 rows, the first is row 4 of part 1, have no prediction: they are left out",
            "the parts: there are no rows in part 2",
        ]


@pytest.mark.parametrize("step", ["fit", "evaluate", "predict"])
def test_a_normal_distribution_without_a_width_is_told_of(step):
    sigma, y = SIGMA.copy(), Y.copy()
    sigma[5], y[5] = 0.0, MU[5]
    table = pa.table({"mu": MU, "sigma": sigma, "y": y})
    works = {
        "fit": lambda rows: batches.fit(rows, target="y", mean="mu", std="sigma"),
        "evaluate": lambda rows: batches.evaluate(rows, MODEL),
        "predict": lambda rows: batches.predict(rows, MODEL, quantiles=0.5).read_all(),
    }
    assert said(table, works[step]) == [
        "the batches: 1 row, row 5, has no width of its own: it is given the floor that was learned when fitting"
    ]


def test_an_interval_that_too_few_rows_can_promise_is_warned_of():
    model = batches.fit(TABLE.slice(0, 9), target="y", point="mu")
    with pytest.warns(UserWarning, match="99% interval") as caught:
        batches.predict(TABLE, model, interval=[0.5, 0.99], keep=["id"])
    assert [each.filename for each in caught] == [__file__]
    batches.predict(TABLE, model, interval=[0.5, 0.8], keep=["id"])


def test_a_label_that_is_no_count_is_named_by_its_row_when_fitting():
    y = TABLE["count"].to_numpy().astype(float)
    y[2], y[300] = np.nan, 2.5
    with pytest.raises(ValueError, match=r"^the batches: count is 2\.5 in row 300 \("):
        batches.fit(with_("count", y).to_batches(max_chunksize=64), **arguments("counts"))


def test_the_filters_of_warnings_are_as_before_once_nobody_counts():
    before = list(warnings.filters)
    with silenced():
        warnings.warn("row 3 has zero width", stacklevel=1)
        with silenced():
            pass
        warnings.warn("1 row and others have no width of their own", stacklevel=1)
    assert list(warnings.filters) == before
    with pytest.warns(UserWarning, match="row 3 has zero width"):
        warnings.warn("row 3 has zero width", stacklevel=1)


@pytest.mark.parametrize("step", ["fit", "evaluate"])
def test_parts_without_any_rows_are_named_where_there_are_parts(step):
    header = Header("it", tuple(TABLE.schema.names))
    work = fitting(header, "y", {"point": "mu"}) if step == "fit" else evaluating(MODEL, header)
    with pytest.raises(ValueError, match=r"^the parts: there are no rows$"):
        work.finish(work.merge([]))
    parts = [work.part(TABLE.slice(0, 0), f"part {number}", number) for number in (0, 1)]
    with pytest.raises(ValueError, match=r"^the parts: there are no rows in part 0, part 1$"):
        work.finish(work.merge(parts))


def test_a_partition_is_named_by_its_number_and_by_its_file_where_that_is_known():
    assert partition(3) == "partition 3"
    assert partition(3, "a/part.3.parquet") == "partition 3 (a/part.3.parquet)"


def test_quantiles_that_cross_at_the_upper_end_alone_are_sorted_and_told_of():
    table = pa.table({"a": [0.0, 0.0], "b": [1.0, 2.0], "c": [2.0, 1.0]})
    model = batches.fit(TABLE, target="y", quantiles={"s0": 0.1, "s2": 0.5, "s4": 0.9})
    columns = TableModel.of(model.calibrated, quantiles={"a": 0.1, "b": 0.5, "c": 0.9})
    assert said(table, lambda rows: batches.predict(rows, columns, quantiles=0.5).read_all()) == [
        "the batches: 1 row, row 1, has bounds or quantiles that cross: it is sorted"
    ]


def test_one_quantile_a_row_has_no_width_to_tell_of():
    assert said(TABLE, lambda rows: batches.fit(rows, target="y", quantiles={"mu": 0.5})) == []


def test_of_several_columns_without_a_number_the_label_is_named_first():
    empty = pa.table({name: pa.nulls(3, pa.float64()) for name in ("mu", "sigma", "y")})
    with pytest.raises(ValueError, match=r"^the batches: column 'y' is missing in all 3 rows$"):
        batches.evaluate(empty, MODEL)


def test_a_pit_of_zero_is_counted_with_the_smallest():
    model = batches.fit(TABLE, target="y", mean="mu", std="sigma", ids="id")
    far = TABLE.set_column(TABLE.schema.get_field_index("y"), "y", pa.array(np.where(np.arange(N) < 3, -1e9, Y)))
    assert model.calibrated(Normal(MU[:3], SIGMA[:3])).cdf(np.full(3, -1e9)).tolist() == [0.0, 0.0, 0.0]
    found = batches.evaluate(far, model, ids="id")
    assert found.pits.sum() == N
    assert found.pits[0] >= 3


def test_pits_of_the_only_part_are_drawn_by_the_numbers_of_its_rows():
    model = batches.fit(TABLE, **arguments("counts"), ids="id")
    work = evaluating(model, Header("it", tuple(TABLE.schema.names)))
    raw, first, second = (work.part(TABLE, "a", *number).calibrated.pits for number in ((), (0,), (1,)))
    assert np.array_equal(raw, first)
    assert not np.array_equal(raw, second)


def test_pits_that_fill_all_bins_alike_have_no_gap():
    assert gaps_of(np.full(BINS, 3)) == pytest.approx((0.0, 0.0), abs=1e-12)
    assert gaps_of(np.array([1, 1])) == (0.0, 0.0)
