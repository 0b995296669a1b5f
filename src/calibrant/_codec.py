"""Objects as a tree of JSON values and a set of arrays, and back.

None, true, false, finite numbers and text are JSON values, a tuple is a JSON array; all else is marked:

    {"class": "Linear", "fields": {"tails": ...}}    an object
    {"array": "q.lines.knots"}                       the array of that name, which is its place in the tree
    {"list": [...]}                                  a list
    {"float": "inf"}                                 a float that JSON lacks
    {"function": "default_accuracy"}                 the promise that a `NAF` has by default

A tree makes objects of `CLASSES` and of those that the caller names, and no others. The annotations of their fields say
which values they take; the classes themselves check what must hold of these.
"""

from __future__ import annotations

import copyreg
import math
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import array_api_compat
import numpy as np

from calibrant import distributions as families
from calibrant import interpolators, intervals, labels, scores
from calibrant._arrays import Array, to_numpy
from calibrant.calibration import Calibrated
from calibrant.cross import CrossCalibrated
from calibrant.distributions.base import Distribution
from calibrant.distributions.bent import Reweighted
from calibrant.distributions.censored_tail import FollowedUp
from calibrant.distributions.clipped import Clipped
from calibrant.distributions.grouped import Grouped
from calibrant.distributions.joined import Joined, Row
from calibrant.distributions.logistic_linear import Guarded, LogisticLinear
from calibrant.distributions.logit_spline import LogitSpline
from calibrant.distributions.own_logit import OwnLogit
from calibrant.distributions.piecewise_linear import Lines
from calibrant.distributions.randomised import Randomised
from calibrant.distributions.standard_families import StandardLaplace, StandardLogistic, StandardNormal
from calibrant.distributions.student_t import StandardT
from calibrant.forms import Form
from calibrant.guarantee import Guarantee
from calibrant.horizons.calibration import HorizonCalibrated
from calibrant.horizons.columns import ForecastColumns
from calibrant.horizons.table import LongColumns
from calibrant.interpolators.by_group import Groups
from calibrant.interpolators.history import HalfLife, History, Window
from calibrant.interpolators.naf import NAF, Promised, default_accuracy
from calibrant.interpolators.support import Support, Tails
from calibrant.interpolators.weights import OncePerGroup, Ratios
from calibrant.labels.base import Chained
from calibrant.scores.nonconformity import SignedScore
from calibrant.scores.quantile import AtomScore
from calibrant.several.calibration import SeveralCalibrated
from calibrant.several.joint import Joint, Reference
from calibrant.tracking import Tracker

Saved = Calibrated | CrossCalibrated | SeveralCalibrated | HorizonCalibrated | Tracker
"""What a file can hold."""

CLASSES: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        *get_args(Saved),
        *(Guarantee, Form, History, Groups, Window, HalfLife, Ratios, OncePerGroup),
        *(Joint, Reference, LongColumns, ForecastColumns),
        # scores
        *(scores.ResidualScore, scores.RelativeScore, scores.SqrtScore, scores.LogScore, scores.IntervalScore),
        *(scores.ZScore, scores.CDFScore, scores.QuantileScore, scores.SamplesScore, AtomScore, scores.EnsembleScore),
        *(SignedScore, intervals.CQR, intervals.Centred),
        # kinds of labels
        *(labels.Real, labels.Transformed, labels.Counts, labels.AtomAt, Chained),
        # interpolators
        *(interpolators.Naive, interpolators.Linear, interpolators.Random, NAF, Promised, interpolators.ByGroup),
        *(interpolators.ByHorizon, interpolators.Apart, interpolators.ExponentialTails, interpolators.BoundedTails),
        interpolators.InfiniteTails,
        # distributions
        *(families.PiecewiseLinear, Lines, LogisticLinear, LogitSpline, Guarded, OwnLogit, families.Mixture, Clipped),
        *(Randomised, Reweighted, FollowedUp, Grouped, Row, Joined, families.LocationScale, families.LogNormal),
        *(families.GaussianMixture, StandardNormal, StandardLogistic, StandardLaplace, StandardT),
    )
}
"""The classes of calibrant's that a file may hold: a new one is one name here."""

_DEPTH = 32
"""The most that objects and tuples may be nested."""

Arrays = dict[str, np.ndarray[Any, Any]]
Place = tuple[str, ...]


def _at(place: Place) -> str:
    return ".".join(place) or "the root"


# ---- the fields of a class -----------------------------------------------------------------------------------------


