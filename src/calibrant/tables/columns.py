"""Which columns of a table hold the prediction, the label, and what else calibration knows of a row."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from calibrant.distributions.standard_families import Normal
from calibrant.labels import Labels
from calibrant.predictions import Interval, Point, Quantiles, Rates, Samples
from calibrant.tables.counts import FLAT, RowCounts
from calibrant.tables.rows import Batch, Header, listed

KINDS = {
    "point": ("point",),
    "rate": ("rate",),
    "normal": ("mean", "std"),
    "interval": ("lower", "upper"),
    "quantiles": ("quantiles",),
    "samples": ("samples",),
}
"""The arguments that together name one kind of prediction."""
CALLED = {
    "point": "points",
    "rate": "rates",
    "normal": "a normal distribution",
    "interval": "an interval",
    "quantiles": "quantiles",
    "samples": "draws",
}
Names = tuple[str, ...]


class ColumnsError(ValueError):
    """Columns that do not go together. In its parts a tuple holds names of arguments, which `spelled` spells."""

    def __init__(self, *parts: str | Names) -> None:
        self.parts = parts
        super().__init__(self.spelled(lambda name: f"{name}="))

    def spelled(self, spell: Callable[[str], str]) -> str:
        """The sentence, with each argument as the caller calls it.

        Args:
            spell: What the caller calls an argument, such as `--mean` for `mean`.
        """
        return "".join(each if isinstance(each, str) else " and ".join(map(spell, each)) for each in self.parts)


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns of a table, by name. The prediction is one of six kinds; all else is optional.

    Args:
        target: The labels. Only `predict` goes without.
        point: A point prediction.
        rate: The mean of a Poisson count.
        mean: A mean, together with `std`.
        std: A standard deviation.
        lower: A lower bound, together with `upper`.
        upper: An upper bound.
        quantiles: Quantiles and their levels: `{"q05": 0.05, "q95": 0.95}`, or "q05:0.05,q95:0.95".
        samples: Draws: names or patterns such as "s*", in a list or between commas.
        by: The column or columns that name the group of a row.
        weights: Likelihood ratios.
        event: 1 where the label was seen, 0 where it is a lower bound only.

    >>> Columns(target="sales", mean="mu", std="sigma").described()
    "mean in column 'mu', std in column 'sigma'"
    """

    target: str | None = None
    point: str | None = None
    rate: str | None = None
    mean: str | None = None
    std: str | None = None
    lower: str | None = None
    upper: str | None = None
    quantiles: str | Mapping[str, float] | Sequence[tuple[str, float]] = ()
    samples: str | Sequence[str] = ()
    by: str | Sequence[str] = ()
    weights: str | None = None
    event: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "quantiles", _levels(self.quantiles))
        object.__setattr__(self, "samples", _split(self.samples))
        object.__setattr__(self, "by", (self.by,) if isinstance(self.by, str) else tuple(self.by or ()))
        for field in fields(self):
            value = getattr(self, field.name)
            names = value if isinstance(value, tuple) else () if value is None else (value,)
            if not all(isinstance(each[0] if field.name == "quantiles" else each, str) for each in names):
                raise TypeError(f"{field.name} must be the name of a column, got {value!r}")
        given = tuple(name for names in KINDS.values() for name in names if getattr(self, name))
        kinds = [kind for kind, names in KINDS.items() if set(names) & set(given)]
        if len(kinds) != 1:
            ways = [part for names in KINDS.values() for part in (names, ", ")][:-1]
            got: tuple[str | Names, ...] = ("only one of ", *ways, ", got ", given) if given else ("one of ", *ways)
            raise ColumnsError("name the columns of the prediction with ", *got)
        lacking = tuple(name for name in KINDS[kinds[0]] if name not in given)
        if lacking:
            raise ColumnsError(given, " needs ", lacking, " too")
        if self.target in self.names:
            raise ColumnsError(f"{self.target!r} is the target, and among the columns of the prediction too")
        if self.weights and self.event:
            raise ColumnsError("censored labels take no ", ("weights",))
        if self.by and (self.weights or self.event):
            raise ColumnsError(("by",), " goes with neither ", ("weights",), " nor ", ("event",))

    @property
    def kind(self) -> str:
        """What the prediction is: "point", "rate", "normal", "interval", "quantiles" or "samples"."""
        return next(kind for kind, names in KINDS.items() if getattr(self, names[0]))

    @property
    def levels(self) -> dict[str, float]:
        """The level of each column that is a quantile, in order."""
        return dict(self.quantiles)  # type: ignore[arg-type]  # pairs, since __post_init__

    @property
    def names(self) -> Names:
        """The columns of the prediction."""
        return tuple(self.levels) or tuple(self.samples) or tuple(getattr(self, name) for name in KINDS[self.kind])

    def needed(self, labels: Labels | None) -> list[str]:
        """The columns of numbers that a row must have beside its label.

        Args:
            labels: What kind of number the labels are; None is any real number.
        """
        bounds = () if labels is None else labels.columns
        extra = (self.weights, self.event, *bounds)
        return list(dict.fromkeys([*self.names, *(name for name in extra if name is not None)]))

    def labels_in(self) -> str:
        """The column of the labels; raises where there is none."""
        if self.target is None:
            raise ColumnsError("name the column of the labels with ", ("target",))
        return self.target

    def override(self, **given: Any) -> Self:
        """The same with other columns, where some are given; the kind of prediction must be the same.

        Args:
            given: Arguments as those of the class; None and () are as before.
        """
        given = {name: value for name, value in given.items() if value not in (None, (), [])}
        chosen = tuple(name for names in KINDS.values() for name in names if name in given)
        if not set(chosen) <= set(KINDS[self.kind]):
            raise ColumnsError(f"the model was fitted on {CALLED[self.kind]}, got ", chosen)
        return replace(self, **given)

    def resolve(self, header: Header) -> Self:
        """The same with patterns replaced by the names that they match, but for the target: 's*' may fit 'sales'.

        Args:
            header: The names of the table's columns.
        """
        if not self.samples:
            return self
        found = tuple(name for name in header.matching(self.samples) if name != self.target)
        if not found:
            raise ValueError(f"{header.source}: no column matches {', '.join(self.samples)}")
        return replace(self, samples=found)

    def described(self) -> str:
        """What of the prediction is in which column, in words."""
        if self.quantiles:
            return ", ".join(f"quantile {level:g} in column {name!r}" for name, level in self.levels.items())
        if self.samples:
            return f"{len(self.samples)} draws in columns {listed(tuple(self.samples))}"
        return ", ".join(f"{name} in column {getattr(self, name)!r}" for name in KINDS[self.kind])

    def to_json(self) -> dict[str, Any]:
        """As JSON values, without what is not there."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        plain: dict[str, Any] = json.loads(json.dumps({name: value for name, value in values.items() if value}))
        return plain

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> Self:
        """From JSON values; raises if they are not of this making.

        Args:
            values: What `to_json` gave.
        """
        if isinstance(values.get("by", []), str):
            raise TypeError("by must be a list")
        return cls(**values)

    def prediction(self, rows: Batch, counts: RowCounts) -> Any:
        """The prediction that some rows hold.

        Args:
            rows: A batch of rows.
            counts: Counts rows that are repaired or left out.
        """
        match self.kind:
            case "point":
                return Point(rows.numbers(self.names[0]))
            case "rate":
                return Rates(rows.not_negative(self.names[0]))
            case "normal":
                mean, std = rows.numbers(self.names[0]), rows.not_negative(self.names[1])
                counts.add(FLAT, std <= 0, rows)
                with counts.silenced():
                    return Normal(mean, std)
        values = np.stack([rows.numbers(name) for name in self.names], axis=1)
        if self.samples:
            return Samples(counts.ordered(np.sort(values, axis=1), rows))
        values = counts.ordered(values, rows)
        if self.quantiles:
            return Quantiles(list(self.levels.values()), values)
        return Interval(values[:, 0], values[:, 1])

    def known(self, rows: Batch, labels: Labels | None) -> dict[str, Any]:
        """What `Calibrator.fit` and the call take besides the prediction: weights, bounds, groups.

        Args:
            rows: A batch of rows.
            labels: What kind of number the labels are; None is any real number.
        """
        known: dict[str, Any] = {}
        if self.weights is not None:
            known["weights"] = rows.not_negative(self.weights)
        if labels is not None and labels.columns:
            known["bound"] = {name: rows.numbers(name) for name in labels.columns}
        if self.by:
            known["by"] = self.group(rows)
        return known

    def group(self, rows: Batch) -> list[Any] | None:
        """The group of each row, if there are groups: a value, or one of each of several columns.

        Args:
            rows: A batch of rows.
        """
        values = [rows.values(name).to_pylist() for name in self.by]
        return list(zip(*values, strict=True)) if len(values) > 1 else values[0] if values else None


def _levels(given: Any) -> tuple[tuple[str, float], ...]:
    """Names and levels in the order of the levels, from a mapping, from pairs or from a text."""
    if isinstance(given, str):
        pairs = [item.rpartition(":") for item in given.split(",")]
        try:
            given = [(name.strip(), float(level)) for name, _, level in pairs]
        except ValueError:
            example = "q05:0.05,q50:0.5,q95:0.95"
            raise ColumnsError(("quantiles",), f": expected names and levels, as in {example}, got {given!r}") from None
    items = given.items() if isinstance(given, Mapping) else given or ()
    found = tuple(sorted(((name, float(level)) for name, level in items), key=lambda pair: pair[1]))
    levels = [level for _, level in found]
    if any(not a < b for a, b in zip([0.0, *levels], [*levels, 1.0], strict=True)):
        raise ColumnsError(("quantiles",), f": the levels must differ and lie inside (0, 1), got {levels}")
    return found


def _split(given: str | Sequence[str] | None) -> Names:
    return tuple(name.strip() for name in given.split(",")) if isinstance(given, str) else tuple(given or ())
