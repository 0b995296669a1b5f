"""The locks hold what calibrant and the studies ask for, by name and version alone: nothing of what wrote them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
GROUPS = PROJECT["dependency-groups"]
STUDIES = (ROOT / "studies" / "requirements.txt").read_text(encoding="utf-8").splitlines()
NOT_LOWEST = ("torch", "pyspark")
"""Torch is that of the machine, see the Makefile; pyspark is tested apart, see docs/versioning.md."""


def lines(name):
    return (ROOT / "locks" / name).read_text(encoding="utf-8").splitlines()


def pinned(name):
    """Package: the versions that it is pinned at, by Python or system."""
    found = {}
    for line in lines(name):
        requirement = Requirement(line)
        (version,) = requirement.specifier
        found.setdefault(canonicalize_name(requirement.name), set()).add(Version(version.version))
    return found


def asked(groups):
    entries = [*PROJECT["project"]["dependencies"], *(entry for extra in EXTRAS.values() for entry in extra), *STUDIES]
    entries += [entry for group in groups for entry in GROUPS[group] if isinstance(entry, str)]
    requirements = [Requirement(entry) for entry in entries]
    return [requirement for requirement in requirements if requirement.name != "calibrant"]


@pytest.mark.parametrize("name", ["dev.txt", "lowest.txt"])
def test_a_line_is_a_name_a_version_and_perhaps_where_it_holds(name):
    for line in lines(name):
        assert re.fullmatch(r"[a-z0-9-]+==[a-zA-Z0-9.]+( ; [a-z_]+ (<|>=|==|!=) '[\w.]+'( and .+)?)?", line), line
        assert not re.match(r"nvidia|cuda|triton", line), line


@pytest.mark.parametrize(("name", "groups"), [("dev.txt", [*GROUPS]), ("lowest.txt", ["test"])])
def test_every_requirement_is_met_by_its_pin(name, groups):
    """If not: make lock."""
    versions = pinned(name)
    if name == "lowest.txt":
        versions |= {name: pinned("dev.txt")[name] for name in NOT_LOWEST}
    for requirement in asked(groups):
        found = versions[canonicalize_name(requirement.name)]
        assert all(version in requirement.specifier for version in found), requirement


def test_what_is_held_back_is_what_the_lock_has():
    versions = pinned("dev.txt")
    for line in (ROOT / "constraints-dev.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            held = Requirement(line)
            assert all(version in held.specifier for version in versions[held.name])


@pytest.mark.parametrize("requirement", asked([]), ids=str)
def test_the_lowest_lock_has_the_floor_itself(requirement):
    (floor,) = (part for part in requirement.specifier if part.operator == ">=")
    if requirement.name not in NOT_LOWEST:
        (version,) = pinned("lowest.txt")[canonicalize_name(requirement.name)]
        asked = Version(floor.version).release
        assert version.release[: max(2, len(asked))] == (asked if len(asked) > 1 else (*asked, 0))
