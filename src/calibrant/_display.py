"""How values show themselves: a title with aligned lines in a terminal, a small table in a notebook."""

from __future__ import annotations

import html
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

NAMES = ("Bernoulli", "Gaussian", "Laplace", "Poisson")


def aligned(rows: Sequence[Sequence[str]], *, left: Sequence[int] = (0,)) -> str:
    """Lines of cells in columns of equal width; the columns `left` start at one place, the others end at one.

    >>> print(aligned([["n", "1,000"], ["epsilon", "0.001"]]))
    n        1,000
    epsilon  0.001
    """
    left = [k % len(rows[0]) for k in left] if rows else []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = [str.ljust if k in left else str.rjust for k in range(len(widths))]
    lines = ([side(cell, width) for side, cell, width in zip(sides, row, widths, strict=True)] for row in rows)
    return "\n".join("  ".join(line).rstrip() for line in lines)


def table(rows: Sequence[Sequence[str]], *, title: str = "", head: bool = True, left: Sequence[int] = (0,)) -> str:
    """The same cells as a table of HTML, the first row as its head."""
    left = [k % len(rows[0]) for k in left] if rows else []

    def line(row: Sequence[str], tag: str) -> str:
        sides = ("left" if k in left else "right" for k in range(len(row)))
        cells = zip(sides, map(html.escape, row), strict=True)
        return "".join(["<tr>", *(f'<{tag} style="text-align:{side}">{cell}</{tag}>' for side, cell in cells), "</tr>"])

    body = "".join(line(row, "th" if head and k == 0 else "td") for k, row in enumerate(rows))
    caption = f'<caption style="text-align:left">{html.escape(title)}</caption>' if title else ""
    return f"<table>{caption}{body}</table>"


class Displayed(ABC):
    """Values that show a title and facts by name."""

    @abstractmethod
    def _displayed(self) -> tuple[str, Mapping[str, str]]:
        """The title, and the facts."""

    def __repr__(self) -> str:
        title, facts = self._displayed()
        rows = [(f"  {name}", fact) for name, fact in facts.items()]
        return "\n".join([title, *([aligned(rows, left=(0, 1))] if rows else [])])

    def _repr_html_(self) -> str:
        """The same as a small table, for notebooks."""
        title, facts = self._displayed()
        return table(list(facts.items()), title=title, head=False, left=(0, 1))


class Weights(dict[str, float]):
    """The weight of each model in a stack, the largest first where it is shown.

    >>> Weights({"Ridge": 0.25, "forest": 0.75})
    forest  0.75
    Ridge   0.25
    """

    def _rows(self) -> list[tuple[str, str]]:
        return [(name, f"{weight:.2f}") for name, weight in sorted(self.items(), key=lambda item: -item[1])]

    def __repr__(self) -> str:
        return aligned(self._rows()) if self else "{}"

    def _repr_html_(self) -> str:
        return table([("model", "weight"), *self._rows()])


def in_words(name: str) -> str:
    """The name of a class as words.

    >>> in_words("NegativeBinomial"), in_words("StandardLaplace"), in_words("PiecewiseLinear")
    ('negative binomial', 'Laplace', 'piecewise linear')
    """
    words = re.findall("[A-Z][a-z]*", name.removeprefix("Standard").removesuffix("Distribution"))
    return " ".join(word if word in NAMES else word.lower() for word in words)
