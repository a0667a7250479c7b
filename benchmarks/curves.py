"""Error, time and memory of whole distribution functions, against other libraries and the paper's constants.

    python benchmarks/curves.py [--quick]

Error of a curve: root of the mean squared error over all N points and all runs (RMSE), and the
mean over runs of the largest error (KS), both in records of n = 100 000. Raw estimates are
unbiased and their error does not depend on the records; smoothed ones are always valid
distribution functions, and their error does.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from curve_peers import best_base, google_quantiles, google_shapes, opendp_curve
from harness import record, row
from numpy.typing import NDArray

from ogive.noise import DerivedNodes, SystemSource
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.statistics.methods.choose import candidates
from ogive.strategies import Strategy, design_path
from ogive.strategies.smoothing import DEFAULT_SMOOTHING, smooth

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]
Privacy = PureDP | ZeroConcentratedDP

RECORDS = 100_000
PRIVACY: tuple[Privacy, ...] = (PureDP(1), ZeroConcentratedDP("0.5"))
PROBABILITIES = (np.arange(200) + 0.5) / 200
PAPER = "the paper's constants"
SMOOTHINGS = (DEFAULT_SMOOTHING, "isotonic", "least_squares")
"""Least squares is also what the paper's constants are smoothed by (its p=2)."""

RAW_AGAINST_OPENDP, RAW_AGAINST_PAPER, SMOOTHED_AGAINST_PAPER = 0.75, 0.34, 0.33
"""Targets for the RMSE at N = 2^15, pure privacy, one record replaced."""
SECONDS = {2**15: 0.025, 2**20: 1.0}
"""Targets for a whole release from counts."""


def histogram(kind: str, size: int) -> Int64:
    """Records of one of three shapes on a grid of `size` points; fixed, since only the noise is random here."""
    generator = np.random.default_rng(20)
    if kind == "uniform":
        bins = generator.integers(0, size, RECORDS)
    elif kind == "lognormal":
        bins = np.minimum(size * generator.lognormal(-2.5, 0.8, RECORDS), size - 1).astype(np.int64)
    else:
        heavy = generator.random(RECORDS) < 0.9
        places = generator.integers(0, size, 20)
        bins = np.where(heavy, places[generator.integers(0, 20, RECORDS)], generator.integers(0, size, RECORDS))
    return np.bincount(bins, minlength=size).astype(np.int64)


KINDS = ("uniform", "lognormal", "spikes")


@dataclass
class Errors:
    """Errors of many curves, gathered."""

    squares: list[float] = field(default_factory=list)
    largest: list[float] = field(default_factory=list)

    def add(self, curve: Float64, truth: Float64) -> None:
        """One more curve."""
        difference = curve - truth
        self.squares.append(float(np.square(difference).mean()))
        self.largest.append(float(np.abs(difference).max()))

    @property
    def rmse(self) -> float:
        """Root of the mean squared error."""
        return float(np.sqrt(np.mean(self.squares)))

    @property
    def ks(self) -> float:
        """Mean largest error."""
        return float(np.mean(self.largest))


def noisy(strategy: Strategy, counts: Int64) -> Int64:
    """Measurements as a curator releases them, with a fresh key."""
    nodes = DerivedNodes(SystemSource().key(), b"benchmark")
    noise = (nodes.values(level.law, place, np.arange(level.nodes)) for place, level in enumerate(strategy.levels))
    return strategy.measure(counts) + strategy.spread(tuple(noise))


def our_errors(
    strategy: Strategy, counts: Int64, total: int | None, smoothings: tuple[str, ...], *, runs: int, anchor: bool = True
) -> dict[str, Errors]:
    """Errors raw and after some smoothings; with `anchor` off as in the paper, which uses the total as a bound only."""
    truth = np.cumsum(counts).astype(np.float64)
    errors = {name: Errors() for name in ("raw", *smoothings)}
    for _ in range(runs):
        answer = noisy(strategy, counts)
        errors["raw"].add(strategy.estimate(answer, total if anchor else None), truth)
        for kind in smoothings:
            errors[kind].add(smooth(strategy, answer, total=total, kind=kind, anchor=anchor), truth)
    return errors


