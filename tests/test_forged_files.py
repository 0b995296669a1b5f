"""A file that is cut off, altered or made crooked on purpose gives one clear error, at once, and allocates little."""

from __future__ import annotations

import json
import math
import re
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from catalogue import calibrated
from fixtures.ways import WAYS
from forged import Halved, Scaled, built, in_fields, of_distribution, parsed, peak_below, sealed, small, tampered

from calibrant import Calibrator, Guarantee, HalfLife, Laplace, Mixture, Normal, concatenate
from calibrant._batch import same
from calibrant.distributions import PiecewiseLinear
from calibrant.distributions.bent import Reweighted
from calibrant.distributions.censored_tail import FollowedUp
from calibrant.distributions.clipped import Clipped
from calibrant.distributions.grouped import Grouped
from calibrant.distributions.joined import Joined, Row
from calibrant.distributions.logistic_linear import LogisticLinear
from calibrant.distributions.logit_spline import LogitSpline
from calibrant.distributions.piecewise_linear import Lines
from calibrant.distributions.randomised import Randomised, RandomisedRows
from calibrant.files import FileError, load, save
from calibrant.horizons.calibration import HorizonCalibrated
from calibrant.horizons.columns import ForecastColumns
from calibrant.horizons.table import LongColumns
from calibrant.interpolators.history import Groups, History
from calibrant.interpolators.weights import Ratios
from calibrant.scores import EnsembleScore, ZScore
from calibrant.several.calibration import SeveralCalibrated
from calibrant.several.joint import Joint


@pytest.fixture
def path(tmp_path):
    save(tmp_path / "model.safetensors", small())
    return tmp_path / "model.safetensors"


# ---- what is not a file of ours ------------------------------------------------------------------------------------


def test_a_file_written_by_hand_as_the_format_says_is_read(path):
    header, entries, data = parsed(path.read_bytes())
    for names in (sorted(entries), sorted(entries, reverse=True)):
        path.write_bytes(built(header, {name: entries[name] for name in names}, data))
        assert same(load(path), small())


@pytest.mark.parametrize(
    "content",
    [b"", b"\x80\x04", b"a,b\n1,2\n" * 100, b"\x02" + bytes(7), b"\x02" + bytes(7) + b"{}", b"\xff" * 8 + b"{}"],
)
def test_another_kind_of_file_is_refused(content, path):
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"cannot load .*model.safetensors: it is not a calibrant file"):
        load(path)


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}])
def test_a_safetensors_file_of_another_library_is_refused(metadata, path):
    from safetensors.numpy import save_file

    save_file({"weight": np.zeros(3)}, path, metadata)
    with pytest.raises(FileError, match="it is not a calibrant file"):
        load(path)


def test_a_path_that_is_no_file_keeps_its_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


def test_another_version_of_the_format_is_named(path):
    with tampered(path) as (header, _):
        header.update(format=1, calibrant="0.2.0", something="old")
    sentence = r"it has format 1, written by calibrant '0.2.0', and this version reads format 2"
    with pytest.raises(FileError, match=sentence):
        load(path)


def test_every_truncation_and_every_altered_byte_is_noticed(path):
    whole = path.read_bytes()
    for i in range(0, len(whole), 7):
        for content in (whole[:i], whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :], whole + bytes(i + 1)):
            path.write_bytes(content)
            with pytest.raises(FileError):
                load(path)


# ---- bombs ---------------------------------------------------------------------------------------------------------


def test_a_header_that_claims_great_arrays_allocates_nothing(path):
    with tampered(path) as (_, entries):
        entries["q.lines.knots"].update(shape=[2**28], data_offsets=[0, 2**31])
    with pytest.raises(FileError, match="safetensors cannot read it"), peak_below(5e6):
        load(path)


def test_a_great_file_that_does_not_match_its_digest_allocates_nothing(path):
    with open(path, "r+b") as file:
        file.truncate(2**27)  # a hole
    with pytest.raises(FileError, match="altered"), peak_below(5e6):
        load(path)


def test_an_oversized_file_is_refused_unread(path):
    with open(path, "r+b") as file:
        file.truncate(2**32 + 1)
    with pytest.raises(FileError, match="4294967297 bytes, where 4294967296 is the most"), peak_below(5e6):
        load(path)


def test_an_oversized_header_is_refused_at_both_ends(path):
    with pytest.raises(FileError, match="it would have a header of"):
        save(path, small(), notes={"much": "x" * 2**20})
    path.write_bytes((2**40).to_bytes(8, "little") + b"{" * 100)
    with pytest.raises(FileError, match="not a calibrant file"):
        load(path)