@cache
def _hints(cls: type) -> dict[str, Any]:
    """The type of each field that its constructor takes; of a class of a user's own anything will do."""
    names = [each.name for each in fields(cls) if each.init] if is_dataclass(cls) else []
    if CLASSES.get(cls.__name__) is not cls:
        return dict.fromkeys(names, Any)
    # what some modules import for the type checker only
    imported = {each.__name__: each for each in (Distribution, Form, Guarantee, History, labels.Labels, Support, Tails)}
    hints = get_type_hints(cls, localns=imported)
    return {name: hints[name] for name in names}


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of the type that an annotation says.

    >>> fits((1, "a"), tuple[int, str]), fits(True, int | None), fits(np.ones(3), Array)
    (True, False, True)
    """
    kind, inside = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, UnionType):
        return any(fits(value, one) for one in inside)
    if kind is Literal:
        return value in inside
    if kind is tuple:
        each = inside[:1] * len(value) if inside[-1] is Ellipsis and isinstance(value, tuple) else inside
        return isinstance(value, tuple) and len(value) == len(each) and all(map(fits, value, each))
    if kind is Sequence:
        return isinstance(value, (tuple, list)) and all(fits(one, inside[0]) for one in value)
    if kind is Callable:  # of those that are data
        return value is default_accuracy or isinstance(value, Promised)
    if hint is Array:
        return isinstance(value, np.ndarray) and value.dtype.kind == "f"
    if kind is np.ndarray:
        return isinstance(value, np.ndarray) and value.dtype == get_args(inside[1])[0]
    if hint is float:
        return type(value) in (int, float) and not math.isnan(value)
    return hint is Any or (type(value) is hint if hint in (bool, int, str) else isinstance(value, kind))


def _check_fields(cls: type, values: Mapping[str, Any]) -> None:
    """Raise unless each value is of the type of its field; no array of calibrant's holds NaN."""
    for name, hint in _hints(cls).items():
        value = values[name]
        if hint is not Any and isinstance(value, np.ndarray) and np.isnan(value).any():
            raise ValueError(f"its {name} holds NaN")
        if not fits(value, hint):
            annotation = next(each.type for each in fields(cls) if each.name == name)
            raise ValueError(f"its {name} must be {annotation}, got {short(value)}")


# ---- objects to a tree ---------------------------------------------------------------------------------------------


@dataclass
class Encoded:
    """A tree, its arrays, and the classes in it that are not calibrant's."""

    tree: Any = None
    arrays: Arrays = field(default_factory=dict)
    classes: dict[str, type] = field(default_factory=dict)

    def value(self, value: Any, place: Place, n: int | None) -> Any:
        """One value; `n` is the number of scores of the calibration that it belongs to."""
        value = value.item() if isinstance(value, np.generic) else value
        if value is None or type(value) in (bool, str, int):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if array_api_compat.is_array_api_obj(value):
            array = to_numpy(value)
            if array.dtype.kind not in "fib":
                raise ValueError(f"{_at(place)} must be an array of numbers, got {array.dtype}")
            self.arrays[_at(place)] = np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")
            return {"array": _at(place)}
        if type(value) in (tuple, list):
            items = [self.value(item, (*place, str(i)), n) for i, item in enumerate(value)]
            return items if type(value) is tuple else {"list": items}
        if value is default_accuracy:
            return {"function": "default_accuracy"}
        return self._object(value, place, n)

    def _object(self, value: Any, place: Place, n: int | None) -> Any:
        if isinstance(value, Calibrated):
            n = value.guarantee.calibration_rows
        if type(value) is NAF and value.promise is not default_accuracy and n is not None:
            value = replace(value, promise=Promised(value.accuracy(n)))  # as data: what it promises for n scores
        cls: type = type(value)
        if CLASSES.get(cls.__name__) is not cls:
            self._check_own(value, place)
        inside = {name: self.value(getattr(value, name), (*place, name), n) for name in _hints(cls)}
        return {"class": cls.__name__, "fields": inside}

    def _check_own(self, value: Any, place: Place) -> None:
        cls = type(value)
        if cls.__module__.partition(".")[0] in ("builtins", "calibrant"):
            raise ValueError(f"{_at(place)} is {short(value)}, which no file holds")
        if self.classes.setdefault(cls.__name__, cls) is not cls or cls.__name__ in CLASSES:
            raise ValueError(f"{_at(place)} is a {cls.__name__}, and another class in the file has that name")
        frozen = is_dataclass(cls) and cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
        if not (frozen or (not is_dataclass(cls) and _is_stateless(value))):
            raise ValueError(f"{_at(place)} is a {cls.__name__}, which has a state: make it a frozen dataclass")


def _is_stateless(value: Any) -> bool:
    """Whether a pickle would keep nothing but its class."""
    return bool(value.__reduce_ex__(2)[:3] == (copyreg.__newobj__, (type(value),), None))  # type: ignore[attr-defined]


