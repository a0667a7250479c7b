"""Pictures of the mechanisms that docs/accuracy.md compares: docs/figures/accuracy-*.png.

    python benchmarks/accuracy_figures.py [NAME ...]

Errors over the columns are read from the page, those of quantiles and roots from results.json; the others are computed
here, in about two minutes. The noise of each release has a fixed key, so a second run gives the same pictures.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from harness import RESULTS
from matplotlib.figure import Figure
from projection_figures import INK, light

import ogive
from ogive.columns.axis import band_steps
from ogive.noise import KeyedSource
from ogive.plots import save
from ogive.showing.pictures import BLUE, ORANGE

DOCS = Path(__file__).parents[1] / "docs"
GREEN, SKY = "#009E73", "#56B4E9"
HALF = ogive.ZeroConcentratedDP("0.5")
CELL = re.compile(r"(\d+\.\d+) / (\d+\.\d+)")
CATEGORIES, PAIRED = 1000, 20_000
RUNS = 30


def columns() -> Figure:
    """Errors of `auto` on every real column, a dot each, from the table of the page."""
    page = (DOCS / "accuracy.md").read_text(encoding="utf-8")
    table = page.split("<!-- cells -->")[1].split("<!-- end -->")[0]
    head = next(line for line in table.splitlines() if line.startswith("| column"))
    sizes = re.findall(r"n epsilon = ([\d,]+)", head)
    cells = [CELL.findall(line) for line in table.splitlines() if CELL.search(line)]
    figure = Figure(figsize=(8.4, 4.2), layout="constrained")
    strays = np.random.default_rng(1).uniform(-0.18, 0.18, len(cells))
    heads = ("RMSE, times that of the best single method", "KS, times that of hat_ls")
    for panel, (axes, head) in enumerate(zip(figure.subplots(1, 2), heads, strict=True)):
        values = np.array([[float(cell[panel]) for cell in row] for row in cells])
        for place in range(len(sizes)):
            axes.scatter(values[:, place], place + strays, s=14, color=BLUE, alpha=0.55, linewidths=0)
            mean = math.exp(np.log(values[:, place]).mean())
            axes.plot([mean, mean], [place - 0.32, place + 0.32], color=ORANGE, linewidth=2.5)
        axes.axvline(1, color=INK, linewidth=1)
        axes.set_xscale("log")
        axes.set_xticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
        axes.minorticks_off()
        axes.set_yticks(range(len(sizes)), sizes if panel == 0 else [""] * len(sizes))
        axes.invert_yaxis()
        axes.set_title(head, loc="left", fontsize=10.5, color=INK)
        light(axes)
    figure.supylabel("n epsilon", fontsize=10)
    return figure


def bands() -> Figure:
    """An even band and one that narrows, around one released curve, and their widths."""
    values = np.random.default_rng(1).lognormal(3.2, 0.5, 100_000)
    curve = ogive.release(
        ogive.Ecdf("income", (0, 120), bins=512, method="hat_ls"),
        trust=ogive.Central({"income": values}),
        privacy=ogive.PureDP(1),
        source=KeyedSource.from_seed(1),
    )
    figure = Figure(figsize=(8.4, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    edges = np.concatenate(([curve.grid.low], curve.thresholds))
    for width, color in (("even", SKY), ("narrowing", BLUE)):
        band = curve.band(width=width)
        ends = band_steps(curve.grid, band.low, band.high)
        left.fill_between(edges, *ends, step="post", color=color, alpha=0.45, linewidth=0, label=width)
        right.step(curve.thresholds, 100 * (band.high - band.low), where="post", color=color, label=width)
    left.set_xlim(0, 11)
    left.set_ylim(0, 0.05)
    left.set_title("lower part of the curve, with both bands", loc="left", fontsize=10.5, color=INK)
    right.set_title("width of the bands, percent of the records", loc="left", fontsize=10.5, color=INK)
    for axes in (left, right):
        axes.set_xlabel("income, thousands", fontsize=10)
        axes.legend(frameon=False, fontsize=9.5)
        light(axes)
    return figure


def streams() -> Figure:
    """Deviation of running totals over the elements so far: of known length, of unknown length, and made for 2^22."""
    figure = Figure(figsize=(8.4, 3.8), layout="constrained")
    lengths = [1 << power for power in range(4, 23, 2)]
    kinds: tuple[tuple[Any, str, str], ...] = (
        (ogive.PureDP(1), "hats", "epsilon = 1"),
        (HALF, "sqrt_ahead", "rho = 1/2"),
    )
    for axes, (privacy, method, title) in zip(figure.subplots(1, 2), kinds, strict=True):

        def after(stream: ogive.RunningTotal, length: int) -> float:
            steps = np.unique(np.linspace(1, length, 500).astype(int))
            return math.sqrt(stream.variance(steps).mean())

        open_ended = ogive.RunningTotal(None, privacy=privacy)
        longest = ogive.RunningTotal(1 << 22, privacy=privacy, method=method)
        known = [after(ogive.RunningTotal(length, privacy=privacy), length) for length in lengths]
        many = [after(longest, length) for length in lengths]
        ours = [after(open_ended, length) for length in lengths]
        axes.plot(lengths, many, ":", color=ORANGE, label=f"{method}, 2^22 steps")
        axes.plot(lengths, ours, "o-", color=BLUE, markersize=4, label=f"{open_ended.method}, length unknown")
        axes.plot(lengths, known, "--", color=INK, label="auto, length known")
        axes.set_xscale("log", base=2)
        axes.set_ylim(0)
        axes.set_title(title, loc="left", fontsize=10.5, color=INK)
        axes.set_xlabel("elements so far", fontsize=10)
        axes.legend(frameon=False, fontsize=9)
        light(axes)
    figure.supylabel("deviation of a total, root mean square", fontsize=10)
    return figure


def roots() -> Figure:
    """Errors of factors of prefix sums under zCDP against the number of bins."""
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))
    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    kinds = (("symmetric", "add_or_remove", BLUE, "o"), ("ring", "replace", GREEN, "s"))
    for axes, (method, adjacency, color, marker) in zip(figure.subplots(1, 2, sharey=True), kinds, strict=True):
        found = {}
        for row in rows:
            size = re.fullmatch(rf"root {method}, 2\^(\d+) bins, {adjacency}", row["work"])
            if size and row["metric"] == "RMSE as predicted":
                found[1 << int(size[1])] = (row["value"], row["peer_value"])
        sizes = sorted(found)
        axes.plot(sizes, [found[size][1] for size in sizes], "--", color=INK, marker="v", markersize=5, label="sqrt")
        axes.plot(sizes, [found[size][0] for size in sizes], color=color, marker=marker, markersize=5, label=method)
        axes.set_xscale("log", base=2)
        axes.set_title(adjacency.upper(), loc="left", fontsize=10.5, color=INK)
        axes.set_xlabel("bins", fontsize=10)
        axes.legend(frameon=False, fontsize=9.5)
        light(axes)
    figure.supylabel("RMSE at rho = 1/2, records", fontsize=10)
    return figure


def quantiles() -> Figure:
    """By how many records `auto` is off for 1 to 9 quantiles, by number of records and epsilon."""
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))
    figure = Figure(figsize=(8.4, 3.8), layout="constrained")
    looks = {"1,000": (ORANGE, "s"), "10,000": (GREEN, "^"), "100,000": (SKY, "v"), "1,000,000": (BLUE, "o")}
    for axes, epsilon in zip(figure.subplots(1, 2), ("0.1", "1"), strict=True):
        for records, (color, marker) in looks.items():
            work = re.compile(rf"few quantiles, (\d) of {records} records, epsilon {epsilon}, replace")
            found = {int(cell[1]): row["value"] for row in rows if (cell := work.fullmatch(row["work"]))}
            axes.plot(list(found), list(found.values()), color=color, marker=marker, markersize=4.5, label=records)
        axes.set_yscale("log")
        ticks = [5, 10, 20, 50, 100] if epsilon == "0.1" else [0.2, 0.5, 1, 2, 5, 10]
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.set_title(f"epsilon = {epsilon}, REPLACE", loc="left", fontsize=10.5, color=INK)
        axes.set_xlabel("quantiles", fontsize=10)
        axes.legend(frameon=False, fontsize=9, title="records", ncols=2)
        light(axes)
    figure.supylabel("distance of ranks, records", fontsize=10)
    return figure


def people() -> Figure:
    """Noise of a curve of rows and of one of people against the most rows of a person."""
    rng = np.random.default_rng(3)
    rows = np.minimum(rng.geometric(0.5, 10_000), 16)
    table = {"value": rng.normal(50, 10, rows.sum()), "who": np.repeat(np.arange(len(rows)), rows)}
    limits = (1, 2, 4, 8, 16)
    asked = ogive.Ecdf("value", (0, 100), bins=256, method="hat_ls")

    def noise(question: ogive.Ecdf, limit: int) -> float:
        trust = ogive.Central(table, person="who", max_rows_per_person=limit)
        curve = ogive.release(
            question, trust=trust, privacy=ogive.PureDP(1), adjacency=ogive.Adjacency.ADD_OR_REMOVE,
            source=KeyedSource.from_seed(limit),
        )  # fmt: skip
        return 100 * curve.rmse()

    counted = dataclasses.replace(asked, counted="people")
    figure = Figure(figsize=(5.6, 3.8), layout="constrained")
    axes = figure.add_subplot()
    for question, look, label in ((asked, "s-", "rows, up to the limit"), (counted, "o-", "people, every row counts")):
        color = ORANGE if question is asked else BLUE
        axes.plot(limits, [noise(question, limit) for limit in limits], look, color=color, label=label)
    axes.set_xscale("log", base=2)
    axes.set_xticks(limits, [str(limit) for limit in limits])
    axes.set_ylim(0)
    axes.set_xlabel("max_rows_per_person", fontsize=10)
    axes.set_ylabel("noise at a threshold, percent", fontsize=10)
    axes.legend(frameon=False, fontsize=9.5)
    light(axes)
    return figure


def degrees() -> Figure:
    """Errors of collision probabilities of many categories against epsilon."""
    figure = Figure(figsize=(8.4, 3.8), layout="constrained")
    epsilons = ("0.25", "0.5", "1", "2", "4")
    looks = (("cells", ORANGE, "s"), ("degrees", BLUE, "o"))
    for axes, skew in zip(figure.subplots(1, 2), (0, 1), strict=True):
        weights = np.arange(1.0, CATEGORIES + 1) ** -skew
        drawn = np.random.default_rng(5).choice(CATEGORIES, PAIRED, p=weights / weights.sum())
        asked = ogive.Ustatistic("x", "collision_probability", categories=tuple(range(CATEGORIES)))
        trust = ogive.Central({"x": drawn})
        counts = np.bincount(drawn).astype(float)
        truth = (counts * (counts - 1)).sum() / (PAIRED * (PAIRED - 1))
        for method, color, marker in looks:
            question = dataclasses.replace(asked, method=method)
            errors = []
            for epsilon in epsilons:
                spend = {"trust": trust, "privacy": ogive.PureDP(epsilon)}
                said = [ogive.release(question, **spend, source=KeyedSource.from_seed(run)) for run in range(RUNS)]
                errors.append(math.sqrt(np.mean([(answer.value - truth) ** 2 for answer in said])))
            axes.plot([float(each) for each in epsilons], errors, color=color, marker=marker, label=method)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks([float(each) for each in epsilons], epsilons)
        axes.minorticks_off()
        title = "frequencies of 1, 1/2, 1/3, ..." if skew else "equally frequent"
        axes.set_title(title, loc="left", fontsize=10.5, color=INK)
        axes.set_xlabel("epsilon", fontsize=10)
        axes.legend(frameon=False, fontsize=9.5)
        light(axes)
    figure.supylabel("RMSE of the collision probability", fontsize=10)
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    drawn.__name__: drawn for drawn in (columns, quantiles, bands, streams, roots, people, degrees)
}


def main() -> None:
    """Draw all, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*PICTURES, []], help="only these pictures")
    for name in parser.parse_args().names or PICTURES:
        path = DOCS / "figures" / f"accuracy-{name}.png"
        save(PICTURES[name](), path)
        path.chmod(0o644)


if __name__ == "__main__":
    main()
