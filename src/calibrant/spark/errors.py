"""The error of a worker in one sentence, without the stack traces of two languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

_UNREADABLE = re.compile(r"\[FAILED_READ_FILE[^\]]*\] Encountered error while reading file (\S+)\.\s*(.*?)\s*SQLSTATE")
_OURS = re.compile(r"^(ValueError|TypeError): (.*?)(?:\n\s*\n|\n\s+at |\Z)", re.DOTALL | re.MULTILINE)


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """Raise the error that a worker raised, and name a file that Spark could not read; leave any other as it is."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        message = sentence(str(error))
        if message is None:
            raise
        raise ValueError(message) from error


def sentence(trace: str) -> str | None:
    """What a trace says of the table, or None if it is about something else."""
    unreadable = _UNREADABLE.search(trace)
    if unreadable:
        file, why = unreadable.groups()
        return f"{file}: this cannot be read" + (f" ({why.rstrip('.')})" if why else "")
    raised = _OURS.findall(trace)
    return raised[-1][1].strip() if raised else None


@contextmanager
def unlogged() -> Iterator[None]:
    """Keep Spark from printing an error that is caught."""
    from pyspark.logger import PySparkLogger

    logger = PySparkLogger.getLogger("DataFrameQueryContextLogger")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before
