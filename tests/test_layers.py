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

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs_tools"))
from import_graph import import_graph, largest_circle  # noqa: E402

PACKAGE = ROOT / "src" / "calibrant"
FILES = sorted(PACKAGE.rglob("*.py"))
TREES = {str(path.relative_to(PACKAGE)): ast.parse(path.read_text(encoding="utf-8")) for path in FILES}

BY_NAME = {
    "models/dispatch.py": "one adapter for each model library, of which the one that made the model is there",
    "cli/__init__.py": "says which libraries the command line lacks before it imports them",
    "cli/app.py": "`--help` waits for no library that only some commands need",
}
"""The files that may import by name (`import_module`), and why."""

FOREIGN = {
    ("_words.py", "sys._getframe"): "how a warning finds the user's line",
    ("tables/spark.py", "context._jvm"): "Hadoop's file systems, which pyspark has no public door to",
    ("tables/spark.py", "context._jsc"): "their settings",
}
"""Underscores of others' objects."""

CORE = {"numpy", "scipy", "sklearn", "narwhals", "safetensors", "jinja2", "array_api_compat", "calibrant"}
CORE |= set(sys.stdlib_module_names)
SLOW = {
    ("metrics/bands.py", "scipy.optimize"): "30 ms that `import calibrant` need not spend",
    ("metrics/calibration.py", "scipy.stats"): "the same",
    ("tables/api.py", "calibrant.tables.dask"): "needs Dask",
    ("tables/api.py", "calibrant.tables.spark"): "needs Spark",
    ("distributions/location_scale.py", "calibrant.distributions.gpu"): "its kernels need Triton",
}
LATE = {
    ("distributions/base.py", "calibrant.distributions.clipped"): "clip gives a wrapper, which builds on this file",
    ("distributions/base.py", "calibrant.distributions.joined"): "so do among and one row of a batch",
    ("calibration.py", "calibrant.labels.named"): "it knows every kind of labels, of which most fits have none",
    ("_calibrated.py", "calibrant.files"): "it knows every class that it saves",
}
"""What of the library is imported inside a function, and why."""

ONE_SYSTEM = {"fcntl", "msvcrt"}  # there on one kind of system only


def inside_functions(tree):
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from ast.walk(function)


def imported(node):
    if isinstance(node, ast.ImportFrom):
        return ["." if node.level else node.module]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def test_inside_functions_only_optional_libraries_are_imported():
    found = {
        (name, module) for name, tree in TREES.items() for node in inside_functions(tree) for module in imported(node)
    }
    assert {(name, m) for name, m in found if m.partition(".")[0] in CORE and m not in ONE_SYSTEM} == {*SLOW, *LATE}


def test_only_listed_files_import_by_name():
    calls = {
        name
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == "import_module"
    }
    assert calls == set(BY_NAME)


def test_the_library_imports_nothing_of_the_studies():
    found = {(name, m) for name, tree in TREES.items() for node in ast.walk(tree) for m in imported(node)}
    assert not {(name, m) for name, m in found if m.partition(".")[0] == "studies"}


FOR_TYPES = {
    "calibration.py": "a newcomer's path: what a distribution, a form and a guarantee are is said where they are used",
    "scores/base.py": "the same, of distributions and transforms",
    "interpolators/base.py": "the same, of distributions and supports",
    "interpolators/linear.py": "the same, of distributions, supports and tails",
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


def test_no_module_is_in_a_circle_of_imports_but_over_what_is_imported_late():
    """Lazy imports and those for the type checker included, as docs_tools/import_graph.py reads them."""
    graph = import_graph(ROOT / "src")
    for name, module in LATE:
        graph[f"calibrant.{name.removesuffix('.py').replace('/', '.')}"].remove(module)
    assert not largest_circle(graph)


def own(node):
    return ast.unparse(node.value) in {"self", "cls", "super()"}


def underscored(name):
    of_a_named_tuple = {"_asdict", "_replace", "_fields"}  # the underscore keeps them apart from its fields
    return name.startswith("_") and not name.startswith("__") and name not in of_a_named_tuple


def test_no_underscore_of_another_object_is_used_outside_the_distributions():
    found = {
        (name, ast.unparse(node))
        for name, tree in TREES.items()
        if not name.startswith(("distributions/", "testing/distributions"))  # what checks the methods calls them
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and underscored(node.attr) and not own(node)
    }
    assert found == set(FOREIGN)


def test_no_underscore_is_imported_from_another_module():
    found = {
        f"{name}: {node.module}.{alias.name}"
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("calibrant.")
        for alias in node.names
        if underscored(alias.name)
    }
    assert not found


def test_no_two_classes_have_the_same_name():
    names = Counter(node.name for tree in TREES.values() for node in tree.body if isinstance(node, ast.ClassDef))
    assert not {name: count for name, count in names.items() if count > 1}