@pytest.mark.parametrize(
    "root",
    ["[" * 100_000 + "]" * 100_000, '{"class":' * 9_000, "9" * 5_000, "[", '"' + "\\ud800", "0" * 9],
    ids=range(6),
)
def test_json_that_is_a_trap_is_refused(root, path):
    header, entries, data = parsed(path.read_bytes())
    text = json.dumps({"digest": "0" * 64, **{**header, "digest": "0" * 64, "root": "@"}}, separators=(",", ":"))
    path.write_bytes(sealed(text.replace('"@"', root), entries, data))
    with pytest.raises(FileError, match="its header is not as calibrant writes it"):
        load(path)


def test_nesting_has_an_end_at_both_ends(path):
    score = ZScore()
    for _ in range(40):
        score = EnsembleScore(score)
    with pytest.raises(FileError, match="nested more than 32 deep"):
        save(path, replace(small(), score=score))
    with tampered(path) as (header, _):
        for _ in range(40):
            header["root"] = {"class": "EnsembleScore", "fields": {"scores": header["root"]}}
    with pytest.raises(FileError, match="nested more than 32 deep"):
        load(path)


def test_the_error_about_a_hostile_name_is_short(path):
    with tampered(path) as (header, _):
        header["root"]["fields"]["score"]["class"] = "A" * 500_000
    with pytest.raises(FileError) as caught:
        load(path)
    assert len(str(caught.value)) < 1_000


# ---- a digest is no signature: what was made crooked on purpose ----------------------------------------------------


def without_score(header, entries):
    header["root"]["fields"].pop("score")


def root_of_another_kind(header, entries):
    header["root"] = {"class": "Linear", "fields": {"tails": {"class": "ExponentialTails", "fields": {}}}}


def array_unused(header, entries):
    header["root"]["fields"]["q"] = {"class": "StandardNormal", "fields": {}}


def entry(**values):
    """A tampering with the entry of the knots."""
    return lambda header, entries: entries["q.lines.knots"].update(values)


def of_header(**values):
    return lambda header, entries: header.update(values)


NAIVE = {"class": "Naive", "fields": {}}
CROOKED = {
    "score missing": (without_score, "must have the fields"),
    "field unknown": (in_fields("score", extra=1), "score must have the fields"),
    "another root": (root_of_another_kind, "not a calibrated model"),
    "score of another kind": (in_fields(score=NAIVE), "its score must be Score, got Naive"),
    "score of no class": (in_fields(score={"class": "subprocess.Popen", "fields": {}}), "not a class of calibrant"),
    "q is a number": (in_fields(q=3), "its q must be Distribution, got 3"),
    "interpolator is a score": (in_fields(interpolator={"class": "CDFScore", "fields": {}}), "must be Interpolator"),
    "no guarantee": (in_fields(guarantee=None), "its guarantee must be Guarantee, got None"),
    "n is true": (in_fields("guarantee", n=True), "its n must be int, got True"),
    "n is a fraction": (in_fields("guarantee", n=4.0), "its n must be int, got 4.0"),
    "n is negative": (in_fields("guarantee", n=-4), "n must be a number of rows, got -4"),
    "n is immense": (in_fields("guarantee", n=10**4000, effective_n=0.0), "guarantee is not a valid Guarantee"),
    "lambda is nan": (in_fields("guarantee", accuracy={"float": "nan"}), "its accuracy must be float, got nan"),
    "lambda is -1/2": (in_fields("guarantee", accuracy=-0.5), "its lambda must be at least 0, or -1"),
    "tie larger than n": (in_fields("guarantee", largest_tie=5), "largest tie is of 5 scores"),
    "tails are no tails": (in_fields("interpolator", tails=None), "its tails must be Tails, got None"),
    "left is text": (in_fields("q", "lines", left="1"), "its left must be Array, got '1'"),
    "left is no float": (in_fields("q", "lines", left={"float": "infinity"}), "not a value that a file can hold"),
    "another function": (in_fields("interpolator", tails={"function": "exec"}), "not a value that a file can hold"),
    "knots are a list": (in_fields("q", "lines", knots=[1.0, 2.0]), r"its knots must be Array, got \(1.0, 2.0\)"),
    "knots are not there": (in_fields("q", "lines", knots={"array": "other"}), "not a value that a file can hold"),
    "one array twice": (
        in_fields("q", "lines", probs={"array": "q.lines.knots"}),
        "q.lines.probs is not a value that a file can hold",
    ),
    "arrays unused": (array_unused, "arrays that belong to nothing"),
    "integers for floats": (entry(dtype="I64"), "its knots must be Array"),
    "a table for a row": (entry(shape=[2, 2]), "4 knots of float64 do not go with 4 probs"),
    "seventy dimensions": (entry(shape=[1] * 70 + [4]), "safetensors cannot read it"),
    "an unknown dtype": (entry(dtype="BF17"), "safetensors cannot read it"),
    "arrays that overlap": (entry(data_offsets=[8, 40]), "safetensors cannot read it"),
    "notes of another kind": (of_header(notes=3), "its header must have the entries digest, format, calibrant"),
    "an entry too many": (of_header(about={}), "its header must have the entries digest, format, calibrant"),
}


