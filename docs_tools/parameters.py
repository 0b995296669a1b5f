"""A table of parameters for every function on the API pages.

An extension of griffe. The same words mean the same everywhere in the library, so most parameters are explained once,
here. `plots.n` is n in the package plots, `required_n.confidence` that of one function, and `Distribution.crps.y` that
of one method. The nearest wins: the method, then its class, its module, its package. A docstring with `Args:` of its
own is left as it is. A parameter that is explained nowhere has no row; on the API pages a test finds it.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^[ \t]*>>> ", re.MULTILINE)

WORDS = {
    # The same in every function.
    "H": "The forecasts, one per row: distributions, or a prediction of any kind.",
    "X": "The features: an array or a data frame, one line per row.",
    "X_new": "The features of the rows to predict; their labels are not needed.",
    "X_train": "The features of the rows that train and calibrate.",
    "Y": "The labels, one column per label: an array of shape (n, d), a frame, or a mapping of names to columns.",
    "adapter": "A function of (model, X) that returns the prediction.",
    "aside": "Names of columns that are not forecasts.",
    "asked": "Passed on to `calibrant.evaluate`: `coverage`, `ci`, `levels` and `labels`.",
    "ax": "The matplotlib axes to draw on; those of a new figure by default.",
    "base": "The forecasts before calibration, to draw beside H.",
    "bins": "The number of bins, each of about as many rows.",
    "bound": "What `labels` must know of each row, such as a capacity: an array, or a table with the columns that they"
    " name. Only for labels that ask for it.",
    "by": "The group of each row: one value per row, or several columns. Each group then has a distribution of its"
    " own.",
    "calibrated": "A fitted calibrator, as `Calibrator.fit` returns it.",
    "calibrator": "What calibrates: a score, an interpolator and the kind of label.",
    "centre": "A value near which each width lies, one per row.",
    "confidence": "The probability with which the bound holds.",
    "content": "The bytes of the file.",
    "context": "What is known of the rows beside their predictions: groups, weights and random numbers.",
    "coverage": "The probability of the centred interval, between 0 and 1.",
    "coverages": "The probabilities of the centred intervals, each between 0 and 1.",
    "cutoff": "The column with the time at which each forecast was made.",
    "deep": "Also give the parameters of the estimators inside.",
    "device": 'The torch device to train on, such as "cuda".',
    "df": "The degrees of freedom: one number, or one per row.",
    "difference": "Draw the share less the level, in percentage points.",
    "dist": "A torch distribution of scalars, with the batch shape () or (n,).",
    "distribution": "The distribution to test.",
    "draws": "Draws of all labels, of shape (n, size, d).",
    "epsilon": "The error bound to reach, such as 0.01.",
    "equivariant": "Also test that q moves and stretches with the scores.",
    "event": "True where the label was seen, False where it was censored.",
    "forecasts": "A mapping of names to forecasts.",
    "frame": "A long table, one line per forecast: a frame of pandas, polars or pyarrow.",
    "frozen": "A frozen scipy.stats distribution, with parameters of shape () or (n,).",
    "guarantee": "The guarantee by group.",
    "halves": "The numbers of the rows of one half, and of the other.",
    "ids": "What identifies each row: whole numbers, texts, or a tuple of several such columns.",
    "interpolators": "A list of interpolators, or a mapping of names to them; by default naive, linear, random, NAF.",
    "joint": "Give a box that holds all labels at once with probability `coverage`.",
    "known": "`by`, `weights`, `bound` and `rng` of the new rows, as in `fit`.",
    "labels": "What kind of number the labels are, such as `Counts()`, see `calibrant.labels`; by default any real"
    " number.",
    "distribution": "The distributions of Y', the labels as they were calibrated, one per row.",
    "level": "The level of the quantile, between 0 and 1.",
    "levels": "The levels of the quantiles, between 0 and 1.",
    "like": "An array whose namespace, device and dtype to take.",
    "loc": "The mean: one number, or one per row.",
    "lower": "The lower bound: one number, or one per row.",
    "m": "The number of rows judged, whose labels were not used to calibrate.",
    "n": "The number of calibration rows.",
    "nonconformity": "A measure a(f(x), y) of how far a label is from its prediction, see `Nonconformity`.",
    "p": "Probabilities: one number, one per row, or (n, k) for k of them per row.",
    "prediction": "What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an"
    " array of points.",
    "q": "The distribution of the calibration scores.",
    "refiner": "The refiner to test.",
    "refit": "Fit an interpolator that cannot be updated, such as NAF, to all scores again.",
    "rng": "A `numpy.random.Generator`, for what is drawn; a fresh one by default.",
    "s": "Scores, one per row.",
    "scale": "The scale, above zero: one number, or one per row.",
    "scores": "The calibration scores, an array of n numbers.",
    "seed": "A whole number in place of `rng`: a row then has the same random number in any batch and any order.",
    "size": "How many draws per row.",
    "split": "The number of the split, from 0 on.",
    "step": "The step h of the difference H(y + h) - H(y).",
    "strict": "Raise where a scale is zero, instead of giving it the least that floats tell apart, with a warning.",
    "support": "The interval in which scores can lie; the real line by default.",
    "t": "The threshold: one number, or one per row.",
    "target": "The column with the labels.",
    "there": "A mask, one value per row: True for the rows that count.",
    "threshold": "The alarm rings when the capital of the bets reaches it. If nothing changes, the probability of an"
    " alarm is at most 1 / threshold, over all rows together.",
    "time": "The column with the time of each row.",
    "tolerance": "The largest error allowed, as a share of the width of the distribution.",
    "u": "Uniform numbers in [0, 1], one per row.",
    "upper": "The upper bound: one number, or one per row.",
    "weights": "Likelihood ratios p_new(x) / p(x) of the calibration rows, up to a factor, one number each.",
    "width": "The width of each row's prediction.",
    "y": "The labels: one number per row.",
    "y_grid": "Points that surround the labels, at which to test.",
    # Calibration, groups, time.
    "__call__.by": "The group of each row, as in `fit`.",
    "__call__.weights": "The likelihood ratio of each row, where the calibration rows had some.",
    "CrossCalibrated.predictions": "A list: what the model of each fold predicts for these rows.",
    "merge.others": "Calibrators fitted on other rows with the same score, interpolator and labels.",
    "save.path": "The file to write; an older one is replaced.",
    "load.path": "The file to read.",
    "persistence.classes": "Your own classes of which the file may hold objects; it may hold no others.",
    "persistence.path": "The file to read.",
    "persistence.calibrated": "What to save: a `Calibrated`, `CrossCalibrated`, `SeveralCalibrated`,"
    " `HorizonCalibrated` or `Tracker`.",
    "persistence.notes": "Values to keep in the file, such as the name of the model, as JSON has them; `read` returns"
    " them.",
    "calibrated_by.by": "Refused: censored labels have weights of their own.",
    "calibrated_by.weights": "Refused: censored labels have weights of their own.",
    "of.label": "The group, as `by` has it.",
    "Guarantee.interpolator": "What made q of the scores.",
    "Guarantee.floored": "How many calibration rows had a scale below the floor, and were given the floor.",
    "guarantee.interpolator": "What made q of the scores.",
    "WithoutClaim.confidence": "Not used: no bound is claimed at any confidence.",
    "over.rows": "T, a number of rows that come one after the other.",
    "required_n.confidence": "None bounds the error on average over calibration sets; 0.95 bounds that of 95% of them.",
    "required_n.interpolator": "The interpolator; `Linear()` by default.",
    "required_n_for_interval.coverage": "The coverage of the conformal interval, between 0 and 1.",
    "weigh.rows": "How many rows are kept.",
    "Tracker.seed": "A whole number: a row then has the same random number in any batch and any order.",
    "Tracker.rng": "A `numpy.random.Generator`, for labels that are drawn, such as counts; a fresh one by default.",
    "monitoring.rng": "A `numpy.random.Generator`, which draws a uniform number for each row; a fresh one by default.",
    "over_time.time": "When each row was, as numbers or dates; without it the rows are in time order.",
    "over_time.bins": "The number of stretches, each of about as many rows.",
    "over_time.confidence": "The probability that a calibrated forecast lies inside the bounds of all stretches.",
    "over_time.n": "The number of rows that calibrated H: the bounds then allow for the error that they leave.",
    # Interpolators and scores.
    "accuracy.n": "The number of scores.",
    "distribution.q": "The distribution of the weighted scores, with its tails.",
    "Tails.scores": "The calibration scores, sorted.",
    "tails.scores": "The calibration scores, sorted.",
    "signed.scale": "One number in the unit of a. By default 1, or the median of |a| where a has the unit of y.",
    "middle.prediction": "The predictions of some rows.",
    "conformal.coverage": "The coverage asked for, between 0 and 1.",
    # Predictions and distributions.
    "Distribution.y": "Where to evaluate: one number, one per row, or (n, k) for k points per row.",
    "Distribution.doubted.doubt": "What to warn of where an interval of this coverage is asked for, or None.",
    "Distribution.crps.y": "The labels: one number, one per row, or (n, k) for k labels per row.",
    "Distribution.pit.y": "The labels: one number per row.",
    "Normal.scale": "The standard deviation, above zero: one number, or one per row.",
    "StudentT.loc": "The centre: one number, or one per row.",
    "through.knots": "Where the CDF bends, in increasing order; two equal ones are a jump.",
    "through.probs": "The CDF at the knots, rising.",
    "through.left": "The mean excess of the exponential tail below the first knot; infinite for mass at -inf.",
    "through.right": "The mean excess of the exponential tail above the last knot; infinite for mass at +inf.",
    "Mixture.ends.name": "The method of the components that gives them: `_ppf` or `_ppf_logit`.",
    "join.distributions": "Batches of distributions, in the order in which their rows are to stand.",
    "Joined.distributions": "Single distributions, of shape ().",
    "Joined.which": "For each row the number of its distribution, from 0 on.",
    "Joined.change": "A function of (distributions, numbers of their rows) that returns as many distributions.",
    "among.there": "A mask of the longer batch: True where a row has a prediction.",
    "Forecast.remember.name": "What it is kept under, beginning with `_kept`.",
    "Forecast.remember.make": "What works it out.",
    "Forecast.what": "What was asked for, as the error names it.",
    "check_form.calibrated_on": "The form of the predictions that were calibrated.",
    "Form.other": "The form to compare with.",
    "Interval.coverage": "Not used: the bounds have no level.",
    "as_prediction.value": "A prediction, an array of points, a frozen scipy.stats or a torch distribution.",
    "concatenate.predictions": "Predictions of one kind, or distributions, in the order in which their rows are to"
    " stand.",
    "prediction_of.model": "A fitted model, a list or a dict of them, or a function of X; the table has all kinds.",
    "prediction_of.X": "The features of the rows to predict, in whatever form the model takes.",
    "predictions_of.model": "A fitted model that predicts several labels, or a function of X.",
    "predictions_of.X": "The features of the rows to predict, in whatever form the model takes.",
    "register.kind": "The class of your models.",
    "several.names": "The names of the labels, in order; y0, y1, ... by default.",
    "predictions_of.names": "The names of the labels, in order; y0, y1, ... by default.",
    "several.predictions": "The prediction of each label: a mapping of names to predictions, or a list of them.",
    "several.coverage": "The probability that the box holds all labels at once.",
    "ordered.names": "The names of the labels, in the order wanted.",
    "SeveralDistributions.coverage": "The probability of each interval, or, for a joint box, of all labels inside it.",
    "SeveralDistributions.cdf.Y": "Where to evaluate: one column per label, of shape (n, d).",
    "Several.value": "A mapping of names to predictions, a list of predictions, or a table of points.",
    "Several.index": "The numbers of the rows, a slice or a mask.",
    "Joint.rows": "The number of rows to draw for.",
    "labels_named.value": 'A name such as "log" or "counts", an interval such as "0:", or a `Labels` object.',
    "SeveralCalibrator.rng": "A `numpy.random.Generator`, which breaks ties between scores; a fresh one by default.",
    # Metrics and pictures.
    "metrics.H": "The forecasts, one per row: distributions, or a prediction that says what the metric needs.",
    "crps.H": "The forecasts, one per row: distributions, `Samples`, or points.",
    "nll.H": "The forecasts: one distribution per row.",
    "scores.std.H": "The forecasts, one per row: distributions, or `Samples`.",
    "metrics.calibration.H": "The forecasts, one per row: distributions, or `Samples`.",
    "scores.coverage.coverage": "The probability of the centred interval, between 0 and 1.",
    "pinball.levels": "The levels of the quantiles, between 0 and 1. By default those of the forecast, or 0.05,"
    " 0.10, ..., 0.95 of a distribution.",
    "bands.confidence": "The probability that a calibrated forecast lies inside the whole band.",
    "bands.n": "The number of rows that calibrated H: the band then allows for the error that they leave.",
    "pit_band.bins": "The number of bins, all of the same width.",
    "reliability_band.levels": "The levels p_k, increasing, in [0, 1].",
    "Evaluation.label": 'The name of a row of the printed table, such as "CRPS".',
    "compare.evaluations": "Evaluations by name, one column each.",
    "plots.H": "The forecasts, one per row: distributions, or a prediction that has intervals.",
    "plots.n": "The number of rows that calibrated H: the band then allows for the error that they leave.",
    "plots.confidence": "The probability that a calibrated forecast lies inside the whole band.",
    "plots.rows": "The numbers of the rows to draw; not needed for a single distribution.",
    "plots.y": "The labels: one number per row.",
    "pit_histogram.H": "The forecasts, one distribution per row; or a mapping of names to such forecasts.",
    "pit_histogram.bins": "The number of bins, all of the same width.",
    "reliability.H": "The forecasts, one per row: distributions, `Quantiles` or `Samples`; or a mapping of names to"
    " such forecasts.",
    "coverage_by.by": "A number for each row, such as a feature; the predicted value by default.",
    "coverage_by.confidence": "The probability that a calibrated forecast lies inside the bars of all bins.",
    "coverage_by_slice.H": "The forecasts, one per row: distributions, or a prediction that has intervals; or a mapping"
    " of names to such forecasts.",
    "coverage_by_slice.by": "A value for each row, a mapping of names to such columns, or a frame.",
    "coverage_by_slice.confidence": "The probability that the bars of all slices hold the true coverages.",
    "spread_skill.H": "The forecasts, one distribution per row; or a mapping of names to such forecasts.",
    "distributions.H": "The forecasts: one distribution per row.",
    "distributions.y": "The labels of all rows, drawn as dots.",
    "ridgeline.rows": "The numbers of the rows to draw; by default seven, evenly spaced in the order of the medians.",
    "ridgeline.labels": "The names of the rows drawn; their numbers by default.",
    "fan.x": "Where each row is drawn: numbers or dates; the number of the row by default.",
    "fan.y": "The labels, one number per row; none are drawn by default.",
    "intervals.most": "How many rows to draw at most.",
    "diagnosis.found": "What `calibrant.diagnose` returned.",
    "diagnosis.coverage": "One of the coverages that were diagnosed; the first by default.",
    "diagnosis.most": "How many slices to draw at most.",
    "plots.monitoring.found": "What `calibrant.monitor` returned.",
    "modules.prediction": "The predictions of the n rows that calibrated.",
    "modules.y": "The labels of the n rows that calibrated.",
    "interpolators.scores": "The calibration scores, an array of n numbers.",
    # Long tables.
    "horizons.model": "The name of the model whose columns to use, if the table has several.",
    "horizons.columns.names": "The names of the table's columns.",
    "HorizonCalibrated.coverage": "The probability of the centred intervals that are judged.",
    "HorizonCalibrated.labels": "Also read the labels, NaN where there is none.",
    "ForecastColumns.column": "A function that gives the values of a column by its name.",
    "horizons.coverage": "The probability of bounds whose columns do not say it, such as `yhat_lower`.",
    "fitted.rows": "The rows of a long table, as `HorizonCalibrated.rows` returns them.",
    "by_horizon.coverage": "The probability of the centred intervals that are judged.",
    # The estimator and what sharpens a prediction.
    "CalibratedRegressor.y": "The labels: one number per row, or one column per label.",
    "CalibratedRegressor.params": "Passed on to the estimator's `fit`. `groups` go to the splitter, and `sample_weight`"
    " also to what refines.",
    "CalibratedRegressor.quantiles": "The levels of the quantiles, between 0 and 1.",
    "CalibratedRegressor.coverage": "The probability of the centred interval, between 0 and 1; with `joint` that of the"
    " box.",
    "Refined.params": "Passed on to the model's `fit`. `groups` go to the splitter, and `sample_weight` also to the"
    " refiner.",
    "fit_routed.routed": "What goes to the model's `fit`, and what to the splitter.",
    "track.levels": "The levels whose quantiles follow the labels; 0.05, 0.25, 0.5, 0.75 and 0.95 by default.",
    "track.step": "How far a quantile moves, in units of the scores; by default a twentieth of their interquartile"
    " range.",
    "scorers.estimator": "A fitted `CalibratedRegressor`, or another model whose prediction is a distribution.",
    "scorers.sample_weight": "A weight for each row of the mean; equal by default.",
    "interval_score.coverage": "The probability of the centred interval, between 0 and 1.",
    "League.criterion": "The name of the score by which the candidates are judged.",
    "League.scores": "The score of each row, by candidate, from the simplest to the most elaborate.",
    "League.seconds": "How long each candidate took, by name.",
    "League.weight": "A weight for each row; equal by default.",
    "League.groups": "The group of each row: rows of one group count as one draw.",
    "refine.rows": "The training rows with their out-of-fold predictions.",
    "Local.r": "The residuals of the rows, or their scores.",
    "once.key": "What names the thing made; the same key gives the same thing.",
    "once.make": "A function that makes it, called at most once.",
    "folds.count": "The number of folds; fewer where there are fewer rows or groups.",
    "sampled.most": "How many rows to keep at most.",
    # Batches and frames of Dask and Spark: columns are given by name.
    "batches.batches": "Record batches, or anything that Arrow can stream: a reader, a table, a frame, a lazy frame.",
    "batches.name": "What errors call the rows.",
    "batches.header": "The names of the columns of the table.",
    "batches.batch": "A batch of rows.",
    "batches.number": "The number of the part, from 0 on; without ids it numbers the rows.",
    "batches.parts": "What `part` returned for each part, in order.",
    "batches.found": "What `part` or `merge` returned.",
    "histogram.bins": "The number of bins, nearly equal in width.",
    "TableModel.columns": "The columns of the prediction, named as in `fit`.",
    "TableModel.read.path": "The file to read.",
    "fitting.columns": "The columns of the prediction, by the name of the argument of `fit`.",
    "schema.given": "The schema of the batches.",
    "report.source": "What the warnings call the rows.",
    "predicting.wanted": "Which columns to write.",
    "smallest.keys": "The keys of the rows, hashes of their ids.",
    "dask.ddf": "A Dask frame.",
    "spark.df": "A Spark frame.",
    "read_parquet.path": "A folder of parquet files, or a list of files.",
    "read_parquet.columns": "The columns to read; all of them by default.",
    "to_parquet.folder": "The folder to write, which must not exist.",
    # The distributions, run on a class of your own.
    "testing.rng": "A `numpy.random.Generator`; one with the seed 0 by default.",
    "testing.score": "The score to test.",
    "testing.interpolator": "The interpolator to test.",
    "testing.sizes": "The numbers n of scores to try.",
    "check_labels.labels": "The kind of labels to test.",
    "check_look_ahead.labels": "A long table with its labels, or an array of labels in time order.",
    "check_look_ahead.run": "The backtest, as a function of the table or of the array.",
    "check_look_ahead.times": "At how many places in time to change the labels.",
    "check_refiner.rows": "Rows to test it on; made up by default.",
}

IN_TABLES = {
    "target": "The column with the labels.",
    "fit.point": "The column with a point prediction.",
    "fit.rate": "The column with the mean of a Poisson count.",
    "fit.mean": "The column with the mean, together with `std`.",
    "fit.std": "The column with the standard deviation.",
    "fit.lower": "The column with the lower bound, together with `upper`.",
    "fit.upper": "The column with the upper bound.",
    "fit.quantiles": 'The columns with quantiles and their levels, such as `{"q05": 0.05, "q95": 0.95}`.',
    "fit.samples": "The columns with draws, by names or patterns.",
    "by": "The column or columns that name the group of a row.",
    "weights": "The column with the likelihood ratios.",
    "ids": "The column or columns that identify a row; its number by default.",
    "sample": "How many rows to keep at most, of each group with `by`; None keeps all of them in memory.",
    "seed": "A whole number, for a randomised q: a row then has the same random number in any batch and any order.",
    "missing": 'What becomes of rows without a number: "keep" leaves them out of what is learned and judged, and'
    ' predicts NaN; "error" raises.',
    "model": "The model that `fit` returned, or that was read from a file.",
    "ci": "The probability of the second centred interval, whose coverage and width are measured.",
    "predict.quantiles": "The levels of quantiles to write, as columns q0.05 and so on.",
    "predict.interval": "The coverage of centred intervals to write, as columns lower and upper.",
    "predict.probabilities": "The values y for which to write P(Y <= y), as columns cdf_100 and so on.",
    "keep": "The columns to keep, by names and patterns; all of them by default.",
}
"""What is the same for batches, for Dask frames and for Spark frames."""
FILES = {"fit": ("fitting", "frames"), "predict": ("predicting", "frames")}
WORDS |= {
    f"{place}.{name}": words
    for name, words in IN_TABLES.items()
    for place in FILES.get(name.partition(".")[0], ("batches", "dask", "spark"))
}


class Parameters(griffe.Extension):
    """Functions get a section of parameters, before their first example."""

    def on_function_instance(self, *, func: griffe.Function, **_: Any) -> None:
        """Called by griffe for every function that it has read."""
        names = [each.name for each in func.parameters if each.name not in ("self", "cls")]
        if func.docstring and names and (func.name == "__call__" or not func.name.startswith("_")):
            where = func.path.removeprefix("calibrant.").split(".")
            func.docstring.value = with_section(func.docstring.value, where, names)


def with_section(text: str, where: list[str], names: list[str]) -> str:
    r"""A docstring with its parameters.

    >>> with_section("The mean.\n\n>>> mean([1.0])", ["scores", "mean"], ["y", "unheard_of"]).splitlines()[2:-2]
    ['Args:', '    y: The labels: one number per row.']
    """
    if re.search(r"^\s*Args:$", text, re.MULTILINE):
        return text
    known = {name: explained(where, name) for name in names}
    section = "\n".join(["Args:", *(f"    {name}: {words}" for name, words in known.items() if words)])
    example = EXAMPLE.search(text)
    if example is None:
        return f"{text.rstrip()}\n\n{section}"
    return f"{text[: example.start()].rstrip()}\n\n{section}\n\n{text[example.start() :]}"


def explained(where: list[str], name: str) -> str | None:
    """What a parameter of the function `where` is: of this function, its class, module or package, or anywhere.

    >>> explained(["labels", "named", "labels_named"], "value"), explained(["metrics", "table"], "m")[:25]
    ('A name such as "log" or "counts", an interval such as "0:", or a `Labels` object.', 'The number of rows judged')
    """
    inside = zip(["", *where], where, strict=False)
    nearest = [key for outer, part in inside for key in (f"{part}.{name}", f"{outer}.{part}.{name}")][::-1]
    return next((WORDS[key] for key in (*nearest, name) if key in WORDS), None)
