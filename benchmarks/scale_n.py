"""Time and memory of a fit against its number of scores: `python benchmarks/scale_n.py`, 1e5 to 1e9 of them.

By `calibrant.tables.fit`, which keeps a sample of 100,000 rows, and by `Calibrator().fit`, which keeps all scores.
Rows come from memory, a batch again and again with ids of its own, so that no disk is measured. Every fit is a process
of its own. The table is printed and written to results/scale_n.md.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from calibrant import Calibrator, Normal, tables

BATCH = 10**5


def stream(n: int) -> Iterator[pa.RecordBatch]:
    rng = np.random.default_rng(0)
    mu, sigma = rng.normal(size=BATCH), rng.uniform(0.5, 1.5, BATCH)
    columns = [pa.array(each) for each in (mu, sigma, mu + sigma * rng.normal(size=BATCH))]
    for start in range(0, n, BATCH):
        yield pa.RecordBatch.from_arrays(
            [pa.array(np.arange(start, start + BATCH)), *columns], names=["id", "mu", "sigma", "y"]
        )


def sample(n: int) -> None:
    model = tables.fit(stream(n), tables.Columns(target="y", mean="mu", std="sigma"), ids="id")
    if model.calibrated.guarantee.n != min(n, 10**5):
        raise SystemExit("this was no sample of 100,000")


def everything(n: int) -> None:
    rng = np.random.default_rng(0)
    mu = rng.normal(size=n)
    y = rng.normal(size=n)
    y += mu
    Calibrator().fit(Normal(mu, 1.0), y)


WORKS = {"sample": (sample, 10**9), "everything": (everything, 10**7)}


def measured(work: str, n: int) -> list[float]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--child", work, str(n)]
    found = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return list(json.loads(found.stdout))


def child(work: str, n: int) -> None:
    start = time.perf_counter()
    WORKS[work][0](n)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps([time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=float, default=1e9)
    parser.add_argument("--child", nargs=2)
    options = parser.parse_args()
    if options.child:
        child(options.child[0], int(options.child[1]))
        return
    lines = [
        "# A fit against its number of rows",
        "",
        f"`python benchmarks/scale_n.py --most {options.most:.0e}`: seconds, those of a processor, and the peak memory",
        "of the process, imports and the making of the rows included. One thread, on 2 cores that others shared.",
        "",
        "| rows | sample of 100,000: seconds | of a processor | memory | all: seconds | of a processor | memory |",
        "|---|---|---|---|---|---|---|",
    ]
    for power in range(5, round(np.log10(options.most)) + 1):
        cells = [f"10^{power}"]
        for work, (_, most) in WORKS.items():
            if 10**power > most:
                cells += ["not run: 0.25 GiB for each 10^6", "", ""]
                continue
            seconds, processor, memory = measured(work, 10**power)
            cells += [f"{seconds:.1f}", f"{processor:.1f}", f"{memory:.2f} GiB"]
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], file=sys.stderr, flush=True)
        text = "\n".join(lines) + "\n"
        Path(__file__).parents[1].joinpath("results", "scale_n.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