def encode(root: Any) -> Encoded:
    """The tree of an object and its arrays; a ValueError says what cannot be kept."""
    encoded = Encoded()
    encoded.tree = encoded.value(root, (), None)
    return encoded


# ---- a tree to objects ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Decoder:
    classes: Mapping[str, type]
    arrays: Arrays
    """Those that no object has yet."""

    def value(self, tree: Any, place: Place) -> Any:
        if len(place) > _DEPTH:
            raise ValueError(f"{_at(place[:3])} is nested more than {_DEPTH} deep")
        match tree:
            case None | bool() | int() | float() | str():
                return tree
            case list():
                return tuple(self._items(tree, place))
            case {"list": list(items)} if len(tree) == 1:
                return list(self._items(items, place))
            case {"float": "inf" | "-inf" | "nan" as text} if len(tree) == 1:
                return float(text)
            case {"function": "default_accuracy"} if len(tree) == 1:
                return default_accuracy
            case {"array": str(name)} if len(tree) == 1 and name in self.arrays:
                return self.arrays.pop(name)
            case {"class": str(name), "fields": dict(values)} if len(tree) == 2:
                return self._object(name, values, place)
        raise ValueError(f"{_at(place)} is not a value that a file can hold: {short(tree)}")

    def _items(self, items: list[Any], place: Place) -> Iterator[Any]:
        return (self.value(item, (*place, str(i))) for i, item in enumerate(items))

    def _object(self, name: str, values: dict[str, Any], place: Place) -> Any:
        cls = self.classes.get(name)
        if cls is None:
            like_this = f"classes=[{name}]" if name.isidentifier() and len(name) < 80 else "classes=[...]"
            raise ValueError(
                f"{_at(place)} is a {short(name)}, which is not a class of calibrant: if you know and trust it, pass"
                f" {like_this}"
            )
        names = _hints(cls)
        if set(values) != set(names):
            raise ValueError(f"{_at(place)} must have the fields {short([*names])}, got {short([*values])}")
        made = {key: self.value(values[key], (*place, key)) for key in names}
        try:
            _check_fields(cls, made)
            with np.errstate(all="ignore"):
                _check_answers(made.get("q"))
                return cls(**made)
        except Exception as error:  # whatever a constructor finds wrong
            raise ValueError(f"{_at(place)} is not a valid {name}: {why(error)}") from error


def _check_answers(q: Any) -> None:
    """Raise where the CDF of a q is none: families take any parameters, so that making one costs nothing."""
    if isinstance(q, Distribution):
        if q.shape and not isinstance(q, Grouped):
            raise ValueError(f"its q must be one distribution, got a batch of the shape {q.shape}")
        y = np.asarray([-np.inf, -1e50, -1e9, -1e3, -1.0, 0.0, 1.0, 1e3, 1e9, 1e50, np.inf])
        F = to_numpy(q.cdf(y[None, :] if q.shape else y))
        if not (F.shape[-1:] == y.shape and np.all((F >= -1e-12) & (F <= 1 + 1e-12)) and np.all(np.diff(F) >= -1e-12)):
            raise ValueError("the CDF of its q does not rise from 0 to 1")


def decode(tree: Any, arrays: Arrays, own: Mapping[str, type]) -> Any:
    """The object of a tree, of calibrant's classes and those in `own`, by name; a ValueError says what is wrong."""
    decoder = _Decoder({**own, **CLASSES}, dict(arrays))
    root = decoder.value(tree, ())
    if not isinstance(root, Saved):
        raise ValueError(f"it holds {short(root)}, which is not a calibrated model")
    if decoder.arrays:
        raise ValueError(f"it holds arrays that belong to nothing: {short([*decoder.arrays])}")
    return root


def own_classes(classes: Iterable[type]) -> dict[str, type]:
    """The caller's classes by name; none may have the name of another, or of one of calibrant's."""
    if isinstance(classes, type):
        raise TypeError(f"classes must be a list of classes, got one: pass classes=[{classes.__name__}]")
    found: dict[str, type] = {}
    for cls in classes:
        if not isinstance(cls, type):
            raise TypeError(f"classes must hold classes, got {cls!r}")
        if CLASSES.get(cls.__name__, cls) is not cls:
            raise ValueError(f"classes holds a {cls.__name__}, which is a name of calibrant's: give it another")
        if found.setdefault(cls.__name__, cls) is not cls:
            raise ValueError(f"classes holds two that are called {cls.__name__}")
    return found


# ---- words ---------------------------------------------------------------------------------------------------------

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 80
_REPR.maxlevel = 3


def short(value: Any) -> str:
    """The repr of something that may be long, in one line."""
    return " ".join(_REPR.repr(value).split())


def why(error: Exception) -> str:
    """What an error says, which may be long too."""
    text = str(error)
    return text if len(text) <= 300 else f"{text[:300]} ..."
