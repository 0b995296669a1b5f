"""Which columns of a file are the prediction: one class for each kind, chosen by flags or by the notes of a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import typer

from calibrant import Interval, Normal, Point, Quantiles, Samples
from calibrant.cli.mending import Mender, counted
from calibrant.cli.tables import Batch, Numbers, TableFile
from calibrant.predictions import Rates


@dataclass(frozen=True)
class Columns(ABC):
    """The columns that together are one prediction a row. Subclasses are frozen dataclasses, a field for each flag."""

    kind: ClassVar[str]
    flags: ClassVar[tuple[str, ...]]

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The columns of the file that are read."""

    @abstractmethod
    def prediction(self, batch: Batch, mender: Mender) -> Any:
        """The prediction that some rows of a file hold."""

    @classmethod
    def of_flags(cls, given: Mapping[str, str]) -> Self:
        """From the values of all its flags."""
        return cls(**given)

    def found_in(self, table: TableFile, target: str | None) -> Self:
        """The same, with patterns replaced by the names they stand for in this file."""
        del table, target
        return self

    def to_notes(self) -> dict[str, Any]:
        """As JSON values."""
        return {"kind": self.kind, **{name: _listed(value) for name, value in asdict(self).items()}}


@dataclass(frozen=True)
class PointColumns(Columns):
    """A number a row."""

    kind, flags = "point", ("point",)
    point: str

    @property
    def names(self) -> tuple[str, ...]:
        """The one column."""
        return (self.point,)

    def prediction(self, batch: Batch, mender: Mender) -> Any:
        """The points."""
        return Point(batch.numbers(self.point))


@dataclass(frozen=True)
class RateColumns(Columns):
    """The mean of a count a row."""

    kind, flags = "rate", ("rate",)
    rate: str

    @property
    def names(self) -> tuple[str, ...]:
        """The one column."""
        return (self.rate,)

    def prediction(self, batch: Batch, mender: Mender) -> Any:
        """The rates."""
        return Rates(batch.not_negative(self.rate))


@dataclass(frozen=True)
class NormalColumns(Columns):
    """A mean and a standard deviation a row."""

    kind, flags = "normal", ("mean", "std")
    mean: str
    std: str

    @property
    def names(self) -> tuple[str, ...]:
        """Mean and standard deviation."""
        return (self.mean, self.std)

    def prediction(self, batch: Batch, mender: Mender) -> Any:
        """The normal laws."""
        mean, std = batch.numbers(self.mean), batch.not_negative(self.std)
        mender.count_flat(std, batch)
        with counted():
            return Normal(mean, std)


@dataclass(frozen=True)
class IntervalColumns(Columns):
    """A lower and an upper bound a row."""

    kind, flags = "interval", ("lower", "upper")
    lower: str
    upper: str

    @property
    def names(self) -> tuple[str, ...]:
        """The two bounds."""
        return (self.lower, self.upper)

    def prediction(self, batch: Batch, mender: Mender) -> Any:
        """The intervals."""
        bounds = mender.ordered(_matrix(batch, self.names), batch)
        return Interval(bounds[:, 0], bounds[:, 1])


@dataclass(frozen=True)
class QuantileColumns(Columns):
    """Quantiles at given levels."""

    kind, flags = "quantiles", ("quantiles",)
    quantiles: tuple[tuple[str, float], ...]

    def __post_init__(self) -> None:
        pairs = tuple(sorted(((name, float(level)) for name, level in self.quantiles), key=lambda pair: pair[1]))
        levels = [level for _, level in pairs]
        if any(b <= a for a, b in zip([0.0, *levels], [*levels, 1.0], strict=True)):
            raise ValueError(f"the levels must differ and lie inside (0, 1), got {levels}")
        object.__setattr__(self, "quantiles", pairs)

    @property
    def names(self) -> tuple[str, ...]:
        """A column for each level."""
        return tuple(name for name, _ in self.quantiles)

    @classmethod
    def of_flags(cls, given: Mapping[str, str]) -> Self:
        """From q05:0.05,q50:0.5 and so on."""
        pairs = [item.rpartition(":") for item in given["quantiles"].split(",")]
        try:
            levels = [float(level) for _, _, level in pairs]
        except ValueError:
            raise ValueError(
                f"names and levels are wanted, as in q05:0.05,q50:0.5,q95:0.95, got {given['quantiles']!r}"
            ) from None
        return cls(tuple((name.strip(), level) for (name, _, _), level in zip(pairs, levels, strict=True)))

    def prediction(self, batch: Batch, mender: Mender) -> Any:
        """The quantiles."""
        levels = [level for _, level in self.quantiles]
        return Quantiles(levels, mender.ordered(_matrix(batch, self.names), batch))


