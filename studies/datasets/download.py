"""From a dataset's public home into the cache: nothing is written before its checksum is right.

A file gets its name in the cache by a rename, so no other process ever sees half of it, and two that download at once
do no harm. What breaks off is tried again; what the server refuses, or other bytes than ours, is not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from calibrant import atomic
from studies.datasets.bounded import LIMIT
from studies.datasets.dataset import Dataset
from studies.datasets.errors import DatasetError, need

ATTEMPTS = 3
PAUSE = 1.0
"""Seconds before the second attempt; twice that before the third."""
TIMEOUT = 30.0
"""Seconds that a server may be silent."""
_PASSING = {408, 425, 429, 500, 502, 503, 504}
"""Refusals by which a server asks us to come back later."""
_DIGITS = 20
"""More of them are no size of a file, and Python reads no number of thousands."""


def download(dataset: Dataset, path: Path) -> None:
    """Store the dataset's file at `path`."""
    contents = list(dataset.home.contents(get))
    if not contents:
        raise DatasetError(f"there is no {dataset.home}")
    right = next(filter(dataset.checksum.fits, contents), contents[0])
    store(path, dataset.check(right, str(dataset.home)))


def get(url: str) -> bytes:
    """What a URL serves."""
    requests = need("requests")
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE * 2 ** (attempt - 1))
        try:
            return _attempt(url)
        except requests.RequestException as error:
            failure = error
            if error.response is not None and error.response.status_code not in _PASSING:
                break
    raise DatasetError(f"{url} could not be downloaded: {_reason(failure)}") from failure


def _attempt(url: str) -> bytes:
    content = bytearray()
    with need("requests").Session() as session, session.get(url, stream=True, timeout=TIMEOUT) as response:
        response.raise_for_status()
        with _progress(url.rsplit("/", 1)[-1], _size(url, response.headers.get("Content-Length", "0"))) as advance:
            for chunk in response.iter_content(2**16):
                content += chunk
                if len(content) > LIMIT:
                    raise _too_much(url)
                advance(len(chunk))
    return bytes(content)


def _size(url: str, said: str) -> int:
    """How many bytes the server announces; a proxy may repeat it, as in "5, 5"."""
    digits, *others = {part.strip() for part in said.split(",")}
    if others or not (digits.isascii() and digits.isdigit()):
        raise DatasetError(
            f"{url} could not be downloaded: the server announces {said[:40]!r} bytes, which is no number"
        )
    if len(digits) > _DIGITS or int(digits) > LIMIT:
        raise _too_much(url)
    return int(digits)


def _too_much(url: str) -> DatasetError:
    return DatasetError(f"{url} serves more than {LIMIT} bytes, and none of the study's files has")


def _reason(error: Any) -> str:
    """A requests error in a few words; its own are a paragraph."""
    requests = need("requests")
    if error.response is not None:
        return f"the server answered {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.Timeout):
        return f"no answer within {TIMEOUT:g} s"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return f"the connection broke off, {ATTEMPTS} times"
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    return f"{type(error).__name__}: {error}"


def store(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(path, content)
    except OSError as error:
        raise DatasetError(f"{path} cannot be written (CALIBRANT_CACHE names another folder): {error}") from error


@contextmanager
def _progress(what: str, size: int) -> Iterator[Callable[[int], None]]:
    """Where to say how many bytes more have come; a bar shows it, if there is a terminal and rich is installed."""
    try:
        from rich.console import Console
        from rich.progress import DownloadColumn, Progress
    except ModuleNotFoundError:
        yield lambda _: None
        return
    console = Console(stderr=True)
    if not console.is_terminal:  # a bar that is disabled ends in an empty line in rich 13.8
        yield lambda _: None
        return
    with Progress(*Progress.get_default_columns(), DownloadColumn(), console=console) as progress:
        task = progress.add_task(what, total=size or None)  # 0: the server did not say
        yield lambda more: progress.advance(task, more)
