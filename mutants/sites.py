"""Which mutants there are: one small change to one line of the library, as cosmic-ray's operators make them.

A sample is the mutants whose name hashes lowest with the seed, so many of each area: it stays the same where the code
does. A fifth of it removes a statement, most of them validations; cosmic-ray has no operator for that, so it is here.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import cosmic_ray.plugins
import parso
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Example, Operator

AREAS = {
    "core": ["calibration.py", "scores", "interpolators", "distributions", "metrics"],
    "estimator": ["sklearn", "models"],
    "files": ["files.py", "_codec.py", "atomic.py", "tables"],
    "CLI": ["cli"],
    "reports": ["reports", "plots"],
    "shared": [
        *("_arguments.py", "_arrays.py", "_batch.py", "_roots.py"),
        *("_row_hash.py", "_search.py", "_special.py", "_words.py", "backtesting.py", "censored.py", "cross.py"),
        *("diagnosis", "forecast.py", "forms.py", "guarantee", "horizons", "intervals.py", "labels"),
        *("monitoring.py", "names.py", "predictions", "refine", "several"),
        *("tracking.py", "updating.py"),
    ],
}
"""All but the checks for classes of one's own, and what runs in processes of others (Dask, Spark)."""
PACKAGE = Path("src/calibrant")
ON_A_GPU = {PACKAGE / "distributions/gpu.py"}
"""What Triton compiles: its lines run on a GPU alone, where tests/test_on_gpu.py judges them."""
_SEPARATOR = re.compile(r"[*/]\s*[,)]")
"""Of a signature, which is no arithmetic."""

_BINARY = (
    "Add_Sub",
    "Sub_Add",
    "Mul_Div",
    "Div_Mul",
    "FloorDiv_Mul",
    "Mod_Mul",
    "Pow_Mul",
    "BitAnd_BitOr",
    "BitOr_BitAnd",
)
_COMPARISON = (
    *("Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt"),
    *("Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is"),
)
OPERATORS = (
    *(f"core/ReplaceBinaryOperator_{pair}" for pair in _BINARY),
    *(f"core/ReplaceComparisonOperator_{pair}" for pair in _COMPARISON),
    *(f"core/ReplaceUnaryOperator_Delete_{name}" for name in ("USub", "Invert", "Not")),
    *(f"core/Replace{pair}" for pair in ("TrueWithFalse", "FalseWithTrue", "AndWithOr", "OrWithAnd")),
    *(f"core/Replace{pair}" for pair in ("BreakWithContinue", "ContinueWithBreak")),
    *(f"core/{name}" for name in ("AddNot", "NumberReplacer", "ZeroIterationForLoop", "ExceptionReplacer")),
    "ours/RemoveStatement",
)
"""One or two replacements for each kind of code. All the pairs that cosmic-ray has, `<<` for `+` among them, would be
killed by a TypeError, and flatter the tests."""


class RemoveStatement(Operator):
    """A statement that is one call, or a raise, becomes `pass`."""

    def mutation_positions(self, node):
        """Of statements alone: what a call returns is used elsewhere."""
        if node.parent is not None and node.parent.type == "simple_stmt" and node is node.parent.children[0]:
            call = (
                node.type == "atom_expr"
                and node.children[-1].type == "trailer"
                and node.children[-1].children[0] == "("
            )
            if call or node.type == "raise_stmt":
                yield node.start_pos, node.end_pos

    def mutate(self, node, index):
        """`pass`, with what stood before the statement."""
        return parso.python.tree.Keyword("pass", node.start_pos, prefix=node.get_first_leaf().prefix)

    @classmethod
    def examples(cls):
        """What it does."""
        return (Example("check(x)", "pass"), Example("raise ValueError", "pass"))


cosmic_ray.plugins.OPERATOR_PROVIDERS["ours"] = {"RemoveStatement": RemoveStatement}


