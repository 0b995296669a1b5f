"""What `make bench` measures is right, and the main road has not become twice as slow as we know it."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def loaded(name):
    """A file of benchmarks/, which has no place on the path: some of its names are those of other modules."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        return importlib.import_module(name)


guard = loaded("guard")
side_by_side = loaded("side_by_side")
sweeps = loaded("sweeps")
timing = loaded("timing")


@pytest.mark.slow
def test_the_main_road_takes_at_most_twice_as_many_times_plain_numpy_as_we_know():
    """If what is slower is worth it: python benchmarks/guard.py --renew."""
    kept = guard.known()
    found = guard.measured(kept)
    assert [guard.complaint(name, found[name], kept[name]) for name in guard.slower(found, kept)] == []


def test_every_work_of_the_road_is_known():
    assert set(guard.known()) == set(guard.road())
    assert all(ratio > 0 for ratio in guard.known().values())


def test_plain_numpy_gives_the_answers_that_it_is_compared_with():
    """Its CRPS and mean are those of the scores themselves, and its cdf ends at the outermost: all that is near 1/n."""
    near = {"cdf": 1e-4, "z-score, cdf": 1e-4, "crps": 3e-3, "mean": 3e-3}
    for name, (ours, plain) in guard.road().items():
        if name != "fit":
            first, second = ours(), plain()
            first, second = (value[0] if isinstance(value, tuple) else value for value in (first, second))
            inside = slice(None) if name != "logpdf" else (second > -guard.np.inf)
            assert first[inside] == pytest.approx(second[inside], abs=near.get(name, 1e-9)), name


@pytest.mark.parametrize(("ratio", "noticed"), [(1.9, False), (2.1, True)])
def test_more_than_twice_is_noticed(ratio, noticed):
    found = {"cdf": ratio * 0.3, "crps": 0.1}
    assert guard.slower(found, {"cdf": 0.3, "crps": 0.1}) == (["cdf"] if noticed else [])


def test_a_busy_moment_is_measured_again_and_slowness_stays(monkeypatch):
    ratios = {"busy": iter([9.0, 1.1]), "slow": iter([9.0, 8.0, 8.5])}
    monkeypatch.setattr(guard, "road", lambda: {name: name for name in ratios})
    monkeypatch.setattr(guard, "ratio", lambda name, seconds: next(ratios[name]))
    kept = {"busy": 1.0, "slow": 1.0}
    found = guard.measured(kept)
    assert found == {"busy": 1.1, "slow": 8.0}
    assert guard.slower(found, kept) == ["slow"]
    assert guard.complaint("slow", 8.0, 1.0) == (
        "slow takes 8.00 times as long as plain numpy; guard.json has 1.00, and 2 times that is allowed"
    )


def test_the_best_and_the_median_are_of_at_least_seven_rounds_in_turn():
    calls = []
    found = timing.interleaved({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, seconds=0)
    assert timing.ROUNDS >= 7
    assert min(calls.count("a"), calls.count("b")) > timing.ROUNDS
    assert re.search("a+b+a+b+", "".join(calls).replace("bb", "b"))
    assert found["a"].best <= found["a"].median


WORKS = ["fit", "PIT", "19 quantiles", "90% interval", "CRPS", "mean and std"]


@pytest.mark.parametrize("n", [99, 500])
@pytest.mark.parametrize("work", WORKS)
def test_the_answers_that_are_timed_are_right(work, n):
    entries = side_by_side.works(side_by_side.Problem(n, 40))
    assert list(entries) == WORKS
    ours = {name: entry for name, entry in entries[work].items() if side_by_side.library(name) == side_by_side.OURS}
    assert ours
    for name, entry in ours.items():
        if entry.off is not None:
            assert entry.off(entry.do()) < 1e-13, name


def test_an_error_is_seen():
    problem = side_by_side.Problem(500, 40)
    entries = side_by_side.works(problem)
    for work in WORKS[1:]:
        entry = entries[work][side_by_side.OURS]
        answer = entry.do()
        moved = tuple(part + 0.01 for part in answer) if isinstance(answer, tuple) else answer + 0.01
        assert entry.off(moved) > 1e-4, work


def test_an_exponent_is_the_slope_between_the_two_largest_sizes():
    line = sweeps.Line({1_000: 1.0, 10_000: 1.0, 100_000: 100.0})
    assert line.exponent == pytest.approx(2.0)
    assert sweeps.Line({1_000: 1.0}).exponent is None


def test_the_page_has_every_work_and_every_library():
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    for work, entries in side_by_side.works(side_by_side.Problem(50, 5)).items():
        section = page.partition(f"### {work}\n")[2].partition("\n#")[0]
        named = re.findall(r"^\| \**([^|*]+?)\** \|", section, re.MULTILINE)
        assert sorted(set(named) - {"library", "---"}) == sorted(entries), work
    for name in guard.known():
        assert f"\n| {name} | " in page
