"""Docstrings are plain text with formulas such as H[x](y), which Markdown would take for links, and doctests.

An extension of griffe, which reads the docstrings for mkdocstrings: the formulas are escaped, the doctests fenced.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

DOCTEST = re.compile(r"^([ \t]*)>>> .*?(?=\n[ \t]*\n|\Z)", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"(^[ \t]*```.*?^[ \t]*```|`[^`\n]*`)", re.DOTALL | re.MULTILINE)
MARKUP = re.compile(r"[\[\]*<$|]|^[ \t]*#", re.MULTILINE)


class PlainText(griffe.Extension):
    """Outside of code what Markdown takes for markup means itself; a doctest is a console session."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called by griffe for every object that it has read."""
        if obj.docstring:
            obj.docstring.value = marked_up(obj.docstring.value)


def marked_up(text: str) -> str:
    r"""The text in Markdown.

    >>> marked_up("H[x](y) = q(s) * 2, see `a[i](b)`")
    'H&#91;x&#93;(y) = q(s) &#42; 2, see `a[i](b)`'
    >>> marked_up(">>> x[0]\n[1]")
    '\n```pycon\n>>> x[0]\n[1]\n```'
    """
    fenced = DOCTEST.sub(lambda found: f"\n{found[1]}```pycon\n{found[0]}\n{found[1]}```", text)
    fenced = re.sub(r"\n{3,}", "\n\n", fenced)
    pieces = CODE.split(fenced)
    return "".join(piece if k % 2 else MARKUP.sub(_entity, piece) for k, piece in enumerate(pieces))


def _entity(found: re.Match[str]) -> str:
    return f"{found[0][:-1]}&#{ord(found[0][-1])};"
