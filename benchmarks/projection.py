"""Distance of every method's curve from the truth, over distributions, numbers of records and epsilons.

    python benchmarks/projection.py [--runs 20] [--jobs 2] [--only METHOD ...] [--quick]

Every cell is a public release (`ogive.release`) of 1024 bins under delta = n^-1.5, one record replaced. All methods of
a cell see the same simulated records. Distances are those of the released curves at the thresholds, as step functions,
from the true distribution function: KS as a share, Earth Mover's and energy distance in the units of the values.
`records` is the exact curve of the simulated records: the error that remains without any noise.

Results go to projection.json, cell by cell: a run that was cut off goes on where it stopped, and `--only` measures some
methods anew. `projection_tables.py` makes tables of them, `projection_figures.py` pictures. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from projection_cases import HELD_OUT, LAWS, NAMES, REAL, Case, case, distances
from projection_trust import Counted

import ogive
from ogive.noise import KeyedSource

RESULTS = Path(__file__).with_name("projection.json")
RECORDS = (1_000, 10_000, 1_000_000)
EPSILONS = (0.1, 1.0)
DISTANCES = ("ks", "emd", "energy")
RAW = tuple(f"raw_{name}" for name in DISTANCES)

LINEAR: dict[str, Callable[[], Any]] = {name: lambda name=name: name for name in ("path", "tree_ls", "hat_ls", "sqrt")}  # type: ignore[misc]
PROJECTIONS: dict[str, Callable[[], Any]] = {
    "projection": ogive.Projection,
    "isotropic": lambda: ogive.Projection(noise="isotropic"),
    "sine": lambda: ogive.Projection(basis="sine"),
    "moments (paper)": lambda: ogive.Projection(noise="moments", constants="paper", degree=6),
}
OTHERS: dict[str, Callable[[], Any]] = {
    "histogram": ogive.HistogramQueries,
    "adaptive": ogive.AdaptiveQuantiles,
}
SINGLE = {**LINEAR, **PROJECTIONS, **OTHERS}
"""Methods that are one method whatever the terms."""
CHOOSING: dict[str, Callable[[], Any]] = {"auto": lambda: "auto", "selected": ogive.PrivateSelection}
"""Methods that choose among others: before looking at the records, and by paying for the look."""
METHODS = {**SINGLE, **CHOOSING}
DEGREES = (3, 6, 10, 14, 20, 30)
SWEEP = {f"K={degree}": lambda degree=degree: ogive.Projection(degree=degree) for degree in DEGREES}  # type: ignore[misc]
NONE = "records"


@dataclass(frozen=True)
class Cell:
    """Where a method is tried."""

    name: str
    records: int
    epsilon: float
    wider: int = 1

    @property
    def case(self) -> Case:
        """The distribution on its grid."""
        return case(self.name, self.wider)

    @property
    def privacy(self) -> ogive.ApproxDP:
        """delta = n^-1.5, to three digits."""
        return ogive.ApproxDP(self.epsilon, float(f"{self.records**-1.5:.3g}"))

    def seed(self, *more: object) -> int:
        """A public seed of this cell's own."""
        return zlib.crc32(repr((self.name, self.records, self.wider, *more)).encode())


def cells(*, quick: bool = False) -> Iterator[tuple[Cell, tuple[str, ...]]]:
    """Every cell with what is tried there."""
    names = tuple(METHODS)
    for epsilon in EPSILONS:
        for records in RECORDS[: 1 if quick else None]:
            for name in LAWS:
                yield Cell(name, records, epsilon), (NONE, *names, *(() if quick else SWEEP))
            for name in HELD_OUT:
                yield Cell(name, records, epsilon), (NONE, *names)
        if quick:
            continue
        for name in REAL:
            yield Cell(name, int(case(name).counts.sum()), epsilon), (NONE, *names)  # type: ignore[union-attr]
        for name in ("normal", "beta", "exponential"):
            for wider in (2, 10):
                yield Cell(name, 10_000, epsilon, wider), (NONE, *names)