@dataclass(frozen=True)
class SampleColumns(Columns):
    """Draws from the predictive law, a column for each."""

    kind, flags = "samples", ("samples",)
    samples: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """A column for each draw."""
        return self.samples

    @classmethod
    def of_flags(cls, given: Mapping[str, str]) -> Self:
        """From names and patterns between commas."""
        return cls(tuple(item.strip() for item in given["samples"].split(",")))

    def found_in(self, table: TableFile, target: str | None) -> Self:
        """The columns that fit the patterns, but for the target: 's*' may well fit 'sales'."""
        named = [name for name in table.matching(self.samples) if name != target]
        if not named:
            raise ValueError(f"{table.path}: no column fits {', '.join(self.samples)}")
        return type(self)(tuple(named))

    def prediction(self, batch: Batch, mender: Mender) -> Any:
        """The draws, sorted."""
        draws = np.sort(_matrix(batch, self.names), axis=1)
        return Samples(mender.ordered(draws, batch))


def _matrix(batch: Batch, names: Sequence[str]) -> Numbers:
    return np.stack([batch.numbers(name) for name in names], axis=1)


KINDS: tuple[type[Columns], ...] = (
    PointColumns,
    RateColumns,
    NormalColumns,
    IntervalColumns,
    QuantileColumns,
    SampleColumns,
)


def of_flags(
    flags: Mapping[str, str | None], usual: Columns | None = None, *, quantiles: str = "--quantiles"
) -> Columns:
    """The columns that the flags name, or else the `usual` ones; `quantiles` is what the command calls that flag."""

    def spelt(names: Sequence[str]) -> str:
        return " and ".join(quantiles if name == "quantiles" else f"--{name}" for name in names)

    given = {flag: value for flag, value in flags.items() if value is not None}
    kinds = [kind for kind in KINDS if given.keys() & set(kind.flags)]
    if not kinds and usual is not None:
        return usual
    if len(kinds) != 1:
        ways = ", ".join(spelt(kind.flags) for kind in KINDS)
        raise typer.BadParameter(
            f"the columns of the prediction are wanted, by one of {ways}; got {spelt(list(given)) or 'none'}"
        )
    kind = kinds[0]
    if usual is not None and type(usual) is not kind:
        raise typer.BadParameter(f"the model was fitted on {spelt(usual.flags)}, got {spelt(list(given))}")
    if isinstance(usual, (NormalColumns, IntervalColumns)):
        given = {**asdict(usual), **given}
    missing = [flag for flag in kind.flags if flag not in given]
    if missing:
        raise typer.BadParameter(f"{spelt(list(given))} needs {spelt(missing)} beside it")
    try:
        return kind.of_flags(given)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=spelt(list(given))) from None


def of_notes(notes: Mapping[str, Any]) -> Columns:
    """The columns that `to_notes` wrote down."""
    fields = {name: _tupled(value) for name, value in notes.items() if name != "kind"}
    kind = next(kind for kind in KINDS if kind.kind == notes["kind"])
    columns = kind(**fields)
    if not all(isinstance(name, str) for name in columns.names):
        raise TypeError("columns have names")
    return columns


def _tupled(value: Any) -> Any:
    return tuple(map(_tupled, value)) if isinstance(value, (list, tuple)) else value


def _listed(value: Any) -> Any:
    return list(map(_listed, value)) if isinstance(value, tuple) else value
