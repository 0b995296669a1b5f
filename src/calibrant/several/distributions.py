"""The distributions of d labels for n rows, and how good they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._arguments import generator, same_length, unit
from calibrant._arrays import Array, concatenate, device_like, floats, single_precision, to_numpy
from calibrant._types import ArrayLike, Columns
from calibrant._words import warn_user
from calibrant.distributions.base import Distribution
from calibrant.guarantee import required_n_for_interval
from calibrant.metrics import compare, evaluate
from calibrant.metrics.evaluation import OfDistribution
from calibrant.several.columns import labels_in_order
from calibrant.several.joint import Joint, level_set


@dataclass(frozen=True, repr=False, eq=False)
class SeveralDistributions:
    """A calibrated distribution of each of d labels, and their dependence.

    `H["wind"]` and `H[0]` are the distributions of one label, with all methods of a `Distribution`. Methods for all
    labels return one column for each: `mean`, `median`, `std`, `cdf(Y)` and `crps(Y)` are (n, d), `quantiles(levels)`
    is (n, k, d), `sample(size)` is (n, size, d).
    """

    names: tuple[str, ...]
    margins: tuple[Distribution, ...]
    joint: Joint
    references: tuple[Distribution, ...] | None
    """What makes the labels comparable, a distribution of each; None where there is nothing."""
    why_no_box: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return len(self.margins[0]), len(self.margins)

    def __len__(self) -> int:
        return len(self.margins)

    def __getitem__(self, label: str | int) -> Distribution:
        return self.margins[place(self.names, label)]

    def __iter__(self) -> Iterator[Distribution]:
        return iter(self.margins)

    def mean(self) -> Array:
        """The means, (n, d)."""
        return self._each(lambda margin: margin.mean())

    def median(self) -> Array:
        """The medians, (n, d)."""
        return self._each(lambda margin: margin.median())

    def std(self) -> Array:
        """The standard deviations, (n, d)."""
        return self._each(lambda margin: margin.std())

    def quantiles(self, levels: ArrayLike) -> Array:
        """The quantiles at k levels, (n, k, d).

        Args:
            levels: The levels of the quantiles, between 0 and 1.
        """
        return self._each(lambda margin: margin.quantiles(levels))

    def cdf(self, Y: Columns) -> Array:
        """P(Y_j <= y_j) of each label by itself, (n, d).

        Args:
            Y: Where to evaluate: one column per label, of shape (n, d).
        """
        return self._each(lambda margin, y: margin.cdf(y), labels_in_order(self.names, Y))

    def crps(self, Y: Columns) -> Array:
        """The CRPS of each label by itself, (n, d).

        Args:
            Y: The labels, one column per label: an array of shape (n, d), a frame, or a mapping of names to columns.
        """
        return self._each(lambda margin, y: margin.crps(y), labels_in_order(self.names, Y))

    def interval(self, coverage: float, *, joint: bool = False) -> tuple[Array, Array]:
        """The bounds (lower, upper), each (n, d).

        Without `joint` each label's interval has the coverage by itself; all d of them hold their labels at once less
        often, about coverage^d where the labels are independent. With `joint` the box of all d intervals holds all d
        labels with the coverage. Too few calibration rows give an infinite box, and a warning.

        Args:
            coverage: The probability of each interval, or, for a joint box, of all labels inside it.
            joint: Give a box that holds all labels at once with probability `coverage`.
        """
        coverage = unit("coverage", coverage)
        bounds = self._box(coverage) if joint else [margin.interval(coverage) for margin in self.margins]
        return _columns([lower for lower, _ in bounds]), _columns([upper for _, upper in bounds])

    def sample(self, size: int, rng: np.random.Generator | None = None) -> Array:
        """`size` joint draws for each row, (n, size, d).

        Each label's draws follow its own distribution, and draws of one row depend on each other as the calibration
        rows' labels did: the same at every x.

        Args:
            size: How many draws per row.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
        """
        if not isinstance(size, (int, np.integer)) or size < 0:
            raise ValueError(f"size must be a count of draws, got {size!r}")
        levels = np.moveaxis(self.joint.uniforms(self.shape[0], int(size), generator(rng)), 2, 0)
        return self._each(_at, list(map(np.ascontiguousarray, levels)))

    def evaluate(self, Y: Columns, *, coverage: float = 0.9) -> SeveralEvaluation:
        """The metrics of each label, and how often all labels lie in the separate intervals and in the box.

        Args:
            Y: The labels, one column per label: an array of shape (n, d), a frame, or a mapping of names to columns.
            coverage: The probability of each interval, or, for a joint box, of all labels inside it.
        """
        coverage, columns = unit("coverage", coverage), labels_in_order(self.names, Y)
        margins = {
            name: replace(evaluate(margin, y, coverage=coverage), unit=name)
            for name, margin, y in zip(self.names, self.margins, columns, strict=True)
        }
        labels = np.stack(list(map(to_numpy, columns)), axis=1)
        ends = (1 - coverage) / 2, (1 + coverage) / 2
        boxes: dict[str, Any] = {"separate": [self._each(lambda margin, p=p: margin.ppf(p)) for p in ends]}
        if self.references is not None:
            boxes["joint"] = self.interval(coverage, joint=True)
        bounds = {name: (to_numpy(lower), to_numpy(upper)) for name, (lower, upper) in boxes.items()}
        inside = {name: (lower <= labels) & (labels <= upper) for name, (lower, upper) in bounds.items()}
        sides = {name: np.mean(upper - lower, axis=0) for name, (lower, upper) in bounds.items()}
        together = {name: float(np.mean(np.all(each, axis=1))) for name, each in inside.items()}
        width = {name: float(np.mean(each / sides["separate"])) for name, each in sides.items()}
        return SeveralEvaluation(margins, coverage, together, width)

    def _box(self, coverage: float) -> list[tuple[Array, Array]]:
        if self.references is None:
            raise TypeError(f"a joint box needs labels that can be compared: {self.why_no_box}")
        n, enough = self.joint.n, required_n_for_interval(coverage)
        if n < enough:
            warn_user(f"a joint box of coverage {coverage:g} needs {enough} calibration rows, got {n}: it is infinite")
        t = self.joint.threshold(coverage)
        return [level_set(distribution, t) for distribution in self.references]

    def _each(self, ask: Callable[..., Array], *given: list[Array]) -> Array:
        return _columns(list(map(ask, self.margins, *given)))

    def __repr__(self) -> str:
        return f"SeveralDistributions(n={self.shape[0]}, labels={', '.join(self.names)})"


def place(names: tuple[str, ...], label: str | int) -> int:
    """The place of a label that is given by name or by number."""
    if isinstance(label, str):
        if label not in names:
            raise KeyError(f"there is no label {label!r}, only {', '.join(map(repr, names))}")
        return names.index(label)
    return range(len(names))[label]


def _at(margin: Distribution, p: np.ndarray[Any, Any]) -> Array:
    """The quantiles at p; in single precision no p may round to 1."""
    if margin.like is None:
        return margin.ppf(p)
    highest = 1 - 2.0**-24 if single_precision(margin.like) else 1.0
    return margin.ppf(device_like(np.minimum(p, highest), margin.like))


def _columns(arrays: list[Array]) -> Array:
    """One array of them all, a label for each entry of its last axis."""
    return concatenate([array[..., None] for array in arrays], axis=-1)


@dataclass(frozen=True)
class SeveralEvaluation:
    """The metrics of each label, and of all at once. It prints as a table."""

    margins: dict[str, OfDistribution]
    coverage: float
    """What the intervals and the box were asked to hold."""
    together: dict[str, float]
    """The share of rows with all labels inside: of the `separate` intervals, and of the `joint` box if there is one."""
    width: dict[str, float]
    """The mean of the side lengths, each divided by that of the separate interval: 1 for these."""

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The metrics by label, and those of all labels."""
        together = {f"{name}_coverage": share for name, share in self.together.items()}
        widths = {f"{name}_width": share for name, share in self.width.items()}
        return {name: each.to_dict() for name, each in self.margins.items()} | {"together": together | widths}

    def __str__(self) -> str:
        asked, d = f"{100 * self.coverage:.6g}%", len(self.margins)
        lines = [f"all {d} labels in their {asked} intervals at once: {100 * self.together['separate']:.1f}%"]
        if "joint" in self.together:
            lines.append(
                f"all {d} labels in the {asked} joint box: {100 * self.together['joint']:.1f}%, whose sides are"
                f" {self.width['joint']:.2f} times as long"
            )
        return "\n".join([compare(self.margins), *lines])


