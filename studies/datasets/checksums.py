"""Which file it is, by its every byte: sha256, or the id that git gives a file."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass


@dataclass(frozen=True)
class Checksum(ABC):
    """A digest in hexadecimal figures; of the uncompressed file, wherever it was found."""

    digest: str

    @staticmethod
    @abstractmethod
    def digest_of(content: bytes) -> str:
        """The digest of a file's content."""

    def fits(self, content: bytes) -> bool:
        """Whether this is the file."""
        return self.digest_of(content) == self.digest


class Sha256(Checksum):
    """sha256(content)."""

    @staticmethod
    def digest_of(content: bytes) -> str:
        """sha256(content)."""
        return hashlib.sha256(content).hexdigest()

    def __str__(self) -> str:
        return f"sha256 {self.digest}"


class GitBlob(Checksum):
    """sha1("blob " + size + NUL + content): what `git hash-object` prints.

    It tells one file from another where no sha256 was published; it is no protection from a forger.
    """

    @staticmethod
    def digest_of(content: bytes) -> str:
        """sha1("blob " + size + NUL + content)."""
        header = b"blob %d\0" % len(content)
        return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()

    def __str__(self) -> str:
        return f"git blob id {self.digest} (a SHA-1)"
