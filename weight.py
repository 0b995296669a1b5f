"""Fails where the library has grown: `python weight.py`, part of `make lint`.

Its weight is the tokens of code in src/calibrant: names, operators and literals, without comments, docstrings and
layout. The ceiling is in pyproject.toml; each change lowers it, and raising it takes a line in the CHANGELOG that says
for what. Later Pythons count the parts of f-strings, too, so that only 3.11 judges.
"""

import ast
import sys
import tokenize
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent
LAYOUT = {getattr(tokenize, name) for name in ("COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENCODING", "ENDMARKER")}
SLACK = 0.01


def docstrings(tree):
    """The lines on which docstrings begin."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            value = first.value if isinstance(first, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.lineno


def weight(path):
    """The tokens of a file."""
    skipped = set(docstrings(ast.parse(path.read_bytes())))
    with path.open("rb") as lines:
        return sum(
            token.type not in LAYOUT and not (token.type == tokenize.STRING and token.start[0] in skipped)
            for token in tokenize.tokenize(lines.readline)
        )


def main():
    """The tokens of all files, and what is wrong with them."""
    if sys.version_info[:2] != (3, 11):
        return None
    ceiling = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["calibrant"]["most-tokens"]
    tokens = sum(map(weight, (ROOT / "src" / "calibrant").rglob("*.py")))
    print(f"src/calibrant: {tokens:,} tokens, at most {ceiling:,}")
    if tokens > ceiling:
        return (
            "the library has grown: delete something, or raise most-tokens in pyproject.toml and say in CHANGELOG why"
        )
    if tokens < (1 - SLACK) * ceiling:
        return f"the library has shrunk: lower most-tokens in pyproject.toml to {tokens:,} or a little more"
    return None


if __name__ == "__main__":
    sys.exit(main())
