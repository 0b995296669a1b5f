"""The paper's empirical study, part by part: its datasets (`calibrant.study.datasets`), its learners, its runs.

It needs the extra `study`: `pip install 'calibrant[study]'`.
"""
