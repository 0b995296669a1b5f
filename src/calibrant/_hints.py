"""What was probably meant: the last words of an error, which say the way."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

SEVERAL = ": Interval(lower, upper), Quantiles(levels, values) and Samples(values) have several numbers a row"
"""Where one number a row was wanted."""
LABELS = "an object such as calibrant.labels.Counts(), or its name, such as 'counts'"
"""What `Calibrator` takes for its labels."""


def percentage(number: float) -> str:
    """Of a number that should lie inside (0, 1), and may be a percentage.

    >>> percentage(90), percentage(99.9), percentage(1.5)
    (': did you mean 0.9?', ': did you mean 0.999?', '')
    """
    return f": did you mean {number / 100:g}?" if 2 <= number < 100 else ""


def spelling(name: str, known: Iterable[str]) -> str:
    """Of a name that is not known, and may be misspelt.

    >>> spelling("count", ["counts", "log"]), spelling("prices", ["counts", "log"])
    (": did you mean 'counts'?", '')
    """
    close = get_close_matches(name, known, n=1)
    return f": did you mean {close[0]!r}?" if close else ""


def kind_of(prediction: Any, score: str, wanted: str) -> str:
    """Of a prediction that a score does not take."""
    if prediction.parts():
        return f": EnsembleScore({score}()) adds up its members'"
    if type(prediction).__name__ == "Point" and "Distribution" in wanted:
        return ": Normal(mean, std) is one, and where labels are counts so is calibrant.predictions.Rates(mean)"
    return ""


def no_prediction(value: Any) -> str:
    """Of a value that is neither a prediction nor an array: what it is, and the way; "" where it may be an array.

    >>> no_prediction("a"), no_prediction([1.0])
    ('a prediction must be a Point, Interval, Quantiles, Samples, Ensemble, a Distribution or a 1-d array, got str', '')
    """
    kind = type(value).__name__
    if hasattr(value, "predict"):
        return f"a prediction is wanted, and {kind} is a model: pass prediction_of(model, X)"
    if hasattr(value, "columns") or hasattr(value, "column_names"):
        return (
            f"a prediction is wanted, got the table {kind}: where it is X, pass prediction_of(model, X); where its"
            " columns are predictions, say which, as in Point(table['f'])"
        )
    if isinstance(value, (str, bytes, dict)) or not (hasattr(value, "__len__") or hasattr(value, "__array__")):
        kinds = "a Point, Interval, Quantiles, Samples, Ensemble, a Distribution or a 1-d array"
        return f"a prediction must be {kinds}, got {kind}"
    return ""
