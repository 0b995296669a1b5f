"""Empirical studies, part by part: a design, its datasets (`studies.datasets`), learners, runs and tables.

What is about the paper's own study is in `studies.paper`. `run.run` runs it unless it is given another design, and
`reading.read` reads its results. `studies.league` is another study, the league, with a `run` of its own. README.md says
how to start.
"""
