"""Objects as a tree of JSON values and a set of arrays, and back.

None, true, false, numbers and text are JSON values, a tuple is a JSON array; all else is marked:

    {"class": "Linear", "fields": {"tails": ...}}    an object
    {"array": "q.knots"}                             the tensor of that name, which is its place in the tree
    {"list": [...]}                                  a list
    {"float": "inf"}                                 a float that JSON lacks
    {"function": "default_accuracy"}                 a function of calibrant's
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from typing import Any

import array_api_compat
import numpy as np

from calibrant._arrays import to_numpy
from calibrant.calibration import Calibrated
from calibrant.interpolators import NAF
from calibrant.persistence.classes import FUNCTIONS, KINDS, ROOTS, Kind, Promised, class_of_user
from calibrant.persistence.errors import FileError, short, why

DEPTH = 32
"""The most that objects and tuples may be nested."""
_SPECIAL = {repr(number): number for number in (math.inf, -math.inf, math.nan)}
_DTYPES = (np.float64, np.float32, np.int64, np.bool_)

Place = tuple[str, ...]


def _at(place: Place) -> str:
    return ".".join(place) or "the root"


# ---- objects to a tree ---------------------------------------------------------------------------------------------


@dataclass
class Encoded:
    """A tree, its arrays, and the classes in it that are not calibrant's."""

    tree: Any = None
    tensors: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    classes: dict[str, type] = field(default_factory=dict)

    def value(self, value: Any, place: Place, n: int | None) -> Any:
        """One value; `n` is the number of scores of the calibration that it belongs to."""
        if len(place) > DEPTH:
            raise FileError(f"{_at(place)} is nested more than {DEPTH} deep")
        if value is None or type(value) in (bool, str) or (type(value) is int and abs(value) < 2**63):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if array_api_compat.is_array_api_obj(value):
            return self._array(value, place)
        if type(value) in (tuple, list):
            items = [self.value(item, (*place, str(i)), n) for i, item in enumerate(value)]
            return items if type(value) is tuple else {"list": items}
        for name, function in FUNCTIONS.items():
            if value is function:
                return {"function": name}
        return self._object(value, place, n)

    def _array(self, value: Any, place: Place) -> Any:
        array = to_numpy(value)
        array = np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")
        if array.dtype not in _DTYPES:
            known = ", ".join(dtype.__name__ for dtype in _DTYPES)
            raise FileError(f"{_at(place)} must be an array of {known}, got {array.dtype}")
        self.tensors[_at(place)] = array
        return {"array": _at(place)}

    def _object(self, value: Any, place: Place, n: int | None) -> Any:
        if isinstance(value, Calibrated):
            n = value.guarantee.calibration_rows
        if type(value) is NAF:
            value = _settled(value, n)
        name = type(value).__name__
        kind = KINDS.get(name)
        if kind is None or kind.cls is not type(value):
            kind = self._own(value, place)
        stored = {key: wanted.stored(getattr(value, key)) for key, wanted in kind.fields.items()}
        return {"class": name, "fields": {key: self.value(item, (*place, key), n) for key, item in stored.items()}}

    def _own(self, value: Any, place: Place) -> Kind:
        cls = type(value)
        if isinstance(value, type) or cls.__module__.partition(".")[0] in ("builtins", "calibrant"):
            raise FileError(f"{_at(place)} is {short(value)}, which no file holds")
        if self.classes.setdefault(cls.__name__, cls) is not cls or cls.__name__ in KINDS:
            raise FileError(f"{_at(place)} is a {cls.__name__}, and another class in the file has that name")
        frozen = is_dataclass(cls) and cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
        if not (frozen or (not is_dataclass(cls) and not _state(value))):
            raise FileError(f"{_at(place)} is a {cls.__name__}, which has a state: make it a frozen dataclass")
        return class_of_user(cls)


def _state(value: Any) -> bool:
    """Whether an object may hold anything of its own; one that is not made as a plain object may, out of sight."""
    kind: Any = type(value)
    slots = (slot for cls in kind.__mro__ for slot in vars(cls).get("__slots__", ()))
    hidden = kind.__new__ is not object.__new__
    return hidden or bool(getattr(value, "__dict__", {})) or any(hasattr(value, slot) for slot in slots)


