"""The names of the columns of a source: whether it has those that are asked for, and what may have been meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase

from calibrant.batches.rows import Source


@dataclass(frozen=True)
class Header:
    """The names of the columns of a source, in order."""

    source: Source
    names: tuple[str, ...]
    hint: str = ""
    """What to say of a column that is not there; without it, which others are."""

    def check(self, columns: Sequence[str]) -> None:
        """Raise unless it has each of these columns, once."""
        for name in columns:
            found = self.names.count(name)
            if found == 1:
                continue
            if found:
                raise ValueError(f"{self.source}: there are {found} columns named {name!r}")
            raise ValueError(f"{self.source}: there is no column {name!r}; {self.hint or self._meant(name)}")

    def matching(self, patterns: Sequence[str]) -> list[str]:
        """The columns that these names and patterns such as 's*' choose, in the order of the source."""
        chosen: set[str] = set()
        for pattern in patterns:
            found = [pattern] if pattern in self.names else [n for n in self.names if fnmatchcase(n, pattern)]
            self.check(found or [pattern])
            chosen.update(found)
        return [name for name in self.names if name in chosen]

    def _meant(self, name: str) -> str:
        same = [other for other in self.names if other.lower() == name.lower()]
        near = same or get_close_matches(name, self.names, 1, cutoff=0.75)
        return f"did you mean {near[0]!r}?" if near else f"the columns are {listed(list(map(repr, self.names)))}"


def listed(names: Sequence[str], most: int = 10) -> str:
    """The first few names, and how many more there are; one more is named too."""
    most = len(names) if len(names) == most + 1 else most
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
