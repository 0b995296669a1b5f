"""Tables of any size, a batch of rows at a time: calibrate, predict and evaluate on what Arrow can stream.

The command line, Dask, Spark and other engines call what is here and have no numerics of their own. What an engine
needs is in `fitting`, `predicting` and `evaluating`: what is done to one part of a table, and how results merge.
"""

from calibrant._arguments import needs

needs("calibrant.batches", "tables", "pyarrow")

from calibrant.batches.evaluating import evaluate
from calibrant.batches.fitting import fit
from calibrant.batches.model import TableModel
from calibrant.batches.predicting import predict

__all__ = ["TableModel", "evaluate", "fit", "predict"]
