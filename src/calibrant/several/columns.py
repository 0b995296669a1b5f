"""One prediction and one column of labels for each of d labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import array_api_compat
import numpy as np

from calibrant._arguments import same_length
from calibrant._arrays import Array, first_and_count, namespace, to_numpy
from calibrant._batch import some_rows
from calibrant._types import RowIndex, SupportsArray
from calibrant._words import count, singular_if_one, the_first, warn_user
from calibrant.distributions.base import Distribution
from calibrant.forecast import PredictionLike
from calibrant.predictions import Prediction
from calibrant.predictions.point import as_prediction


@dataclass(frozen=True, repr=False)
class Several:
    """The predictions of d labels for the same n rows, by name.

    >>> from calibrant import Normal
    >>> Several.of({"wind": [3.0, 4.0, 9.0], "load": Normal([50.0, 60.0, 70.0], 5.0)})
    Several(n=3, wind=Point, load=LocationScale)
    """

    names: tuple[str, ...]
    predictions: tuple[Prediction | Distribution, ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.predictions) or not self.names:
            raise ValueError(
                f"Several needs one name for each of its predictions, got {len(self.names)} names for "
                f"{len(self.predictions)} predictions"
            )
        check_names("the predictions", self.names)
        predictions = tuple(map(as_prediction, self.predictions))
        for name, each in zip(self.names, predictions, strict=True):
            same_length(f"label {self.names[0]!r}", len(predictions[0]), f"the prediction of label {name!r}", len(each))
        object.__setattr__(self, "predictions", predictions)

    @classmethod
    def of(cls, value: SeveralLike, names: Sequence[str] | None = None) -> Several:
        """From a dict {name: prediction}, a list of d predictions, or an (n, d) array or table of points.

        Labels without a name are called y0, y1 and so on.

        Args:
            value: A mapping of names to predictions, a list of predictions, or a table of points.
            names: The names of the labels, in order; y0, y1, ... by default.
        """
        if isinstance(value, Several):
            return value
        own, columns = _columns(value)
        names = own if own is not None else names
        if names is None:
            names = [f"y{j}" for j in range(len(columns))]
        if len(names) != len(columns):
            raise ValueError(
                f"there must be one prediction for each of the {len(names)} labels {_listed(names)}, got {len(columns)}"
            )
        return cls(tuple(names), tuple(columns))

    def __len__(self) -> int:
        return len(self.predictions[0])

    def rows(self, index: RowIndex) -> Several:
        """The same labels of some rows.

        Args:
            index: The numbers of the rows, a slice or a mask.
        """
        return Several(self.names, tuple(each[index] for each in self.predictions))

    def ordered(self, names: Sequence[str]) -> Several:
        """The same with the labels in this order; raises unless the names are the same.

        Args:
            names: The names of the labels, in the order wanted.
        """
        if self.names == tuple(names):
            return self
        check_same(f"calibrated on the labels {_listed(names)}", names, self.names)
        by_name = dict(zip(self.names, self.predictions, strict=True))
        return Several(tuple(names), tuple(by_name[name] for name in names))

    def __repr__(self) -> str:
        kinds = (f"{name}={type(each).__name__}" for name, each in zip(self.names, self.predictions, strict=True))
        return f"Several(n={len(self)}, {', '.join(kinds)})"


def _columns(value: Any) -> tuple[list[str] | None, list[Any]]:
    """The names, if there are any, and one prediction for each."""
    table = table_columns(value)
    if table is not None:
        return list(table), list(table.values())
    if isinstance(value, (list, tuple)):
        odd = next((each for each in value if isinstance(each, (list, tuple, str, int, float))), None)
        if odd is not None or not value:
            raise TypeError(
                "a list of predictions must hold one prediction or array for each label, got "
                + ("an empty one" if not value else f"a {type(odd).__name__} in it: pass points as an (n, d) array")
            )
        return None, list(value)
    return None, matrix_columns("the prediction", value)


def label_columns(Y: Any) -> tuple[list[str] | None, list[Array]]:
    """The names of the labels, if Y has any, and a column of numbers for each."""
    table = table_columns(Y)
    if table is not None:
        return list(table), [
            np.asarray(column) if not array_api_compat.is_array_api_obj(column) else column for column in table.values()
        ]
    return None, matrix_columns("Y", Y)


def matrix_columns(name: str, value: Any) -> list[Array]:
    """The d columns of an (n, d) array."""
    array = value if array_api_compat.is_array_api_obj(value) else _numbers(name, value)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(
            f"{name} of several labels must have shape (n, d), a column for each label, got {tuple(array.shape)}"
        )
    return [array[:, j] for j in range(array.shape[1])]


def table_columns(value: Any) -> dict[str, Any] | None:
    """The columns of a dict or a data frame of any library by name; None for anything else."""
    if isinstance(value, Mapping):
        names = list(value)
    elif hasattr(value, "column_names"):  # pyarrow
        names = list(value.column_names)
    elif hasattr(value, "columns") and hasattr(value, "__getitem__"):
        names = list(value.columns)
    else:
        return None
    texts = [str(name) for name in names]
    check_names("the table", texts)
    return {text: value[name] for text, name in zip(texts, names, strict=True)}


def check_names(what: str, names: Sequence[str]) -> None:
    """Raise unless every label has a name of its own."""
    odd = next((name for name in names if type(name) is not str or not name), None)
    if odd is not None:
        raise TypeError(f"{what} must name each label by a text, got {odd!r}")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"{what} must have one name for each label, got {twice[0]!r} {names.count(twice[0])} times")


def check_same(what: str, wanted: Sequence[str], got: Sequence[str]) -> None:
    """Raise unless these are the same names, in any order."""
    if len(wanted) != len(got):
        raise ValueError(f"{what}, got {len(got)} labels: {_listed(got)}")
    unknown = [name for name in got if name not in wanted]
    if unknown:
        raise ValueError(f"{what}, got {unknown[0]!r}, which is none of them")


def matched(predictions: Any, Y: Any) -> tuple[Several, list[Array]]:
    """The predictions and the labels of the same rows, in the same order of labels."""
    names, columns = label_columns(Y)
    several = Several.of(predictions, names)
    if len(columns) != len(several.names):
        raise ValueError(
            f"Y must have a column for each of the {len(several.names)} predicted labels {_listed(several.names)}, "
            f"got {len(columns)}"
        )
    if names is not None:
        check_same(f"the predictions are of the labels {_listed(several.names)}", several.names, names)
        by_name = dict(zip(names, columns, strict=True))
        columns = [by_name[name] for name in several.names]
    for name, column in zip(several.names, columns, strict=True):
        same_length("the predictions", len(several), f"label {name!r} of Y", column.shape[0])
    return several, columns


def labelled(several: Several, columns: list[Array], bound: Any) -> tuple[Several, list[Array], Any]:
    """All of these without the rows in which a label is missing, which are counted in one warning."""
    missing = np.stack([_missing(column) for column in columns], axis=1)
    if not missing.any():
        return several, columns, bound
    first, number = first_and_count(missing)
    which = [name for j, name in enumerate(several.names) if missing[:, j].any()]
    warn_user(
        f"a label ({_listed(which)}) is missing in {number} of {count(len(several), 'row')},"
        f" {the_first(number, first)}: {singular_if_one(number, 'they are')} left out for every label"
    )
    labelled = ~missing.any(axis=1)
    return several.rows(labelled), [some_rows(column, labelled) for column in columns], some_rows(bound, labelled)


def _missing(column: Array) -> np.ndarray[Any, Any]:
    """Where a column of floats is NaN; other columns are checked later."""
    floating = namespace(column).isdtype(column.dtype, "real floating") if column.dtype != object else False
    return np.isnan(to_numpy(column)) if floating else np.zeros(column.shape[0], dtype=bool)


def _numbers(name: str, value: Any) -> Array:
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be an (n, d) array, got rows of unequal length") from None


def _listed(names: Sequence[str]) -> str:
    shown = [repr(name) for name in names]
    return ", ".join(shown if len(shown) <= 8 else [*shown[:3], "...", shown[-1]])


SeveralLike = Several | Mapping[str, PredictionLike] | Sequence[PredictionLike] | SupportsArray
"""Predictions of several labels: one for each, by name or in order; or an array (n, d), a data frame."""
