"""Counts of two variables by group that agree: ogive's least squares of at least 0 beside Private-PGM (mbi).

    python benchmarks/margins.py [--quick]

One release describes two variables of categories by group, with Laplace noise: noisy counts of (x, group) and of (y,
group), whose group sizes agree and add up to a public number of records. Both estimate all counts from the same noisy
integers. Ours is the least-squares estimate under the linear constraints, moved to numbers of at least 0 that still
agree. Private-PGM fits a graphical model by mirror descent. Errors are root mean squares over all cells and releases,
in records. `mbi` needs jax; it is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import time
from importlib.util import find_spec
from typing import Any

import numpy as np
from harness import record, row
from numpy.typing import NDArray

import ogive
from ogive import PureDP
from ogive.noise import KeyedSource

Float64 = NDArray[np.float64]
GROUPS = ("a", "b", "c")
SIZES = (4, 8)


def drawn(records: int, seed: int) -> dict[str, NDArray[Any]]:
    """Two variables that depend on the group, with rare categories."""
    random = np.random.default_rng(seed)
    group = random.choice(len(GROUPS), records, p=(0.6, 0.3, 0.1))
    table: dict[str, NDArray[Any]] = {"g": np.array(GROUPS)[group]}
    for name, size in zip("xy", SIZES, strict=True):
        shares = 2.0 ** -np.arange(size)
        each = [random.choice(size, records, p=np.roll(shares, place) / shares.sum()) for place in range(len(GROUPS))]
        table[name] = np.array(each)[group, np.arange(records)]
    return table


def exact(table: dict[str, NDArray[Any]]) -> list[Float64]:
    """The counts of each variable by group, shape (groups, categories)."""
    return [
        np.array([[np.sum((table["g"] == group) & (table[name] == each)) for each in range(size)] for group in GROUPS])
        for name, size in zip("xy", SIZES, strict=True)
    ]


def fitted(raw: list[Float64], deviations: list[float], records: int) -> list[Float64]:
    """What Private-PGM makes of the same integers."""
    import mbi

    domain = mbi.Domain(("x", "y", "g"), (*SIZES, len(GROUPS)))
    measured = [
        mbi.LinearMeasurement(values.T.ravel(), (name, "g"), stddev=deviation)
        for name, values, deviation in zip("xy", raw, deviations, strict=True)
    ]
    model = mbi.estimation.MirrorDescent().estimate(domain, measured, known_total=float(records))
    return [np.array(model.project((name, "g")).datavector(flatten=False)).T for name in "xy"]


def measure(records: int, epsilon: str, releases: int, *, peer: bool) -> list[dict[str, Any]]:
    """Errors and times of both."""
    values = {name: tuple(range(size)) for name, size in zip("xy", SIZES, strict=True)}
    question = ogive.Describe(("x", "y"), values=values, by="g", groups=GROUPS)
    squares: dict[str, list[float]] = {"raw": [], "ogive": [], "mbi": []}
    seconds: dict[str, list[float]] = {"ogive": [], "mbi": []}
    for seed in range(releases):
        table = drawn(records, seed)
        released = ogive.release(
            question, trust=ogive.Central(table), privacy=PureDP(epsilon), source=KeyedSource.from_seed(seed)
        )
        truth = exact(table)
        # an estimate of everything is made when it is first used
        fresh = type(released).from_dict(released.to_dict())
        start = time.perf_counter()
        ours = [np.array([fresh.of(name, group)["histogram"].counts for group in GROUPS]) for name in "xy"]
        seconds["ogive"].append(time.perf_counter() - start)
        raw = [np.array([fresh.of(name, group)["histogram"].raw for group in GROUPS]) for name in "xy"]
        results = {"raw": raw, "ogive": ours}
        if peer:
            laws = [fresh.of(name, GROUPS[0])["histogram"].measured for name in "xy"]
            deviations = [float(each.law.variance) ** 0.5 / 2.0**each.bits for each in laws]
            start = time.perf_counter()
            results["mbi"] = fitted(raw, deviations, records)
            seconds["mbi"].append(time.perf_counter() - start)
        for name, counts in results.items():
            squares[name] += [float(np.square(each - true).mean()) for each, true in zip(counts, truth, strict=True)]
    work = f"counts of two variables by group, n = {records:,}, epsilon = {epsilon}"
    errors = {name: float(np.sqrt(np.mean(each))) for name, each in squares.items() if each}
    named = {"peer": "mbi", "larger_is_better": False} if peer else {}
    rows = [
        row(work, "rmse", "records", errors["ogive"], peer_value=errors.get("mbi"), runs=releases, **named),
        row(work, "rmse, as measured", "records", errors["raw"], runs=releases),
    ]
    times = {name: float(np.median(each)) for name, each in seconds.items() if each}
    rows.append(row(work, "time", "s", times["ogive"], peer_value=times.get("mbi"), runs=releases, **named))
    return rows


def main() -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer releases")
    quick = parser.parse_args().quick
    peer = find_spec("mbi") is not None
    rows = []
    for records, epsilon in ((300, "1"), (2000, "1"), (20_000, "1/2")):
        rows += measure(records, epsilon, 4 if quick else 30, peer=peer)
    record(rows, quick=quick)


if __name__ == "__main__":
    main()
