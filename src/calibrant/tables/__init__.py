"""Tables of any size, a batch of rows at a time: on files, Arrow streams, Dask and Spark.

One core works on Arrow batches; an engine only brings it to the parts of a table and merges what it finds there.
"""

from calibrant._arguments import needs

needs("calibrant.tables", "tables", "pyarrow")

from calibrant.tables.api import evaluate, fit, predict, update
from calibrant.tables.columns import Columns
from calibrant.tables.model import TableModel

__all__ = ["Columns", "TableModel", "evaluate", "fit", "predict", "update"]
