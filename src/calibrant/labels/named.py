"""Kinds of labels by name, for those who cannot pass objects: the command line, the estimator."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from operator import or_

from calibrant._words import spelling
from calibrant.labels.atom import AtomAt
from calibrant.labels.base import Labels
from calibrant.labels.counts import Counts
from calibrant.labels.real import Real
from calibrant.labels.transformed import FORMULAS, Transformed

KINDS: dict[str, Callable[..., Labels]] = {
    **{name: partial(Transformed, name) for name in FORMULAS},
    "yeo-johnson": lambda power: Transformed(f"yeo-johnson:{power}"),
    "counts": lambda step="1": Counts(_number("counts:0.05", step)),
    "integers": lambda: Counts(lower=None),
    "atom": lambda at="0", share=None: AtomAt(_number("atom:0", at), share or None),
}
"""What makes a kind of its name, and of what follows a colon."""
ANY = "real"
"""Any real number, which needs no kind."""


def labels_named(value: Labels | str | None) -> Labels | None:
    """The kind of a name; a kind as it is; None, which is any real number.

    `0:` is from 0 on, `0:1` from 0 to 1, `:capacity` up to the column of that name. `counts` are whole numbers from 0
    on, `counts:0.05` prices in steps of 0.05, `integers` whole numbers of both signs. `atom:0` are labels of which many
    are 0, and `atom:0:p` has the probability of that in the column p. `real` is None by name. Several kinds, from the
    label inwards, are separated by commas.

    Args:
        value: A name such as "log" or "counts", an interval such as "0:", or a `Labels` object.

    >>> labels_named("0:"), labels_named("0:capacity"), labels_named("log1p")
    (Real(0, None), Real(0, 'capacity'), Transformed(log1p))
    >>> labels_named("0:,log1p")
    Real(0, None) | Transformed(log1p)
    """
    if isinstance(value, str) and value.strip() == ANY:
        return None
    if value is None or (isinstance(value, Labels) and not isinstance(value, type)):
        return value
    if not isinstance(value, str):
        raise TypeError(f"labels must be a name or a Labels object, got {value!r}")
    return reduce(or_, (_one(part.strip(), value) for part in value.split(",")))


def _one(name: str, whole: str) -> Labels:
    kind, colon, rest = name.partition(":")
    if kind in KINDS:
        try:
            return KINDS[kind](*(rest.split(":", 1) if colon else []))
        except TypeError:
            needs = "needs a number, as in " + f"{kind}:0.5" if not colon else "takes no number"
            raise ValueError(f"labels {kind!r} {needs}, got {whole!r}") from None
    if not colon:
        known = ", ".join([*KINDS, ANY])
        raise ValueError(
            f"labels must be one of {known}, or bounds such as 0: or 0:1, got {whole!r}{spelling(kind, [*KINDS, ANY])}"
        )
    return Real(_bound(kind), _bound(rest))


def _number(example: str, text: str) -> float:
    if isinstance(number := _bound(text), float):
        return number
    raise ValueError(
        f"labels {example.partition(':')[0]!r} take a number behind the colon, as in {example}, got {text!r}"
    )


def _bound(text: str) -> float | str | None:
    """A number, the name of a column, or none."""
    try:
        return float(text) if text else None
    except ValueError:
        return text