@pytest.mark.parametrize("name", CROOKED)
def test_what_does_not_fit_together_is_refused_though_the_digest_is_right(name, path):
    tamper, sentence = CROOKED[name]
    with tampered(path) as (header, entries):
        tamper(header, entries)
    with pytest.raises(FileError, match=sentence) as caught:
        load(path)
    assert str(caught.value).startswith(f"cannot load {path}: ")


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("knots", [1, 2, 4, 3], "its knots fall at place 3"),
        ("knots", [1, 2, 3, math.nan], "its knots holds NaN"),
        ("knots", [-math.inf, 2, 3, 4], "its knots must be finite"),
        ("probs", [0.2, 0.1, 0.6, 0.8], "its probs fall at place 1"),
        ("probs", [-0.1, 0.4, 0.6, 0.8], r"its probs must lie in \[0, 1\]"),
        ("probs", [0.1, 0.4, 0.6, 1.1], r"its probs must lie in \[0, 1\]"),
        ("left", [-1.0], "needs a mean excess above 0"),
        ("left", [0.0], "needs a mean excess above 0"),
        ("right", [0.0], "needs a mean excess above 0"),
    ],
)
def test_numbers_that_make_no_distribution_are_refused_though_the_digest_is_right(name, values, sentence, path):
    header, entries, data = parsed(path.read_bytes())
    start, end = entries[f"q.lines.{name}"]["data_offsets"]
    path.write_bytes(built(header, entries, data[:start] + np.array(values, "<f8").tobytes() + data[end:]))
    with pytest.raises(FileError, match=sentence):
        load(path)


@pytest.mark.parametrize(("way", "value"), [("loc", math.inf), ("scale", -1.0), ("scale", 0.0)])
def test_a_q_whose_cdf_is_none_is_refused_where_its_class_takes_any_numbers(way, value, path):
    crooked = replace(Normal(0.0, 1.0), **{way: np.asarray(value)})
    with pytest.raises(FileError, match="the CDF of its q does not rise from 0 to 1"):
        save(path, of_distribution(crooked))


def test_a_q_of_several_rows_is_refused(path):
    with pytest.raises(FileError, match=r"its q must be one distribution, got a batch of the shape \(1,\)"):
        save(path, of_distribution(Normal([0.0], [1.0])))


def test_ones_own_class_must_still_be_a_score(path):
    with tampered(path) as (header, _):
        header["root"]["fields"]["score"] = {"class": "Halved", "fields": {}}
    with pytest.raises(FileError, match="its score must be Score"):
        load(path, classes=[Halved])


def test_a_boolean_that_is_neither_0_nor_1_is_true(path):
    save(path, replace(small(), score=Scaled(weights=np.array([True, False]))))
    header, entries, data = parsed(path.read_bytes())
    path.write_bytes(built(header, entries, data[:-2] + b"\x02\x00"))
    assert load(path, classes=[Scaled]).score.weights.tolist() == [True, False]


# ---- classes refuse what does not go together, however they are made -----------------------------------------------

ONE, TWO = np.ones(1), np.ones(2)
UNIT = Normal(0.0, 1.0)
ATOMS = PiecewiseLinear.through(np.arange(3.0), np.array([0.0, 0.5, 1.0]))
LINES = Lines(np.arange(4.0), np.array([0.0, 1.0, 0.0, 1.0]), np.array([0, 2, 4]), np.zeros(2), np.zeros(2))
TABLE = {"knots": [0.0, 1.0, -1.0, 0.0], "probs": [0.1, 0.9, 0.1, 0.9], "first": [0, 2, 4], "left": TWO, "right": TWO}
SCORES, COLUMNS = np.arange(3.0), LongColumns(ForecastColumns("naive", "naive"))
GROUPED = Calibrator().fit(np.zeros(8), np.arange(8.0), by=list("aaaabbbb"))
JOINT = Joint(np.array([[1], [2], [3], [4]]))


