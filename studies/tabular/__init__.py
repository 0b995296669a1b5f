"""The league: what calibrant says of tabular models, beside what others' packages say of the same rows.

`run` does the jobs and keeps their results in a folder, `write` makes tables and a page of them. Neither needs the
command line. It needs scikit-learn and joblib; LightGBM, MAPIE and crepes take part where they are installed.
"""

from studies.tabular.design import LEAGUE, QUICK, Tabular
from studies.tabular.outcomes import Outcomes, read
from studies.tabular.own_table import table_of
from studies.tabular.running import LeagueRun, run
from studies.tabular.writing import write

__all__ = ["LEAGUE", "QUICK", "LeagueRun", "Outcomes", "Tabular", "read", "run", "table_of", "write"]
