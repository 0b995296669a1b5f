"""Layers, one way: what import-linter (`make lint`) cannot see, read from the sources.

`pyproject.toml` has the layers themselves. Here: no import of calibrant hides inside a function or behind a string, no
name with an underscore crosses a border, no class has the name of another.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "calibrant"
FILES = sorted(PACKAGE.rglob("*.py"))
TREES = {str(path.relative_to(PACKAGE)): ast.parse(path.read_text(encoding="utf-8")) for path in FILES}

BY_NAME = {
    "__init__.py": "`import calibrant` loads no optional library: what needs one comes when it is asked for",
    "distributions/on_gpu.py": "the kernels need Triton, which comes with torch for CUDA",
    "models/dispatch.py": "one adapter for each model library, of which the one that made the model is there",
    "cli/__init__.py": "says which libraries the command line lacks before it imports them",
    "cli/later.py": "`--help` waits for no library that only some commands need",
    "sklearn/judging.py": "an estimator needs no jinja2, its report does",
    "study/learners/__init__.py": "reading a study needs no torch, training does",
    "testing/__init__.py": "the laws of scores need no scikit-learn, those of refiners do",
    "study/datasets/errors.py": "imports a library that may be absent, none of calibrant",
}
"""The files that may import by name (`import_module`), and why."""

FOREIGN = {
    ("_words.py", "sys._getframe"): "how a warning finds the user's line",
    ("spark/files.py", "context._jvm"): "Hadoop's file systems, which pyspark has no public door to",
    ("spark/files.py", "context._jsc"): "their settings",
    ("study/paper/html_page.py", "method._asdict"): "a named tuple's public method has an underscore",
}
"""Underscores of others' objects."""

CORE = {"numpy", "scipy", "array_api_compat", "calibrant"} | set(sys.stdlib_module_names)
SLOW = {("metrics/bands.py", "scipy.optimize"): "30 ms that `import calibrant` need not spend"}
ONE_SYSTEM = {"fcntl", "msvcrt"}  # there on one kind of system only


def inside_functions(tree):
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from ast.walk(function)


def imported(node):
    if isinstance(node, ast.ImportFrom):
        return ["." if node.level else node.module]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


@pytest.mark.parametrize("name", TREES)
def test_inside_functions_only_optional_libraries_are_imported(name):
    found = {module for node in inside_functions(TREES[name]) for module in imported(node)}
    core = {module for module in found if module.partition(".")[0] in CORE}
    assert not {m for m in core if (name, m) not in SLOW and m not in ONE_SYSTEM}


def test_only_listed_files_import_by_name():
    calls = {
        name
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == "import_module"
    }
    assert calls == set(BY_NAME)


FOR_TYPES = {
    "__init__.py": "names that are loaded when they are asked for",
    "study/learners/__init__.py": "the same",
    "testing/__init__.py": "the same",
    "calibration.py": "a newcomer's path: what a law, a form and a guarantee are is said where they are used",
    "scores/base.py": "the same, of laws and charts",
    "interpolators/base.py": "the same, of laws",
    "interpolators/linear.py": "the same, of laws and tails",
    "sklearn/judging.py": "a report needs jinja2, and an estimator works without it",
}
"""The files that import something of calibrant for annotations alone; import-linter counts these imports too."""


def test_only_listed_files_import_for_annotations_alone():
    found = {
        name
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if any("calibrant" in module for child in node.body for module in imported(child))
    }
    assert found == set(FOR_TYPES)


def test_the_newcomers_path_is_at_most_500_lines():
    """See docs_tools/newcomers_path.py, which says what counts and prints the list."""
    found = subprocess.run(
        [sys.executable, ROOT / "docs_tools" / "newcomers_path.py", ROOT], check=True, capture_output=True, text=True
    ).stdout
    assert int(found.splitlines()[-1].split()[0]) <= 500, found


def test_no_module_is_in_a_circle_of_imports():
    """Lazy imports and those for the type checker included, as docs_tools/import_graph.py reads them."""
    found = subprocess.run(
        [sys.executable, ROOT / "docs_tools" / "import_graph.py", ROOT / "src"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert found.splitlines()[-1] == "the largest circle has 0 modules"


def own(node):
    return ast.unparse(node.value) in {"self", "cls", "super()"}


def underscored(name):
    return name.startswith("_") and not name.startswith("__")


@pytest.mark.parametrize("name", [name for name in TREES if not name.startswith("distributions/")])
def test_no_underscore_of_another_object_is_used_outside_the_distributions(name):
    found = {
        ast.unparse(node)
        for node in ast.walk(TREES[name])
        if isinstance(node, ast.Attribute) and underscored(node.attr) and not own(node)
    }
    assert not {text for text in found if (name, text) not in FOREIGN}


@pytest.mark.parametrize("name", TREES)
def test_no_underscore_is_imported_from_another_module(name):
    found = {
        f"{node.module}.{alias.name}"
        for node in ast.walk(TREES[name])
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("calibrant.")
        for alias in node.names
        if underscored(alias.name)
    }
    assert not found


def test_no_two_classes_have_the_same_name():
    names = Counter(node.name for tree in TREES.values() for node in tree.body if isinstance(node, ast.ClassDef))
    assert not {name: count for name, count in names.items() if count > 1}