def table(**others):
    return lambda: Lines(**{name: np.asarray(value) for name, value in {**TABLE, **others}.items()})


def spline(knots=(0, 1, 2), values=(0, 1, 2), slopes=(1, 1, 1)):
    return lambda: LogitSpline(*(np.asarray(each, dtype=float) for each in (knots, values, slopes)))


BROKEN = {
    "fewer probs": (table(probs=[0.1, 0.9]), "4 knots of float64 do not go with 2 probs of float64"),
    "another dtype": (table(left=np.ones(2, np.float32)), "4 knots of float64 do not go with 4 probs"),
    "no distribution": (table(first=[0]), "must share its 4 knots"),
    "not to the last": (table(first=[0, 2, 3]), "must share its 4 knots"),
    "a distribution without knots": (table(first=[0, 0, 4]), "must share its 4 knots"),
    "tails too few": (table(left=[0.5]), "2 distributions do not go with 1 and 2 tails"),
    "knots that fall": (table(knots=[0.0, 1.0, 1.0, 0.0]), "its knots fall at place 3"),
    "a tail without width": (table(left=[0.5, 0.0]), "a tail that has mass needs a mean excess above 0"),
    "logits that fall": (lambda: LogisticLinear(np.array([1.0, 0.0]), TWO), "its knots fall at place 1"),
    "logits of another dtype": (lambda: LogisticLinear(TWO, np.float32([0, 1])), "2 knots of float64 do not go"),
    "half an atom": (lambda: Randomised(ATOMS, 0.0, 2.0, 3.0, None), "atoms have two knots each, got 3 in all"),
    "ends that cross": (lambda: Randomised(ATOMS, 3.0, 2.0, 3.0, None), "lower must not be above upper"),
    "ends of other rows": (lambda: RandomisedRows(UNIT, ONE, TWO, 3.0, None, TWO, TWO), r"shapes \[\(1,\), \(2,\)"),
    "bounds of other rows": (lambda: Clipped(Normal(ONE, ONE), TWO, TWO), r"\(2,\) and \(2,\) do not go with \(1,\)"),
    "bounds that meet": (lambda: Clipped(UNIT, 1.0, 1.0), "clip needs lower < upper, got 1.0 and 1.0"),
    "tails that cross": (lambda: Reweighted(UNIT, 1.0, 4.0, 0.75, 0.25), "its tails must end inside"),
    "two lines for one": (lambda: PiecewiseLinear(LINES), "a single distribution is one line, got 2"),
    "a row of no line": (lambda: PiecewiseLinear(LINES, np.array([2])), "its rows must be of its 2 lines, got 2 to 2"),
    "two rows for one": (lambda: Row(Normal(TWO, TWO)), r"a row by itself is a batch of one, got the shape \(2,\)"),
    "more groups": (lambda: Grouped(Normal(TWO, TWO), ("a", "b", "c")), "3 groups do not go with 2 distributions"),
    "weights over 1": (lambda: Mixture([UNIT, UNIT], [0.7, 0.7]), "must be at least 0 and sum to 1"),
    "other rows": (lambda: Mixture([Normal(ONE, 1.0), Normal(TWO, 1.0)], [0.5, 0.5]), r"got \(1,\) and \(2,\)"),
    "more locs than scales": (lambda: replace(Normal(TWO, TWO), loc=np.ones(3)), r"loc \(3,\), scale \(2,\) and base"),
    "part beyond the last": (lambda: Joined((UNIT,), np.array([1]), np.array([0])), "must come from its 1 distr"),
    "row beyond the last": (
        lambda: replace(concatenate([Normal(TWO, TWO), Laplace(ONE, ONE)]), row=np.array([0, 2, 0])),
        "row 2 is not among the 2 rows of distribution 0",
    ),
    "a spline of one knot": (spline([0], [0], [1]), "1 knots do not go with 1 values and 1 slopes"),
    "more slopes": (spline(slopes=np.ones(4)), "3 knots do not go with 3 values and 4 slopes"),
    "a spline that rests": (spline(values=[0, 1, 1]), "its cubic does not rise after knot 1"),
    "a slope of 0": (spline(slopes=[0, 1, 1]), "its cubic does not rise after knot 0"),
    "slopes too steep": (spline(slopes=[1, 1, 3.1]), "its cubic does not rise after knot 1"),
    "a rank twice": (lambda: Joint(np.array([[1], [1]])), "each label must have the ranks 1 to 2 once"),
    "largest that fall": (lambda: Joint(np.array([[1], [2]]), np.array([1.0, 0.5])), "must be 2 and not fall"),
    "another basis": (lambda: Guarantee(4, basis="hope"), "its basis must be one of marginal, weighted, group"),
    "more floors than rows": (lambda: Guarantee(4, floored=5), "5 of its rows had no width, but n is 4"),
    "other names": (lambda: replace(GROUPED.guarantee, names=("a",)), "1 names do not go with the guarantees of 2"),
    "other n": (lambda: replace(GROUPED.guarantee, n=7), "n is 7, but its parts have 8 rows"),
    "groups of other rows": (
        lambda: History(SCORES, groups=Groups(("a",), np.zeros(2, np.int64))),
        "3 scores do not go with the groups of 2 rows",
    ),
    "a row of no group": (lambda: Groups(("a",), np.array([1])), "its rows must be of its 1 groups, got 1 to 1"),
    "weights of other rows": (lambda: History(SCORES, Ratios(np.ones(4))), "3 scores do not go with 4 weights"),
    "weights that fade": (lambda: History(SCORES, Ratios(np.ones(3)), HalfLife(2.0)), "takes no weights="),
    "no horizons": (lambda: HorizonCalibrated(small(), COLUMNS), "it was not calibrated by horizon"),
    "names for horizons": (
        lambda: HorizonCalibrated(
            replace(GROUPED, guarantee=replace(GROUPED.guarantee, basis="horizon")), COLUMNS
        ),
        "it was not calibrated by horizon",
    ),
    "no columns": (lambda: ForecastColumns("naive", None), "'naive' has no columns"),
    "levels that fall": (
        lambda: ForecastColumns("naive", None, (("a", 0.9), ("b", 0.1))),
        "its levels must increase",
    ),
    "names twice": (lambda: SeveralCalibrated(("a", "a"), (small(), small()), JOINT), "must have names of their own"),
    "other labels": (lambda: SeveralCalibrated(("a",), (small(5),), JOINT), "a calibration of the same 4 rows each"),
    "levels of a tracker": (lambda: replace(WAYS["tracker"][0](), covered=np.array([1])), "do not go with"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_class_refuses_fields_that_do_not_go_together(name):
    make, sentence = BROKEN[name]
    with pytest.raises((ValueError, TypeError), match=sentence):
        make()


def test_what_just_goes_together_is_taken():
    table(probs=[0.0, 1.0, 0.0, 1.0], left=[0.0, 0.0], right=[0.0, 0.0])()  # tails without mass
    table(knots=[1.0, 1.0, 0.0, 0.0])()  # jumps
    spline(slopes=[3, 3, 3])()
    Reweighted(UNIT, 1.0, 4.0, 0.5, 0.5)
    Guarantee(4, largest_tie=4, floored=4)
    SeveralCalibrated(("a",), (small(),), JOINT)


# ---- mutations -----------------------------------------------------------------------------------------------------

FORGED = 400
NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-320, 1e-8, 7.25, 1e149, 1e308, -1e308, math.inf, -math.inf, math.nan]
VALUES = [
    *[number for number in NUMBERS if math.isfinite(number)],
    *[0, 1, 2, 3, -1, 20, 2**31, 2**63, 10**30, True, False, None, "", "inf", "Naive", [], {}, [1, 2], "q.lines.knots"],
    *[{"float": "inf"}, {"float": "nan"}, {"list": []}, {"array": "q.lines.knots"}, {"function": "default_accuracy"}],
    *[{"class": name, "fields": {}} for name in ("Naive", "ZScore", "CDFScore", "StandardNormal", "Popen")],
    {"class": "Random", "fields": {"tails": {"class": "BoundedTails", "fields": {}}}},
]


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """The content of a file of each kind."""
    path = tmp_path_factory.mktemp("real") / "file"
    models = [calibrated("ensemble of z and cdf", "linear", 5), calibrated("cdf of laplace", "naf, guarded", 12)]
    models.append(replace(small(), q=small().q.clip(0.0, 3.0)))
    contents = []
    for model in [*models, *(make() for make, _ in WAYS.values())]:
        save(path, model, notes={"columns": ["a", "b"]})
        contents.append(path.read_bytes())
    return contents


def by_accident(rng, content, others):
    """Some bytes changed anywhere."""
    i, j = sorted(int(k) for k in rng.integers(0, len(content), 2))
    other = others[rng.integers(len(others))]
    length = int.from_bytes(content[:8], "little") + int(rng.integers(1, 10))
    return [
        lambda: content[:i] + bytes([content[i] ^ 1 << int(rng.integers(8))]) + content[i + 1 :],
        lambda: content[:i],
        lambda: content[:i] + rng.bytes(int(rng.integers(1, 40))) + content[i:],
        lambda: content[:i] + content[j + 1 :],
        lambda: content[: i + 8] + other[i + 8 :] + b" ",
        lambda: int(rng.integers(0, 2**63)).to_bytes(8, "little") + content[8:],
        lambda: length.to_bytes(8, "little") + content[8:],
        lambda: content[:i] + content[i : j + 1] * 2 + content[j + 1 :],
    ][rng.integers(8)]()


def ways_in(tree, way=()):
    """The way to every place in a tree of JSON values."""
    yield way
    if isinstance(tree, (dict, list)):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from ways_in(value, (*way, key))


def at(tree, way):
    for key in way:
        tree = tree[key]
    return tree


def edited(rng, tree):
    """A tree of JSON values with one value changed, dropped, renamed, moved or doubled."""
    ways = [way for way in ways_in(tree) if way]
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


def by_malice(rng, content, others):
    """One thing changed in the header or in the arrays, with a digest that is right."""
    header, entries, data = parsed(content)
    kind = rng.integers(6)
    if kind < 3:
        header["root"] = edited(rng, {"root": header["root"]}).get("root")
    elif kind == 3:
        header = edited(rng, header)
    elif kind == 4:
        entries = edited(rng, entries)
    else:
        values = np.frombuffer(data[: len(data) // 8 * 8], "<f8").copy()
        values[rng.integers(values.size)] = NUMBERS[rng.integers(len(NUMBERS))]
        data = values.tobytes() + data[values.nbytes :]
    return built(header, entries, data)


def distributions_of(found):
    """The q of all that was calibrated; of groups and censored labels, those that answer by themselves."""
    inside = getattr(found, "margins", None) or getattr(found, "calibrated", found)
    for each in inside if isinstance(inside, tuple) else (inside,):
        q = each.q.base if isinstance(each.q, FollowedUp) else each.q
        yield from map(q.__getitem__, range(len(q.distributions))) if isinstance(q, Grouped) else (q,)


def check_works(found):
    """Whatever a file says, what it gives is a distribution with a guarantee."""
    assert str(found.guarantee)
    y = np.sort(np.concatenate([[-np.inf], np.linspace(-1e3, 1e3, 41), np.linspace(-3, 25, 41), [np.inf]]))
    for q in distributions_of(found):
        with np.errstate(all="ignore"):
            F, quantiles = q.cdf(y), q.ppf([0.01, 0.5, 0.99])
            q.mean()
        assert np.all((F >= -1e-12) & (F <= 1 + 1e-12))
        assert np.all(np.diff(F) >= -1e-12)
        assert not np.any(np.isnan(quantiles))


def outcome(path):
    """What a file gives, or what the error says; any other exception is a failure."""
    try:
        return load(path)
    except FileError as error:
        return str(error)


@pytest.mark.filterwarnings("ignore")  # such as "does not say what kind of prediction": the form itself was hit
@pytest.mark.parametrize("mutate", [by_malice, by_accident])
def test_forged_files_are_refused_in_one_sentence_or_give_what_works(mutate, real, tmp_path):
    rng, path, loaded = np.random.default_rng(2022), tmp_path / "forged", 0
    for i in range(FORGED if mutate is by_malice else FORGED // 4):
        path.write_bytes(mutate(rng, real[rng.integers(len(real))], real))
        with peak_below(2e7) if i % 20 == 0 else nullcontext():  # watching takes its time
            found = outcome(path)
        if isinstance(found, str):
            assert re.fullmatch(f"cannot load {path}: .{{,900}}", found)  # one line
        else:
            assert mutate is by_malice or path.read_bytes() in real, "an accident went unnoticed"
            check_works(found)
            loaded += 1
    assert loaded > 20 or mutate is by_accident  # so the deeper checks were reached, and passed