def error_rows(size: int, privacy: Privacy, adjacency: Adjacency, *, runs: int) -> Iterator[dict[str, Any]]:
    """Compare every method at one guarantee, print a table, and yield rows."""
    place = f"N={size}, {privacy}, {adjacency.value}"
    total = RECORDS if adjacency is Adjacency.REPLACE else None
    strategies = candidates(size, privacy, adjacency)
    # of a method with both kinds of noise, the better one
    methods = {strategy.name: strategy for strategy in reversed(strategies)}
    paper = design_path(size, privacy=privacy, adjacency=adjacency, constants="paper")
    base = best_base(size, privacy)
    theirs = peer_errors(opendp_curve(size, base, privacy, adjacency), histogram(KINDS[0], size), runs=runs)
    print(f"\n{place}; {runs} runs; auto = {strategies[0].name}")
    # least squares of the square-root method takes minutes at 2^20
    smoothings = SMOOTHINGS if size < 2**20 else SMOOTHINGS[:2]
    print(f"{'RMSE, KS':34}" + "".join(f"{stage:>19}" for stage in ("raw", *SMOOTHINGS)))
    print(f"{f'OpenDP, best base {base}':34}{table_cells({'raw': theirs})}")
    promised = size == 2**15 and isinstance(privacy, PureDP) and adjacency is Adjacency.REPLACE
    for kind in KINDS if size < 2**20 else KINDS[:1]:
        counts = histogram(kind, size)
        found = {name: our_errors(each, counts, total, smoothings, runs=runs) for name, each in methods.items()}
        papers = our_errors(paper, counts, total, ("least_squares",), runs=runs, anchor=total is None)
        for name, errors in (*found.items(), (PAPER, papers)):
            print(f"{f'{kind}, {name}':34}{table_cells(errors)}")
        ours = found[strategies[0].name]
        if kind == KINDS[0]:  # the raw error is the same for all records
            work = f"curve, raw, {place}"
            yield from compared(work, ours["raw"], "opendp", theirs, RAW_AGAINST_OPENDP, promised, runs)
            yield from compared(work, ours["raw"], PAPER, papers["raw"], RAW_AGAINST_PAPER, promised, runs)
        for smoothing in smoothings:
            work = f"curve, {smoothing}, {kind}, {place}"
            against = papers["least_squares"]
            yield from compared(work, ours[smoothing], PAPER, against, SMOOTHED_AGAINST_PAPER, promised, runs)
        if isinstance(privacy, PureDP):
            yield quantile_row(kind, counts, privacy, adjacency, strategies[0], place, runs=runs)


def table_cells(errors: dict[str, Errors]) -> str:
    """RMSE and KS of every stage, in the columns of the table."""
    found = (errors.get(stage) for stage in ("raw", *SMOOTHINGS))
    return "".join(" " * 19 if stage is None else f"{stage.rmse:10.2f}{stage.ks:9.2f}" for stage in found)


def peer_errors(curve: Callable[[Int64], Float64], counts: Int64, *, runs: int) -> Errors:
    """Errors of another library's curves."""
    truth = np.cumsum(counts).astype(np.float64)
    errors = Errors()
    for _ in range(runs):
        errors.add(curve(counts), truth)
    return errors


def compared(
    work: str, ours: Errors, peer: str, theirs: Errors, share: float, promised: bool, runs: int
) -> Iterator[dict[str, Any]]:
    """Rows for RMSE and KS; where something was promised, it is a share of the peer's RMSE."""
    target = round(share * theirs.rmse, 2) if promised else None
    for metric, value, other, goal in (("RMSE", ours.rmse, theirs.rmse, target), ("KS", ours.ks, theirs.ks, None)):
        yield row(
            work, metric, "records", value, runs=runs, target=goal, larger_is_better=False, peer=peer, peer_value=other
        )


