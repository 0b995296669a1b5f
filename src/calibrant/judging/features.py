"""What features say of the labels beyond the forecast: a test of all together, and a search for the worst slice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from calibrant.judging.part import SMALLEST, rows_named
from calibrant.judging.rows import Floats, ForecastRows
from calibrant.metrics.slices import Slices

PENALTY = 500.0
"""In rows: an effect with the support of 500 rows is halved. Chosen by simulation; any number gives an exact
p-value."""
ROWS = 20_000
"""Of more rows, so many are drawn."""
PERMUTATIONS = 199
MOST_PAIRS = 400

Columns = NDArray[np.float32]


@dataclass(frozen=True)
class Dependence:
    """Whether the features predict where labels lie in their forecasts. For calibrated forecasts they cannot."""

    pvalue: float
    """How often permuted rows are predicted as well, times what else was looked at: off where `alarm` or less."""
    alarm: float
    kind: Literal["location", "width"]
    """What they predict better: whether labels lie low or high, or whether they lie near the middle or far out."""
    features: tuple[tuple[str, float], ...]
    """By how much the error rises when a feature is shuffled, largest first."""

    @property
    def off(self) -> bool:
        """Whether chance does not explain it."""
        return self.pvalue <= self.alarm

    @property
    def most(self) -> tuple[str, ...]:
        """The features that matter most: up to three, with a fifth of the first one's effect or more."""
        least = max(self.features[0][1], 0.0) / 5
        return tuple(name for name, rise in self.features[:3] if rise > least) or (self.features[0][0],)

    @property
    def by(self) -> str:
        """These features in words."""
        *first, last = self.most
        return f"{', '.join(first)} and {last}" if first else last


def dependence(
    columns: Sequence[Slices], rows: ForecastRows, rng: np.random.Generator, *, alarm: float, risk: float
) -> Dependence:
    """Ridge regression of where labels lie on the features, cross-fitted, and the same with rows permuted.

    The p-value (1 + #{permuted gain >= gain}) / (1 + permutations) is exact in finite samples: if labels lie in their
    forecasts independently of the features, any order of them is equally likely.
    """
    chosen = rng.permutation(len(rows))[:ROWS]
    bases = [_basis(column, chosen) for column in columns]
    pairs = _pairs(len(columns), rng)
    where = _where_labels_lie(rows)[chosen]
    orders = [np.arange(chosen.size), *(rng.permutation(chosen.size) for _ in range(PERMUTATIONS))]
    Z, Y = _design(bases, pairs), np.concatenate([where[order] for order in orders], axis=1)
    gain, rises = np.zeros(Y.shape[1]), np.zeros(len(columns))
    for train, test in KFold(5).split(Z):  # the rows are in random order
        # an intercept of its own, so that no column of Y is centred in another precision
        share, ridge = Y[train].mean(axis=0), Ridge(PENALTY).fit(Z[train], Y[train])
        constant = ((Y[test] - share) ** 2).sum(axis=0)
        gain += constant - ((Y[test] - ridge.predict(Z[test])) ** 2).sum(axis=0)
        for k in range(len(columns)):
            order = rng.permutation(test.size)
            shuffled = [basis[test][order] if j == k else basis[test] for j, basis in enumerate(bases)]
            off = Y[test, :2] - _design(shuffled, pairs) @ ridge.coef_[:2].T - ridge.intercept_[:2]
            rises[k] += ((off**2).sum(axis=0) / np.maximum(constant[:2], 1e-9)).sum()
    gains = gain.reshape(-1, 2) / np.maximum(where.var(axis=0) * chosen.size, 1e-9)
    total = gains.sum(axis=1)
    # a hair, so that an order that gives the same labels counts as equal whatever the rounding
    pvalue = (1 + np.sum(total[1:] >= total[0] - 1e-6)) / (1 + PERMUTATIONS)
    ranked = sorted(zip((column.name for column in columns), rises.tolist(), strict=True), key=lambda each: -each[1])
    base = min(rises.tolist())
    kind: Literal["location", "width"] = "location" if gains[0, 0] >= gains[0, 1] else "width"
    named = tuple((name, rise - base) for name, rise in ranked)
    return Dependence(min(1.0, float(pvalue) * alarm / risk), alarm, kind, named)


