"""What is published: the package index's page, the files beside the code, and versions that agree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from hatch_build import absolute

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LINK = re.compile(r"\]\(([^)\s]*[./#][^)\s]*)\)")
LINKS = LINK.findall(README)
SDIST = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]


def test_every_link_of_the_index_page_is_absolute():
    links = LINK.findall(absolute(README, "1.2.3"))
    assert len(links) == len(LINKS) > 20
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


@pytest.mark.parametrize(
    ("given", "led"),
    [
        ("[the map](docs/map.md)", "[the map](https://github.com/calibrant/calibrant/blob/v1.2.3/docs/map.md)"),
        ("[models](examples/models)", "[models](https://github.com/calibrant/calibrant/tree/v1.2.3/examples/models)"),
        ("![before](a.png)", "![before](https://raw.githubusercontent.com/calibrant/calibrant/v1.2.3/a.png)"),
        ("[paper](https://a.org/b.html), [above](#top)", "[paper](https://a.org/b.html), [above](#top)"),
        ("H[x](y) = q(s)", "H[x](y) = q(s)"),
    ],
)
def test_a_link_leads_to_the_file_of_that_version(given, led):
    assert absolute(given, "1.2.3") == led


@pytest.mark.parametrize("link", sorted({link for link in LINKS if not link.startswith(("https://", "#"))}))
def test_a_link_of_the_readme_leads_to_a_file_that_the_sdist_has(link):
    assert (ROOT / link.partition("#")[0]).exists()
    assert f"/{link.partition('/')[0]}" in [*SDIST, "/LICENSE"]


def test_the_readme_has_no_maths_that_the_index_does_not_draw():
    assert "$" not in README
    assert "\\frac" not in README


@pytest.mark.parametrize("entry", SDIST)
def test_what_the_sdist_lists_is_there(entry):
    assert (ROOT / entry.lstrip("/")).exists()


def test_every_file_of_the_repository_is_in_the_sdist():
    """So its tests find what they read, and its make targets run."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode or not (ROOT / ".git").exists():
        pytest.skip("this is no repository: the sdist itself, say")
    tops = {f"/{name.partition('/')[0]}" for name in listed.stdout.splitlines()}
    assert tops - {*SDIST} == {"/.gitignore", "/LICENSE", "/pyproject.toml"}  # these, hatch takes by itself


def test_the_files_of_a_mutant_are_those_of_the_repository_also_where_there_is_no_git(tmp_path, monkeypatch):
    pytest.importorskip("resource")  # `make mutants` needs Unix
    monkeypatch.syspath_prepend(ROOT / "mutants")
    from judge import files

    for name in ("src/a.py", "build/b.py", ".venv-core/c.py", "src/__pycache__/a.pyc", ".github/d.yml", "Makefile"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert sorted(files(tmp_path)) == [".github/d.yml", "Makefile", "src/a.py"]


def test_all_that_a_make_target_reads_is_in_the_sdist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(
        re.findall(r"\b((?:benchmarks|examples|locks|studies|tests)/|constraints-dev\.txt|mkdocs\.yml)", makefile)
    )
    assert {"benchmarks/", "examples/", "locks/", "studies/", "tests/", "constraints-dev.txt"} <= named
    assert {f"/{name.rstrip('/')}" for name in named} <= set(SDIST)


def test_changelog_package_and_citation_agree_on_version_and_date():
    version = PROJECT["project"]["version"]
    headings = re.findall(r"^## (\S+) \((.*)\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    last, date = next((name, date) for name, date in headings if date != "unreleased")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert last == version
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", date)
    assert f"\nversion: {version}\ndate-released: {date}\n" in citation


def test_the_index_page_says_how_to_install_from_the_index():
    page = absolute(README, "1.2.3")
    assert "`pip install calibrant`" in page
    assert "`'calibrant[all]'`" in page
    assert "`pip install .`" in README
    assert "'.[" not in page
    assert "install ." not in page


def test_the_matrix_of_pythons_is_what_the_package_says():
    said = [line.rpartition(" :: ")[2] for line in PROJECT["project"]["classifiers"] if ":: Python :: 3." in line]
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    assert f"python: [{', '.join(f'{version!r}' for version in said)}]".replace("'", '"') in workflow
    assert PROJECT["project"]["requires-python"] == f">={said[0]}"


def test_the_tests_of_the_lowest_versions_are_there_and_cover_what_a_library_can_break():
    named = (ROOT / "tests" / "lowest.txt").read_text(encoding="utf-8").split()
    assert [name for name in named if not (ROOT / name).exists()] == []
    said = {"arrays", "distributions", "estimator", "intervals", "metrics", "model_files", "plots", "reports", "tables"}
    assert said <= {Path(name).stem.removeprefix("test_") for name in named}


@pytest.mark.skipif(os.name != "posix" or shutil.which("make") is None, reason="the Makefile needs make on Unix")
def test_the_sdist_has_all_that_its_make_targets_ask_for(tmp_path):
    """Beside what they install and make themselves."""
    for entry in [*SDIST, "/pyproject.toml", "/LICENSE"]:
        (tmp_path / entry.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / entry.lstrip("/")).symlink_to(ROOT / entry.lstrip("/"))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split())
    found = subprocess.run(["make", "-n", *sorted(targets)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


def test_the_site_has_the_addresses_of_the_package():
    site, urls = (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), PROJECT["project"]["urls"]
    assert f"\nsite_url: {urls['Documentation']}\n" in site
    assert f'link: "{urls["Homepage"]}"' in site


def workflow(name):
    return (ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")


def test_a_release_publishes_the_files_that_were_tested():
    package = workflow("test").partition("\n  package:\n")[2].partition("\n\n")[0]
    assert "run: make test-wheel" in package
    assert "uses: actions/upload-artifact@v4\n        with: {name: dist, path: dist," in package
    release = workflow("release")
    assert "with: {name: dist, path: dist}" in release
    assert "make " not in release


def test_what_publishes_is_pinned_by_commit():
    used = re.findall(r"uses: ([^./\s]\S+)", workflow("release"))
    assert len(used) == 2
    assert [each for each in used if not re.fullmatch(r"\S+@[0-9a-f]{40}", each)] == []


def test_the_guard_of_speed_is_left_out_on_other_machines_by_a_name_that_it_has():
    file, name = re.search(r"--deselect=(\S+)::(\S+)", workflow("test")).groups()
    assert f"\ndef {name}(" in (ROOT / file).read_text(encoding="utf-8")


def test_the_lowest_torch_of_the_workflow_is_the_floor():
    (floor,) = PROJECT["project"]["optional-dependencies"]["torch"]
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    assert f"TORCH={floor.replace('>=', '==')}.0+cpu" in workflow
