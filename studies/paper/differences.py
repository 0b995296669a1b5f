"""Numbers of the paper that mislead, and ours beside them: its best CRPS, the authors' NLL, ECE, the published ±."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from studies.names import Method
from studies.paper import published
from studies.paper.floors import NLL_FLOOR, ece_floor
from studies.paper.methods import cdf, zscore
from studies.paper.tables import TABLE1
from studies.results import Results


def differences(results: Results) -> Iterator[str]:
    """Paragraphs, each where it applies."""
    yield _no_winner(results)
    yield _floor(results)
    floor = ece_floor(results)
    if floor is not None:
        yield (
            "**ECE cannot be 0.** With calibration and test parts of these sizes, exchangeable scores under a linear q "
            f"have a debiased ECE of {floor:.4f} on the mean over these datasets (simulated): q itself is estimated."
        )
    ratio = _published_errors(results)
    if ratio is not None:
        yield (
            f"**The published ±** is read as a standard error. It is {ratio:.1f} times ours, in the median over the "
            "means of the paper's appendix. A ratio far from 1 says that the two are not the same quantity, and that a "
            "difference in standard errors is to be read with that in mind."
        )


def _no_winner(results: Results) -> str:
    """Why the best CRPS of the paper's Table 1 is not the best."""
    finite = [d for d in published.datasets() if published.of(d, "cdf-random", "crps").value is not None]
    best, linear = published.table1()["cdf-random"]["crps"], published.average("cdf-linear", "crps", finite)
    text = (
        f"**cdf-random is no winner.** Its CRPS of {best.value:.3f}, the best in the paper's Table 1, is a mean over "
        f"the {best.count} of {best.of} datasets where it was finite. Over the same {best.count}, the published "
        f"cdf-linear has {linear.value:.3f}."
    )
    shared = [dataset for dataset in finite if dataset in results.datasets]
    here = [(m.name, results.average(m, "crps", shared)) for m in (cdf("random"), cdf("linear"), zscore("linear"))]
    said = ", ".join(f"{name} {mean.value:.4f}" for name, mean in here if mean.value is not None)
    return f"{text} Here, over the {len(shared)} of them at hand: {said}." if said else text


def _floor(results: Results) -> str:
    """What the authors' NLL is where H is flat, and how often the exact one is finite."""
    random, linear, naf = zscore("random"), zscore("linear"), zscore("naf")
    text = (
        "**The authors' NLL has a floor under the density.** It is -log((H(y + 1e-4) - H(y) + 1e-10) / 1e-4): "
        f"a label where H is flat costs exactly {NLL_FLOOR:.4f} nats, and no more. That is why every random NLL lies "
        "just below 13.8 on small data."
    )
    means = {dataset: results.of(dataset, random, "nll").value for dataset in results.datasets}
    known = {dataset: value for dataset, value in means.items() if value is not None}
    if known:
        top = max(known, key=lambda dataset: known[dataset])
        text += f" Here the largest mean of zscore-random is {known[top]:.3f} ({top})."
    counts = ", ".join(_finite(results, method) for method in (random, linear, naf))
    return (
        f"{text} The exact NLL, which has a column of its own, is finite in {counts}: a label beyond the ends of a "
        f"bounded distribution costs infinitely much{_beyond(results, linear)}, and a jump has no density."
    )


def _finite(results: Results, method: Method) -> str:
    counts = [results.of(dataset, method, "nll_exact") for dataset in results.datasets]
    return f"{sum(mean.count for mean in counts):,} of {sum(mean.of for mean in counts):,} cells of {method.name}"


def _beyond(results: Results, method: Method) -> str:
    """How many labels do, where the run has counted them."""
    cells = [cell for dataset in results.datasets for cell in results.cells.get((dataset, method), {}).values()]
    known = [(rows, tests) for c in cells if (rows := c["nll_infinite_rows"]) is not None and (tests := c["n_test"])]
    if not known:
        return ""
    rows, tests = (sum(column) for column in zip(*known, strict=True))
    return f" ({rows:,.0f} of {tests:,.0f} test labels of {method.name})"


def _published_errors(results: Results) -> float | None:
    """Their ± over ours, the median; of those that three digits do not round away."""
    ratios = []
    for dataset in results.datasets:
        for method in TABLE1:
            for metric in published.METRICS:
                ours, theirs = results.of(dataset, method, metric).se, published.of(dataset, method.name, metric).se
                if ours and theirs is not None and theirs >= 0.005:
                    ratios.append(theirs / ours)
    return statistics.median(ratios) if ratios else None