def energy_score(draws: ArrayLike, Y: ArrayLike) -> np.ndarray[Any, Any]:
    """mean |X - y| - mean |X - X'| / 2 for each row, over draws X and pairs of different draws X, X'; lower is better.

    The distance is Euclidean, so labels of different units are divided by their spreads first. It is the fair version:
    its expectation does not depend on the number of draws.

    Args:
        draws: Draws of all labels, of shape (n, size, d).
        Y: The labels, an array of shape (n, d).

    >>> energy_score([[[0.0, 0.0], [3.0, 4.0]]], [[0.0, 0.0]])
    array([0.])
    """
    X, y = to_numpy(floats("draws", draws, ndim=3)), to_numpy(floats("Y", Y, ndim=2))
    same_length("draws", X.shape[0], "Y", y.shape[0])
    size = X.shape[1]
    if X.shape[2] != y.shape[1] or size < 2:
        raise ValueError(
            f"draws must be at least 2 for each row and have the {y.shape[1]} labels of Y, got {size} draws of"
            f" {X.shape[2]} labels"
        )
    from_label = np.linalg.norm(X - y[:, None, :], axis=2).mean(axis=1)
    between = sum(np.linalg.norm(X[:, k + 1 :] - X[:, k, None], axis=2).sum(axis=1) for k in range(size - 1))
    return np.asarray(from_label - between / (size * (size - 1)))
