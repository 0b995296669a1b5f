"""Can the features predict which labels lie low or high? For a calibrated forecast they cannot.

A linear smoother answers: ridge regression on slices of the features, their ranks and products of these. It is linear
in what it predicts. So the same question for permuted PITs, which makes the p-value exact, costs a matrix product and
no fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from calibrant.metrics.interval_coverage import Flags
from calibrant.metrics.slices import Slices

FOLDS = 5
PENALTY = 500.0
"""In rows: an effect with the support of 500 rows is halved. Chosen by simulation; any number gives an exact
p-value."""
ROWS = 20_000
"""Of more rows, so many are drawn."""
MOST_PAIRS = 400
_AT_ONCE = 40
"""Permutations that are in memory together."""

Columns = NDArray[np.float32]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FeatureTest:
    """How well features predict the PITs, by cross-fitted Brier scores."""

    events: tuple[str, ...]
    """What is predicted from the features."""
    risk: tuple[float, ...]
    """The Brier score of the smoother, each row predicted from the other folds."""
    constant: tuple[float, ...]
    """The Brier score of the share in the other folds, which needs no features."""
    pvalues: tuple[float, ...]
    """How often permuted PITs are predicted as well: one for each event, not adjusted for their number."""
    pvalue: float
    """The same for the mean over events of (constant - risk) / constant, which the verdict goes by."""
    features: tuple[tuple[str, float], ...]
    """By how much the mean excess risk (risk - constant) / constant rises when a feature is shuffled, largest first."""

    @property
    def gains(self) -> dict[str, float]:
        """(constant - risk) / constant by event: above 0 where features predict it, else about 0 or below."""
        each = zip(self.events, self.risk, self.constant, strict=True)
        return {event: 1 - risk / constant if constant > 0 else 0.0 for event, risk, constant in each}


def feature_test(
    columns: Sequence[Slices], events: Mapping[str, Flags], permutations: int, rng: np.random.Generator
) -> FeatureTest | None:
    """The risk, its p-value (1 + #{permuted gain >= gain}) / (1 + permutations), and the features that matter.

    The p-value is exact in finite samples: if the PITs are independent of the features, any order of them is equally
    likely. None where there are no features.
    """
    if not columns:
        return None
    m = columns[0].index.shape[0]
    chosen = rng.permutation(m)[:ROWS]  # the order makes the folds
    smoother = _Smoother(columns, chosen, rng)
    outcomes = np.stack([flags[chosen] for flags in events.values()], axis=1).astype(np.float32)
    gains = []
    for start in range(0, permutations + 1, _AT_ONCE):
        count = min(_AT_ONCE, permutations + 1 - start)
        orders = [rng.permutation(chosen.size) if start + k else np.arange(chosen.size) for k in range(count)]
        labels = np.concatenate([outcomes[order] for order in orders], axis=1)
        gains.append(smoother.gains(labels).reshape(count, outcomes.shape[1]))
    constant = smoother.constant_risk(outcomes)
    safe = np.where(constant > 0, constant, 1.0)
    gain = np.concatenate(gains)
    mean = (gain / safe).mean(axis=1)
    # a hair, so that an order that gives the same labels counts as equal whatever the rounding
    as_good = gain[1:] >= gain[0] - 1e-7
    increases = [
        (column.name, float(np.mean((gain[0] - smoother.gains(outcomes, shuffled=k, rng=rng)) / safe)))
        for k, column in enumerate(columns)
    ]
    return FeatureTest(
        tuple(events),
        tuple((constant - gain[0]).tolist()),
        tuple(constant.tolist()),
        tuple(((1 + as_good.sum(axis=0)) / (1 + permutations)).tolist()),
        float((1 + np.sum(mean[1:] >= mean[0] - 1e-7)) / (1 + permutations)),
        tuple(sorted(increases, key=lambda each: -each[1])),
    )


class _Smoother:
    """Ridge regression, fitted on four folds and asked on the fifth, for many labels at once."""

    def __init__(self, columns: Sequence[Slices], rows: NDArray[np.int64], rng: np.random.Generator) -> None:
        self.bases = [_basis(column, rows) for column in columns]
        pairs = np.array(np.triu_indices(len(columns), 1)).T
        self.pairs = pairs if len(pairs) <= MOST_PAIRS else rng.permutation(pairs)[:MOST_PAIRS]
        ends = np.linspace(0, rows.size, FOLDS + 1).astype(int)
        self.folds = [slice(a, b) for a, b in pairwise(ends.tolist())]
        self.design = self._design(self.bases)
        self.inverses, self.means = self._fitted()

    def _design(self, bases: Sequence[Columns]) -> Columns:
        """All columns: each feature's own, and the products of ranks, which weigh as much together as the ranks do."""
        left, right = self.pairs.T if len(self.pairs) else (np.array([], int),) * 2
        ranks = np.stack([basis[:, 0] for basis in bases], axis=1)
        weight = np.float32(min(1.0, (len(bases) / max(len(self.pairs), 1)) ** 0.5))
        return np.concatenate([*bases, ranks[:, left] * ranks[:, right] * weight], axis=1)

    def _fitted(self) -> tuple[list[Floats], list[Floats]]:
        """(Z'Z + penalty)^-1 of the rows outside each fold, and the mean of Z there."""
        Z = self.design
        grams, sums = (
            [(Z[fold].T @ Z[fold]).astype(np.float64) for fold in self.folds],
            [Z[f].sum(0) for f in self.folds],
        )
        gram, total, inverses, means = sum(grams), sum(sums), [], []
        for fold, own, part in zip(self.folds, grams, sums, strict=True):
            count = Z.shape[0] - (fold.stop - fold.start)
            mean = (total - part).astype(np.float64) / count
            inner = gram - own - count * np.outer(mean, mean)
            inverses.append(np.linalg.inv(inner + PENALTY * np.eye(len(mean))))
            means.append(mean)
        return inverses, means

    def gains(self, labels: Columns, *, shuffled: int | None = None, rng: np.random.Generator | None = None) -> Floats:
        """The Brier score of the constant less that of the smoother, for each column of labels.

        `shuffled` names a feature whose rows are permuted inside the fold that is predicted.
        """
        Z = self.design
        asked = Z if shuffled is None or rng is None else self._shuffled(shuffled, rng)
        products, sums = [Z[fold].T @ labels[fold] for fold in self.folds], [labels[fold].sum(0) for fold in self.folds]
        product, total = sum(products), sum(sums)
        gain = np.zeros(labels.shape[1])
        for fold, inverse, mean, own, part in zip(self.folds, self.inverses, self.means, products, sums, strict=True):
            share = (total - part) / (Z.shape[0] - (fold.stop - fold.start))
            # Z'(y - mean y) = Z'y - mean Z sum y, with all sums over the other folds
            weights = inverse @ (product - own - np.outer(mean, total - part))
            slopes = weights.astype(np.float32)
            found = asked[fold] @ slopes - (mean @ weights).astype(np.float32)
            gain += np.sum(found * (2 * (labels[fold] - share) - found), axis=0, dtype=np.float64)
        return np.asarray(gain / Z.shape[0], np.float64)

    def constant_risk(self, labels: Columns) -> Floats:
        """The Brier score of the share of the other folds."""
        total, risk = labels.sum(0, dtype=np.float64), np.zeros(labels.shape[1])
        for fold in self.folds:
            inside = labels[fold].astype(np.float64)
            share = (total - inside.sum(0)) / (labels.shape[0] - inside.shape[0])
            risk += np.sum((inside - share) ** 2, axis=0)
        return np.asarray(risk / labels.shape[0], np.float64)

    def _shuffled(self, feature: int, rng: np.random.Generator) -> Columns:
        order = np.arange(self.design.shape[0])
        for fold in self.folds:
            order[fold] = rng.permutation(order[fold])
        bases = [basis[order] if k == feature else basis for k, basis in enumerate(self.bases)]
        return self._design(bases)


def _basis(column: Slices, rows: NDArray[np.int64]) -> Columns:
    """A feature's rank, the square of that, and an indicator of each slice."""
    index, counts = column.index[rows], column.counts
    middle = (np.cumsum(counts) - counts / 2) / counts.sum() * 2 - 1
    rank, square = _standard(middle, counts)[index], _standard(middle**2, counts)[index]
    return np.concatenate([rank[:, None], square[:, None], np.eye(len(counts))[index]], axis=1).astype(np.float32)


def _standard(values: Floats, counts: NDArray[np.int64]) -> Floats:
    """Of mean 0 and variance 1 over the rows; 0 where it does not vary."""
    centred = values - np.average(values, weights=counts)
    spread = np.sqrt(np.average(centred**2, weights=counts))
    return centred / spread if spread > 1e-9 else np.zeros_like(centred)
