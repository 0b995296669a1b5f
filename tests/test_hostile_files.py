"""A file that is cut off, altered or made crooked on purpose gives one clear error, at once, and allocates little."""

from __future__ import annotations

import json
import math
import os
import re
import stat
import warnings
from contextlib import nullcontext
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from catalogue import HERE, calibrated
from forged import built, in_fields, parsed, peak_below, sealed, small, tampered
from systems import on_posix
from test_files import DISTRIBUTION_CASES, Fixed, Scaled, of_distribution

from calibrant import Calibrator, Guarantee, HalfLife, Laplace, Mixture, Normal, StudentT, Tracker, concatenate
from calibrant._batch import same
from calibrant.distributions import PiecewiseLinear
from calibrant.distributions.bent import Reweighted
from calibrant.distributions.clipped import Clipped
from calibrant.distributions.joined import Joined
from calibrant.distributions.logistic_linear import LogisticLinear
from calibrant.distributions.logit_spline import LogitSpline
from calibrant.distributions.piecewise_linear import Lines
from calibrant.distributions.randomised import Randomised, RandomisedRows
from calibrant.horizons.calibration import HorizonCalibrated
from calibrant.horizons.columns import ForecastColumns
from calibrant.horizons.table import LongColumns
from calibrant.interpolators import NAF, Apart, Linear, Random
from calibrant.interpolators.history import Groups, History
from calibrant.interpolators.weights import Ratios
from calibrant.persistence import FileError, fields, load, save
from calibrant.persistence.classes import KINDS, Promised
from calibrant.persistence.codec import Encoded, _Decoder, encode
from calibrant.persistence.container import _check_layout
from calibrant.persistence.errors import why
from calibrant.scores import EnsembleScore, ZScore
from calibrant.several.joint import Joint


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


# ---- what is not a file of ours ------------------------------------------------------------------------------------


def test_a_file_written_by_hand_as_the_format_says_is_read(path):
    save(path, small())
    path.write_bytes(built(*parsed(path.read_bytes())))
    assert same(load(path), small())


def test_a_path_that_is_no_file_keeps_its_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)
    with pytest.raises(IsADirectoryError):
        save(tmp_path, small())
    with pytest.raises(FileNotFoundError, match="no_folder"):
        save(tmp_path / "no_folder" / "model", small())
    assert os.listdir(tmp_path) == []


def test_a_folder_is_told_from_a_file_that_may_not_be_read_where_the_system_does_not(tmp_path, monkeypatch):
    def closed(path, mode):
        raise PermissionError(13, "Permission denied", path)  # what Windows says of a folder

    monkeypatch.setattr("calibrant.persistence.container.open", closed, raising=False)
    with pytest.raises(IsADirectoryError, match=re.escape(repr(str(tmp_path)))):
        load(tmp_path)


@on_posix
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for action in (load, lambda path: save(path, small())):
        with pytest.raises(FileError, match="a device or a pipe"):
            action(tmp_path / "pipe")


@pytest.mark.parametrize(
    "content",
    [b"", b"\x80\x04", b"a,b\n1,2\n" * 100, b"\x02" + bytes(7), b"\x02" + bytes(7) + b"{}", b"\xff" * 8 + b"{}"],
)
def test_another_kind_of_file_is_refused(content, path):
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"cannot load .*model.safetensors: it is not a calibrant file"):
        load(path)


def test_a_safetensors_file_of_another_library_is_refused(path):
    from safetensors.numpy import save_file

    for metadata in (None, {"format": "pt"}):
        save_file({"weight": np.zeros(3)}, path, metadata)
        with pytest.raises(FileError, match="it is not a calibrant file: its header has no entry of ours"):
            load(path)


def test_another_version_of_the_format_is_named(path):
    save(path, small())
    with tampered(path) as (header, _):
        header.update(format=2, calibrant="9.9", something="new")
    with pytest.raises(
        FileError, match=r"it has format 2, written by calibrant '9.9', and the newest that this version reads is 1"
    ):
        load(path)


def test_every_truncation_is_refused(path):
    save(path, small())
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(FileError):
            load(path)


def test_every_altered_byte_is_noticed(path):
    save(path, small())
    whole = path.read_bytes()
    for i in range(len(whole)):
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :])
        with pytest.raises(FileError):
            load(path)


def test_bytes_after_the_end_are_refused(path):
    save(path, small())
    path.write_bytes(path.read_bytes() + bytes(8))
    with pytest.raises(FileError, match="cut off or has bytes to spare"):
        load(path)


def test_a_header_that_claims_great_arrays_allocates_nothing(path):
    save(path, small())
    with tampered(path) as (_, entries):
        entries["q.lines.knots"].update(shape=[2**28], data_offsets=[0, 2**31])
    with pytest.raises(FileError, match="do not fill"), peak_below(5e6):
        load(path)


def test_a_great_file_that_does_not_match_its_digest_allocates_nothing(path):
    save(path, small())
    with tampered(path) as (_, entries):
        whole = max(entry["data_offsets"][1] for entry in entries.values())
        entries["q.lines.right"].update(shape=[2**24], data_offsets=[whole - 8, whole - 8 + 2**27])  # the last one
    with open(path, "r+b") as file:
        length = int.from_bytes(file.read(8), "little")
        file.truncate(8 + length + whole - 8 + 2**27)  # a hole
    with pytest.raises(FileError, match="altered"), peak_below(5e6):
        load(path)


def test_an_oversized_file_is_refused_unread(path):
    with open(path, "wb") as file:
        file.truncate(2**32 + 1)
    with pytest.raises(FileError, match="4294967297 bytes, where 4294967296 is the most"), peak_below(5e6):
        load(path)


def test_an_oversized_header_is_refused_at_both_ends(path):
    with pytest.raises(FileError, match="it would have a header of"):
        save(path, small(), notes={"much": "x" * 2**20})
    path.write_bytes((2**40).to_bytes(8, "little") + b"{" * 100)
    with pytest.raises(FileError, match="not a calibrant file"):
        load(path)


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    "root",
    [
        DEEP,
        '{"class":' * 9_000,
        '{"class": NaN}',
        "1e999",
        '{"a": 1, "a": 2}',
        "9" * 5_000,
        "[",
        '"' + "\\ud800",
        "0" * 9,
    ],
    ids=range(9),
)
def test_json_that_is_a_trap_is_refused(root, path):
    save(path, small())
    header, entries, data = parsed(path.read_bytes())
    text = json.dumps({"digest": "0" * 64, **{**header, "digest": "0" * 64, "root": "@"}}, separators=(",", ":"))
    path.write_bytes(sealed(text.replace('"@"', root), entries, data))
    with pytest.raises(FileError, match="not proper JSON"):
        load(path)


