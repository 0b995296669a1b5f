"""The energy score, which judges joint draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._arguments import same_length
from calibrant._arrays import floats, to_numpy
from calibrant._types import ArrayLike


def energy_score(draws: ArrayLike, Y: ArrayLike) -> np.ndarray[Any, Any]:
    """mean |X - y| - mean |X - X'| / 2 for each row, over draws X and pairs of different draws X, X'; lower is better.

    `draws` has shape (n, size, d) and `Y` (n, d). The distance is Euclidean, so labels of different units are divided
    by their spreads first. It is the fair version: its expectation does not depend on the number of draws.

    Args:
        draws: Draws of all labels, of shape (n, size, d).
        Y: The labels, one column per label: an array of shape (n, d), a frame, or a mapping of names to columns.

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
