"""All benchmarks, one after the other.

    python benchmarks/run.py [--quick] [--output FILE] [NAME ...]

A full run fills results.json, from which `publish.py` makes the page of the manual. A quick run
has fewer runs and smaller sizes, and fills a file of its own, `bench-quick.json`. `ogive bench compare`
tells what became slower between two such files. A benchmark that fails is named at the end, and the others run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from harness import NAMED_RESULTS, RESULTS

HERE = Path(__file__).parent
QUICK = (
    "samplers",
    "smoothing",
    "curves",
    "few_quantiles",
    "roots",
    "roc",
    "concordance",
    "files",
    "many_rows",
    "engines",
    "interval_coverage",
    "intervals",
    "local",
    "local_parts",
    "margins",
    "comparison_keys",
    "pairwise",
    "pairs",
    "secagg",
    "secret_votes",
    "uploads",
    "study",
    "ledger",
    "pate",
    "pate_sensitivity",
    "sizing",
    "survival",
    "streams",
)
"""Those that have a quick form."""
LONG = (
    "tables",
    "local_curves",
    "pate_students",
    "projection_noise",
    "projection",
    "projection_tables",
    "auto_columns",
    "accuracy",
    "projection_figures",
    "accuracy_figures",
)
QUICK_RESULTS = Path("bench-quick.json")


def main() -> int:
    """Run them; the exit status is 1 where one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer runs and smaller sizes")
    parser.add_argument("--output", type=Path, help="file of the rows; rows that it has already are replaced")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these benchmarks")
    asked = parser.parse_args()
    known = QUICK if asked.quick else (*QUICK, *LONG)
    unknown = [name for name in asked.names if name not in known]
    if unknown:
        parser.error(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(known)}")
    output = asked.output or (QUICK_RESULTS if asked.quick else RESULTS)
    environment = {**os.environ, NAMED_RESULTS: str(output.resolve())}
    failed = []
    for name in asked.names or known:
        start = time.perf_counter()
        command = [sys.executable, str(HERE / f"{name}.py"), *(["--quick"] if asked.quick else [])]
        print(f"== {name}", flush=True)
        if subprocess.run(command, env=environment, check=False).returncode:
            failed.append(name)
        print(f"== {name}: {time.perf_counter() - start:.0f} s", flush=True)
    print(f"rows are in {output}" + (f"; failed: {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
