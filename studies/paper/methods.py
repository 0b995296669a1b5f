"""The methods that the paper speaks of, and their means over the same datasets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from studies.names import Method
from studies.results import Results


def zscore(interpolator: str) -> Method:
    """The z-score of the distribution predictor."""
    return Method("distribution", "zscore", interpolator)


def cdf(interpolator: str) -> Method:
    """The cdf score of the distribution predictor."""
    return Method("distribution", "cdf", interpolator)


def like_with_like(results: Results, methods: Sequence[Method], metric: str) -> dict[Method, float]:
    """The means of the methods over the datasets that all of them have, but for methods that have none at all."""
    able = [method for method in methods if results.average(method, metric).count]
    means = {method: results.average(method, metric, common(results, able, metric)).value for method in able}
    return {method: value for method, value in means.items() if value is not None}


def common(results: Results, methods: Iterable[Method], metric: str) -> list[str]:
    """The datasets for which all the methods have a value."""
    able = list(methods)
    return [d for d in results.datasets if all(results.of(d, method, metric).value is not None for method in able)]
