"""A file gives back what was saved, bit for bit; any other file gives one clear error; no crash harms an older file."""

from __future__ import annotations

import hashlib
import math
import os
import platform
import signal
import stat
import subprocess
import sys
import time
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from catalogue import (
    CALIBRATION,
    COMBINATIONS,
    DISTRIBUTIONS,
    HERE,
    PAIRS,
    PREDICTIONS,
    Y,
    calibrated,
    cases,
)
from forged import small, tampered
from reference.cases import LogRatio, PercentageError

from calibrant import Calibrated, Calibrator, CrossCalibrated, Guarantee, Normal, Point
from calibrant._batch import same
from calibrant.forms import Form
from calibrant.interpolators import NAF, Linear
from calibrant.intervals import CQR, Centred, Nonconformity, NormalizedResidual
from calibrant.persistence import FileError, atomic, load, read, save
from calibrant.persistence.classes import KINDS, Promised
from calibrant.scores import EnsembleScore, LocationScaleScore, QuantileScore, ResidualScore, ZScore, signed

OWN = [LogRatio, PercentageError]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def same_bits(one, other):
    one, other = np.asarray(one), np.asarray(other)
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


# ---- what comes back -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", cases(COMBINATIONS))
def test_what_is_loaded_predicts_the_same_bits(name, path):
    pair, interpolator = COMBINATIONS[name]
    first = calibrated(pair, interpolator)
    save(path, first)
    again = load(path, classes=OWN)
    assert same(again.q, first.q)
    assert again.guarantee == first.guarantee
    assert type(again.score) is type(first.score)
    prediction = PREDICTIONS[PAIRS[pair].prediction](HERE)[CALIBRATION:]
    one, two = (c(prediction, rng=np.random.default_rng(3)) for c in (first, again))
    y = Y[CALIBRATION:]
    assert same_bits(one.cdf(y), two.cdf(y))
    assert same_bits(one.ppf(0.3), two.ppf(0.3))
    assert same_bits(one.logpdf(y), two.logpdf(y))
    assert same_bits(one.mean(), two.mean())
    assert same_bits(one.crps(y), two.crps(y))


@pytest.mark.parametrize("n", [1, 2, 3, 200])
@pytest.mark.parametrize("interpolator", ["naive", "linear", "linear, infinite", "random, bounded", "naf"])
@pytest.mark.parametrize("pair", ["residual", "cdf of normal"])
def test_what_is_loaded_is_saved_as_the_same_bytes(pair, interpolator, n, path):
    save(path, calibrated(pair, interpolator, n), notes={"b": [1, 2.5], "a": None})
    written, stored = path.read_bytes(), read(path)
    save(path, stored.calibrated, notes=stored.notes)
    assert path.read_bytes() == written


class Fixed:
    """An interpolator of a user's own, without a state."""

    def fit(self, scores, *, support=None, rng=None):
        return Normal(0.0, 1.0)

    def accuracy(self, n):
        return n


def of_distribution(distribution):
    return Calibrated(ResidualScore(), distribution, Guarantee(20, 20.0), Fixed(), Form("points"))


DISTRIBUTION_CASES = {
    name: case for name, case in DISTRIBUTIONS.items() if case(HERE).shape == () and name != "logistic mixture"
}
DISTRIBUTION_CASES["a guarded distribution that is clipped"] = lambda world: DISTRIBUTIONS["q of naf, guarded"](
    world
).clip(-1.0, 0.5)
DISTRIBUTION_CASES["a random distribution that is clipped"] = lambda world: DISTRIBUTIONS["q of random"](world).clip(
    0.0
)
DISTRIBUTION_CASES["a random distribution that is clipped to a point"] = lambda world: DISTRIBUTIONS[
    "q of random, bounded"
](world).clip(90, 99)
DISTRIBUTION_CASES["a row of student t"] = lambda world: PREDICTIONS["student t, df by row"](world)[3]
DISTRIBUTION_CASES["a row of laplace"] = lambda world: PREDICTIONS["laplace"](world)[3]
DISTRIBUTION_CASES["a row of a pool"] = lambda world: PREDICTIONS["pool"](world)[3]