def test_nesting_has_an_end_at_both_ends(path):
    score = ZScore()
    for _ in range(40):
        score = EnsembleScore(score)
    with pytest.raises(FileError, match="nested more than 32 deep"):
        save(path, replace(small(), score=score))
    save(path, small())
    with tampered(path) as (header, _):
        for _ in range(40):
            header["root"] = {"class": "EnsembleScore", "fields": {"scores": header["root"]}}
    with pytest.raises(FileError, match="nested more than 32 deep"):
        load(path)


def test_the_error_about_a_hostile_name_is_short(path):
    save(path, small())
    with tampered(path) as (header, _):
        header["root"]["fields"]["score"]["class"] = "A" * 500_000
    with pytest.raises(FileError) as caught:
        load(path)
    assert len(str(caught.value)) < 1_000


# ---- a digest is no signature: what was made crooked on purpose ----------------------------------------------------


def test_the_reason_of_another_library_is_quoted_up_to_300_letters():
    assert why(ValueError("x" * 300)) == "x" * 300
    assert why(ValueError("x" * 301)) == "x" * 300 + " ..."


def test_the_header_may_name_the_arrays_in_any_order(path):
    save(path, small())
    header, entries, data = parsed(path.read_bytes())
    for names in (sorted(entries), sorted(entries, reverse=True)):
        path.write_bytes(built(header, {name: entries[name] for name in names}, data))
        assert same(load(path), small())


def without_score(header, entries):
    header["root"]["fields"].pop("score")


def root_of_another_kind(header, entries):
    header["root"] = {"class": "Linear", "fields": {"tails": {"class": "ExponentialTails", "fields": {}}}}


def array_of_nothing(header, entries):
    header["root"]["fields"]["q"]["fields"]["lines"]["fields"]["probs"] = {"array": "q.lines.knots"}


def arrays_in_each_others_place(header, entries):
    held = header["root"]["fields"]["q"]["fields"]["lines"]["fields"]
    held["knots"], held["probs"] = held["probs"], held["knots"]


def array_unused(header, entries):
    header["root"]["fields"]["q"] = {"class": "StandardNormal", "fields": {}}


def knots_as_integers(header, entries):
    entries["q.lines.knots"]["dtype"] = "I64"


def knots_in_a_table(header, entries):
    entries["q.lines.knots"]["shape"] = [2, 2]


def knots_of_many_dimensions(header, entries):
    entries["q.lines.knots"]["shape"] = [1] * 70 + [4]


def knots_of_another_dtype(header, entries):
    entries["q.lines.knots"]["dtype"] = "BF16"


def knots_over_probs(header, entries):
    entries["q.lines.knots"]["data_offsets"] = entries["q.lines.probs"]["data_offsets"]


def knots_with_more(header, entries):
    entries["q.lines.knots"]["more"] = 1


def lambda_of_ones_own(header, entries):
    header["root"]["fields"]["guarantee"]["fields"]["accuracy"] = 0.5


CROOKED = {
    "score missing": (without_score, "must have the fields"),
    "field unknown": (in_fields("score", extra=1), "score must have the fields"),
    "another root": (root_of_another_kind, "not a calibrated model"),
    "score of another kind": (in_fields(score={"class": "Naive", "fields": {}}), "its score must be a Score"),
    "q is a number": (in_fields(q=3), "its q must be a single distribution"),
    "interpolator is a distribution": (
        in_fields(interpolator={"class": "ZScore", "fields": {"floor": None}}),
        "must be a Interpolator",
    ),
    "no guarantee": (in_fields(guarantee=None), "its guarantee must be a Guarantee"),
    "n is 0": (in_fields("guarantee", n=0), "its n must be a count"),
    "n is true": (in_fields("guarantee", n=True), "its n must be a count"),
    "n is a fraction": (in_fields("guarantee", n=4.0), "its n must be a count"),
    "n is immense": (in_fields("guarantee", n=10**4000), "its n must be a count"),
    "n is another": (in_fields("guarantee", n=1000), "has n = 1000, which does not go with q"),
    "lambda is nan": (in_fields("guarantee", accuracy={"float": "nan"}), "must be a lambda"),
    "lambda is -1/2": (in_fields("guarantee", accuracy=-0.5), "must be a lambda"),
    "lambda is another": (lambda_of_ones_own, "has lambda 0.5, its interpolator promises 0.0"),
    "tie larger than n": (in_fields("guarantee", largest_tie=5), "largest tie is of 5 scores"),
    "tails are no tails": (in_fields("interpolator", tails=None), "must be tails"),
    "left is text": (in_fields("q", "lines", left="1"), "its left must be mean excesses"),
    "left is no float": (in_fields("q", "lines", left={"float": "infinity"}), "not a value that a file can hold"),
    "a row of no line": (in_fields("q", group=3), "its group must be"),
    "another name": (in_fields("interpolator", tails={"function": "exec"}), "not a value that a file can hold"),
    "knots are a list": (in_fields("q", "lines", knots=[1.0, 2.0, 3.0, 4.0]), "its knots must be finite floats"),
    "knots are not there": (in_fields("q", "lines", knots={"array": "q.other"}), "must be an array of that name"),
    "one array twice": (array_of_nothing, "must be an array of that name"),
    "arrays changed over": (arrays_in_each_others_place, "must be an array of that name"),
    "arrays unused": (array_unused, "arrays that belong to nothing"),
    "integers for floats": (knots_as_integers, "its knots must be finite floats"),
    "a table for a row": (knots_in_a_table, "its knots must be finite floats in a row"),
    "seventy dimensions": (knots_of_many_dimensions, "is 'F64' of shape"),
    "an unknown dtype": (knots_of_another_dtype, "is 'BF16' of shape"),
    "arrays that overlap": (knots_over_probs, "do not fill"),
    "an entry too many": (knots_with_more, "no proper entry"),
}


@pytest.mark.parametrize("name", CROOKED)
def test_what_does_not_fit_together_is_refused_though_the_digest_is_right(name, path):
    tamper, sentence = CROOKED[name]
    save(path, small())
    with tampered(path) as (header, entries):
        tamper(header, entries)
    with pytest.raises(FileError, match=sentence) as caught:
        load(path)
    assert str(caught.value).startswith(f"cannot load {path}: ")


def with_values(data, entries, name, values):
    """The bytes of all arrays, with these floats in one of them."""
    start, end = entries[name]["data_offsets"]
    return data[:start] + np.array(values, dtype="<f8").tobytes() + data[end:]


