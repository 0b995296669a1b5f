"""Empirical studies, part by part: a design, its datasets (`calibrant.study.datasets`), learners, runs and tables.

What is about the paper's own study is in `calibrant.study.paper`. `run.run` runs it unless it is given another design,
and `reading.read` reads its results. `calibrant.study.tabular` is another study, the league of tabular models, with a
`run` of its own.

It needs the extra `study`: `pip install 'calibrant[study]'`.
"""
