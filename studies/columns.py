"""What is measured in every cell: its name in the tables, its column in the file of results, its heading.

In the file the authors' estimator of the NLL is `nll_authors` and the exact one `nll`. In the tables, as in the
paper's, `nll` is the authors'; the exact one is `nll_exact`.
"""

from __future__ import annotations

HEADINGS = {
    "std": "STD",
    "ci95_width": "95% width",
    "nll": "NLL (authors')",
    "crps": "CRPS",
    "ece": "ECE",
    "nll_exact": "NLL (exact)",
}
"""The metrics of a calibrated distribution."""

INTERVAL_HEADINGS = {
    "conformal_width": "conformal width",
    "credible_width": "credible width",
    "conformal_coverage": "conformal coverage",
    "credible_coverage": "credible coverage",
}
"""Those of intervals, which the cells of a design's reference interpolator have."""

REQUIRED = {
    "std": "std",
    "ci95_width": "ci95_width",
    "nll": "nll_authors",
    "crps": "crps",
    "ece": "ece",
    "nll_exact": "nll",
    "n_calibration": "n_calibration",
    "n_test": "n_test",
}
"""The column of each value that a line of results must have."""

OPTIONAL = ("nll_infinite_rows", "conformal_width", "conformal_coverage", "credible_width", "credible_coverage")
"""The columns that a line may lack."""