@pytest.mark.parametrize(("side", "mean_excess"), [("left", -1.0), ("left", math.nan), ("left", 0.0), ("right", 0.0)])
def test_a_tail_without_a_width_is_refused_though_the_digest_is_right(side, mean_excess, path):
    save(path, small())
    header, entries, data = parsed(path.read_bytes())
    path.write_bytes(built(header, entries, with_values(data, entries, f"q.lines.{side}", [mean_excess])))
    said = f"its {side} must be mean excesses" if mean_excess != 0 else "needs a mean excess above 0"
    with pytest.raises(FileError, match=said):
        load(path)


@pytest.mark.parametrize(
    ("knots", "probs", "sentence"),
    [
        ([1, 2, 4, 3], [0.2, 0.4, 0.6, 0.8], "its knots fall at place 3"),
        ([1, 2, 3, 4], [0.2, 0.1, 0.6, 0.8], "its probs fall at place 1"),
        ([1, 2, 3, math.nan], [0.2, 0.4, 0.6, 0.8], "its knots must be finite"),
        ([-math.inf, 2, 3, 4], [0.2, 0.4, 0.6, 0.8], "its knots must be finite"),
        ([1, 2, 3, 1e200], [0.2, 0.4, 0.6, 0.8], "its knots must be finite"),
        ([1, 2, 3, 4], [-0.1, 0.4, 0.6, 0.8], "its probs must be floats of"),
        ([1, 2, 3, 4], [0.1, 0.4, 0.6, 1.1], "its probs must be floats of"),
        ([1, 2, 3, 4], [math.nan, 0.4, 0.6, 1.0], "its probs must be floats of"),
    ],
)
def test_numbers_that_make_no_distribution_are_refused_though_the_digest_is_right(knots, probs, sentence, path):
    save(path, small())
    header, entries, data = parsed(path.read_bytes())
    for name, values in (("knots", knots), ("probs", probs)):
        data = with_values(data, entries, f"q.lines.{name}", values)
    path.write_bytes(built(header, entries, data))
    with pytest.raises(FileError, match=sentence):
        load(path)


@pytest.mark.parametrize(
    ("case", "way", "values", "sentence"),
    [
        ("q of random", ("q",), {"total": 7.0}, "n = 20, which does not go with q"),
        ("q of random", ("q",), {"lower": 3, "upper": 2}, "lower must not be above upper"),
        ("clipped", ("q",), {"lower": {"float": "nan"}}, "its lower must be a place"),
        ("clipped", ("q",), {"upper": -9}, "clip needs lower < upper"),
        ("pool", ("q", "batch"), {"weights": [0.7, 0.7]}, "must be at least 0 and sum to 1"),
        ("pool", ("q", "batch"), {"weights": [1.0]}, "one row for each of the 2 rows"),
        ("pool", ("q", "batch"), {"weights": []}, "its weights must be one or more of"),
        ("guarded", ("q", "map"), {"distribution": {"class": "Linear", "fields": {}}}, "must have the fields"),
    ],
)
def test_distributions_made_of_distributions_are_refused_where_the_parts_do_not_fit(case, way, values, sentence, path):
    distributions = {
        "clipped": "a guarded distribution that is clipped",
        "pool": "a row of a pool",
        "guarded": "q of naf, guarded",
    }
    save(path, of_distribution(DISTRIBUTION_CASES[distributions.get(case, case)](HERE)))
    with tampered(path) as (header, entries):
        in_fields(*way, **values)(header, entries)
    with pytest.raises(FileError, match=sentence):
        load(path, classes=[Fixed])


def test_a_boolean_that_is_neither_0_nor_1_is_refused(path):
    save(path, replace(small(), score=Scaled(weights=np.array([True]))))
    header, entries, data = parsed(path.read_bytes())
    path.write_bytes(built(header, entries, data[:-1] + b"\x02"))
    with pytest.raises(FileError, match="must hold 0 and 1 only"):
        load(path, classes=[Scaled])


# ---- ten thousand mutations ----------------------------------------------------------------------------------------

MUTATIONS = 10_000
NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-320, 1e-8, 7.25, 1e149, 1e308, -1e308, math.inf, -math.inf, math.nan]
VALUES = [
    *[number for number in NUMBERS if math.isfinite(number)],
    *[0, 1, 2, 3, -1, 20, 2**31, 2**63, 10**30, True, False, None, "", "inf", "Naive", [], {}, [1, 2], "q.lines.knots"],
    *[{"float": "inf"}, {"float": "nan"}, {"list": []}, {"array": "q.lines.knots"}, {"function": "default_accuracy"}],
    *[{"class": name, "fields": {}} for name in ("Naive", "ZScore", "CDFScore", "StandardNormal", "Popen")],
    {"class": "Random", "fields": {"tails": {"class": "BoundedTails", "fields": {}}}},
]


@cache
def seeds(folder):
    cases = {
        "linear": calibrated("residual", "linear"),
        "naive": calibrated("signed residual", "naive"),
        "random": calibrated("quantile, outer slope 1", "random, bounded"),
        "logits": calibrated("ensemble of z and cdf", "linear", 5),
        "cdf": calibrated("cdf of normal", "linear", 5),
        "naf": calibrated("cdf of laplace", "naf, guarded", 12),
        "guarded": calibrated("residual", "naf, guarded", 12),
        "clipped": replace(small(), q=small().q.clip(0.0, 3.0), interpolator=NAF(promise=Promised(0.0))),
    }
    contents = []
    for case in cases.values():
        save(folder / "seed", case, notes={"columns": ["a", "b"]})
        contents.append((folder / "seed").read_bytes())
    return contents


def raw_mutation(rng, content, others):
    """Some bytes changed anywhere, as by an accident."""
    i, j = sorted(int(k) for k in rng.integers(0, len(content) + 1, 2))
    other = others[rng.integers(len(others))]
    kind = rng.integers(8)
    if kind == 0:
        i = min(i, len(content) - 1)
        return content[:i] + bytes([content[i] ^ 1 << int(rng.integers(8))]) + content[i + 1 :]
    if kind == 1:
        return content[:i]
    if kind == 2:
        return content[:i] + rng.bytes(int(rng.integers(1, 40))) + content[i:]
    if kind == 3:
        return content[:i] + content[j:]
    if kind == 4:
        return content[:i] + other[min(i, len(other)) :]
    if kind == 5:
        return int(rng.integers(0, 2**63)).to_bytes(8, "little") + content[8:]
    if kind == 6:
        length = int.from_bytes(content[:8], "little") + int(rng.integers(-9, 10))
        return length.to_bytes(8, "little") + content[8:]
    return content[:i] + content[i:j] * 2 + content[j:]


def places(tree, way=()):
    """Every place in a tree of JSON values."""
    yield way
    if isinstance(tree, (dict, list)):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from places(value, (*way, key))


