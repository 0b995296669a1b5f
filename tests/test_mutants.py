"""What `make mutants` found, as it stands in the repository."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "results" / "mutants.md"
REASONS = tomllib.loads((ROOT / "mutants" / "survivors.toml").read_text(encoding="utf-8"))
KINDS = {"equivalent", "speed", "words", "looks"}


@pytest.mark.parametrize("name", REASONS)
def test_a_mutant_that_is_left_out_has_a_kind_and_a_reason(name):
    assert re.fullmatch("[0-9a-f]{10}", name)
    assert REASONS[name]["kind"] in KINDS
    assert len(REASONS[name]["why"].split()) > 3


def test_nine_of_ten_mutants_are_killed_in_every_area_of_every_sample():
    samples = PAGE.read_text(encoding="utf-8").split("## Seed ")[1:]
    assert samples
    for sample in samples:
        rows = [line.strip("| ").split(" | ") for line in sample.splitlines()]
        shares = {row[0]: float(row[-1].rstrip("%")) for row in rows if len(row) == 8 and row[-1].endswith("%")}
        assert list(shares) in (["core", "estimator", "files", "CLI", "reports", "all"], ["shared", "all"])
        assert [area for area, share in shares.items() if share < 90] == []
