"""Which columns of a table are the prediction: one class for each kind, chosen by name or by the notes of a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from calibrant.batches.header import Header, listed
from calibrant.batches.repairs import Repairs, silenced
from calibrant.batches.rows import Batch, Numbers
from calibrant.distributions.standard_families import Normal
from calibrant.predictions import Interval, Point, Quantiles, Rates, Samples

Spelling = Callable[[Sequence[str]], str]


def as_keywords(names: Sequence[str]) -> str:
    """Keyword arguments, as Python writes them."""
    return " and ".join(f"{name}=" for name in names)


@dataclass(frozen=True)
class Columns(ABC):
    """The columns that together are one prediction per row. Subclasses are frozen dataclasses, one field per flag."""

    kind: ClassVar[str]
    called: ClassVar[str]
    """What the prediction is, in a sentence."""
    flags: ClassVar[tuple[str, ...]]

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The columns that are read."""

    @abstractmethod
    def prediction(self, batch: Batch, repairs: Repairs) -> Any:
        """The prediction that some rows hold."""

    @classmethod
    def from_arguments(cls, given: Mapping[str, Any]) -> Self:
        """From the names of its columns; raises where one is no name."""
        for name, column in given.items():
            if not isinstance(column, str):
                raise TypeError(f"{name} must be the name of a column, got {column!r}")
        return cls(**given)

    def resolve(self, header: Header, target: str | None) -> Self:
        """The same, with patterns replaced by the names that they match."""
        del header, target
        return self

    def described(self) -> str:
        """What is in which column, in words."""
        return ", ".join(f"{name} in column {column!r}" for name, column in asdict(self).items())

    def to_notes(self) -> dict[str, Any]:
        """As JSON values."""
        return {"kind": self.kind, **{name: _listed(value) for name, value in asdict(self).items()}}


@dataclass(frozen=True)
class PointColumns(Columns):
    """One number per row."""

    kind: ClassVar[str] = "point"
    called: ClassVar[str] = "points"
    flags: ClassVar[tuple[str, ...]] = ("point",)
    point: str

    @property
    def names(self) -> tuple[str, ...]:
        """The one column."""
        return (self.point,)

    def prediction(self, batch: Batch, repairs: Repairs) -> Any:
        """The points."""
        return Point(batch.numbers(self.point))


@dataclass(frozen=True)
class RateColumns(Columns):
    """The mean of a count, per row."""

    kind: ClassVar[str] = "rate"
    called: ClassVar[str] = "rates"
    flags: ClassVar[tuple[str, ...]] = ("rate",)
    rate: str

    @property
    def names(self) -> tuple[str, ...]:
        """The one column."""
        return (self.rate,)

    def prediction(self, batch: Batch, repairs: Repairs) -> Any:
        """The rates."""
        return Rates(batch.not_negative(self.rate))


@dataclass(frozen=True)
class NormalColumns(Columns):
    """A mean and a standard deviation per row."""

    kind: ClassVar[str] = "normal"
    called: ClassVar[str] = "a normal distribution"
    flags: ClassVar[tuple[str, ...]] = ("mean", "std")
    mean: str
    std: str

    @property
    def names(self) -> tuple[str, ...]:
        """Mean and standard deviation."""
        return (self.mean, self.std)

    def prediction(self, batch: Batch, repairs: Repairs) -> Any:
        """The normal distributions."""
        mean, std = batch.numbers(self.mean), batch.not_negative(self.std)
        repairs.count_flat(std, batch)
        with silenced():
            return Normal(mean, std)


@dataclass(frozen=True)
class IntervalColumns(Columns):
    """A lower and an upper bound per row."""

    kind: ClassVar[str] = "interval"
    called: ClassVar[str] = "an interval"
    flags: ClassVar[tuple[str, ...]] = ("lower", "upper")
    lower: str
    upper: str

    @property
    def names(self) -> tuple[str, ...]:
        """The two bounds."""
        return (self.lower, self.upper)

    def prediction(self, batch: Batch, repairs: Repairs) -> Any:
        """The intervals."""
        bounds = repairs.ordered(_matrix(batch, self.names), batch)
        return Interval(bounds[:, 0], bounds[:, 1])


