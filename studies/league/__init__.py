"""The league: which forecast of a table is sharpest, and keeps its word?

`run` measures entrants on tables and keeps a line for each in a csv file; `write` makes the page and its chart from
that file. Neither needs the command line. LightGBM, CatBoost, MAPIE and crepes take part where they are installed.
"""

from studies.league.page import write
from studies.league.running import run
from studies.league.table import table_of

__all__ = ["run", "table_of", "write"]