@pytest.mark.parametrize("name", DISTRIBUTION_CASES)
def test_every_single_distribution_can_be_q(name, path):
    distribution = DISTRIBUTION_CASES[name](HERE)
    save(path, of_distribution(distribution))
    q = load(path, classes=[Fixed]).q
    assert same(q, distribution)
    assert same_bits(q.cdf([-1.0, 0.0, 20.0]), distribution.cdf([-1.0, 0.0, 20.0]))
    assert same_bits(q.ppf([0.2, 0.5]), distribution.ppf([0.2, 0.5]))


def test_a_distribution_that_no_file_holds_is_refused_when_it_is_saved(path):
    with pytest.raises(FileError, match=r"cannot save .*model.safetensors: q.batch is .*, which no file holds"):
        save(path, of_distribution(PREDICTIONS["scipy's gamma"](HERE)[3]))
    assert not path.exists()


@pytest.mark.parametrize(
    "score",
    [
        QuantileScore(np.float64(2.0)),
        QuantileScore(3),
        EnsembleScore((ZScore(), QuantileScore(0.5))),
        EnsembleScore([ZScore(), EnsembleScore([ResidualScore()])]),
        signed(Centred(ZScore(), 0.25)),
        signed(NormalizedResidual()),
        signed(CQR()),
    ],
    ids=repr,
)
def test_a_score_comes_back_equal(score, path):
    save(path, replace(small(), score=score))
    assert load(path).score == score


def test_every_class_of_calibrants_is_listed_with_all_its_fields():
    for kind in KINDS.values():
        assert list(kind.fields) == [f.name for f in fields(kind.cls) if f.init], kind.cls


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_of_the_scores_is_kept(dtype, path):
    first = Calibrator().fit(np.zeros(9, dtype), np.arange(9, dtype=dtype))
    save(path, first)
    again = load(path)
    assert again.q.knots.dtype == dtype
    assert same_bits(again(np.zeros(1, dtype)).ppf(0.37), first(np.zeros(1, dtype)).ppf(0.37))


def test_what_was_calibrated_on_torch_is_loaded_as_numpy_and_predicts_on_both(path):
    torch = pytest.importorskip("torch", reason="the tensors here are torch's")
    f, y = (torch.asarray(column[:50]) for column in (DISTRIBUTIONS["normal"](HERE).loc[0] + np.zeros(205), Y))
    first = Calibrator(interpolator=NAF(20)).fit(Point(f.clone().requires_grad_()), y)
    save(path, first)
    again = load(path)
    assert isinstance(again.q.knots, np.ndarray)
    assert same_bits(again(Point(f)).cdf(y).numpy(), first(Point(f)).cdf(y).numpy())
    assert np.allclose(again(Point(f.numpy())).cdf(y.numpy()), first(Point(f)).cdf(y), rtol=1e-12)


def test_arrays_that_are_loaded_can_be_written_to_by_libraries_that_insist(path):
    save(path, small())
    assert load(path).q.knots.flags.writeable  # torch warns where it is not


ALONE = """
import sys
import time


class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("sklearn", "torch", "pandas") or name == "scipy.stats":
            raise ImportError(name + " is blocked")


sys.meta_path.insert(0, Blocked())
from calibrant import Normal
from calibrant.persistence import load
print(load(sys.argv[1])(Normal([0.0], 1.0)).median()[0].hex())
"""


def test_loading_needs_neither_sklearn_nor_torch_nor_the_model(path):
    save(path, calibrated("cdf of normal", "naf"))
    said = subprocess.check_output([sys.executable, "-c", ALONE, str(path)], text=True).strip()
    assert said == calibrated("cdf of normal", "naf")(Normal([0.0], 1.0)).median()[0].hex()


