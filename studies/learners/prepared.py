"""One split of a dataset made ready: standardised rows, a held-out slice, starting weights, the order of the rows."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from studies.learners.layout import Layout
from studies.learners.network import Floats, starts
from studies.learners.recipe import Recipe, Rows, Split


@dataclass(frozen=True, eq=False)
class Prepared:
    """What the networks of one split are trained and stopped by."""

    fit_x: Tensor
    fit_y: Tensor
    held_x: Tensor
    held_y: Tensor
    start: list[Floats]
    order: Rows
    """(steps, batch): which of the rows of `fit_x` each step sees."""


def prepare(X: Tensor, y: Tensor, split: Split, recipe: Recipe, seed: int, layout: Layout) -> Prepared:
    """The split's data and all its randomness, which depend on the seed and the split's training rows only."""
    train = np.asarray(split.train, dtype=np.int64)
    rng = np.random.default_rng([seed, zlib.crc32(train.tobytes())])
    rows = rng.permutation(train)
    held = max(1, round(recipe.held_out * rows.size))
    fit = rows.size - held
    batch = recipe.batch_size(fit)
    epochs = -(-recipe.steps * batch // fit)
    order = rng.permuted(np.tile(np.arange(fit, dtype=np.int64), (epochs, 1)), axis=1)
    x = inputs(X, train)(rows)
    labels = y[torch.from_numpy(rows).to(y.device)]
    labels = standardised(labels)(labels).float()
    return Prepared(
        x[held:],
        labels[held:],
        x[:held],
        labels[:held],
        starts(rng, len(layout.heads), X.shape[1], recipe.width, layout.outputs),
        order.reshape(-1)[: recipe.steps * batch].reshape(recipe.steps, batch),
    )


def inputs(X: Tensor, train: Rows) -> Callable[[Rows], Tensor]:
    """The map from rows to what the networks see of them: asinh((x - median) / (3 deviation)), standardised.

    The deviation is the mean absolute one. The asinh is nearly a line for most columns, and a logarithm where a few
    values, such as counts of comments, lie far beyond the rest.
    """

    def at(rows: Rows) -> Tensor:
        return X[torch.from_numpy(np.asarray(rows, dtype=np.int64)).to(X.device)]

    sample = at(train)
    median = sample.median(dim=0).values
    deviation = guarded((sample - median).abs().mean(dim=0), sample)
    again = standardised(((sample - median) / (3 * deviation)).asinh())
    return lambda rows: again(((at(rows) - median) / (3 * deviation)).asinh()).float()


def standardised(sample: Tensor) -> Callable[[Tensor], Tensor]:
    """v -> (v - mean) / std by the columns of a sample; a column that is constant there is only centred."""
    mean, scale = sample.mean(dim=0), guarded(sample.std(dim=0, correction=0), sample)
    return lambda values: (values - mean) / scale


def guarded(scale: Tensor, sample: Tensor) -> Tensor:
    """The scale of each column, or 1 where the column is constant: there the scale is zero or rounding noise."""
    return torch.where(scale > 1e-10 * sample.abs().amax(dim=0), scale, torch.ones_like(scale))