def quantile_row(
    kind: str, counts: Int64, privacy: PureDP, adjacency: Adjacency, strategy: Strategy, place: str, *, runs: int
) -> dict[str, Any]:
    """Rank errors of 200 quantiles against Google's quantile tree with its best shape."""
    total = RECORDS if adjacency is Adjacency.REPLACE else None
    epsilon, size = float(privacy.epsilon), counts.size
    truth = np.cumsum(counts) / RECORDS

    def squared_rank_error(bins: Int64) -> float:
        below = np.where(bins > 0, truth[bins - 1], 0.0)
        misses = np.maximum(0.0, np.maximum(below - PROBABILITIES, PROBABILITIES - truth[bins]))
        return float(np.square(misses).mean())

    def google(shape: tuple[int, int], times: int) -> float:
        asked = (google_quantiles(counts, PROBABILITIES, epsilon, adjacency, shape) for _ in range(times))
        return RECORDS * float(np.sqrt(np.mean([squared_rank_error(bins) for bins in asked])))

    def ours() -> float:
        curve = smooth(strategy, noisy(strategy, counts), total=total, kind=DEFAULT_SMOOTHING)
        return squared_rank_error(np.minimum(np.searchsorted(curve, PROBABILITIES * curve[-1]), size - 1))

    runs = min(runs, 20)
    shape = min(google_shapes(size), key=lambda shape: google(shape, max(1, runs // 4)))
    theirs = google(shape, runs)
    value = RECORDS * float(np.sqrt(np.mean([ours() for _ in range(runs)])))
    label = f"{kind}, 200 quantiles, rank RMSE"
    print(f"{label:34}{value:10.2f}   Google {theirs:8.2f} (height {shape[0]}, base {shape[1]})")
    work = f"200 quantiles, {kind}, {place}"
    return row(work, "rank RMSE", "records", value, runs=runs, peer="python-dp", peer_value=theirs)


def release_seconds(size: int, *, repeats: int) -> tuple[float, float, float]:
    """Seconds of a release from counts at epsilon 1: the first of a process, a later one, and OpenDP's (b = 16)."""
    counts = histogram("uniform", size)
    privacy, adjacency = PureDP(1), Adjacency.REPLACE

    def ours() -> None:
        strategy = candidates(size, privacy, adjacency)[0]
        answer = noisy(strategy, counts)
        strategy.estimate(answer, RECORDS)
        smooth(strategy, answer, total=RECORDS, kind=DEFAULT_SMOOTHING)

    # compiled code is cached on disk; what a first release adds is the design of its strategy
    small = histogram("uniform", 64)
    strategy = candidates(64, privacy, adjacency)[0]
    smooth(strategy, noisy(strategy, small), total=RECORDS, kind=DEFAULT_SMOOTHING)
    first = best_seconds(ours, 1)
    later = best_seconds(ours, repeats)
    peer = opendp_curve(size, 16, privacy, adjacency)
    return first, later, best_seconds(lambda: peer(counts), repeats)


def best_seconds(work: Callable[[], object], repeats: int) -> float:
    """Least wall time of a few calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def peak_megabytes(size: int, who: str) -> float:
    """Memory that a release adds to a process in which a tiny one was made already."""
    done = subprocess.run(
        [sys.executable, __file__, "--memory", str(size), who], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def print_memory(size: int, who: str) -> None:
    """What `peak_megabytes` runs in a process of its own."""
    privacy, adjacency = PureDP(1), Adjacency.REPLACE

    def release(size: int) -> None:
        counts = histogram("uniform", size)
        if who == "opendp":
            opendp_curve(size, 16, privacy, adjacency)(counts)
            return
        strategy = candidates(size, privacy, adjacency)[0]
        answer = noisy(strategy, counts)
        strategy.estimate(answer, RECORDS)
        smooth(strategy, answer, total=RECORDS, kind=DEFAULT_SMOOTHING)

    release(64)
    # Linux: forget the peak so far, which is that of starting up
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    before = memory("VmRSS")
    release(size)
    print((memory("VmHWM") - before) / 1024)


def memory(name: str) -> int:
    """Kilobytes of this process, now (VmRSS) or at their peak (VmHWM)."""
    return int(Path("/proc/self/status").read_text(encoding="utf-8").split(f"{name}:")[1].split()[0])


def speed_rows(size: int, *, repeats: int) -> Iterator[dict[str, Any]]:
    """Time and memory of whole releases from counts."""
    first, later, theirs = release_seconds(size, repeats=repeats)
    ours_memory, their_memory = peak_megabytes(size, "ogive"), peak_megabytes(size, "opendp")
    print(
        f"\nrelease from counts, N={size}: {later:.3f} s (with design {first:.3f} s), {ours_memory:.0f} MB; "
        f"OpenDP {theirs:.3f} s, {their_memory:.0f} MB"
    )
    work = f"whole release from counts, N={size}"
    for name, value, target in (
        (work, later, SECONDS[size]),
        (f"{work}, with the design of the strategy", first, None),
    ):
        yield row(
            name,
            "time",
            "s",
            value,
            runs=repeats,
            target=target,
            larger_is_better=False,
            peer="opendp",
            peer_value=theirs,
        )
    yield row(work, "peak memory", "MB", ours_memory, runs=1, peer="opendp", peer_value=their_memory)


def main() -> None:
    """Run all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few runs, N up to 2^15; nothing is recorded")
    parser.add_argument("--memory", nargs=2, metavar=("N", "WHO"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory:
        print_memory(int(arguments.memory[0]), arguments.memory[1])
        return
    sizes = {2**10: 10, 2**15: 3} if arguments.quick else {2**10: 50, 2**15: 20, 2**20: 2}
    rows: list[dict[str, Any]] = []
    for size in sizes:
        if size >= 2**15:
            rows += speed_rows(size, repeats=3 if size >= 2**20 else 10)
    for size, runs in sizes.items():
        for privacy in PRIVACY:
            for adjacency in Adjacency:
                rows += error_rows(size, privacy, adjacency, runs=runs)
    record(rows, quick=arguments.quick)


if __name__ == "__main__":
    main()
