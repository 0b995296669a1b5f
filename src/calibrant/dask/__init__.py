"""Dask data frames: calibrate, predict and evaluate partition by partition, on any scheduler.

The work on each partition is that of `calibrant.batches`; here is only how partitions get there and how results merge.
"""

from calibrant._arguments import needs

needs("calibrant.dask", "dask", "dask", "pyarrow")

from calibrant.dask.files import read_parquet, to_parquet
from calibrant.dask.frames import evaluate, fit, predict

__all__ = ["evaluate", "fit", "predict", "read_parquet", "to_parquet"]
