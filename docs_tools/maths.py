"""Formulas become MathML at build time: no script, no network, and a screen reader reads them.

`pymdownx.arithmatex` marks what stands between dollars; this hook turns it into MathML. A formula that cannot be told
fails the build.
"""

from __future__ import annotations

import html
import re
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

INLINE = re.compile(r'<span class="arithmatex">\\\((.+?)\\\)</span>([.,;:)]*)', re.DOTALL)
BLOCK = re.compile(r'<div class="arithmatex">\s*\\\[(.+?)\\\]\s*</div>', re.DOTALL)


def on_page_content(content: str, *, page: Any, **_: Any) -> str:
    """The page with its formulas."""

    def inline(match: re.Match[str]) -> str:
        formula = mathml(html.unescape(match[1]), "inline", page.file.src_uri)
        # no line starts with the full stop after a formula
        return f'<span class="unbroken">{formula}{match[2]}</span>' if match[2] else formula

    def block(match: re.Match[str]) -> str:
        # a wide formula scrolls by itself, and the keyboard reaches it
        formula = mathml(html.unescape(match[1]), "block", page.file.src_uri)
        return f'<div class="formula" tabindex="0">{formula}</div>'

    return INLINE.sub(inline, BLOCK.sub(block, content))


def mathml(latex: str, display: str, where: str) -> str:
    """The MathML of a formula; raise if latex2mathml did not understand all of it.

    >>> mathml("n", "inline", "a page")
    '<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline"><mrow><mi>n</mi></mrow></math>'
    """
    latex = " ".join(latex.split())
    try:
        result = convert(latex, display=display)
        ElementTree.fromstring(result)
    except Exception as error:
        raise PluginError(f"{where} has a formula that is no LaTeX, {latex!r}: {error}") from error
    if "\\" in result:
        raise PluginError(f"{where} has a formula with a command that latex2mathml does not know: {latex!r}")
    return result
