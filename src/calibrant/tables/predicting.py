"""From batches of predictions to batches with quantiles, intervals and probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

from calibrant._arguments import one_number, unit
from calibrant._arrays import to_numpy
from calibrant._words import warn_user
from calibrant.distributions.base import Distribution
from calibrant.guarantee import too_few_for_interval
from calibrant.tables.counts import RowCounts
from calibrant.tables.model import TableModel, check_model
from calibrant.tables.rows import Batch, Header, Numbers, Source, as_arrow, naming

IN_CACHE = 2**15
"""Rows that are worked on at a time: three times as fast as on a whole batch."""
Several = float | Iterable[float]


@dataclass(frozen=True)
class Outputs:
    """New columns: quantiles, bounds of centred intervals, P(Y <= y) and P(Y > y), each at one number or several."""

    quantiles: Any = ()
    interval: Any = ()
    probabilities: Any = ()
    exceedances: Any = ()

    def __post_init__(self) -> None:
        checks = {"quantiles": unit, "interval": unit, "probabilities": one_number, "exceedances": one_number}
        for name, check in checks.items():
            given = getattr(self, name)
            values = tuple(check(name, each) for each in (given if isinstance(given, Iterable) else (given,)))
            if len(set(values)) < len(values):
                raise ValueError(f"{name} must differ, got {list(values)}")
            object.__setattr__(self, name, values)
        if not any(getattr(self, name) for name in checks):
            raise ValueError("expected quantiles, interval, probabilities or exceedances, got none of them")

    @property
    def names(self) -> list[str]:
        """The names of the new columns; the bounds of one interval need no coverage in theirs."""
        coverages = tuple(self.interval)
        ends = [f"_{coverage:g}" if len(coverages) > 1 else "" for coverage in coverages]
        bounds = [f"{side}{end}" for end in ends for side in ("lower", "upper")]
        sides = [("cdf", each) for each in self.probabilities] + [("sf", each) for each in self.exceedances]
        probabilities = [f"{side}_{str(threshold).removesuffix('.0')}" for side, threshold in sides]
        return [f"q{level}" for level in self.quantiles] + bounds + probabilities

    @property
    def levels(self) -> list[float]:
        """The level of each column that is a quantile: the bounds of intervals are quantiles too."""
        return [*self.quantiles, *(level for c in self.interval for level in ((1 - c) / 2, (1 + c) / 2))]

    def of_rows(self, H: Distribution) -> Numbers:
        """The new columns, one after the other.

        Args:
            H: The calibrated distributions of the rows.
        """
        quantiles = [to_numpy(H.quantiles(self.levels)).T] if self.levels else []
        found = [*(H.cdf(each) for each in self.probabilities), *(H.sf(each) for each in self.exceedances)]
        return np.concatenate([*quantiles, *(np.broadcast_to(to_numpy(each), (1, len(H))) for each in found)])


class NoRandomness:
    """A generator that refuses: what it would draw is another number for each batch and each retry."""

    def random(self, count: int) -> Any:
        """Raise."""
        del count
        raise ValueError("the model is randomised and needs a seed, seed=0, for a row to be the same in any batch")


def drawing(seed: int | None) -> dict[str, Any]:
    """Where a randomised q has its numbers from."""
    return {"rng": NoRandomness()} if seed is None else {"seed": seed}


@dataclass(frozen=True)
class Predicting:
    """A function of batches, which counts the rows that it repairs or leaves out."""

    model: TableModel
    outputs: Outputs
    seed: int | None = None
    missing: str = "keep"
    kept: tuple[str, ...] = ()
    """The columns that stay."""
    counts: RowCounts = field(default_factory=RowCounts)

    def on(self, header: Header, keep: Sequence[str] | None = None) -> Predicting:
        """The same for a table with these columns, with nothing counted.

        Args:
            header: The names of the table's columns.
            keep: The columns that stay; None keeps all.
        """
        check_model(self.model)
        n = self.model.calibrated.guarantee.calibration_rows
        widest = max(self.outputs.interval, default=None)
        if n is not None and widest is not None and (few := too_few_for_interval(n, widest)) is not None:
            warn_user(few)
        # without the scores that only an update needs: half as much to send to a worker
        calibrated = replace(self.model.calibrated, history=None)
        model = TableModel(calibrated, self.model.columns.resolve(header))
        kept = tuple(header.matching(["*"] if keep is None else keep))
        work = replace(self, model=model, kept=kept, counts=RowCounts(self.missing))
        header.check(work.read)
        clash = [name for name in self.outputs.names if name in kept]
        if clash:
            raise ValueError(f"{header.source}: column {clash[0]!r} cannot be kept: a new column has the same name")
        return work

    def afresh(self) -> Predicting:
        """The same, with nothing counted: for another part, in another thread."""
        return replace(self, counts=RowCounts(self.missing))

    @property
    def numbers(self) -> list[str]:
        """The columns of numbers that a row must have."""
        event = self.model.columns.event
        return [name for name in self.model.columns.needed(self.model.calibrated.labels) if name != event]

    @property
    def read(self) -> list[str]:
        """All columns that are read."""
        return list(dict.fromkeys([*self.kept, *self.model.columns.by, *self.numbers]))

    def schema(self, given: pa.Schema) -> pa.Schema:
        """The columns of a result, from those of a batch.

        Args:
            given: The names and types of the columns of a batch.
        """
        kept = [given.field(name) for name in self.kept]
        plain = [each.with_type(each.type.value_type) if types.is_dictionary(each.type) else each for each in kept]
        return pa.schema([*plain, *(pa.field(name, pa.float64()) for name in self.outputs.names)])

    def __call__(self, batch: Batch) -> pa.RecordBatch:
        """The columns of a batch that stay, and the new ones.

        Args:
            batch: Rows of the table.
        """
        arrays = [*map(batch.values, self.kept), *map(as_arrow, self.new(batch))]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema(batch.rows.schema))

    def new(self, batch: Batch) -> Numbers:
        """The new columns of a batch, one after the other; NaN for rows without a prediction.

        Args:
            batch: Rows of the table.
        """
        columns, calibrated = self.model.columns, self.model.calibrated
        new = np.full((len(self.outputs.names), len(batch)), np.nan)
        for whole in batch.parts(IN_CACHE) if len(batch) else ():
            complete = self.counts.complete(whole, self.numbers)
            rows, offset = whole.where(complete), whole.start - batch.start
            place = slice(offset, offset + len(whole)) if rows is whole else offset + np.flatnonzero(complete)
            if not len(rows):
                continue
            prediction, known = columns.prediction(rows, self.counts), columns.known(rows, calibrated.labels)
            with naming(batch.source):
                prediction.check_form(calibrated.form)
            with rows.naming(), self.counts.silenced():
                H = calibrated(prediction, **known, **drawing(self.seed))
                new[:, place] = self.outputs.of_rows(H)
        return new

    def report(self, source: Source) -> None:
        """Warn of rows that were repaired or left out; a column without a single number raises.

        Args:
            source: The name of the table, or of its part.
        """
        self.counts.close(source)
        self.counts.report(source, "what is written for them is NaN", self.model.calibrated.labels)
