"""How much a newcomer reads to understand how calibration works: `python docs_tools/newcomers_path.py [ROOT]`.

The path is README.md, `calibration.py`, one score (the residual, in `scores/location_scale.py`) with its base
classes, one interpolator (linear) with its base, and whatever calibrant modules these import themselves. The rule:

- Every line that is not blank counts, docstrings and comments included; import statements do not, they are followed.
- Of the README count its opening and its section "Three modules", which say what the idea is; the quick start and the
  rest show its use. The last line of the output says what the whole README would make of it.
- Of a module that these import, what they take counts: the classes, functions and values by that name. A package's
  `__init__` only passes names on.
- Modules with a leading underscore (arrays in and out, rows of frozen values) are the ground that all stands on, and do
  not count. Nor does what is there for the type checker alone: imports (`if TYPE_CHECKING`), and signatures of a method
  by kind of argument (`@overload`), which say no more than the one that has the docstring.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

SECTION = "## Three modules"
START = (
    "calibration.py",
    "scores/location_scale.py",
    "scores/base.py",
    "interpolators/linear.py",
    "interpolators/base.py",
)


def path_of(root: Path) -> dict[str, int]:
    """The files of the path and how many lines of each count, in the order in which they are read."""
    package = root / "src" / "calibrant"
    counted = {"README.md": readme_lines((root / "README.md").read_text(encoding="utf-8"))}
    start = [package / name for name in START if (package / name).exists()]
    taken: dict[Path, set[str] | None] = dict.fromkeys(start)  # of these, all
    for file in start:
        for module, name in sorted(imported_by(file, package)):
            names = taken.setdefault(module, None if module.stem == name else set())
            if names is not None:
                names.add(name)
    return counted | {
        str(file.relative_to(package)): code_lines(file.read_text(encoding="utf-8"), names)
        for file, names in taken.items()
    }


def lines(text: str) -> int:
    """Those that are not blank."""
    return sum(bool(line.strip()) for line in text.splitlines())


def code_lines(text: str, names: set[str] | None = None) -> int:
    """Those of a module, or of what it defines by these names, that are not blank, nor an import or an overload."""
    tree = ast.parse(text)
    nodes = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom)) or for_types(node)]
    spans = [(node.lineno, node.end_lineno or node.lineno) for node in nodes]
    spans += [(node.decorator_list[0].lineno, node.end_lineno or 0) for node in ast.walk(tree) if is_overload(node)]
    left_out = {number for first, last in spans for number in range(first, last + 1)}
    counted = set(range(1, text.count("\n") + 2))
    if names is not None:
        spans = [(first_line(node), node.end_lineno or 0) for node in tree.body if names & set(defined(node))]
        counted = {number for first, last in spans for number in range(first, last + 1)}
    return sum(bool(line.strip()) for number, line in enumerate(text.splitlines(), 1) if number in counted - left_out)


def first_line(node: ast.stmt) -> int:
    """That of its first decorator, if it has any."""
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])


def for_types(node: ast.stmt) -> bool:
    """Whether it is `if TYPE_CHECKING: ...`."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def is_overload(node: ast.AST) -> TypeGuard[ast.FunctionDef]:
    """Whether it is `@overload def ...`."""
    return isinstance(node, ast.FunctionDef) and any(
        isinstance(each, ast.Name) and each.id == "overload" for each in node.decorator_list
    )


def readme_lines(text: str) -> int:
    """Those of the opening and of the section that names the three modules."""
    opening = text.split("\n## ", maxsplit=1)[0]
    section = text.partition(SECTION)[2].split("\n## ", maxsplit=1)[0]
    return lines(opening) + lines(SECTION + section)


def defined(node: ast.stmt) -> list[str]:
    """The names that a statement at the top of a module defines."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def imported_by(file: Path, package: Path) -> Iterator[tuple[Path, str]]:
    """What a file imports of the package when it runs, without modules with a leading underscore."""
    for node in runtime_imports(ast.parse(file.read_text(encoding="utf-8"))):
        for name in node.names:
            module = defining(node.module or "", name.name, package)
            if module.name == "__init__.py" or not module.name.startswith("_"):
                yield module, name.name


def runtime_imports(tree: ast.Module) -> Iterator[ast.ImportFrom]:
    """`from calibrant... import ...` at the top of a file; what is for the type checker stands in an `if`."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "calibrant":
            yield node


def defining(module: str, name: str, package: Path) -> Path:
    """The file of the module that defines a name."""
    folder = package.joinpath(*module.split(".")[1:])
    if folder.with_suffix(".py").exists():
        return folder.with_suffix(".py")
    if (folder / f"{name}.py").exists() and not (folder / f"{name}.py").name.startswith("_"):
        return folder / f"{name}.py"
    init = folder / "__init__.py"
    for node in runtime_imports(ast.parse(init.read_text(encoding="utf-8"))):
        if any((alias.asname or alias.name) == name for alias in node.names):
            return defining(node.module or "", name, package)
    return init


if __name__ == "__main__":
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    counts = path_of(root)
    for name, count in counts.items():
        print(f"{count:6}  {name}")
    rest = lines((root / "README.md").read_text(encoding="utf-8")) - counts["README.md"]
    print(f"{sum(counts.values()):6}  in all; {sum(counts.values()) + rest} with the whole README")
