"""The two phases of a run: train the networks, then measure the cells, each on several workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

from studies.cells import Task, measure, one_thread
from studies.devices import on_gpu
from studies.names import Cell
from studies.part import Part
from studies.progress import Clock, shown
from studies.smooth import with_smooth_distributions
from studies.store import Store
from studies.trained import Training


def phases(parts: list[Part], store: Store, device: str, jobs: int | None, seed: int) -> dict[str, float]:
    """Train what is to be trained, then measure; the seconds of each."""
    trainings = [training for part in parts for training in part.trainings(device)]
    by_name = {part.name: part for part in parts}
    workers = effective_n_jobs(jobs)
    training = Clock(
        sum(len(each.splits) * by_name[each.table.name].split_work for each in trainings),
        1 if on_gpu(device) else workers,
    )
    calibration = Clock(sum(part.work(cell) for part in parts for cell in part.cells()), workers)
    with shown({"training": training, "calibration": calibration}) as show:
        with training.running():
            _train(trainings, by_name, store, device, jobs, training, show)
        with calibration.running(), one_thread():
            batches = with_smooth_distributions(parts, seed, device) if on_gpu(device) else _one_by_one(parts, seed)
            for lines in _parallel(jobs, max_nbytes=None)(map(delayed(_measured), batches)):
                store.append(*lines)
                for line in lines:
                    calibration.advance(by_name[line["dataset"]].work(Cell.of(line)))
                show(f"{lines[-1]['dataset']}, split {lines[-1]['split']}")
    store.append({"phase": {"name": "calibration", "seconds": calibration.seconds, "jobs": workers}})
    return {"training": training.seconds, "calibration": calibration.seconds}


def _one_by_one(parts: list[Part], seed: int) -> Iterator[list[Task]]:
    return ([task] for part in parts for task in part.tasks(seed))


def _measured(tasks: list[Task]) -> list[dict[str, Any]]:
    """The lines of tasks that travel together."""
    return [measure(task) for task in tasks]


def _train(
    trainings: list[Training],
    parts: dict[str, Part],
    store: Store,
    device: str,
    jobs: int | None,
    clock: Clock,
    show: Callable[[str], None],
) -> None:
    """Train, keep what each network said, and write a line for each group of splits."""
    workers = _parallel(jobs, backend="sequential") if on_gpu(device) else _parallel(jobs)
    before = 0.0
    for name, outputs in workers(map(delayed(Training.__call__), trainings)):
        for split, packed in outputs.items():
            parts[name].trained.keep(split, packed)
        seconds = clock.elapsed() - before  # since the last line, so that they add up to the phase
        before += seconds
        line = {"dataset": name, "splits": list(outputs), "seconds": round(seconds, 3), "device": device}
        store.append({"training": line})
        clock.advance(len(outputs) * parts[name].split_work)
        show(name)


def _parallel(jobs: int | None, **options: Any) -> Any:
    """Workers that hand over each result as soon as it is there: what is waiting in a batch would die with the run."""
    return Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, **options)
