"""Messages of the library for the command line: flags in place of Python's arguments and objects."""

from __future__ import annotations

import re


def _bounds(found: re.Match[str]) -> str:
    lower, upper = ("" if end == "None" else end.strip("'") for end in found.groups())
    return f"--labels {lower}:{upper}"


def _score(found: re.Match[str]) -> str:
    name, number = found.groups()
    return f"--score {'zscore' if name == 'Z' else name.lower()}" + (f":{number}" if number else "")


_LABELS = "(?:labels=)?"
_SCORES = "Residual|Relative|Sqrt|Log|Interval|Quantile|Samples|Z|CDF"
WORDS = (
    (re.compile(r"Counts\(\) takes whole numbers from 0 on"), "--labels counts takes 0, 1, 2, ..."),
    (re.compile(rf"{_LABELS}Counts\(\)"), "--labels counts"),
    (re.compile(rf"{_LABELS}Counts\(step=([^,)]+)\)"), r"--labels counts:\1"),
    (re.compile(rf"{_LABELS}Counts\(lower=None\)"), "--labels integers"),
    (re.compile(rf"{_LABELS}Real\(([^,()]+), ([^,()]+)\)"), _bounds),
    (re.compile(rf"{_LABELS}Transformed\(([^()]+)\)"), r"--labels \1"),
    (re.compile(r"ResidualScore\(\) on Point predictions .*\(refine='spread'\)"), "those of --point"),
    (re.compile(rf"\b({_SCORES})Score\b(?:\((?:\w+=)?([^()]*)\))?"), _score),
    (re.compile(r"\buse InfiniteTails or BoundedTails\b"), "use --tails infinite or bounded"),
    (re.compile(r"\bby (?:SeveralCalibrator\(\)\.)?compared_on(?:\([^()]*\))?"), "by fit --training FILE"),
    (
        re.compile(r"\bunseen='pooled' gives such rows the distribution of all"),
        "calibrant fit --unseen pooled makes a model that gives such rows the distribution of all rows",
    ),
    (re.compile(r"\bunseen='pooled'"), "--unseen pooled"),
    (re.compile(r"\brefit=True"), "--refit"),
    (re.compile(r"\bforget="), "--last and --half-life"),
    (re.compile(r"\b(by|weights|labels|time|series|cutoff|horizon)=(?=\W|$)"), r"--\1"),
    (re.compile(r"in row (\d+) \((the only such row|\d+ rows in all)\)"), r"in row \1 (counting from 0), \2"),
)
"""Patterns in the library's sentences, and their replacements on the command line."""


def in_flags(text: str) -> str:
    """The sentence with flags in place of Python's arguments.

    >>> in_flags("y is -1 in row 3 (the only such row): Counts() takes whole numbers from 0 on")
    'y is -1 in row 3 (counting from 0), the only such row: --labels counts takes 0, 1, 2, ...'
    """
    for pattern, replacement in WORDS:
        text = pattern.sub(replacement, text)
    return text