def test_calibrated_saves_itself(path):
    small().save(path)
    assert same(load(path), small())


def test_only_what_is_calibrated_is_saved(path):
    with pytest.raises(
        TypeError, match=r"save takes a Calibrated, a CrossCalibrated, a SeveralCalibrated, .*, got Linear"
    ):
        save(path, Linear())


# ---- notes and summary ---------------------------------------------------------------------------------------------


def test_notes_come_back(path):
    notes = {"columns": ["a", "ü"], "nested": {"x": [1, 2.5, None, True]}, "0" * 64: "0" * 64}
    save(path, small(), notes=notes)
    assert read(path).notes == notes


def test_the_order_of_the_notes_changes_no_byte(path):
    save(path, small(), notes={"a": 1, "b": 2})
    written = path.read_bytes()
    save(path, small(), notes={"b": 2, "a": 1})
    assert path.read_bytes() == written


@pytest.mark.parametrize("notes", [{"a": math.nan}, {"a": (1, 2)}, {1: 2}, {"a": {1}}, {"a": b"x"}], ids=repr)
def test_notes_that_json_does_not_give_back_are_refused(notes, path):
    with pytest.raises(FileError, match="notes must be JSON values"):
        save(path, small(), notes=notes)


def test_a_summary_says_what_was_calibrated(path):
    save(path, calibrated("cdf of normal", "linear"))
    about = read(path).about
    assert about == {
        "format": 1,
        "calibrant": about["calibrant"],
        "kind": "Calibrated",
        "labels": None,
        "score": "CDFScore()",
        "interpolator": "Linear(tails=ExponentialTails())",
        "tails": "ExponentialTails()",
        "q": "LogisticLinear(knots=float64[20], probs=float64[20])",
        "n": 20,
        "lambda": 0.0,
        "support": "(0, 1), held as logits",
    }
    save(path, replace(small(), interpolator=NAF(promise=lambda n: math.inf), guarantee=Guarantee(4, math.inf)))
    about = read(path).about
    assert (about["lambda"], about["tails"], about["support"]) == ("inf", None, "(-inf, inf)")


def test_the_summary_is_for_people_and_not_believed(path):
    save(path, small())
    with tampered(path) as (header, _):
        header["about"] = {"n": 1_000_000}
    assert read(path).about["n"] == 4


# ---- promises ------------------------------------------------------------------------------------------------------


def test_the_default_promise_is_kept_by_name(path):
    save(path, calibrated("residual", "naf"))
    assert load(path).interpolator == NAF()


def test_any_other_promise_is_kept_as_what_it_promised(path):
    save(path, calibrated("residual", "naf, guarded"))
    again = load(path)
    assert again.interpolator == NAF(promise=Promised(0.3))
    assert again.guarantee.accuracy == again.interpolator.accuracy(20) == 0.3


# ---- classes of a user's own ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scaled(LocationScaleScore):
    """A score with a state: every kind of value that a file holds."""

    by: float = 2.0
    weights: Any = None
    choices: list = field(default_factory=lambda: [1, "two", None])
    limits: tuple = (-math.inf, math.nan)

    def loc_scale(self, prediction):
        return prediction.values, self.by


class Halved(Nonconformity):
    def value(self, prediction, y):
        return abs(y - prediction.values) / 2

    minimiser = level_set = log_slope = value


def test_a_score_of_ones_own_loads_only_when_its_class_is_handed_in(path):
    save(path, calibrated("percentage error", "linear"))
    sentence = "score is a 'PercentageError', which is not a class of calibrant: .* pass classes=.PercentageError."
    with pytest.raises(FileError, match=sentence):
        load(path)
    with pytest.raises(FileError, match=sentence):
        load(path, classes=[LogRatio])
    assert type(load(path, classes=[PercentageError]).score) is PercentageError


