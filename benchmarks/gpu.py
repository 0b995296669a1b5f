"""One GPU, 1e8 rows in float64: `python benchmarks/gpu.py`. Each time is a median of CUDA events."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median

import torch

from calibrant import Calibrator, Normal


def milliseconds(work: Callable[[], object], repeats: int = 7) -> float:
    work()
    times = []
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        start.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return median(times)


def main(rows: int, n: int) -> None:
    generator = torch.Generator("cuda").manual_seed(0)
    normal = lambda k: torch.randn(k, dtype=torch.float64, device="cuda", generator=generator)  # noqa: E731
    calibrated = Calibrator().fit(Normal(normal(n), normal(n).abs() + 0.5), normal(n))
    prediction, y = Normal(normal(rows), normal(rows).abs() + 0.5), normal(rows)
    law = calibrated(prediction)
    some = slice(0, 1000)
    home = calibrated.q.to(torch.zeros((), dtype=torch.float64))
    z = ((y - prediction.loc) / prediction.scale)[some].cpu()
    agree = float((law.cdf(y)[some].cpu() - home.cdf(z)).abs().max())
    print(
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {rows:.0e} rows, n = {n}, float64, linear, z-score"
    )
    print(f"largest difference from the CPU on 1,000 rows: {agree:.1e}")
    for name, work, goal in (
        ("cdf", lambda: law.cdf(y), 15),
        ("crps", lambda: law.crps(y), None),
        ("logpdf", lambda: law.logpdf(y), None),
        ("cdf + crps + logpdf", lambda: (law.cdf(y), law.crps(y), law.logpdf(y)), 100),
        ("calibrated(prediction)", lambda: calibrated(prediction), None),
        ("90% interval", lambda: law.interval(0.9), None),
        ("mean and std", lambda: (law.mean(), law.std()), None),
    ):
        print(f"{name:24} {milliseconds(work):8.2f} ms{f'   goal {goal} ms' if goal else ''}")
    print(f"peak memory {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--scores", type=int, default=10_000)
    arguments = parser.parse_args()
    main(arguments.rows, arguments.scores)
