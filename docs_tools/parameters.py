"""A table of parameters for every function on the API pages.

An extension of griffe. The same words mean the same everywhere in the library, so most parameters are explained once,
here. `plots.n` is n in the package plots, `required_n.confidence` that of one function. A docstring with `Args:` of its
own is left as it is; a parameter that is not listed here is one that the docstring itself explains.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

FROM_THE_TEXT = "See the description."
EXAMPLE = re.compile(r"^[ \t]*>>> ", re.MULTILINE)

WORDS = {
    "asked": "Passed on to `evaluate`: coverage, levels, ...",
    "index": "Which rows: an integer, a slice, a list of integers, or a mask.",
    "H": "The forecast: a distribution, a prediction of any kind, or an array of points, one per row.",
    "X": "The features: an array or a data frame, one line per row.",
    "X_new": "Features of the rows to predict, without labels.",
    "X_train": "Features of the calibration rows.",
    "Y": "The labels, one column per label: an array of shape (n, d), a frame, or a mapping of names to columns.",
    "adapter": "A function of (model, X) that returns the prediction.",
    "aside": "Names of columns that are not forecasts.",
    "ax": "The matplotlib axes to draw on; a new figure by default.",
    "backtest.batch": "How many rows are forecast at once.",
    "backtest.columns": "The names of columns of a long table, as in `HorizonCalibrator.fit`.",
    "backtest.delay": "How many rows pass before a label is known.",
    "backtest.every": "Of a long table: fit again at each so-many-th cutoff.",
    "backtest.forecaster": "What is calibrated and updated, or a `HorizonCalibrator` for a long table.",
    "backtest.least": "Of a long table: how many labels each horizon needs before the first forecast.",
    "backtest.rows": "The predictions of a sequence, or a long table.",
    "base": "The forecast before calibration, for comparison.",
    "bases": "The kinds of base model to train.",
    "bins": "The number of bins or stretches, of about equally many rows.",
    "bound": "Bounds of the labels that differ by row: an array, or a table with the columns that `labels` names.",
    "by": "The group of each row: one value per row, or several columns.",
    "calibrated": "A fitted calibrator, as `Calibrator.fit` returns it.",
    "calibrator": "What calibrates: a score, an interpolator and the kind of label.",
    "centre": "The centre of each prediction.",
    "ci": "The probability of the second interval, whose coverage and width are reported.",
    "classes": "Your own classes that the file may hold.",
    "compare.evaluations": "Evaluations by name, one column each.",
    "confidence": "The probability with which the bound or band holds.",
    "content": "The bytes of the downloaded file.",
    "context": "What is known of the rows beside their predictions: groups, weights and random numbers.",
    "count": "How many.",
    "coverage": "The probability of the centred interval, between 0 and 1.",
    "coverage_by.by": "A number for each row, such as a feature; the predicted value by default.",
    "coverage_by_slice.by": "A value for each row, a mapping of names to such columns, or a frame.",
    "coverages": "The probabilities of the centred intervals.",
    "criterion": 'What is minimised: "crps", "nll", "interval", or a `Criterion`.',
    "cutoff": "The column with the time at which each forecast was made.",
    "dataset": "The name of the dataset.",
    "deep": "Also give the parameters of the estimators inside.",
    "device": "The torch device to train on.",
    "df": "The degrees of freedom: one number, or one per row.",
    "difference": "Draw the share less the level, in percentage points.",
    "dist": "A torch distribution with a batch of rows.",
    "distribution": "The distribution to test.",
    "draws": "Samples of shape (n, size, d).",
    "epsilon": "The largest error bound that is acceptable.",
    "equivariant": "Also test that q moves and stretches with the scores.",
    "estimator": "A fitted `CalibratedRegressor`.",
    "event": "True where the label was seen, False where it was censored.",
    "floored": "How many calibration rows had their scale raised to the floor.",
    "folder": "The folder to read from or write to.",
    "forecasts": "Forecasts by name.",
    "found": "What `diagnose` or `monitor` returned.",
    "frame": "A long table: a frame of pandas, polars or pyarrow.",
    "frozen": "A frozen scipy.stats distribution whose parameters are arrays, one per row.",
    "groups": "Columns to slice by.",
    "guarantee": "The guarantee by group.",
    "halves": "The two halves of the rows.",
    "horizon": "The column with the number of steps ahead; without it they are counted from the cutoff.",
    "ids": "Whatever identifies a row; the same id is always kept or left out.",
    "interpolator": "The interpolator; `Linear()` by default.",
    "interpolators": "Interpolators as a list, or by name.",
    "joint": "Return intervals that hold all labels at once with the coverage.",
    "kind": "The class of your models.",
    "known": "`by`, `weights` and `bound` of the new rows, as in `fit`.",
    "label": "The name of the label, as printed.",
    "labels": "What kind of number the labels are, such as `Counts()`; see `calibrant.labels`.",
    "check_look_ahead.labels": "A long table with its labels, or an array of labels.",
    "ridgeline.labels": "The names of the rows drawn; their numbers by default.",
    "law": "The distribution of the labels as they were calibrated.",
    "laws": "The distributions to put together.",
    "level": "The level of the quantile, between 0 and 1.",
    "levels": "The levels of the quantiles, between 0 and 1.",
    "like": "An array whose namespace, device and dtype to take.",
    "loc": "The location: one number, or one per row.",
    "lower": "The lower bound: one number, or one per row.",
    "m": "The number of test rows.",
    "max_knots": "How many knots to keep at most.",
    "method": "The name of the method.",
    "methods": "The names of two methods.",
    "metric": "The name of the metric.",
    "model": "A fitted model.",
    "horizons.model": "The name of the model whose columns to use, if the table has several.",
    "most": "How many rows to draw or use at most.",
    "n": "The number of calibration rows.",
    "name": "The name of the dataset.",
    "names": "The names of the labels or columns.",
    "nonconformity": "A non-conformity measure, see `Nonconformity`.",
    "notes": "JSON values to keep in the file; `read` returns them.",
    "others": "Calibrators fitted on other rows in the same way.",
    "over_time.time": "When each row was, as numbers or dates; by default the rows are in the order of time.",
    "p": "Probabilities: one number, or one per row.",
    "params": "Passed on to the base model, `sample_weight` also to what refines it.",
    "path": "The file.",
    "pit.u": "Uniform numbers, one per row.",
    "pit_rows.u": "Uniform numbers, one per row.",
    "prediction": "What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an"
    " array of points.",
    "predictions": "The predictions, by name of the label or one after the other.",
    "progress": "Called with the share of the work that is done.",
    "q": "The distribution of the calibration scores.",
    "quantiles": "The levels of the quantiles, between 0 and 1.",
    "recipe": "How the networks are trained.",
    "refiner": "The refiner to test.",
    "refit": "Fit an interpolator that cannot be updated, such as NAF, to all scores again.",
    "refine.rows": "The training rows with their out-of-fold predictions.",
    "density.rows": "The numbers of the rows to draw.",
    "cdf.rows": "The numbers of the rows to draw.",
    "ridgeline.rows": "The numbers of the rows to draw; seven by default.",
    "results": "The results of a study.",
    "rng": "Where random numbers come from: a numpy Generator or a seed.",
    "rows": "The rows.",
    "run": "The backtest, as a function of the table.",
    "s": "Scores, one per row.",
    "sample_weight": "Weights of the rows.",
    "scale": "The scale, above zero: one number, or one per row.",
    "score": "The score to test.",
    "scores": "The calibration scores, an array of n numbers.",
    "seconds": "How long each candidate took.",
    "seed": "A seed from which each row draws its own random numbers.",
    "series": "The column with the name of the series.",
    "size": "How many draws per row.",
    "sizes": "The numbers of scores to try.",
    "split": "The number of the split.",
    "splits": "The rows of each split.",
    "step": "The width of the finite difference.",
    "track.step": "The step size of the tracker.",
    "strict": "Raise where a scale is zero, instead of raising the scale with a warning.",
    "support": "The interval in which scores can lie.",
    "target": "The column with the labels.",
    "there": "A mask: True where a row has a prediction.",
    "threshold": "The evidence at which the alarm rings; a false alarm has a probability of at most 1/threshold.",
    "time": "The column with the time of each row, or the times themselves.",
    "times": "How many places in time to try.",
    "title": "The title of the page.",
    "tolerance": "The largest error allowed, as a share of the width of the distribution.",
    "upper": "The upper bound: one number, or one per row.",
    "labels_named.value": 'A name such as "log" or "counts", an interval such as "0:", or a `Labels` object.',
    "weights": "Likelihood ratios or survey weights, one per calibration row.",
    "width": "The width of each prediction.",
    "x": "Where each row is drawn: numbers or dates; the number of the row by default.",
    "y": "The labels: one number per row.",
    "Distribution.y": "Where to evaluate: one number, one per row, or (n, k) for k points per row.",
    "pit.y": "The labels: one number per row.",
    "y_grid": "Points around the labels at which to test.",
}


class Parameters(griffe.Extension):
    """Functions get a section of parameters, before their first example."""

    def on_function_instance(self, *, func: griffe.Function, **_: Any) -> None:
        """Called by griffe for every function that it has read."""
        names = [each.name for each in func.parameters if each.name not in ("self", "cls")]
        if func.docstring and names and not func.name.startswith("_"):
            where = func.path.removeprefix("calibrant.").split(".")
            func.docstring.value = with_section(func.docstring.value, where, names)


def with_section(text: str, where: list[str], names: list[str]) -> str:
    r"""A docstring with its parameters.

    >>> with_section("The mean.\n\n>>> mean([1.0])", ["metrics", "scores", "mean"], ["y", "other"]).splitlines()[2:-2]
    ['Args:', '    y: The labels: one number per row.', '    other: See the description.']
    """
    if re.search(r"^\s*Args:$", text, re.MULTILINE):
        return text
    lines = [f"    {name}: {explained(where, name)}" for name in names]
    section = "\n".join(["Args:", *lines])
    example = EXAMPLE.search(text)
    if example is None:
        return f"{text.rstrip()}\n\n{section}"
    return f"{text[: example.start()].rstrip()}\n\n{section}\n\n{text[example.start() :]}"


def explained(where: list[str], name: str) -> str:
    """What a parameter of the function `where` is: of this function, its class or package, or anywhere.

    >>> explained(["metrics", "table", "evaluate"], "ci"), explained(["a"], "unheard_of")
    ('The probability of the second interval, whose coverage and width are reported.', 'See the description.')
    """
    known = (f"{part}.{name}" for part in reversed(where))
    return next((WORDS[key] for key in (*known, name) if key in WORDS), FROM_THE_TEXT)