def _settled(naf: NAF, n: int | None) -> NAF:
    """The same NAF with a promise that is data: a function of calibrant's, or the number that it gave for n."""
    if naf.promise in FUNCTIONS.values() or isinstance(naf.promise, Promised) or n is None:
        return naf
    return replace(naf, promise=Promised(naf.accuracy(n)))


def encode(root: Any) -> Encoded:
    """The tree of an object and its arrays."""
    encoded = Encoded()
    encoded.tree = encoded.value(root, (), None)
    return encoded


# ---- a tree to objects ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Decoder:
    kinds: Mapping[str, Kind]
    tensors: dict[str, np.ndarray[Any, Any]]
    """Those that no object has yet."""

    def value(self, tree: Any, place: Place) -> Any:
        if len(place) > DEPTH:
            raise FileError(f"{_at(place[:3])} is nested more than {DEPTH} deep")
        match tree:
            case None | bool() | int() | float() | str():
                return tree
            case list():
                return tuple(self._items(tree, place))
            case {"list": list(items)} if len(tree) == 1:
                return list(self._items(items, place))
            case {"float": str(text)} if len(tree) == 1 and text in _SPECIAL:
                return _SPECIAL[text]
            case {"function": str(name)} if len(tree) == 1 and name in FUNCTIONS:
                return FUNCTIONS[name]
            case {"array": str(name)} if len(tree) == 1:
                if name != _at(place) or name not in self.tensors:
                    raise FileError(f"{_at(place)} must be an array of that name, got {short(name)}")
                return self.tensors.pop(name)
            case {"class": str(name), "fields": dict(values)} if len(tree) == 2:
                return self._object(name, values, place)
        raise FileError(f"{_at(place)} is not a value that a file can hold: {short(tree)}")

    def _items(self, items: list[Any], place: Place) -> Iterator[Any]:
        return (self.value(item, (*place, str(i))) for i, item in enumerate(items))

    def _object(self, name: str, values: dict[str, Any], place: Place) -> Any:
        kind = self.kinds.get(name)
        if kind is None:
            like_this = f"classes=[{name}]" if name.isidentifier() and len(name) < 80 else "classes=[...]"
            raise FileError(
                f"{_at(place)} is a {short(name)}, which is not a class of calibrant: if you know and trust it, pass"
                f" {like_this}"
            )
        if set(values) != set(kind.fields):
            raise FileError(f"{_at(place)} must have the fields {short([*kind.fields])}, got {short([*values])}")
        made = {key: self.value(values[key], (*place, key)) for key in kind.fields}
        try:
            for key, value in made.items():
                if not kind.fields[key].test(value):
                    raise ValueError(f"its {key} must be {kind.fields[key].words}, got {short(value)}")
            kind.relation(**made)
            with np.errstate(all="ignore"):
                return kind.cls(**made)
        except Exception as error:  # whatever a constructor finds wrong
            raise FileError(f"{_at(place)} is not a valid {name}: {why(error)}") from error


def decode(tree: Any, tensors: Mapping[str, np.ndarray[Any, Any]], own: Mapping[str, type]) -> Any:
    """The object of a tree, of calibrant's classes and those in `own`, by name."""
    kinds = {**{name: class_of_user(cls) for name, cls in own.items()}, **KINDS}
    decoder = _Decoder(kinds, dict(tensors))
    root = decoder.value(tree, ())
    if type(root) not in {kind.cls for kind in ROOTS}:
        raise FileError(f"it holds {short(root)}, which is not a calibrated model")
    if decoder.tensors:
        raise FileError(f"it holds arrays that belong to nothing: {short([*decoder.tensors])}")
    return root


def own_classes(classes: Iterable[type]) -> dict[str, type]:
    """The caller's classes by name; none may have the name of another, or of one of calibrant's."""
    if isinstance(classes, type):
        raise TypeError(f"classes must be a list of classes, got one: pass classes=[{classes.__name__}]")
    found: dict[str, type] = {}
    for cls in classes:
        if not isinstance(cls, type):
            raise TypeError(f"classes must hold classes, got {cls!r}")
        if cls.__name__ in KINDS:
            if cls is KINDS[cls.__name__].cls:
                continue
            raise ValueError(f"classes holds a {cls.__name__}, which is a name of calibrant's: give it another")
        if found.setdefault(cls.__name__, cls) is not cls:
            raise ValueError(f"classes holds two that are called {cls.__name__}")
    return found
