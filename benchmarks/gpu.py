"""One GPU, 1e8 rows in float64: `python benchmarks/gpu.py`. Each time is a median of CUDA events."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


@contextmanager
def no_rows_leave(n: int) -> Iterator[None]:
    """Raise where a tensor of more values than there are scores would be copied off the GPU."""
    kept = {name: getattr(torch.Tensor, name) for name in ("cpu", "numpy", "tolist", "to", "__array__")}

    def guarded(name: str) -> Callable[..., object]:
        def method(self: torch.Tensor, *arguments: object, **options: object) -> object:
            result = kept[name](self, *arguments, **options)
            if self.is_cuda and self.numel() > n + 2 and not getattr(result, "is_cuda", False):
                raise AssertionError(f"a tensor of {self.numel()} values left the GPU by .{name}")
            return result

        return method

    for name in kept:
        setattr(torch.Tensor, name, guarded(name))
    try:
        yield
    finally:
        for name, method in kept.items():
            setattr(torch.Tensor, name, method)


def main(rows: int, n: int) -> None:
    generator = torch.Generator("cuda").manual_seed(0)
    normal = lambda k: torch.randn(k, dtype=torch.float64, device="cuda", generator=generator)  # noqa: E731
    with no_rows_leave(n):
        calibrated = Calibrator().fit(Normal(normal(n), normal(n).abs() + 0.5), normal(n))
        prediction, y = Normal(normal(rows), normal(rows).abs() + 0.5), normal(rows)
        distribution = calibrated(prediction)
        for result in (
            distribution.cdf(y),
            distribution.crps(y),
            distribution.logpdf(y),
            *distribution.interval(0.9),
            distribution.mean(),
            distribution.std(),
        ):
            assert result.is_cuda
    some = slice(0, 1000)
    home = calibrated.q.to(torch.zeros((), dtype=torch.float64))
    z = ((y - prediction.loc) / prediction.scale)[some].cpu()
    agree = float((distribution.cdf(y)[some].cpu() - home.cdf(z)).abs().max())
    print(
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {rows:.0e} rows, n = {n}, float64, linear, z-score"
    )
    print("no array of rows left the GPU in fit, call, cdf, crps, logpdf, interval, mean and std")
    print(f"largest difference from the CPU on 1,000 rows: {agree:.1e}")
    for name, work, goal in (
        ("cdf", lambda: distribution.cdf(y), 4),
        ("crps", lambda: distribution.crps(y), None),
        ("logpdf", lambda: distribution.logpdf(y), None),
        ("cdf + crps + logpdf", lambda: (distribution.cdf(y), distribution.crps(y), distribution.logpdf(y)), 12),
        ("calibrated(prediction)", lambda: calibrated(prediction), None),
        ("90% interval", lambda: distribution.interval(0.9), None),
        ("mean and std", lambda: (distribution.mean(), distribution.std()), None),
    ):
        print(f"{name:24} {milliseconds(work):8.2f} ms{f'   goal {goal} ms' if goal else ''}")
    print(f"peak memory {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--scores", type=int, default=10_000)
    arguments = parser.parse_args()
    main(arguments.rows, arguments.scores)
