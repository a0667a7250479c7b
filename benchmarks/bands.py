"""Width of the band that narrows in the tails, as a part of that of the even one, for docs/proofs/narrowing.md.

    python benchmarks/bands.py [--quick]

Normal records between 0 and 100 in 1024 bins; released by hats at epsilon 0.1 and 1.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import ogive
from ogive.noise import KeyedSource

AT = (20, 50)


def main() -> None:
    """Print a row for each number of records and epsilon."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without 1,000,000 records")
    sizes = (1000, 10_000, 100_000) if parser.parse_args().quick else (1000, 10_000, 100_000, 1_000_000)
    print("| records | epsilon | half-width of the one | mean | at 20 | at 50 | seconds |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for records in sizes:
        values = np.random.default_rng(1).normal(50, 10, records)
        for epsilon in ("0.1", "1"):
            curve = ogive.release(
                ogive.Ecdf("x", (0, 100), bins=1024, method="hat_ls"),
                trust=ogive.Central({"x": values}),
                privacy=ogive.PureDP(epsilon),
                source=KeyedSource.from_seed(1),
            )
            even, start = curve.band(), time.perf_counter()
            narrow, taken = curve.band(width="narrowing"), time.perf_counter() - start
            wide, thin = even.high - even.low, narrow.high - narrow.low
            at = [np.searchsorted(curve.thresholds, t) for t in AT]
            parts = [f"{thin[i] / wide[i]:.2f}" for i in at]
            print(f"| {records:,} | {epsilon} | {even.half_width:.4f} | {thin.sum() / wide.sum():.2f} |",
                  " | ".join([*parts, f"{taken:.1f}"]), "|")  # fmt: skip


if __name__ == "__main__":
    main()
