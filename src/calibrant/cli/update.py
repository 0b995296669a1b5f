"""`calibrant update`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from calibrant._words import count
from calibrant.batches.missing import Gaps
from calibrant.batches.repairs import silenced
from calibrant.batches.rows import naming
from calibrant.cli.console import guarantee_text, show, spinner
from calibrant.cli.forecasts import read_forecasts
from calibrant.cli.model import Model, write
from calibrant.cli.tables import refuse_overwrite
from calibrant.cli.time_order import check_order
from calibrant.files import FileError
from calibrant.updating import known_history


def update(path: Path, model: Model, target: str, time: str | None, out: Path, *, refit: bool, gaps: Gaps) -> None:
    """Let the rows of a file join those of the model, and keep the result."""
    refuse_overwrite(out, path)
    if model.notes is None:
        raise FileError(f"{model.path}: it does not say which columns it was fitted on: update it in Python")
    before = model.calibrated
    with naming(str(model.path)):
        known_history(before)
    rows = read_forecasts(path, model, model.notes.columns, target, [] if time is None else [time], gaps=gaps)
    with spinner("updating"), rows.naming(), silenced():
        if time is not None:
            check_order(time, rows.groups[time])
        # labels that are spread are drawn: others than before, and the same for the same files
        rng = None if before.labels is None else np.random.default_rng(before.guarantee.n)
        calibrated = before.update(rows.prediction, rows.y, **rows.known, rng=rng, refit=refit)
    write(out, calibrated, model.notes)
    show(f"Updated {model.path} with {count(len(rows.y), 'row')} of {path}: it had n = {before.guarantee.n:,}.")
    show(guarantee_text(calibrated.guarantee))
    show(f"Wrote {out}.")