def measure(cell: Cell, method: str, runs: int) -> dict[str, Any]:
    """Mean distances of some releases, smoothed and as they were before smoothing."""
    errors, chosen, failed = [], Counter[str](), ""
    this = cell.case
    truth = np.cumsum(this.shares)
    for run in range(runs):
        data = cell.seed(run)
        if method == NONE:
            counts = np.random.default_rng(data).multinomial(cell.records, this.shares)
            errors.append(distances(np.cumsum(counts) / cell.records, truth, this.grid.thresholds) * 2)
            continue
        way = METHODS.get(method) or SWEEP[method]
        # one key for all methods: what `auto` takes has the very noise that it has by its own name
        source = KeyedSource.from_seed(cell.seed(run, cell.epsilon))
        trust = Counted(this.draw(cell.records, data))
        try:
            statistic = ogive.Ecdf("value", grid=this.grid, method=way())
            curve = ogive.release(statistic, trust=trust, privacy=cell.privacy, source=source)
        except (ogive.errors.ParameterError, ogive.errors.UnsupportedError, ogive.errors.ScaleError) as error:
            failed = str(error)
            break
        chosen[str(curve.provenance.method)] += 1
        both = (curve.probabilities, curve.raw / cell.records)
        errors.append(sum((distances(each, truth, this.grid.thresholds) for each in both), ()))
    key = {"case": cell.name, "wider": cell.wider, "records": cell.records, "epsilon": cell.epsilon, "method": method}
    if failed:
        return {**key, "runs": 0, "failed": failed}
    means, spread = np.mean(errors, axis=0), np.std(errors, axis=0, ddof=1) / np.sqrt(runs)
    numbers = {name: float(f"{mean:.4g}") for name, mean in zip((*DISTANCES, *RAW), means, strict=True)}
    doubt = {f"{name}_se": float(f"{each:.2g}") for name, each in zip(DISTANCES, spread, strict=False)}
    return {**key, "runs": runs, **numbers, **doubt, "chosen": dict(chosen)}


KEYS = ("case", "wider", "records", "epsilon", "method")


def key_of(entry: dict[str, Any]) -> tuple[Any, ...]:
    """What is measured once."""
    return tuple(entry[name] for name in KEYS)


def read(path: Path = RESULTS) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Results so far."""
    return {key_of(entry): entry for entry in json.loads(path.read_text(encoding="utf-8"))} if path.exists() else {}


def write(entries: dict[tuple[Any, ...], dict[str, Any]], path: Path = RESULTS) -> None:
    """The whole file anew, in one order."""
    places = {name: place for place, name in enumerate(NAMES)}
    methods = {name: place for place, name in enumerate((NONE, *METHODS, *SWEEP))}
    kept = sorted(
        entries.values(),
        key=lambda entry: (
            places[entry["case"]],
            entry["wider"],
            entry["records"],
            entry["epsilon"],
            methods[entry["method"]],
        ),
    )
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.write_text("[\n" + ",\n".join("  " + json.dumps(entry) for entry in kept) + "\n]\n")
    beside.replace(path)


def _measure_all(cell: Cell, methods: tuple[str, ...], runs: int) -> list[dict[str, Any]]:
    return [measure(cell, method, runs) for method in methods]


def _polite() -> None:
    os.nice(10)


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="releases a cell and method")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--only", nargs="+", metavar="METHOD", help="measure these anew and no others")
    parser.add_argument("--quick", action="store_true", help="a thousand records only; nothing is recorded")
    arguments = parser.parse_args()
    entries = {} if arguments.quick else read()
    work = []
    for cell, methods in cells(quick=arguments.quick):
        wanted = []
        for method in methods:
            found = entries.get((cell.name, cell.wider, cell.records, cell.epsilon, method))
            missing = found is None or found["runs"] < arguments.runs
            if method in arguments.only if arguments.only else missing:
                wanted.append(method)
        if wanted:
            work.append((cell, tuple(wanted)))
    with ProcessPoolExecutor(arguments.jobs, initializer=_polite) as pool:
        waiting = {pool.submit(_measure_all, cell, methods, arguments.runs): cell for cell, methods in work}
        for done, future in enumerate(as_completed(waiting), start=1):
            cell = waiting[future]
            for entry in future.result():
                entries[key_of(entry)] = entry
            if not arguments.quick:
                write(entries)
            wide = f", bounds x{cell.wider}" if cell.wider > 1 else ""
            print(f"{done}/{len(work)}  {cell.name}{wide}, n={cell.records}, epsilon={cell.epsilon:g}", flush=True)


if __name__ == "__main__":
    main()