@dataclass(frozen=True)
class Mutant:
    """One change, named by what it changes rather than by line numbers, which move."""

    area: str
    path: str
    operator: str
    occurrence: int
    start: tuple[int, int]
    end: tuple[int, int]
    text: str
    """The first line of what is changed."""
    name: str
    lines: range = field(repr=False)
    """Those of the statement, or of its head: a test that runs one of them can notice."""
    at_import: bool
    """Whether it runs when the module is imported, so that every test of the module can notice."""

    @property
    def removes(self) -> bool:
        """Whether it removes a statement."""
        return self.operator == "ours/RemoveStatement"

    def code(self, source: str) -> str | None:
        """The mutated source; None where it is no Python, or the same."""
        changed = mutate_code(source, cosmic_ray.plugins.get_operator(self.operator)(), self.occurrence)
        try:
            compile(changed, self.path, "exec")
        except SyntaxError:
            return None
        return None if changed == source else changed


def sample(per_area: int, seed: int) -> list[Mutant]:
    """So many of each area, a fifth of them removals."""
    chosen = []
    for area in AREAS:
        there = sorted(mutants(area), key=lambda mutant: sha256(f"{seed} {mutant.name}".encode()).digest())
        kept = _Quota(per_area)
        for mutant in there:
            if kept.wants(mutant) and mutant.code(Path(mutant.path).read_text(encoding="utf-8")) is not None:
                kept.add(mutant)
        chosen += kept.mutants
    return chosen


@dataclass
class _Quota:
    size: int
    mutants: list[Mutant] = field(default_factory=list)

    def wants(self, mutant: Mutant) -> bool:
        removals = self.size // 5
        have = sum(each.removes == mutant.removes for each in self.mutants)
        return have < (removals if mutant.removes else self.size - removals)

    def add(self, mutant: Mutant) -> None:
        self.mutants.append(mutant)


def mutants(area: str) -> Iterator[Mutant]:
    """All of an area."""
    for place in AREAS[area]:
        path = PACKAGE / place
        for file in [path] if path.suffix else sorted(set(path.rglob("*.py")) - ON_A_GPU):
            yield from _mutants_of(area, file)


def _mutants_of(area: str, file: Path) -> Iterator[Mutant]:
    source = file.read_text(encoding="utf-8")
    lines, statements = source.splitlines(), _Statements(source)
    tree, names = get_ast(source), Counter[str]()
    nodes = list(ast_nodes(tree))
    for operator in OPERATORS:
        own = cosmic_ray.plugins.get_operator(operator)()
        places = [place for node in nodes for place in own.mutation_positions(node)]
        for occurrence, (start, end) in enumerate(places):
            if statements.is_for_types(start) or _SEPARATOR.match(lines[start[0] - 1], start[1]):
                continue
            text = lines[start[0] - 1].strip()
            what = f"{file.as_posix()} | {operator} | {text}"
            names[what] += 1
            name = sha256(f"{what} | {names[what]}".encode()).hexdigest()[:10]
            around, at_import = statements.around(start[0])
            yield Mutant(area, file.as_posix(), operator, occurrence, start, end, text, name, around, at_import)


class _Statements:
    """Where the statements of a module are, and what in it is for the type checker only."""

    def __init__(self, source: str) -> None:
        self._heads: list[tuple[range, bool]] = []
        self._types: list[tuple[tuple[int, int], tuple[int, int]]] = []
        self._walk(ast.parse(source), at_import=True)

    def _walk(self, node: ast.AST, *, at_import: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                body = [each for each in ast.iter_child_nodes(child) if isinstance(each, (ast.stmt, ast.excepthandler))]
                last = (body[0].lineno - 1 if body else child.end_lineno) or child.lineno
                self._heads.append((range(child.lineno, max(last, child.lineno) + 1), at_import))
                if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                    self._is_for_types(child)
                if "overload" in [ast.unparse(each) for each in getattr(child, "decorator_list", ())]:
                    self._is_for_types(child)
            for name in ("annotation", "returns"):
                if getattr(child, name, None) is not None:
                    self._is_for_types(getattr(child, name))
            inside = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            self._walk(child, at_import=at_import and not inside)

    def _is_for_types(self, node: ast.AST) -> None:
        self._types.append(((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)))  # type: ignore[attr-defined]

    def is_for_types(self, place: tuple[int, int]) -> bool:
        return any(start <= place < end for start, end in self._types)

    def around(self, line: int) -> tuple[range, bool]:
        """The lines of the smallest statement, or head of one, that has a line; whether it runs at import."""
        found = [(head, at_import) for head, at_import in self._heads if line in head]
        return min(found, key=lambda each: len(each[0]), default=(range(line, line + 1), True))
