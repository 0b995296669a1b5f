"""Who imports whom: `python docs_tools/import_graph.py SRC` prints the packages and the largest circle of imports.

Every import counts: at the top of a file, inside a function, for the type checker, and by name where the name is
written out (`import_module("calibrant.files")`).
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

Graph = Mapping[str, set[str]]


def import_graph(source: Path, package: str = "calibrant") -> Graph:
    """Which modules each module of the package imports."""
    files = {module_of(path, source): path for path in sorted((source / package).rglob("*.py"))}
    graph = {}
    for module, path in files.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        home = module if path.name == "__init__.py" else module.rpartition(".")[0]
        graph[module] = {known for name in names(tree, home) for known in [owner(name, files)] if known} - {module}
    return graph


def module_of(path: Path, source: Path) -> str:
    """calibrant/scores/base.py as calibrant.scores.base."""
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def names(tree: ast.Module, home: str) -> Iterator[str]:
    """All that a file imports, as dotted names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = home.split(".")[: len(home.split(".")) - node.level + 1] if node.level else []
            start = ".".join([*above, *filter(None, [node.module])])
            yield from (f"{start}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            # the names in the call itself; a table of names is not followed
            yield from re.findall(r"['\"](calibrant[\w.]*)['\"]", ast.unparse(node))


def owner(name: str, known: Mapping[str, Path]) -> str | None:
    """The module that a dotted name is, or is in."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name or None


def largest_circle(graph: Graph) -> list[str]:
    """The largest set of modules each of which imports each other one, over others or directly."""
    reached = {module: reach(module, graph) for module in graph}
    circles = [[other for other in reached[module] if module in reached[other]] for module in graph]
    return sorted(max(circles, key=len, default=[]))


def reach(module: str, graph: Graph) -> set[str]:
    """All that a module imports, and what these import, and so on."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def by_package(graph: Graph) -> dict[str, set[str]]:
    """The same between the packages and modules right below the root."""
    found: dict[str, set[str]] = defaultdict(set)
    for module, imported in graph.items():
        top = module.split(".")[1] if "." in module else "(root)"
        found[top] |= {other.split(".")[1] if "." in other else "(root)" for other in imported} - {top}
    return found


if __name__ == "__main__":
    graph = import_graph(Path(sys.argv[1] if len(sys.argv) > 1 else "src"))
    for package, imported in sorted(by_package(graph).items()):
        print(f"{package:15} -> {', '.join(sorted(imported)) or 'nothing of calibrant'}")
    circle = largest_circle(graph)
    print(f"{len(graph)} modules, {sum(map(len, graph.values()))} imports")
    print(f"the largest circle has {len(circle)} modules{': ' if circle else ''}{', '.join(circle)}")