def _pairs(columns: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Pairs of columns: all, or 400 of them."""
    pairs = np.array(np.triu_indices(columns, 1)).T
    return pairs if len(pairs) <= MOST_PAIRS else rng.permutation(pairs)[:MOST_PAIRS]


def _where_labels_lie(rows: ForecastRows) -> Columns:
    """Low or high, and near the middle or far out: the PIT and its distance from 1/2, or the side of an interval."""
    if rows.is_distribution:
        both = rows.drawn, np.abs(2 * rows.drawn - 1)
    else:
        outside, above = ~rows.covered, rows.columns["above"]
        both = above - (outside - above), outside.astype(np.float64)
    return np.stack(both, axis=1).astype(np.float32)


def _design(bases: Sequence[Columns], pairs: NDArray[np.int64]) -> Columns:
    """All columns: each feature's own, and the products of ranks, which weigh as much together as the ranks do."""
    left, right = pairs.T if len(pairs) else (np.array([], int),) * 2
    ranks = np.stack([basis[:, 0] for basis in bases], axis=1)
    weight = np.float32(min(1.0, (len(bases) / max(len(pairs), 1)) ** 0.5))
    return np.concatenate([*bases, ranks[:, left] * ranks[:, right] * weight], axis=1)


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


SEARCHED = 50_000
"""Of more than twice as many rows, so many are searched and all others measured."""


def worst_slice(
    columns: Sequence[Slices], rows: ForecastRows, rng: np.random.Generator
) -> tuple[str, NDArray[np.int64]] | None:
    """A slice of one or two features, found on one half of the rows, and those rows of the other half that are in it.

    It is the cell of at least 20 rows with the largest |share inside - coverage| - 2 standard errors. None without one.
    """
    tested, coverage = rows.tested, rows.coverage
    order = rng.permutation(len(rows))
    first = min(len(rows) // 2, SEARCHED)
    searched, measured = order[:first], order[first:]
    best: tuple[float, list[tuple[Slices, int]]] = -np.inf, []
    for cell, index, size in _cells(columns, searched, rng):
        counts = np.bincount(index, minlength=size)
        enough = np.flatnonzero(counts >= SMALLEST)
        if not enough.size:
            continue
        share = np.bincount(index, tested[searched], size)[enough] / counts[enough]
        surely = np.abs(share - coverage) - 2 * np.sqrt(coverage * (1 - coverage) / counts[enough])
        at = int(np.argmax(surely))
        if surely[at] > best[0]:
            places = np.unravel_index(enough[at], [len(column.labels) for column in cell])
            best = float(surely[at]), [(column, int(place)) for column, place in zip(cell, places, strict=True)]
    if not best[1]:
        return None
    inside = np.all([column.index[measured] == place for column, place in best[1]], axis=0)
    name = ", ".join(rows_named(column.name, column.labels[place]) for column, place in best[1])
    return (name, np.sort(measured[inside])) if inside.any() else None


def _cells(
    columns: Sequence[Slices], rows: NDArray[np.int64], rng: np.random.Generator
) -> Iterator[tuple[tuple[Slices, ...], NDArray[np.int64], int]]:
    """Each column and each pair of columns, 400 at most: which cell every row is in, and how many cells there are."""
    index = [column.index[rows] for column in columns]
    yield from (((column,), index[k], len(column.labels)) for k, column in enumerate(columns))
    for a, b in _pairs(len(columns), rng):
        width = len(columns[b].labels)
        yield (columns[a], columns[b]), index[a] * width + index[b], len(columns[a].labels) * width