def test_no_class_is_looked_up_by_import(path):
    save(path, small())
    for name in ("subprocess.Popen", "os.system", "builtins.eval", "Calibrator", "PullBack"):
        with tampered(path) as (header, _):
            header["root"]["fields"]["score"] = {"class": name, "fields": {}}
        with pytest.raises(FileError, match="not a class of calibrant"):
            load(path)


def test_the_fields_of_a_frozen_dataclass_of_ones_own_come_back(path):
    score = Scaled(0.5, np.arange(6).reshape(2, 3) > 2)
    save(path, replace(small(), score=score))
    again = load(path, classes=[Scaled]).score
    assert (again.by, again.choices, again.limits[0]) == (0.5, [1, "two", None], -math.inf)
    assert math.isnan(again.limits[1])
    assert same_bits(again.weights, score.weights)
    with tampered(path) as (header, _):
        header["root"]["fields"]["score"]["fields"].pop("by")
    with pytest.raises(FileError, match="score must have the fields"):
        load(path, classes=[Scaled])


@pytest.mark.parametrize(
    "weights",
    [
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(12)[::-2],
        np.arange(3, dtype=">f8"),
        np.broadcast_to(np.float32(1.5), (2, 2)),
        np.zeros((0, 3)),
        np.float64(2.5),
    ],
    ids=["by columns", "backwards", "of another machine", "one number for all", "empty", "a number"],
)
def test_an_array_comes_back_however_it_lay_in_memory(weights, path):
    save(path, replace(small(), score=Scaled(weights=weights)))
    again = load(path, classes=[Scaled]).score.weights
    assert again.dtype == weights.dtype.newbyteorder("=")
    assert again.shape == weights.shape
    assert np.array_equal(again, weights)


def test_ones_own_class_inside_one_of_calibrants_comes_back(path):
    save(path, replace(small(), score=signed(Halved())))
    assert type(load(path, classes=[Halved]).score.nonconformity) is Halved
    with pytest.raises(FileError, match=r"score.nonconformity is a 'Halved'"):
        load(path)


def test_ones_own_class_must_still_be_a_score(path):
    save(path, replace(small(), score=signed(Halved())))
    with tampered(path) as (header, _):
        header["root"]["fields"]["score"] = {"class": "Halved", "fields": {}}
    with pytest.raises(FileError, match="its score must be a Score"):
        load(path, classes=[Halved])


def test_a_class_with_a_hidden_state_is_refused_when_it_is_saved(path):
    class Stateful(PercentageError):
        def __init__(self):
            self.by = 2

    @dataclass
    class Thawed(PercentageError):
        by: float = 2.0

    for score in (Stateful(), Thawed()):
        with pytest.raises(FileError, match=r"score is a .*, which has a state: make it a frozen dataclass"):
            save(path, replace(small(), score=score))


@pytest.mark.parametrize(
    "held", [lambda y: y, object, 1j, {"a": 1}, {1, 2}, np.zeros(2, complex), Decimal("2.5"), 2**70]
)
def test_a_field_that_no_file_holds_is_refused_when_it_is_saved(held, path):
    with pytest.raises(FileError, match=r"score.weights (is|must be)"):
        save(path, replace(small(), score=Scaled(weights=held)))


def test_a_class_that_has_a_name_of_calibrants_is_refused(path):
    impostor = type("ZScore", (PercentageError,), {})
    with pytest.raises(ValueError, match="classes holds a ZScore, which is a name of calibrant's"):
        load(path, classes=[impostor])
    with pytest.raises(FileError, match="another class in the file has that name"):
        save(path, replace(small(), score=impostor()))