def at(tree, way):
    for key in way:
        tree = tree[key]
    return tree


def edited(rng, tree):
    """A tree of JSON values with one value changed, dropped, renamed, moved or doubled."""
    ways = [way for way in places(tree) if way]
    way, other = (ways[rng.integers(len(ways))] for _ in range(2))
    holder, key, kind = at(tree, way[:-1]), way[-1], rng.integers(6)
    if kind == 0 and isinstance(holder[key], (int, float)):
        holder[key] = type(holder[key])(holder[key] * float(rng.choice([-1.0, 0.5, 1.5, 1e6])))
    elif kind == 1:
        holder[key] = json.loads(json.dumps(at(tree, other)))
    elif kind == 2 and isinstance(holder, dict):
        holder[str(rng.choice(["class", "fields", "array", "list", "new"]))] = holder.pop(key)
    elif kind == 3:
        del holder[key]
    elif kind == 4:
        holder[key] = [holder[key]]
    else:
        holder[key] = VALUES[rng.integers(len(VALUES))]
    return tree


def repaired_mutation(rng, content, others):
    """One thing changed in the header or in the arrays, with a digest that is right, as by malice."""
    header, entries, data = parsed(content)
    kind = rng.integers(4)
    if kind == 0:
        header["root"] = edited(rng, {"root": header["root"]}).get("root")
    elif kind == 1:
        header = edited(rng, header)
    elif kind == 2:
        entries = edited(rng, entries)
    else:
        values = np.frombuffer(data, "<f8").copy()
        values[rng.integers(values.size)] = NUMBERS[rng.integers(len(NUMBERS))]
        data = values.tobytes()
    return built(header, entries, data)


def check_distribution(q):
    """Whatever a file says, what it gives is a distribution."""
    y = np.concatenate([[-np.inf], np.linspace(-1e3, 1e3, 41), np.linspace(-3, 25, 41), [np.inf]])
    with np.errstate(all="ignore"):
        F = q.cdf(np.sort(y))
        assert np.all((F >= -1e-12) & (F <= 1 + 1e-12))
        assert np.all(np.diff(F) >= -1e-12)
        assert not np.any(np.isnan(q.ppf([0.01, 0.5, 0.99])))
        q.mean()


