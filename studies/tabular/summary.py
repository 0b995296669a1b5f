"""The tables of the league, as Markdown for people and CSV for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from studies.means import Mean
from studies.tabular.bases import TITLES
from studies.tabular.duels import Duel, duels, mean_ranks
from studies.tabular.entrants import NEIGHBOURS, OURS
from studies.tabular.measures import HEADINGS
from studies.tabular.outcomes import DIFFERENCES, POOLED, SHARES, Outcomes
from studies.writers import markdown_table

SHARPNESS = ("crps", "is90", "is50", "width", "nll")
CALIBRATION = ("cov90", "cov50", "slice_pit", "worst", "excess", "fit_seconds")
READ = (
    "Mean over datasets ± its standard error over splits. CRPS, interval scores and width: share of the plain "
    "residual's, dataset by dataset. Slice PIT error: the mean over datasets as a share of the plain residual's. "
    "NLL: difference from the plain residual's; where many labels are equal, as zeros of counts are, it is as low "
    "as the density is high there. Coverage, excess risk and the seconds of one core: as they are. Figures by slice "
    "and the excess risk are over datasets with at least 100 test rows. Rank: the mean over datasets, by the 90% "
    "interval score, among all methods. An empty cell: the method has no such figure; —: it is not finite on some "
    "dataset, with the number of datasets that have it."
)


def summary(outcomes: Outcomes, base: str) -> str:
    """All methods with one base model: how sharp they are and their rank, then how well calibrated and how slow."""
    methods = outcomes.methods(base)
    ranks = mean_ranks(outcomes, base, "is90", methods)
    several = []
    for metrics in (SHARPNESS, CALIBRATION):
        ranked = bool(ranks) and metrics is SHARPNESS
        header = ["method", *(HEADINGS[metric] for metric in metrics), *(["rank"] if ranked else [])]
        rows = []
        for method in methods:
            cells = [_cell(outcomes.average(base, method, metric), metric) for metric in metrics]
            rows.append([method, *cells, *([f"{ranks[method]:.1f}"] if ranked else [])])
        several.append(markdown_table(header, rows))
    return "\n\n".join(several)


def duels_table(outcomes: Outcomes, base: str, metric: str, others: Sequence[str]) -> str:
    """The default against each of several methods."""
    ranks = mean_ranks(outcomes, base, metric, [OURS, *others])
    own = ["(mean itself)", "", "", "", "", _rank(ranks, OURS)]
    rows = [
        [d.other, _share(d.share), _wins(d), f"{d.p:.2g}", f"{d.adjusted:.2g}", _rank(ranks, d.other)]
        for d in duels(outcomes, base, metric, OURS, others)
    ]
    header = ["mean against", HEADINGS[metric], "wins", "Wilcoxon p", "Holm-adjusted", "mean rank"]
    return markdown_table(header, [*rows, own])


def _rank(ranks: Mapping[str, float], method: str) -> str:
    return f"{ranks[method]:.2f}" if method in ranks else ""


def _wins(duel: Duel) -> str:
    return f"{duel.wins} of {duel.of}" + (f", {duel.ties} equal" if duel.ties else "")


def by_dataset(outcomes: Outcomes, base: str) -> str:
    """What the default won on each dataset, and the best of the neighbours there."""
    rows = []
    for dataset in outcomes.datasets:
        interval = outcomes.mean(dataset, base, OURS, "is90")
        scores = {name: outcomes.mean(dataset, base, name, "is90").value for name in NEIGHBOURS}
        known = {name: value for name, value in scores.items() if value is not None}
        best = min(known, key=known.__getitem__) if known else None
        rows.append(
            [
                dataset,
                f"{outcomes.rows(dataset, base, 'calibration'):,}",
                _share(outcomes.share(dataset, base, OURS, "crps")),
                _share(outcomes.share(dataset, base, OURS, "is90")),
                "" if interval.value is None else f"{interval.value:.3f}",
                "" if best is None else f"{known[best]:.3f} ({best})",
                "" if best is None or interval.value is None else _winner(interval.value, known[best]),
            ]
        )
    header = ["dataset", "calibration rows", "CRPS of mean / constant", "90% interval score of mean / constant"]
    header += ["90% interval score of mean", "best of other libraries", "lower"]
    return markdown_table(header, rows)


def _winner(ours: float, theirs: float) -> str:
    return "mean" if ours < theirs else "other"


def summary_md(outcomes: Outcomes) -> str:
    """The summaries of all base models as a file."""
    parts = ["# The league: summary", READ]
    for base in outcomes.bases:
        parts += [f"## {TITLES[base].capitalize()}", summary(outcomes, base)]
    return "\n\n".join(parts) + "\n"


def summary_csv(outcomes: Outcomes) -> str:
    """A line for each base model, method and metric."""
    records = []
    for base in outcomes.bases:
        methods = outcomes.methods(base)
        ranks = {metric: mean_ranks(outcomes, base, metric, methods) for metric in ("is90",)}
        for method in methods:
            for metric in HEADINGS:
                mean = outcomes.average(base, method, metric)
                if mean.of:
                    records.append([base, method, metric, _kind(metric), mean.value, mean.se, mean.count, mean.of])
            if ranks["is90"]:
                records.append([base, method, "is90", "mean rank", ranks["is90"][method], None, None, None])
    return _csv(["base", "method", "metric", "kind", "value", "se", "datasets", "of"], records)


def duels_csv(outcomes: Outcomes) -> str:
    """The default against every other method, by CRPS and by the 90% interval score; Holm over the lines of each group.

    The neighbours are a group of their own, as on the page.
    """
    records = []
    for base in outcomes.bases:
        for metric in ("crps", "is90"):
            for group, others in groups(outcomes, base).items():
                for d in duels(outcomes, base, metric, OURS, others):
                    records.append([base, metric, group, *_fields(d)])
    header = ["base", "metric", "group", "against", "share", "se", "wins", "ties", "of", "p", "p_holm"]
    return _csv(header, records)


def groups(outcomes: Outcomes, base: str) -> dict[str, list[str]]:
    """The methods that the default is compared with: the library's own, and the neighbours'."""
    others = [name for name in outcomes.methods(base) if name != OURS]
    return {
        "own": [name for name in others if name not in NEIGHBOURS],
        "neighbours": [name for name in others if name in NEIGHBOURS],
    }


def per_dataset_csv(outcomes: Outcomes) -> str:
    """A line for each dataset, base model and method: the means over splits."""
    records = []
    for base in outcomes.bases:
        for dataset in outcomes.datasets:
            for method in outcomes.methods(base):
                means = [outcomes.mean(dataset, base, method, metric) for metric in HEADINGS]
                if any(mean.of for mean in means):
                    count = max(mean.of for mean in means)
                    pairs = [number for mean in means for number in (mean.value, mean.se)]
                    records.append([dataset, base, method, count, *pairs])
    columns = [name for metric in HEADINGS for name in (metric, f"{metric}_se")]
    return _csv(["dataset", "base", "method", "splits", *columns], records)


def _fields(duel: Duel) -> list[object]:
    return [duel.other, duel.share.value, duel.share.se, duel.wins, duel.ties, duel.of, duel.p, duel.adjusted]


def _kind(metric: str) -> str:
    if metric in SHARES:
        return "share of constant, mean over datasets"
    if metric in POOLED:
        return "share of constant, of the means over datasets"
    return "difference from constant" if metric in DIFFERENCES else "mean"


def _cell(mean: Mean, metric: str) -> str:
    if mean.value is None:
        return f"— ({mean.count} of {mean.of})" if mean.of else ""
    digits = 4 if metric == "excess" else 3
    text = f"{mean.value:z.1f}" if metric == "fit_seconds" else f"{mean.value:z.{digits}f}{_se(mean, digits)}"
    return text if mean.count == mean.of else f"— ({mean.count} of {mean.of})"


def _share(mean: Mean) -> str:
    return "" if mean.value is None else f"{mean.value:.3f}{_se(mean)}"


def _se(mean: Mean, digits: int = 3) -> str:
    return "" if mean.se is None else f" ± {mean.se:.{digits}f}"


def _csv(header: Sequence[str], records: Iterable[Sequence[object]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    for record in records:
        writer.writerow([f"{value:.6g}" if isinstance(value, float) else value for value in record])
    return stream.getvalue()