def test_classes_must_be_classes_with_names_of_their_own(path):
    with pytest.raises(ValueError, match="two that are called LogRatio"):
        load(path, classes=[LogRatio, type("LogRatio", (), {})])
    with pytest.raises(TypeError, match=r"pass classes=\[LogRatio\]"):
        load(path, classes=LogRatio)
    with pytest.raises(TypeError, match="classes must hold classes"):
        load(path, classes=[LogRatio()])
    twice = EnsembleScore([LogRatio(), type("LogRatio", (PercentageError,), {})()])
    with pytest.raises(FileError, match="another class in the file has that name"):
        save(path, replace(small(), score=twice))


def test_a_class_of_calibrants_may_be_handed_in_too(path):
    save(path, replace(small(), score=PercentageError()))
    for classes in ([Linear, PercentageError], [PercentageError, Linear]):
        assert type(load(path, classes=classes).score) is PercentageError


# ---- a crash harms no older file -----------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("problem", [OSError("no space left"), KeyboardInterrupt()], ids=repr)
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(step, problem, path, monkeypatch):
    save(path, small())
    before = path.read_bytes()

    def fail(*arguments):
        raise problem

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(problem)):
        save(path, small(9))
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_what_cannot_be_read_back_is_not_written(path):
    save(path, small())
    before = path.read_bytes()
    with pytest.raises(FileError, match=r"cannot save .* lambda 3.0, its interpolator promises 0.0"):
        save(path, replace(small(), guarantee=Guarantee(4, 3.0)))
    assert path.read_bytes() == before


KILLED = """
import sys
import time
import numpy as np
from calibrant import Calibrator
one, two = (Calibrator().fit(np.zeros(n), np.arange(1.0, n + 1)) for n in (20_000, 30_000))
while True:
    one.save(sys.argv[1])
    two.save(sys.argv[1])
    print(flush=True)
"""


@pytest.mark.slow
def test_a_process_killed_while_it_saves_leaves_a_file_that_loads(path):
    rng = np.random.default_rng(8)
    for _ in range(5):
        with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            try:
                process.wait(rng.uniform(0, 0.05))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        assert load(path).guarantee.n in (20_000, 30_000)


@pytest.mark.skipif(os.name != "posix", reason="asks as POSIX does")
def test_a_file_is_flushed_by_a_handle_that_may_write_as_windows_asks(path, monkeypatch):
    import fcntl

    flushed = []

    def fsync(descriptor):
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            flushed.append(fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE)

    monkeypatch.setattr(os, "fsync", fsync)
    save(path, small())
    assert flushed == [os.O_RDWR]


