"""Spark data frames: calibrate, predict and evaluate partition by partition, by `mapInArrow`.

The work on each partition is that of `calibrant.batches`; here is only how partitions get there and how results merge.
"""

from calibrant._arguments import needs

needs("calibrant.spark", "spark", "pyarrow")

from calibrant.spark.files import to_parquet
from calibrant.spark.frames import evaluate, fit, predict

__all__ = ["evaluate", "fit", "predict", "to_parquet"]
