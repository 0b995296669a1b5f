"""How much of the public interface pyright knows, from what it wrote: see `make types`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

LEAST = 0.99

if __name__ == "__main__":
    found = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["typeCompleteness"]
    unknown = [each["name"] for each in found["symbols"] if each["isExported"] and not each["isTypeKnown"]]
    print(*unknown, sep="\n")
    counts, score = found["exportedSymbolCounts"], found["completenessScore"]
    print(f"{counts['withKnownType']:,} of {sum(counts.values()):,} exported symbols have a known type: {score:.2%}")
    sys.exit(score < LEAST)  # without any symbol, too: the score is then 0