def test_where_signal_0_is_ctrl_c_no_process_is_asked_whether_it_runs(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(os, "name", "nt")
        patched.setattr(os, "kill", lambda process, signal: pytest.fail("sent a signal"))
        runs = atomic._runs(1)
    assert runs is None


@pytest.mark.skipif(os.name != "posix", reason="asks as POSIX does")
def test_what_a_run_left_is_removed_by_any_version_unless_the_run_may_go_on(path, monkeypatch):
    """Its name, which another version may have given it, is of the file, the machine and the process."""
    answers = {101: ProcessLookupError(), 102: PermissionError(), 103: None}

    def kill(process, signal):
        assert signal == 0
        if answers[process] is not None:
            raise answers[process]

    own = hashlib.blake2b(f"{path.name}@{platform.node()}".encode(), digest_size=6).hexdigest()
    left = {process: path.parent / f".calibrant-{own}-{process}-00000000.tmp" for process in answers}
    for each in left.values():
        each.touch()
    monkeypatch.setattr(os, "kill", kill)
    save(path, small())
    assert [process for process, each in left.items() if each.exists()] == [102, 103]


def leftover(path, process, host=None, hours=0.0):
    """A temporary file of this file, by a process on a host, that nobody has written to for so long."""
    own = hashlib.blake2b(f"{path.name}@{host or platform.node()}".encode(), digest_size=6).hexdigest()
    left = path.parent / f".calibrant-{own}-{process}-00000000.tmp"
    left.touch()
    then = time.time() - 3600 * hours
    os.utime(left, (then, then))
    return left


def test_what_an_earlier_process_of_our_number_left_is_removed(path):
    """In a container, every run is process 1."""
    left = leftover(path, os.getpid())
    save(path, small())
    assert not left.exists()


def test_what_another_thread_is_writing_now_stays(path):
    with atomic.replacing(path) as first:
        save(path, small())
        assert os.path.exists(first)
        os.unlink(first)
        save(first, small(5))
    assert load(path).guarantee.n == 5
    assert os.listdir(path.parent) == [path.name]
    assert not atomic._WRITING


def test_a_failed_write_is_no_longer_written(path):
    with pytest.raises(ZeroDivisionError), atomic.replacing(path):
        raise ZeroDivisionError
    assert not atomic._WRITING


def ask_none(patched):
    """A system where one cannot know whether a process runs."""
    patched.setattr(atomic, "_runs", lambda process: None)


@pytest.mark.parametrize(("hours", "stays"), [(23, True), (25, False)])
@pytest.mark.parametrize("host", [None, "another-host"])
def test_what_an_unknown_process_left_is_removed_after_a_day(path, monkeypatch, host, hours, stays):
    left = leftover(path, 101, host, hours)
    ask_none(monkeypatch)
    save(path, small())
    assert left.exists() is stays


def test_other_files_of_any_age_stay(path):
    names = [".calibrant-notes.tmp", f".calibrant-{'0' * 12}-²-{'0' * 8}.tmp", "a.tmp"]
    for name in names:
        (path.parent / name).touch()
        os.utime(path.parent / name, (0, 0))
    save(path, small())
    assert sorted(os.listdir(path.parent)) == sorted([*names, path.name])


def test_a_number_that_no_process_can_have_is_unknown(path):
    assert atomic._runs(9_999_999_999) is None
    left = leftover(path, 9_999_999_999)
    save(path, small())
    assert left.exists()


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_new_file_has_the_usual_permissions_and_a_replaced_one_keeps_its_own(path):
    (path.parent / "plain").write_bytes(b"")
    save(path, small())
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((path.parent / "plain").stat().st_mode)
    path.chmod(0o640)
    save(path, small())
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o027])
def test_the_mask_of_new_files_is_obeyed_and_left_as_it_was(mask, path):
    before = os.umask(mask)
    try:
        save(path, small())
    finally:
        after = os.umask(before)
    assert (after, stat.S_IMODE(path.stat().st_mode)) == (mask, 0o666 & ~mask)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells the mask without changing it")
def test_the_mask_is_asked_for_without_changing_it_for_other_threads(path, monkeypatch):
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("another thread may write a file now"))
    save(path, small())


def test_no_file_stays_open(path, monkeypatch):
    opened, open_file = [], os.open

    def noted(*arguments, **others):
        opened.append(open_file(*arguments, **others))
        return opened[-1]

    monkeypatch.setattr(os, "open", noted)
    save(path, small())
    assert opened
    for descriptor in opened:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


@pytest.mark.skipif(os.name != "posix", reason="links need a right on Windows")
def test_a_symbolic_link_stays_one(path):
    (path.parent / "folder").mkdir()
    path.symlink_to(os.path.join("folder", "target"))
    for n in (4, 5):  # the target is not there yet, then it is
        save(path, small(n))
        assert path.is_symlink()
        assert load(path.parent / "folder" / "target").guarantee.n == n


def test_folds_come_back_too(path):
    rng = np.random.default_rng(0)
    halves = rng.normal(size=(2, 30))
    first = CrossCalibrated(tuple(Calibrator().fit(np.zeros(30), half) for half in halves))
    first.save(path)
    again = load(path)
    assert again.guarantee == first.guarantee
    points = [[0.0, 1.0], [0.5, 0.9]]
    assert same_bits(again(points).ppf(0.3), first(points).ppf(0.3))
    assert read(path).about["n"] == 60
