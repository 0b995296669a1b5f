"""The study's base predictors: eight kinds of three-layer networks, trained together for all splits of a dataset."""

from calibrant.study.learners.heads import BASES
from calibrant.study.learners.recipe import Recipe, Split, splits
from calibrant.study.learners.training import Fitted, train

__all__ = ["BASES", "Fitted", "Recipe", "Split", "splits", "train"]