@dataclass(frozen=True)
class QuantileColumns(Columns):
    """Quantiles at given levels."""

    kind: ClassVar[str] = "quantiles"
    called: ClassVar[str] = "quantiles"
    flags: ClassVar[tuple[str, ...]] = ("quantiles",)
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
    def from_arguments(cls, given: Mapping[str, Any]) -> Self:
        """From {"q05": 0.05, "q50": 0.5}, or as a command line has it: q05:0.05,q50:0.5."""
        named = given["quantiles"]
        if isinstance(named, Mapping):
            return cls(tuple(named.items()))
        pairs = [item.rpartition(":") for item in str(named).split(",")]
        try:
            levels = [float(level) for _, _, level in pairs]
        except ValueError:
            raise ValueError(f"expected names and levels, as in q05:0.05,q50:0.5,q95:0.95, got {named!r}") from None
        return cls(tuple((name.strip(), level) for (name, _, _), level in zip(pairs, levels, strict=True)))

    def described(self) -> str:
        """Each level and its column."""
        return ", ".join(f"quantile {level:g} in column {name!r}" for name, level in self.quantiles)

    def prediction(self, batch: Batch, repairs: Repairs) -> Any:
        """The quantiles."""
        levels = [level for _, level in self.quantiles]
        return Quantiles(levels, repairs.ordered(_matrix(batch, self.names), batch))


@dataclass(frozen=True)
class SampleColumns(Columns):
    """Draws from the predictive distribution, a column for each."""

    kind: ClassVar[str] = "samples"
    called: ClassVar[str] = "draws"
    flags: ClassVar[tuple[str, ...]] = ("samples",)
    samples: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """A column for each draw."""
        return self.samples

    @classmethod
    def from_arguments(cls, given: Mapping[str, Any]) -> Self:
        """From names and patterns, in a list or between commas."""
        named = given["samples"]
        return cls(tuple(item.strip() for item in (named.split(",") if isinstance(named, str) else named)))

    def resolve(self, header: Header, target: str | None) -> Self:
        """The columns that fit the patterns, but for the target: 's*' may well fit 'sales'."""
        named = [name for name in header.matching(self.samples) if name != target]
        if not named:
            raise ValueError(f"{header.source}: no column matches {', '.join(self.samples)}")
        return type(self)(tuple(named))

    def described(self) -> str:
        """The number of draws and their columns."""
        return f"{len(self.samples)} draws in columns {listed(self.samples)}"

    def prediction(self, batch: Batch, repairs: Repairs) -> Any:
        """The draws, sorted."""
        draws = np.sort(_matrix(batch, self.names), axis=1)
        return Samples(repairs.ordered(draws, batch))


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


def columns_of(
    given: Mapping[str, Any], usual: Columns | None = None, *, format_names: Spelling = as_keywords
) -> Columns:
    """The columns of the one kind of prediction that is given, or else the `usual` ones.

    `given` has the names of columns under what they hold, None where there is none: `{"mean": "mu", "std": "sigma"}`.
    `format_names` formats the caller's arguments for errors.

    >>> columns_of({"mean": "mu", "std": "sigma", "lower": None})
    NormalColumns(mean='mu', std='sigma')
    """
    given = {name: value for name, value in given.items() if value is not None}
    kinds = [kind for kind in KINDS if given.keys() & set(kind.flags)]
    if not kinds and usual is not None:
        return usual
    if len(kinds) != 1:
        ways = ", ".join(format_names(kind.flags) for kind in KINDS)
        got = f"only one of {ways}, got {format_names(list(given))}" if given else f"one of {ways}"
        raise ValueError(f"name the columns of the prediction with {got}")
    kind = kinds[0]
    if usual is not None and type(usual) is not kind:
        raise ValueError(f"the model was fitted on {usual.called}, got {format_names(list(given))}")
    if isinstance(usual, (NormalColumns, IntervalColumns)):
        given = {**asdict(usual), **given}
    missing = [flag for flag in kind.flags if flag not in given]
    if missing:
        raise ValueError(f"{format_names(list(given))} needs {format_names(missing)} too")
    try:
        return kind.from_arguments(given)
    except ValueError as error:
        raise ValueError(f"{format_names(list(given))}: {error}") from None


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
