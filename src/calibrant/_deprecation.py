"""Names that go away: they work for two minor versions, that of the first warning included, and say what to write.

A public name of `calibrant` that gets another one is a line in `_RENAMED` there. Anything else, an argument say, calls
`deprecate` where it is met.
"""

from __future__ import annotations

import re

from calibrant._words import warn_user


def deprecate(old: str, new: str, since: str, gone: str) -> None:
    """Warn at the user's line: `old` is deprecated since one version, gone in another, and `new` takes its place."""
    _check_notice(since, gone)
    warn_user(f"{old} is deprecated since {since} and will be gone in {gone}: write {new}", DeprecationWarning)


def _check_notice(since: str, gone: str) -> None:
    """Two minor versions lie between a first warning and the end, or a major one."""
    versions = [re.fullmatch(r"(\d+)\.(\d+)", version) for version in (since, gone)]
    numbers = [(int(found[1]), int(found[2])) for found in versions if found]
    if len(numbers) < 2:
        raise ValueError(f"versions must look like 0.2, got {since!r} and {gone!r}")
    (major, minor), (last_major, last_minor) = numbers
    if not (last_major > major or (last_major == major and last_minor >= minor + 2)):
        raise ValueError(f"a name must warn for two minor versions, got one deprecated in {since} and gone in {gone}")
