"""Results worth keeping, kept beside the values they belong to.

A law, a chart or a rule is a frozen value: nothing may show in its pickle, its equality or its repr that was not given
to it. What is expensive to work out and belongs to one value is therefore kept here, by the identity of that value, for
as long as the value lives, and for the most recently used ones only.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")

MOST = 256
"""How many results are kept at a time."""

_results: OrderedDict[tuple[int, Hashable], tuple[weakref.ref[Any], Any]] = OrderedDict()
_lock = threading.RLock()


def keep(owner: Any, key: Hashable, make: Callable[[], T]) -> T:
    """What `make()` gives, made once for this owner and key; two threads may make it twice, which does no harm."""
    place = (id(owner), key)
    with _lock:
        found = _results.get(place)
        if found is not None and found[0]() is owner:
            _results.move_to_end(place)
            return found[1]  # type: ignore[no-any-return]
    value = make()
    with _lock:
        _results[place] = weakref.ref(owner, partial(_forget, place)), value
        _results.move_to_end(place)
        while len(_results) > MOST:
            _results.popitem(last=False)
    return value


def note(owner: Any, key: Hashable, value: Any) -> None:
    """Keep a value beside an object, as `keep` does."""
    keep(owner, key, lambda: value)


def noted(owner: Any, key: Hashable) -> Any:
    """What was noted beside an object; None where nothing was, or where it is long ago."""
    with _lock:
        found = _results.get((id(owner), key))
        return found[1] if found is not None and found[0]() is owner else None


def _forget(place: tuple[int, Hashable], gone: weakref.ref[Any], results: Any = _results, lock: Any = _lock) -> None:
    # bound here, since the last values may go when this module is half gone
    with lock:
        found = results.get(place)
        if found is not None and found[0] is gone:
            del results[place]


def kept(method: Callable[[Any], T]) -> T:
    """A property that is worked out once for each object, and kept beside it."""
    key = f"{method.__module__}.{method.__qualname__}"
    return property(lambda self: keep(self, key, lambda: method(self)), doc=method.__doc__)  # type: ignore[return-value]
