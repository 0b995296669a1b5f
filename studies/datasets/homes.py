"""Where a dataset is published, and in what form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from studies.datasets.bounded import members
from studies.datasets.errors import DatasetError


class Home(ABC):
    """A public home; its `contents` are what may be the file, and the checksum decides."""

    @abstractmethod
    def contents(self, get: Callable[[str], bytes]) -> Iterator[bytes]:
        """The candidates for the file's content; `get` brings what a URL serves."""


@dataclass(frozen=True)
class PlainFile(Home):
    """The file itself at a URL."""

    url: str

    def contents(self, get: Callable[[str], bytes]) -> Iterator[bytes]:
        """What the URL serves."""
        yield get(self.url)

    def __str__(self) -> str:
        return self.url


@dataclass(frozen=True)
class Zipped(Home):
    """A zip archive at a URL with a file called `member`, in whatever folder: publishers rearrange these."""

    url: str
    member: str

    def contents(self, get: Callable[[str], bytes]) -> Iterator[bytes]:
        """Every member of that name."""
        yield from members(get(self.url), self.member, self.url)

    def __str__(self) -> str:
        return f"{self.member} in {self.url}"


@dataclass(frozen=True)
class Unserved(Home):
    """No URL serves the file; `why` says what there is instead."""

    why: str

    def contents(self, get: Callable[[str], bytes]) -> Iterator[bytes]:
        """None, and why."""
        raise DatasetError(self.why)

    def __str__(self) -> str:
        return self.why
