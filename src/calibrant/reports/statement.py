"""One of the sentences of a verdict."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant.diagnosis.headline import WORDS, Kind


@dataclass(frozen=True)
class Statement:
    """A sentence or two, and what they are: good, warn, bad or info."""

    kind: Kind
    text: str

    @property
    def word(self) -> str:
        """The kind in words: Good, Take care, Problem or Note."""
        return WORDS[self.kind]

    def __str__(self) -> str:
        return self.text
