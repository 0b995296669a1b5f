"""Output that is written atomically."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

from calibrant.spark.errors import in_one_sentence

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def to_parquet(df: DataFrame, folder: str | os.PathLike[str]) -> None:
    """Write a Spark frame as a folder of parquet files, which gets its name when all of them are written.

    Until then it has a name that begins with a dot and ends in "unfinished". A run that fails removes it; one that is
    killed leaves it under that name. The folder is on any file system of Hadoop's that renames in one step, as local
    disks and HDFS do. Object stores copy instead: write there by `df.write`, and take a folder without `_SUCCESS` for
    unfinished. Spark Connect has no access to file systems: use `df.write` there too.

    Args:
        df: A Spark frame.
        folder: The folder to write, which must not exist.
    """
    context = df.sparkSession.sparkContext
    Path = context._jvm.org.apache.hadoop.fs.Path
    target = Path(os.fspath(folder))
    files = target.getFileSystem(context._jsc.hadoopConfiguration())
    target = files.makeQualified(target)
    if files.exists(target):
        raise FileExistsError(f"{target} is there already: name a new folder, or remove it first")
    if not files.exists(target.getParent()):
        raise FileNotFoundError(f"there is no folder {target.getParent()}")
    recursive = True
    unfinished = Path(target.getParent(), f".{target.getName()}-{secrets.token_hex(4)}-unfinished")
    try:
        with in_one_sentence():
            df.write.parquet(unfinished.toString())
        if files.exists(target) or not files.rename(unfinished, target):
            raise OSError(f"{target} could not be named: it is there already, or the file system refused")
    except BaseException:
        files.delete(unfinished, recursive)
        raise
