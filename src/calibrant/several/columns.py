"""One prediction and one column of labels for each of d labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import array_api_compat
import narwhals as nw
import numpy as np

from calibrant._arguments import same_length
from calibrant._arrays import Array, floats, to_numpy
from calibrant._batch import have_labels, some_rows
from calibrant._types import RowIndex, SupportsArray
from calibrant.distributions.base import Distribution
from calibrant.forecast import PredictionLike
from calibrant.predictions import Prediction
from calibrant.predictions.point import as_prediction

T = TypeVar("T")


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
        _check_names(self.names)
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
        own: Sequence[str] | None
        if isinstance(value, (list, tuple)):
            odd = next((each for each in value if isinstance(each, (list, tuple, str, int, float))), None)
            if odd is not None or not value:
                raise TypeError(
                    "a list of predictions must hold one prediction or array for each label, got "
                    + ("an empty one" if not value else f"a {type(odd).__name__} in it: pass points as an (n, d) array")
                )
            own, predictions = None, list(value)
        else:
            own, predictions = columns_of("the prediction", value)
        own = own or names or [f"y{j}" for j in range(len(predictions))]
        return cls(tuple(own), tuple(in_order("there must be one prediction", own, None, predictions)))

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
        predictions = in_order("there must be one prediction", names, self.names, self.predictions)
        return Several(tuple(names), tuple(predictions))

    def __repr__(self) -> str:
        kinds = (f"{name}={type(each).__name__}" for name, each in zip(self.names, self.predictions, strict=True))
        return f"Several(n={len(self)}, {', '.join(kinds)})"


def columns_of(what: str, value: Any) -> tuple[list[str] | None, list[Any]]:
    """The columns of a mapping, a data frame or an (n, d) array; and their names, if they have any."""
    if nw.dependencies.is_into_dataframe(value):
        value = {column.name: column.to_numpy() for column in nw.from_native(value, eager_only=True).iter_columns()}
    if isinstance(value, Mapping):
        names = list(map(str, value))
        _check_names(names)
        return names, list(value.values())
    try:
        array = value if array_api_compat.is_array_api_obj(value) else np.asarray(value)
    except ValueError:
        raise ValueError(f"{what} must be an (n, d) array, got rows of unequal length") from None
    if array.ndim != 2 or array.shape[1] == 0:
        shape = tuple(array.shape)
        raise ValueError(f"{what} of several labels must have shape (n, d), a column for each label, got {shape}")
    return None, [array[:, j] for j in range(array.shape[1])]


def label_columns(Y: Any) -> tuple[list[str] | None, list[Array]]:
    """The names of the labels, if Y has any, and a column of numbers for each."""
    names, columns = columns_of("Y", Y)
    return names, [each if array_api_compat.is_array_api_obj(each) else np.asarray(each) for each in columns]


def labels_in_order(names: Sequence[str], Y: Any) -> list[Array]:
    """The columns of Y in the order of these labels."""
    return in_order("Y must have a column", names, *label_columns(Y))


def in_order(what: str, wanted: Sequence[str], names: Sequence[str] | None, items: Sequence[T]) -> list[T]:
    """What belongs to each label, in the order of the labels wanted; without names it is in that order already."""
    must = f"{what} for each of the {len(wanted)} labels {_listed(wanted)}"
    if len(items) != len(wanted):
        raise ValueError(f"{must}, got {len(items)}")
    if names is None:
        return list(items)
    unknown = next((name for name in names if name not in wanted), None)
    if unknown is not None:
        raise ValueError(f"{must}, got {unknown!r}, which is none of them")
    by_name = dict(zip(names, items, strict=True))
    return [by_name[name] for name in wanted]


def matched(predictions: Any, Y: Any, bound: Any) -> tuple[Several, list[Array], Any]:
    """Predictions, labels and bounds of the rows that have every label; the others are counted in one warning."""
    several = Several.of(predictions, label_columns(Y)[0])
    columns = labels_in_order(several.names, Y)
    for name, column in zip(several.names, columns, strict=True):
        same_length("the predictions", len(several), f"label {name!r} of Y", column.shape[0])
    values = [to_numpy(column) for column in columns]
    missing = [np.isnan(each) if each.dtype.kind == "f" else np.zeros(len(each), bool) for each in values]
    which = _listed([name for name, rows in zip(several.names, missing, strict=True) if rows.any()])
    gaps = np.where(np.any(missing, axis=0), np.nan, 0.0)
    there = have_labels(gaps, len(several), "left out for every label", name=f"a label ({which})")
    if there is not None:
        several, bound = several.rows(there), some_rows(bound, there)
        columns = [some_rows(column, there) for column in columns]
    named_columns = zip(several.names, columns, strict=True)
    return several, [floats(f"label {name!r}", column) for name, column in named_columns], bound


def _check_names(names: Sequence[str]) -> None:
    odd = next((name for name in names if type(name) is not str or not name), None)
    if odd is not None:
        raise TypeError(f"each label must be named by a text, got {odd!r}")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise ValueError(f"each label must have a name of its own, got {name!r} {times} times")


def _listed(names: Sequence[str]) -> str:
    shown = [repr(name) for name in names]
    return ", ".join(shown if len(shown) <= 8 else [*shown[:3], "...", shown[-1]])


SeveralLike = Several | Mapping[str, PredictionLike] | Sequence[PredictionLike] | SupportsArray
"""Predictions of several labels: one for each, by name or in order; or an array (n, d), a data frame."""