def outcome(path):
    """What a file gives, or the error it raises; any other exception is a failure."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*does not say what kind of prediction")  # the form itself was hit
        try:
            return load(path)
        except FileError as error:
            return error


@pytest.mark.few(1)
@pytest.mark.parametrize("mutate", [repaired_mutation, raw_mutation])
def test_mutated_files_raise_one_error_or_give_a_distribution(mutate, tmp_path):
    rng = np.random.default_rng(2022)
    contents, path, loaded = seeds(tmp_path), tmp_path / "mutated", 0
    for i in range(MUTATIONS // 2):
        content = contents[rng.integers(len(contents))]
        mutated = mutate(rng, content, contents)
        path.write_bytes(mutated)
        with peak_below(2e7) if i % 20 == 0 else nullcontext():  # watching takes its time
            found = outcome(path)
        if isinstance(found, FileError):
            assert str(found).startswith(f"cannot load {path}: ")
            assert len(str(found)) < 1_000
        elif mutated != content:
            assert mutate is repaired_mutation, "an accident went unnoticed"
            check_distribution(found.q)
            loaded += 1
    assert loaded > (100 if mutate is repaired_mutation else -1)  # so the deeper checks were reached, and passed


def table_of_two_distributions(**others):
    """Two distributions of three knots each, with a tail of mass 0.1 on either side, with a fault."""
    good = {
        "knots": np.array([0.0, 1.0, 2.0, -1.0, 0.0, 0.0]),
        "probs": np.array([0.1, 0.5, 0.9, 0.1, 0.5, 0.9]),
        "first": np.array([0, 3, 6]),
        "left": np.array([0.5, 0.5]),
        "right": np.array([0.5, 0.5]),
    }
    Lines(**{**good, **{name: np.asarray(value) for name, value in others.items()}})


TABLES = {
    "fewer probs": ({"probs": [0.1, 0.5, 0.9]}, "6 knots of float64 do not go with 3 probs of float64"),
    "another dtype": ({"left": np.ones(2, np.float32)}, "6 knots of float64 do not go with 6 probs"),
    "no distribution": ({"first": [0]}, "must share its 6 knots"),
    "not from the first": ({"first": [1, 3, 6]}, "must share its 6 knots"),
    "not to the last": ({"first": [0, 3, 5]}, "must share its 6 knots"),
    "a distribution without knots": ({"first": [0, 0, 6]}, "must share its 6 knots"),
    "tails too few": ({"left": [0.5]}, "2 distributions do not go with 1 and 2 tails"),
    "tails too many": ({"right": [0.5, 0.5, 0.5]}, "2 distributions do not go with 2 and 3 tails"),
    "knots that fall": ({"knots": [0.0, 1.0, 2.0, -1.0, 1.0, 0.0]}, "its knots fall at place 5"),
    "probs that fall": ({"probs": [0.1, 0.05, 0.9, 0.1, 0.5, 0.9]}, "its probs fall at place 1"),
    "a left tail without width": ({"left": [0.5, 0.0]}, "a tail that has mass needs a mean excess above 0"),
    **{
        f"a {side} tail without width, where {which} has no mass": (
            {side: [0.0, 0.0], "probs": probs},
            "a tail that has mass needs a mean excess above 0",
        )
        for side, which, probs in (
            ("left", "the first", [0.0, 0.5, 0.9, 0.1, 0.5, 0.9]),
            ("left", "the second", [0.1, 0.5, 0.9, 0.0, 0.5, 0.9]),
            ("right", "the first", [0.1, 0.5, 1.0, 0.1, 0.5, 0.9]),
            ("right", "the second", [0.1, 0.5, 0.9, 0.1, 0.5, 1.0]),
        )
    },
    "a right tail without width": ({"right": [0.0, 0.5]}, "a tail that has mass needs a mean excess above 0"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_distributions_that_is_none_is_refused(name):
    others, sentence = TABLES[name]
    with pytest.raises(ValueError, match=sentence):
        table_of_two_distributions(**others)


def test_a_table_of_distributions_may_have_ties_and_tails_without_mass():
    table_of_two_distributions()
    whole = [0.0, 0.5, 1.0]
    table_of_two_distributions(probs=[*whole, *whole], left=[0.0, 0.0], right=[0.0, 0.0])
    table_of_two_distributions(knots=[1.0, 1.0, 2.0, 0.0, 0.0, 0.0], probs=[0.1, 0.1, 0.9, 0.1, 0.9, 0.9])
    table_of_two_distributions(
        first=[0, 6], knots=np.arange(6.0), probs=[0.1, 0.2, 0.5, 0.6, 0.8, 0.9], left=[0.5], right=[2.0]
    )
    table_of_two_distributions(
        first=[0, 1, 6], probs=[0.5, 0.1, 0.5, 0.6, 0.7, 0.9], knots=[0.0, -2.0, 1.0, 1.0, 1.0, 1.0]
    )


EDGES = {
    "WEIGHT": ([0, 0.5, 1.0], [-1e-9, 1 + 1e-9, math.nan, True, "1"]),
    "AT_LEAST_0": ([0, 2.5, 2**53, math.inf], [-1e-9, 2**53 + 1, math.nan, None]),
    "POSITIVE": ([1e-300, 1, 1e300], [0, -1.0, math.inf, math.nan]),
    "FINITE": ([-1e300, 0, -(2**53)], [-(2**53) - 1, math.inf, -math.inf, math.nan]),
    "PLACE": ([-math.inf, 0.0, math.inf], [math.nan, "0"]),
    "SCALE": ([0, 1.5, 1e151, math.inf], [-1e-9, math.nan, 1.0001e151]),
    "LAMBDA": ([0, -1, 3.5], [-0.5, -2, -1e-9, math.nan]),
    "NAME": (["a", "x" * 200], ["", "x" * 201, 1, None]),
    "YES_OR_NO": ([True, False], [0, 1, None]),
    "KNOTS": (
        [np.array([-1e151, 1e151]), np.zeros(1, np.float32)],
        [np.array([1.0001e151]), np.array([-math.inf]), np.zeros((1, 1)), np.zeros(0), np.array([1]), [1.0]],
    ),
    "LOGITS": ([np.array([-1e300, 1e300])], [np.zeros(()), np.zeros((1, 1)), np.zeros(0), np.array([math.inf])]),
    "SINGLE": ([Normal(0.0, 1.0)], [Normal([0.0], [1.0]), Normal, 0.0]),
    "ROW": ([Normal([0.0], [1.0])], [Normal(0.0, 1.0), Normal([0.0, 1.0], [1.0, 1.0]), 0.0]),
    "BOUND": ([None, "a", -math.inf], [math.nan, "", True]),
    "POSITIVES": ([np.array([5e-324, 1e300])], [np.array([1.0, 0.0]), np.array([-1.0]), np.ones((2, 1)), [1.0]]),
    "PROBS": ([np.array([0.0, 1.0])], [np.array([-1e-9]), np.array([1 + 1e-9]), np.zeros(()), np.zeros(0), [0.5]]),
    "WEIGHTS": ([np.array([0.0, 1e300])], [np.array([1.0, -1e-9]), np.zeros((1, 1)), np.array([math.inf])]),
    "SORTED": ([np.array([0.0, 1e300])], [np.array([1.0, -1e-9]), np.zeros((1, 1)), np.array([math.inf])]),
    "LOCS": ([np.zeros(()), np.array([-1e300])], [np.zeros((1, 1)), np.array(math.nan), np.zeros(0), 0.0]),
    "SCALES": ([np.ones(()), np.array([5e-324])], [np.ones((1, 1)), np.zeros(()), np.array([1.0, -1.0]), 1.0]),
    "EXCESSES": (
        [np.array([0.0, math.inf]), np.zeros(1, np.float32)],
        [np.array([-1e-9]), np.array([math.nan]), np.zeros((1, 1)), np.zeros(()), np.array([1]), [1.0]],
    ),
    "LABELS": (
        [("a",), (0, "0", True), (("a", 1), ("a", 2))],
        [(), ("a", "a"), ["a"], "a", (1.5,), (("a", None),), (("a", 1), ("a", 1))],
    ),
    "LEVELS_OF_COLUMNS": (
        [(), (("a", 0.5),), (("a", 0), ("b", 1))],
        [[("a", 0.5)], (["a", 0.5],), (("a",),), (("a", 0.5, 1),), ((1, 0.5),), (("a", "0.5"),), (("a", True),)],
    ),
    "TABLE": ([np.zeros(3), np.zeros((2, 3))], [np.zeros(()), np.zeros((1, 2, 3)), np.zeros((2, 0)), np.ones(3, int)]),
    "PLACES": (
        [np.array([-1, 2**62]), np.zeros(1, np.int64)],
        [np.ones((1, 1), np.int64), np.ones(1), np.zeros(0, np.int64), [1]],
    ),
    "RANKS": (
        [np.ones((2, 1), np.int64), np.ones((1, 1), np.int64)],
        [np.ones(2, np.int64), np.ones((2, 1)), np.zeros((0, 1), np.int64), [[1], [2]]],
    ),
}


def test_what_a_field_may_hold_ends_where_it_says():
    tests = {name: getattr(fields, name).test for name in EDGES}
    refused = {name: [value for value in fit if not tests[name](value)] for name, (fit, _) in EDGES.items()}
    taken = {name: [value for value in unfit if tests[name](value)] for name, (_, unfit) in EDGES.items()}
    assert not any(refused.values()), refused
    assert not any(taken.values()), taken


@pytest.mark.parametrize(
    ("wanted", "fit", "unfit"),
    [
        (fields.count("a count", 2), [2, 2**53], [1, 2**53 + 1, -3, True, 3.0, "3", None]),
        (fields.several(fields.NAME), [("a",), ["a", "b"]], [(), [], ("a", ""), "a", {"a"}, None]),
        (fields.optional(fields.NAME), [None, "a"], ["", 0]),
        (fields.either(fields.NAME, fields.POSITIVE), ["a", 1.5], ["", 0, None]),
        (fields.instance(Guarantee), [Guarantee(4, 0.0), Guarantee(4, basis="recent")], [Guarantee, None]),
    ],
    ids=["count", "several", "optional", "either", "instance"],
)
def test_what_is_made_of_other_fields_ends_where_they_do(wanted, fit, unfit):
    assert [value for value in fit if not wanted.test(value)] == []
    assert [value for value in unfit if wanted.test(value)] == []


SINGLE = Normal(0.0, 1.0)
ATOMS = PiecewiseLinear.through(np.arange(3.0), np.array([0.0, 0.5, 1.0]))
ONE, TWO = np.ones(1), np.ones(2)
LINES = Lines(np.arange(4.0), np.array([0.0, 1.0, 0.0, 1.0]), np.array([0, 2, 4]), np.zeros(2), np.zeros(2))
BROKEN = {
    "knots that fall": (LogisticLinear, (np.array([1.0, 0.0]), TWO), "its knots fall at place 1"),
    "probs that fall": (LogisticLinear, (TWO, np.array([1.0, 0.0])), "its probs fall at place 1"),
    "probs of another dtype": (LogisticLinear, (TWO, np.float32([0, 1])), "2 knots of float64 do not go with 2 probs"),
    "half an atom": (Randomised, (ATOMS, 0.0, 2.0, 3.0, None), "atoms have two knots each, got 3 in all"),
    "ends of other rows": (RandomisedRows, (SINGLE, ONE, TWO, 3.0, None, TWO, TWO), r"of the shapes \[\(1,\), \(2,\)"),
    "bounds of other rows": (Clipped, (Normal(ONE, ONE), TWO, TWO), r"\(2,\) and \(2,\) do not go with \(1,\)"),
    "a bound for all rows": (Clipped, (Normal(TWO, TWO), TWO, 3.0), r"\(2,\) and \(\) do not go with \(2,\)"),
    "a rank twice": (Joint, (np.array([[1], [1]]),), "each label must have the ranks 1 to 2 once"),
    "largest that fall": (Joint, (np.array([[1], [2]]), np.array([1.0, 0.5])), "must be 2 and not fall"),
    "other rows": (Mixture, ([Normal(ONE, 1.0), Normal(TWO, 1.0)], [0.5, 0.5]), r"the first, got \(1,\) and \(2,\)"),
    "two lines for one": (PiecewiseLinear, (LINES,), "a single distribution is one line, got 2"),
    "a second row of one": (
        Joined,
        ((SINGLE,), np.array([0]), np.array([1])),
        "row 1 is not among the 1 row of distribution 0",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_class_refuses_fields_that_do_not_go_together_by_itself(name):
    cls, fields, sentence = BROKEN[name]
    with pytest.raises(ValueError, match=sentence):
        cls(*fields)


def test_the_tails_of_a_reweighted_distribution_may_meet_but_not_cross():
    for low, high in ((0.25, 0.75), (0.5, 0.5), (0, 1)):
        Reweighted(SINGLE, 1.0, 4.0, low, high)
    for low, high in ((0.75, 0.25), (0, 0.5), (0.5, 1), (1, 1), (0, 0)):
        with pytest.raises(ValueError, match="its tails must end inside"):
            Reweighted(SINGLE, 1.0, 4.0, low, high)


def test_whole_numbers_are_written_as_far_as_64_bits_go():
    for value in (2**63 - 1, -(2**63) + 1):
        assert Encoded().value(value, ("n",), None) == value
    for value in (2**63, -(2**63)):
        with pytest.raises(FileError, match="n "):
            Encoded().value(value, ("n",), None)


def test_a_file_may_have_4096_arrays_and_no_more():
    entry = {"dtype": "BOOL", "shape": [1]}
    entries = {str(k): {**entry, "data_offsets": [k, k + 1]} for k in range(4097)}
    with pytest.raises(FileError, match="it has 4097 arrays, where 4096 is the most"):
        _check_layout(entries, 4097)
    del entries["4096"]
    _check_layout(entries, 4096)


@on_posix  # Windows cannot flush a folder
def test_a_file_is_on_disk_before_it_has_its_name_and_the_name_is_too(tmp_path, monkeypatch):
    done, replace_file = [], os.replace
    monkeypatch.setattr(os, "fsync", lambda file: done.append(stat.S_ISDIR(os.fstat(file).st_mode)))
    monkeypatch.setattr(os, "replace", lambda *paths: (done.append("named"), replace_file(*paths)))
    save(tmp_path / "model.safetensors", small())
    assert done == [False, "named", True]


# ---- what is refused, where the tree of a file is altered and read again -------------------------------------------


def read_altered(thing, **places):
    """What is read, or why it is not, where other values stand at places ("q__left") of the tree of a thing."""
    encoded = encode(thing)
    for place, value in places.items():
        *way, last = place.split("__")
        if isinstance(value, np.ndarray):
            assert ".".join((*way, last)) in encoded.tensors
            encoded.tensors[".".join((*way, last))] = value
        else:
            at(encoded.tree, [step for name in way for step in ("fields", name)])["fields"][last] = value
    try:
        return _Decoder(KINDS, encoded.tensors).value(encoded.tree, ())
    except FileError as error:
        return str(error)


@pytest.mark.parametrize("basis", ["marginal", "weighted", "recent", "censored"])
def test_a_count_of_a_guarantee_begins_where_it_must(basis):
    good = Guarantee(4, 0.0, basis=basis)
    for name, first in {"n": 1, "largest_tie": 1, "floored": 0}.items():
        assert read_altered(good, **{name: first}) == replace(good, **{name: first})
        sentence = f"the root is not a valid Guarantee: its {name} must be a count, got {first - 1}"
        assert read_altered(good, **{name: first - 1}) == sentence


def of_groups():
    """A calibration of the groups a and b, with a distribution of all besides."""
    interpolator = Apart(unseen="pooled", own=Linear())
    return Calibrator(interpolator=interpolator).fit(np.zeros(8), np.arange(1.0, 9.0), by=list("aaaabbbb"))


def test_groups_and_distributions_that_do_not_go_together_are_refused():
    good = of_groups()
    assert (len(good.q.distributions.lines), good.q.labels) == (3, ("a", "b"))
    assert same(read_altered(good), good)
    for labels, sentence in {
        ("a",): "q is not a valid Grouped: 1 groups do not go with 3 distributions",
        ("a", "b", "c", "d"): "q is not a valid Grouped: 4 groups do not go with 3 distributions",
        ("b", "a"): "the root is not a valid Calibrated: its guarantee is of other groups than its q",
        ("a", "b", "c"): "the root is not a valid Calibrated: its guarantee is of other groups than its q",
    }.items():
        assert read_altered(good, q__labels=list(labels)) == sentence
    for distribution in ([-1, 0, 1], [0, 1, 3]):
        assert read_altered(good, q__distributions__group=np.array(distribution, np.int64)) == (
            f"q.distributions is not a valid PiecewiseLinear: its rows must be of its 3 lines, got {min(distribution)}"
            f" to {max(distribution)}"
        )
    for numbers in ([-1] + [0] * 7, [0] * 7 + [2]):
        assert read_altered(good, history__groups__numbers=np.array(numbers, np.int64)) == (
            "history.groups is not a valid Groups: its rows must be of its 2 groups,"
            f" got {min(numbers)} to {max(numbers)}"
        )


def test_all_rows_may_be_of_one_group():
    for numbers in ([0, 0], [1, 1]):
        groups = read_altered(Groups(("a", "b"), np.array([0, 1])), numbers=np.array(numbers, np.int64))
        assert groups.rows() == [("a", "b")[number] for number in numbers]


def test_where_a_spline_does_not_rise_is_said():
    good = LogitSpline(np.arange(4.0), np.arange(4.0), np.ones(4))
    assert same(read_altered(good), good)
    for name in ("knots", "values"):
        for place in (1, 2, 3):
            column = np.arange(4.0)
            column[place] = column[place - 1]
            assert read_altered(good, **{name: column}) == (
                f"the root is not a valid LogitSpline: its {name} do not rise at place {place}"
            )
    assert read_altered(good, slopes=np.array([1.0, 0.0, 1.0, 1.0])).startswith(
        "the root is not a valid LogitSpline: its slopes must be positive floats in a row, got "
    )


def test_a_distribution_through_all_scores_has_a_knot_for_each_and_perhaps_one_at_either_end():

    def through(knots):
        columns = {
            "knots": np.arange(float(knots)),
            "probs": np.linspace(0.0, 1.0, knots),
            "first": np.array([0, knots]),
        }
        return read_altered(small(), **{f"q__lines__{name}": column for name, column in columns.items()})

    for knots in (4, 5, 6):
        assert through(knots).q.mean() == (knots - 1) / 2
    for knots in (3, 7):
        found = through(knots)
        assert found.startswith(
            "the root is not a valid Calibrated: its guarantee has n = 4, which does not go with q, "
        )


TRACKED = {"raw_positions": np.zeros(2), "covered": np.array([3, 7]), "extremes": (0.5, 0.5)}
OF_GROUPS = Guarantee.of_parts("group", [Guarantee(1), Guarantee(4, 0.5, largest_tie=4)], ["a", "b"])


def tracker(rows=7):
    return Tracker(small(), levels=(0.25, 0.75), step=1.0, rows=rows, **TRACKED)


def by_horizon(*labels):
    """A calibration of as many groups, as though it were one of horizons."""
    rows = [label for label in labels for _ in range(4)]
    calibrated = Calibrator(interpolator=Apart(own=Linear())).fit(np.zeros(len(rows)), np.arange(len(rows)), by=rows)
    calibrated = replace(calibrated, guarantee=replace(calibrated.guarantee, basis="horizon"))
    return HorizonCalibrated(calibrated, LongColumns(ForecastColumns("naive", "naive")))


UNFIT = {
    "bounds that meet": (
        lambda: Normal(0.0, 1.0).clip(-1.0, 1.0),
        {"upper": -1.0},
        "Clipped: clip needs lower < upper, got -1.0 and -1.0",
    ),
    "more slopes than knots": (
        lambda: LogitSpline(np.arange(3.0), np.arange(3.0), np.ones(3)),
        {"slopes": np.ones(4)},
        "LogitSpline: 3 knots do not go with 3 values and 4 slopes",
    ),
    "fewer values than knots": (
        lambda: LogitSpline(np.arange(3.0), np.arange(3.0), np.ones(3)),
        {"values": np.arange(2.0)},
        "LogitSpline: 3 knots do not go with 2 values and 3 slopes",
    ),
    "a spline of one knot": (
        lambda: LogitSpline(np.arange(2.0), np.arange(2.0), np.ones(2)),
        {name: np.ones(1) for name in ("knots", "values", "slopes")},
        "LogitSpline: 1 knots do not go with 1 values and 1 slopes",
    ),
    "slopes of another dtype": (
        lambda: LogitSpline(np.arange(2.0), np.arange(2.0), np.ones(2)),
        {"slopes": np.ones(2, np.float32)},
        "LogitSpline: 2 knots do not go with 2 values and 2 slopes",
    ),
    "slopes too steep": (
        lambda: LogitSpline(np.arange(3.0), np.arange(3.0), np.ones(3)),
        {"slopes": np.array([1.0, 1.0, 3.1])},
        "LogitSpline: its slopes are too steep for a cubic that rises",
    ),
    **{
        f"a slope too steep on its {side}": (
            lambda knots=knots, values=values: LogitSpline(np.array(knots), np.array(values), np.full(3, 0.5)),
            {"slopes": np.array([0.5, 2.0, 0.5])},
            "LogitSpline: its slopes are too steep for a cubic that rises",
        )
        for side, knots, values in (
            ("left", [0.0, 2.0, 3.0], [0.0, 0.5, 1.5]),
            ("right", [0.0, 1.0, 3.0], [0.0, 1.0, 1.5]),
        )
    },
    "other names than groups": (
        lambda: OF_GROUPS,
        {"names": ["a", "b", "c"]},
        "Guarantee: 3 names do not go with the guarantees of 2",
    ),
    "other rows than those of the groups": (
        lambda: OF_GROUPS,
        {"n": 6},
        "Guarantee: n is 6, but its parts have 5 rows",
    ),
    "a basis that nobody knows": (
        lambda: OF_GROUPS,
        {"basis": "hope"},
        "Guarantee: its basis must be one of marginal, weighted, group",
    ),
    "a tie larger than n": (
        lambda: Guarantee(4),
        {"largest_tie": 5},
        "Guarantee: its largest tie is of 5 scores, but n is 4",
    ),
    "more floors than rows": (
        lambda: Guarantee(4, 0.0),
        {"floored": 5},
        "Guarantee: 5 of its rows had no width, but n is 4",
    ),
    "no groups for horizons": (
        lambda: HorizonCalibrated(small(), by_horizon(1).columns),
        {},
        "HorizonCalibrated: it was not calibrated by horizon",
    ),
    "names for horizons": (lambda: by_horizon("a", "b"), {}, "HorizonCalibrated: its groups are no horizons"),
    "a horizon of no step": (lambda: by_horizon(2, 0), {}, "HorizonCalibrated: its groups are no horizons"),
    "columns of nothing": (
        lambda: ForecastColumns("naive", "naive"),
        {"point": None},
        "ForecastColumns: 'naive' has no columns",
    ),
    **{
        f"levels {levels}": (
            lambda: ForecastColumns("naive", "naive"),
            {"quantiles": [[f"q{k}", level] for k, level in enumerate(levels)]},
            f"ForecastColumns: its levels must increase inside (0, 1), got {levels}",
        )
        for levels in ([0.5, 0.5], [0.9, 0.1], [0, 0.5], [0.5, 1])
    },
    "more locs than scales": (
        lambda: Normal(np.zeros(2), np.ones(2)),
        {"loc": np.zeros(3)},
        "LocationScale: loc (3,), scale (2,) and base () do not go together",
    ),
    "locs of another dtype": (
        lambda: Normal(np.zeros(2), np.ones(2)),
        {"loc": np.zeros(2, np.float32)},
        "LocationScale: loc (2,), scale (2,) and base () do not go together",
    ),
    "more bases than locs": (
        lambda: StudentT(np.full(2, 3.0), np.zeros(2), np.ones(2)),
        {"base__df": np.full(3, 3.0)},
        "LocationScale: loc (2,), scale (2,) and base (3,) do not go together",
    ),
    "more parts than rows": (
        lambda: Joined.of([Normal(0.0, 1.0)] * 2, [0, 1, 0]),
        {"part": np.array([0, 1])},
        "Joined: 2 parts do not go with 3 rows",
    ),
    "a part below the first": (
        lambda: Joined.of([Normal(0.0, 1.0)] * 2, [0, 1, 0]),
        {"part": np.array([0, 1, -1])},
        "Joined: its rows must come from its 2 distributions, got -1 to 1",
    ),
    "a part beyond the last": (
        lambda: Joined.of([Normal(0.0, 1.0)] * 2, [0, 1, 0]),
        {"part": np.array([0, 2, 1])},
        "Joined: its rows must come from its 2 distributions, got 0 to 2",
    ),
    **{
        f"row {row} of a part": (
            lambda: concatenate([Normal(np.zeros(2), np.ones(2)), Laplace(np.zeros(3), np.ones(3))]),
            {"row": np.array([0, 1, 0, 1, row])},
            f"Joined: row {row} is not among the 3 rows of distribution 1",
        )
        for row in (-1, 3)
    },
    "a guarantee of groups for one distribution": (
        small,
        {"guarantee": encode(OF_GROUPS).tree},
        "Calibrated: its guarantee, of basis 'group', does not go with q, ",
    ),
    "a guarantee of one distribution for groups": (
        of_groups,
        {"guarantee": encode(Guarantee(8, 0.0)).tree},
        "Calibrated: its guarantee, of basis 'marginal', does not go with q, ",
    ),
    "a history of other rows": (
        lambda: Calibrator().fit(np.zeros(4), np.arange(4.0)),
        {"history__scores": np.arange(5.0)},
        "Calibrated: its guarantee has n = 4, but its history has 5 scores",
    ),
    "groups of other rows": (
        lambda: History(np.arange(3.0), groups=Groups(("a",), np.zeros(3, np.int64))),
        {"groups__numbers": np.zeros(2, np.int64)},
        "History: 3 scores do not go with the groups of 2 rows",
    ),
    "weights of other rows": (
        lambda: History(np.arange(3.0), Ratios(np.ones(3))),
        {"weights__values": np.ones(4)},
        "History: 3 scores do not go with 4 weights",
    ),
    "weights beside a half-life": (
        lambda: History(np.arange(3.0), Ratios(np.ones(3)), HalfLife(2.0)),
        {},
        "History: a half-life takes no other weights",
    ),
    "fewer levels than positions": (
        tracker,
        {"levels": [0.5]},
        "Tracker: 1 levels do not go with 2 positions and 2 counts",
    ),
    "more positions than levels": (
        tracker,
        {"raw_positions": np.zeros(3)},
        "Tracker: 2 levels do not go with 3 positions and 2 counts",
    ),
    "more counts than levels": (
        tracker,
        {"covered": np.array([3, 3, 3])},
        "Tracker: 2 levels do not go with 2 positions and 3 counts",
    ),
    "a count below 0": (
        tracker,
        {"covered": np.array([3, -1])},
        "Tracker: its counts must lie between 0 and its 7 rows, got -1",
    ),
    "a count beyond the rows": (
        tracker,
        {"covered": np.array([3, 8])},
        "Tracker: its counts must lie between 0 and its 7 rows, got 3",
    ),
    **{
        f"extremes {extremes}": (
            tracker,
            {"extremes": extremes},
            "Tracker: its least score must not be above its largest",
        )
        for extremes in ([0.75, 0.5], [0.5], [0.25, 0.5, 0.75])
    },
}


@pytest.mark.parametrize("name", UNFIT)
def test_parts_that_do_not_go_together_are_named(name):
    thing, places, sentence = UNFIT[name]
    assert read_altered(thing(), **places).startswith(f"the root is not a valid {sentence}")


def test_parts_that_just_go_together_are_read():
    for covered in ([0, 7], [3, 3]):
        assert read_altered(tracker(), covered=np.array(covered)).covered.tolist() == covered
    joint = Joint(np.array([[1, 2], [2, 1], [3, 3]]), np.array([0.5, 0.5, 1.0]))
    assert read_altered(joint).largest.tolist() == [0.5, 0.5, 1.0]
    assert read_altered(tracker(), extremes=[0.25, 0.5]).extremes == (0.25, 0.5)
    assert read_altered(by_horizon(1, 2)).horizons == (1, 2)
    groups = replace(OF_GROUPS, floored=5)
    assert read_altered(groups) == groups
    everywhere = Guarantee(4, 0.0, largest_tie=4, floored=4)
    assert read_altered(everywhere) == everywhere
    columns = ForecastColumns("naive", None, (("low", 0.1), ("high", 0.9)))
    assert read_altered(columns) == columns
    steep = read_altered(LogitSpline(np.arange(3.0), np.arange(3.0), np.ones(3)), slopes=np.full(3, 3.0))
    assert steep.slopes.tolist() == [3.0, 3.0, 3.0]
    two = LogitSpline(np.arange(2.0), np.arange(2.0), np.full(2, 3.001))  # 0.001 for rounding
    assert same(read_altered(two), two)
    for parts in ([1, 0, 1], [0, 0], [1, 1]):
        distribution = Joined.of([Normal(0.0, 1.0), Normal(5.0, 1.0)], parts)
        assert read_altered(distribution).mean().tolist() == [5.0 * part for part in parts]
    for distributions in ([1, 0, 1], [0, 0], [2, 2]):
        rows = replace(of_groups().q.distributions, group=np.array(distributions, np.int64))
        assert same(read_altered(rows), rows)
    assert read_altered(StudentT(np.array([3.0, 4.0]), np.zeros(2), np.ones(2))).mean().tolist() == [0.0, 0.0]
    weighed = read_altered(History(np.arange(3.0), Ratios(np.ones(3))))
    assert weighed.weights.values.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("entry", "kind"), [("about", "dict"), ("calibrant", "str"), ("digest", "str"), ("notes", "dict")]
)
def test_an_entry_of_the_header_that_is_of_another_kind_is_named(entry, kind, path):
    save(path, small())
    header, entries, data = parsed(path.read_bytes())
    path.write_bytes(sealed(json.dumps(header | {entry: 3}), entries, data))
    with pytest.raises(FileError, match=f"the header's {entry} must be a {kind}, got 3"):
        load(path)


def test_a_distribution_that_is_drawn_is_of_one_score_or_more():
    calibrated = Calibrator(interpolator=Random()).fit(np.zeros(4), np.arange(4.0))
    assert "its total must be " in read_altered(calibrated, q__total=0.0)
