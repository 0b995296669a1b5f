"""One program that trains all the networks of all splits of a dataset: each step is one step of every network."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from calibrant._words import in_all
from studies.learners.heads import BASES, Head
from studies.learners.layout import Layout
from studies.learners.network import forward
from studies.learners.prepared import Prepared, inputs, prepare
from studies.learners.recipe import Recipe, Split

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Fitted:
    """The outputs of the trained networks for the calibration and the test rows of each split."""

    outputs: list[tuple[Tensor, Tensor]]
    """For each split, (networks, rows, outputs) of the calibration and of the test rows."""
    validation: Array
    """(splits, networks): each network's best loss on the training rows that were held out."""
    stopped: Array
    """(splits, networks): the step of that best loss."""
    layout: Layout
    """Which network is of which base predictor."""

    def predictions(self, split: int) -> dict[str, tuple[Any, Any]]:
        """The calibration and the test prediction of each kind of base predictor, for standardised labels."""
        calibration, test = (self.layout.predictions(outputs) for outputs in self.outputs[split])
        return {base: (calibration[base], test[base]) for base in calibration}


def train(
    X: Any,
    y: Any,
    splits: Sequence[Split],
    *,
    bases: Mapping[str, tuple[Head, ...]] = BASES,
    recipe: Recipe | None = None,
    device: str = "cpu",
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Fitted:
    """Train the networks of every split on its training rows alone: those of `bases`, by default twelve.

    What a split's networks become depends on the seed and on the split, not on the splits beside it. `progress` is
    told the steps done and the steps in all.
    """
    X, y = np.array(X, dtype=np.float64), np.array(y, dtype=np.float64)  # workers may not write to theirs
    recipe = Recipe() if recipe is None else recipe
    _check(X, y, splits)
    data, labels = torch.from_numpy(X).to(device), torch.from_numpy(y).to(device)
    layout = Layout(bases)
    parts = [prepare(data, labels, split, recipe, seed, layout) for split in splits]
    run = Run(parts, recipe, torch.device(device), layout)
    every = max(1, recipe.steps // recipe.checks)
    for done in range(run.warm_up() + 1, recipe.steps + 1):
        run.step()
        if done % every == 0 or done == recipe.steps:
            run.check()
            if progress is not None:
                progress(done, recipe.steps)
    outputs = []
    for i, split in enumerate(splits):
        seen = inputs(data, split.train)
        outputs.append((run.outputs(i, seen(split.calibration)), run.outputs(i, seen(split.test))))
    return Fitted(outputs, *run.best_checks(), layout)


def _check(X: Array, y: Array, splits: Sequence[Split]) -> None:
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise ValueError(f"train needs X of shape (n, d) and y of shape (n,), got {X.shape} and {y.shape}")
    for name, array in (("X", X), ("y", y)):
        bad = ~np.isfinite(array.reshape(len(array), -1)).all(axis=1)
        if bad.any():
            raise ValueError(f"{name} is NaN or infinite in row {bad.argmax()} ({in_all(bad.sum())})")
    sizes = sorted({len(split.train) for split in splits})
    if len(sizes) != 1 or sizes[0] < 2:
        raise ValueError(f"splits must have training parts of one size, of at least 2 rows, got sizes {sizes}")


class Run:
    """The state of a run on its device: buffers that stay in place, so that a CUDA graph can replay a step."""

    def __init__(self, parts: Sequence[Prepared], recipe: Recipe, device: torch.device, layout: Layout) -> None:
        self.recipe, self.device, self.layout, rows = recipe, device, layout, len(parts[0].fit_x)
        decays = recipe.decays(rows)
        self.twins, self.count = len(decays), len(parts) * len(decays)  # the twins of a split lie side by side
        self.x, self.y = torch.cat([part.fit_x for part in parts]), torch.cat([part.fit_y for part in parts])
        self.held_x = torch.stack([part.held_x for part in parts]).repeat_interleave(self.twins, 0)
        self.held_y = torch.stack([part.held_y for part in parts]).repeat_interleave(self.twins, 0)[:, None]
        order = np.stack([part.order + i * rows for i, part in enumerate(parts)], axis=1)
        self.order = torch.from_numpy(order.astype(np.int32)).to(device)
        layers = (self._stack(layer) for layer in zip(*(part.start for part in parts), strict=True))
        self.parameters = [layer.repeat_interleave(self.twins, 0).requires_grad_() for layer in layers]
        self.decay = self._stack([decays] * len(parts)).reshape(-1, 1, 1, 1)
        self.averages = [parameter.detach().clone() for parameter in self.parameters]
        self.best = [average.clone() for average in self.averages]
        self.lowest = torch.full((self.count, len(layout.heads)), math.inf, device=device)
        self.stopped = torch.zeros_like(self.lowest, dtype=torch.int64)
        self.clock = torch.zeros(1, dtype=torch.int64, device=device)
        time = np.arange(recipe.steps)
        rise, fall = np.minimum(1, (time + 1) / (0.05 * recipe.steps)), np.cos(math.pi / 2 * time / recipe.steps) ** 2
        self.rates = self._stack(recipe.learning_rate * rise * fall)
        self.weights = self._stack(np.maximum(1 - recipe.average, 1 / (time + 1)))  # a plain mean at first
        self.rate = torch.zeros((), device=device)
        cuda = device.type == "cuda"
        self.optimiser = torch.optim.Adam(self.parameters, lr=self.rate, betas=(0.9, 0.99), fused=True, capturable=cuda)
        self.step = self._step

    def _stack(self, arrays: Iterable[Any]) -> Tensor:
        return torch.from_numpy(np.stack(list(arrays)).astype(np.float32)).to(self.device)

    def warm_up(self) -> int:
        """The number of steps done here: on CUDA the first few, after which the rest are replays of a recorded one."""
        count = 3
        if self.device.type != "cuda" or self.recipe.steps <= count:
            return 0
        side = torch.cuda.Stream(self.device)  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(side):
            for _ in range(count):
                self._step()
        torch.cuda.current_stream(self.device).wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._step()
        self.step = graph.replay
        return count

    def _step(self) -> None:
        rows = self.order.index_select(0, self.clock).flatten()
        x = self.x.index_select(0, rows).reshape(self.count // self.twins, -1, self.x.shape[1])
        y = self.y.index_select(0, rows).reshape(self.count // self.twins, 1, -1)
        x, y = (each.repeat_interleave(self.twins, 0) for each in (x, y))
        self.rate.copy_(self.rates.index_select(0, self.clock)[0])
        raw = forward(self.parameters, x)
        losses = [head.loss(own, y).mean(-1) for head, own in self.layout.by_head(raw)]
        total = torch.cat(losses, dim=1).sum()  # the networks share nothing, so neither do their gradients
        for parameter, gradient in zip(self.parameters, torch.autograd.grad(total, self.parameters), strict=True):
            parameter.grad = gradient.contiguous()  # the fused step reads memory in order, whatever the strides
        with torch.no_grad():  # AdamW's decay, of weights only, with a strength for each network
            for parameter in self.parameters[0::2]:
                parameter.mul_(1 - self.rate * self.decay)
        self.optimiser.step()
        with torch.no_grad():
            weight = self.weights.index_select(0, self.clock)[0]
            for average, parameter in zip(self.averages, self.parameters, strict=True):
                average.lerp_(parameter, weight)
            self.clock.add_(1)

    @torch.no_grad()
    def check(self) -> None:
        """Keep the averaged weights of each network that was never better on its held-out rows."""
        raw = forward(self.averages, self.held_x)
        losses = [head.validation(own, self.held_y).mean(-1) for head, own in self.layout.by_head(raw)]
        now = torch.cat(losses, dim=1)
        better = now < self.lowest
        self.lowest.copy_(torch.where(better, now, self.lowest))
        self.stopped.copy_(torch.where(better, self.clock, self.stopped))
        for best, average in zip(self.best, self.averages, strict=True):
            best.copy_(torch.where(better[:, :, None, None], average, best))

    def best_checks(self) -> tuple[Array, Array]:
        """The lowest loss on the held-out rows of each network or its twin, and the step of it."""
        losses, steps = (each.reshape(-1, self.twins, len(self.layout.heads)) for each in (self.lowest, self.stopped))
        lowest = losses.min(1)
        return lowest.values.cpu().numpy(), steps.gather(1, lowest.indices[:, None])[:, 0].cpu().numpy()

    @torch.no_grad()
    def outputs(self, split: int, x: Tensor) -> Tensor:
        """What the best networks of a split say of rows, as float32 on the CPU."""
        better = self.lowest.reshape(-1, self.twins, len(self.layout.heads))[split].argmin(0)
        chosen = split * self.twins + better, torch.arange(len(self.layout.heads), device=self.device)
        return forward([best[chosen][None] for best in self.best], x[None])[0].cpu()
