"""Curves of the local model against the square wave and a trusted curator: tables and picture of docs/local_curves.md.

    python benchmarks/local_curves.py [--quick]

Prints the tables between the page's marks and, without --quick, puts them there and draws
docs/figures/local-curves.png. Every seed is fixed, so a second run gives the same. The second table has every third of
the columns of `accuracy.py` and needs the data folder; without it, it is left as it is.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import square_wave
from accuracy import chosen
from matplotlib.figure import Figure
from numpy.typing import NDArray
from projection_trust import Counted
from scipy.stats import beta

import ogive
from ogive.local import UnaryOracle
from ogive.local.simulation import simulate
from ogive.noise import KeyedSource
from ogive.plots import save
from ogive.strategies import design_reports
from ogive.strategies.reported import expected_tree, read_reports
from ogive.strategies.smoothing import automatic_smoothing, smooth

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "local_curves.md"
PICTURE = ROOT / "docs" / "figures" / "local-curves.png"
MARKS = {name: (f"<!-- {name}: begin -->", f"<!-- {name}: end -->") for name in ("local curves", "local columns")}
RECORDS, EPSILONS, BINS = (10**4, 10**5, 10**6), (1, 2), (64, 1024)
RUNS = 10
COLUMN_RECORDS, COLUMN_EPSILONS, COLUMN_BINS, COLUMN_RUNS = 10**5, (0.5, 1, 2), 1024, 2
EVERY = 3
"""Of the columns that `accuracy.py` has, one in three is measured, in their order."""

LAW = beta(2, 5)
BLUE, GREEN, ORANGE, INK = "#0072B2", "#009E73", "#D55E00", "#1f2933"

Errors = Callable[[Int64, float, int], tuple[Float64, Float64]]


def records_in(bins: int, records: int) -> Int64:
    """Records of each bin: draws of a Beta(2, 5) law on [0, 1]."""
    return np.random.default_rng([bins, records]).multinomial(records, np.diff(LAW.cdf(np.linspace(0, 1, bins + 1))))


def reports(counts: Int64, epsilon: float, run: int, kind: str = "auto") -> tuple[Float64, Float64]:
    """Raw and published cumulative counts of reports about a hierarchy, as `Local` releases them."""
    oracle, total = design_reports(counts.size, Fraction(epsilon)), int(counts.sum())
    strategy, answer = read_reports(oracle, simulate(oracle, counts, generator=np.random.default_rng([1, run])))
    kind = automatic_smoothing(strategy, answer, total) if kind == "auto" else kind
    return strategy.estimate(answer, total), smooth(strategy, answer, total=total, kind=kind)


def shrunken(counts: Int64, epsilon: float, run: int) -> tuple[Float64, Float64]:
    """The same by shrinkage, whatever the noise."""
    return reports(counts, epsilon, run, "shrinkage")


def wave(counts: Int64, epsilon: float, run: int) -> tuple[Float64, Float64]:
    """The estimate of as many reports by a square wave, which has no other before smoothing."""
    chance = square_wave.chances(counts.size, epsilon)
    found = square_wave.reported(counts, chance, np.random.default_rng([2, run]))
    curve = np.cumsum(square_wave.estimated(found, chance)) * counts.sum()
    return curve, curve


def curator(counts: Int64, epsilon: float, run: int) -> tuple[Float64, Float64]:
    """The same of a trusted curator who takes the method of the smallest predicted error."""
    asked = ogive.Ecdf("x", (0, 1), bins=counts.size)
    terms = {"trust": Counted(counts), "privacy": ogive.PureDP(epsilon), "source": KeyedSource.from_seed(run)}
    curve = ogive.release(asked, **terms)  # type: ignore[arg-type]
    return curve.raw, curve.cumulative


WAYS: dict[str, Errors] = {"reports": reports, "square wave": wave, "curator": curator}


def errors(way: Errors, counts: Int64, epsilon: float, runs: int) -> tuple[float, float, float]:
    """Root mean square over thresholds before and after smoothing, and the mean largest error after, as shares."""
    truth, total = np.cumsum(counts), int(counts.sum())
    found = np.array([way(counts, epsilon, run) for run in range(runs)]) - truth
    before, after = np.sqrt((found**2).mean(axis=(0, 2))) / total
    return float(before), float(after), float(np.abs(found[:, 1]).max(axis=1).mean()) / total


def table(runs: int) -> str:
    """Every cell of the table in Markdown."""
    lines = [
        "| records | epsilon | bins | reports, raw | reports | square wave | curator "
        "| largest: reports | square wave | curator |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for records in RECORDS:
        for epsilon in EPSILONS:
            for bins in BINS:
                counts = records_in(bins, records)
                found = {name: errors(way, counts, epsilon, runs) for name, way in WAYS.items()}
                shown = [found["reports"][0]]
                shown += [found[name][place] for place in (1, 2) for name in WAYS]
                cells = [f"$10^{len(str(records)) - 1}$", str(epsilon), str(bins), *map(_percent, shown)]
                lines.append(f"| {' | '.join(cells)} |")
                print(lines[-1], flush=True)
    return "\n".join(lines)


def column_table(runs: int) -> str:
    """Errors on real columns as ratios, their geometric means, and the largest ones."""
    lines = [
        f"| column | {' | '.join(f'epsilon = {epsilon}' for epsilon in COLUMN_EPSILONS)} |",
        f"| --- |{' --- |' * len(COLUMN_EPSILONS)}",
    ]
    cells: list[list[tuple[float, float]]] = []
    for column in chosen()[::EVERY]:
        shares = column.counts(COLUMN_BINS, 1) / len(column.values)
        counts = np.random.default_rng(COLUMN_RECORDS).multinomial(COLUMN_RECORDS, shares / shares.sum())
        cells.append([_ratios(counts, epsilon, runs) for epsilon in COLUMN_EPSILONS])
        lines.append(f"| {column.name} | {' | '.join(_shown(*cell) for cell in cells[-1])} |")
        print(lines[-1], flush=True)
    logs = np.log(cells)
    for name, found in (("geometric mean", np.exp(logs.mean(axis=0))), ("largest", np.exp(logs.max(axis=0)))):
        lines.append(f"| **{name}** | {' | '.join(_shown(*cell) for cell in found)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def _ratios(counts: Int64, epsilon: float, runs: int) -> tuple[float, float]:
    """Root mean square of `auto` over that of the square wave, and over the smaller one of it and shrinkage."""
    mine, peer, old = (errors(way, counts, epsilon, runs)[1] for way in (reports, wave, shrunken))
    return mine / peer, mine / min(peer, old)


def _shown(peer: float, best: float) -> str:
    return f"{peer:.2f} / {best:.2f}"


def _percent(share: float) -> str:
    return f"{100 * share:#.2g}".rstrip(".") + " %"


def picture() -> Figure:
    """One release beside the truth, and errors before smoothing against the number of bins."""
    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    bins, records = 1024, 10**5
    counts = records_in(bins, records)
    places = np.arange(1, bins + 1) / bins
    left.plot(places, reports(counts, 1, 0)[0] / records, color=GREEN, linewidth=0.7, label="reports, raw")
    left.plot(places, wave(counts, 1, 0)[0] / records, color=ORANGE, linewidth=1.6, label="square wave")
    left.plot(places, reports(counts, 1, 0)[1] / records, color=BLUE, linewidth=1.6, label="reports, published")
    left.plot(places, np.cumsum(counts) / records, color=INK, linewidth=1, linestyle="--", label="of the records")
    left.set_title("one collection: $10^5$ reports, epsilon = 1, 1024 bins", loc="left", fontsize=9)
    left.set_xlabel("value")
    left.set_ylabel("share at or below")
    sizes = [2**power for power in range(3, 15)]
    right.plot(sizes, [_flat_rmse(size, records) for size in sizes], "^-", color=ORANGE, markersize=4, label="flat")
    for children, color, marker in ((8, "#56B4E9", "v"), (None, BLUE, "o")):
        values = [_rmse(size, children, records) for size in sizes]
        words = "hierarchy, best branching" if children is None else f"hierarchy of {children} children"
        right.plot(sizes, values, f"{marker}-", color=color, markersize=4, label=words)
    right.set_title("error before smoothing, $10^5$ reports, epsilon = 1", loc="left", fontsize=9)
    right.set_xscale("log", base=2)
    right.set_yscale("log")
    right.set_xlabel("bins")
    right.set_ylabel("root mean square, share of the records")
    for axes in (left, right):
        axes.legend(frameon=False, fontsize=8)
        axes.grid(color="#d9dee4", linewidth=0.7)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    return figure


def _rmse(size: int, children: int | None, records: int) -> float:
    oracle = design_reports(size, Fraction(1), branching=children)
    return float(np.sqrt(expected_tree(oracle, records).variance(total_known=True).mean())) / records


def _flat_rmse(size: int, records: int) -> float:
    """Of cumulative sums of independent counts of variance n v each, given their total."""
    share = np.arange(1, size + 1) / size
    return float(np.sqrt(UnaryOracle(size, Fraction(1)).noise_variance * size * np.mean(share * (1 - share)) / records))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few runs; print only")
    quick = parser.parse_args().quick
    found = {"local curves": table(2 if quick else RUNS)}
    if chosen():
        found["local columns"] = column_table(1 if quick else COLUMN_RUNS)
    if quick:
        return
    page = PAGE.read_text()
    for name, rows in found.items():
        begin, end = (page.index(mark) for mark in MARKS[name])
        page = f"{page[:begin]}{MARKS[name][0]}\n\n{rows}\n\n{page[end:]}"
    PAGE.write_text(page)
    save(picture(), PICTURE)


if __name__ == "__main__":
    main()
