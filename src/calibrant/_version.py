"""Which calibrant this is."""

from importlib.metadata import PackageNotFoundError, version

UNKNOWN = "0+unknown"
"""That of a source tree which was never installed; it reads as a version, lower than any other."""

try:
    __version__ = version("calibrant")
except PackageNotFoundError:
    __version__ = UNKNOWN
