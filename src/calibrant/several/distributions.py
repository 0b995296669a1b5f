"""The distributions of d labels for n rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import array_api_compat
import numpy as np

from calibrant._arguments import generator, unit
from calibrant._arrays import Array, device_like, namespace, single_precision
from calibrant._types import ArrayLike, Columns
from calibrant._words import warn_user
from calibrant.distributions.base import Distribution
from calibrant.guarantee import required_n_for_interval
from calibrant.several.columns import check_same, label_columns
from calibrant.several.evaluation import SeveralEvaluation, evaluated
from calibrant.several.joint import Joint
from calibrant.several.reference import level_set


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
        return self._each(lambda distribution: distribution.mean())

    def median(self) -> Array:
        """The medians, (n, d)."""
        return self._each(lambda distribution: distribution.median())

    def std(self) -> Array:
        """The standard deviations, (n, d)."""
        return self._each(lambda distribution: distribution.std())

    def quantiles(self, levels: ArrayLike) -> Array:
        """The quantiles at k levels, (n, k, d).

        Args:
            levels: The levels of the quantiles, between 0 and 1.
        """
        return self._each(lambda distribution: distribution.quantiles(levels))

    def cdf(self, Y: Columns) -> Array:
        """P(Y_j <= y_j) of each label by itself, (n, d).

        Args:
            Y: Where to evaluate: one column per label, of shape (n, d).
        """
        return self._with_labels("cdf", Y)

    def crps(self, Y: Columns) -> Array:
        """The CRPS of each label by itself, (n, d).

        Args:
            Y: The labels, one column per label: an array of shape (n, d), a frame, or a mapping of names to columns.
        """
        return self._with_labels("crps", Y)

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
        bounds = self._box(coverage) if joint else [distribution.interval(coverage) for distribution in self.margins]
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
        return _columns(
            [_at(distribution, np.ascontiguousarray(p)) for distribution, p in zip(self.margins, levels, strict=True)]
        )

    def evaluate(self, Y: Columns, *, coverage: float = 0.9) -> SeveralEvaluation:
        """The metrics of each label, and how often all labels lie in the separate intervals and in the box.

        Args:
            Y: The labels, one column per label: an array of shape (n, d), a frame, or a mapping of names to columns.
            coverage: The probability of each interval, or, for a joint box, of all labels inside it.
        """
        coverage, columns = unit("coverage", coverage), self._labels(Y)
        ends = (1 - coverage) / 2, (1 + coverage) / 2
        boxes = {
            "separate": (
                self._each(lambda distribution: distribution.ppf(ends[0])),
                self._each(lambda distribution: distribution.ppf(ends[1])),
            )
        }
        if self.references is not None:
            boxes["joint"] = self.interval(coverage, joint=True)
        return evaluated(dict(zip(self.names, self.margins, strict=True)), columns, coverage, boxes)

    def _box(self, coverage: float) -> list[tuple[Array, Array]]:
        if self.references is None:
            raise TypeError(f"a joint box needs labels that can be compared: {self.why_no_box}")
        n, enough = self.joint.n, required_n_for_interval(coverage)
        if n < enough:
            warn_user(f"a joint box of coverage {coverage:g} needs {enough} calibration rows, got {n}: it is infinite")
        t = self.joint.threshold(coverage)
        return [level_set(distribution, t) for distribution in self.references]

    def _each(self, say: Callable[[Distribution], Array]) -> Array:
        return _columns([say(distribution) for distribution in self.margins])

    def _with_labels(self, method: str, Y: Any) -> Array:
        return _columns(
            [getattr(distribution, method)(y) for distribution, y in zip(self.margins, self._labels(Y), strict=True)]
        )

    def _labels(self, Y: Any) -> list[Array]:
        """The columns of Y in the order of the labels."""
        names, columns = label_columns(Y)
        what = f"Y must have the labels {', '.join(map(repr, self.names))}"
        if names is None:
            names = list(self.names) if len(columns) == len(self) else [f"y{j}" for j in range(len(columns))]
        check_same(what, self.names, names)
        by_name = dict(zip(names, columns, strict=True))
        return [by_name[name] for name in self.names]

    def __repr__(self) -> str:
        return f"SeveralDistributions(n={self.shape[0]}, labels={', '.join(self.names)})"


def place(names: tuple[str, ...], label: str | int) -> int:
    """The place of a label that is given by name or by number."""
    if isinstance(label, str):
        if label not in names:
            raise KeyError(f"there is no label {label!r}, only {', '.join(map(repr, names))}")
        return names.index(label)
    return range(len(names))[label]


def _at(distribution: Distribution, p: np.ndarray[Any, Any]) -> Array:
    """The quantiles at p; in single precision no p may round to 1."""
    if distribution.like is None:
        return distribution.ppf(p)
    highest = 1 - 2.0**-24 if single_precision(distribution.like) else 1.0
    return distribution.ppf(device_like(np.minimum(p, highest), distribution.like))


def _columns(arrays: list[Array]) -> Array:
    """One array of them all, a label for each entry of its last axis."""
    xp = namespace(arrays[0])
    if array_api_compat.is_torch_array(arrays[0]):
        return xp.stack(arrays, dim=-1)
    return xp.stack(arrays, axis=-1)
