"""Pictures of projection.json for docs/projection.md: docs/figures/projection-methods-*.png."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from projection import DEGREES, EPSILONS, NONE, RECORDS, RESULTS, SINGLE
from projection_cases import LAWS
from projection_tables import LIMIT, Results

from ogive.plots import save

FOLDER = Path(__file__).parents[1] / "docs" / "figures"
INK, GRID = "#1f2933", "#d9dee4"
# Okabe and Ito's palette, told apart by all common kinds of color vision; every line has its own marker too
DRAWN: dict[str, tuple[str, str, str]] = {
    "projection": ("#0072B2", "o", "-"),
    "sqrt": ("#009E73", "s", "-"),
    "hat_ls": ("#56B4E9", "v", "-"),
    "histogram": ("#E69F00", "^", "-"),
    "adaptive": ("#CC79A7", "D", "-"),
    "moments (paper)": ("#D55E00", "X", "-"),
    "selected": ("#8A8F98", "P", ":"),
    "auto": (INK, ".", "--"),
}


def light(axes: Any) -> None:
    """Thin lines and no frame."""
    axes.grid(color=GRID, linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=9)


def _relative(results: Results, cell: tuple[str, int, int, float], method: str) -> float:
    """Energy distance in units of the sampling error's."""
    return float(results.at(cell, method)["energy"] / results.at(cell, NONE)["energy"])


def distances(results: Results) -> Figure:
    """Energy distance against n, one panel a distribution and epsilon."""
    figure = Figure(figsize=(8.4, 10.2), layout="constrained")
    panels = figure.subplots(4, 3, sharex=True, sharey=True)
    places = [(epsilon, name) for epsilon in EPSILONS for name in LAWS]
    for axes, (epsilon, name) in zip(panels.flat, places, strict=True):
        for method, (color, marker, line) in DRAWN.items():
            values = [_relative(results, (name, 1, records, epsilon), method) for records in RECORDS]
            axes.plot(RECORDS, values, line, color=color, marker=marker, markersize=5, linewidth=1.5, label=method)
        axes.axhline(1, color=INK, linewidth=0.8)
        axes.set_title(f"{name}, epsilon = {epsilon:g}", loc="left", fontsize=10.5, color=INK)
        axes.set_xscale("log")
        axes.set_xticks(RECORDS, [f"$10^{{{len(str(records)) - 1}}}$" for records in RECORDS])
        _logarithmic(axes)
        light(axes)
    for axes in panels[-1]:
        axes.set_xlabel("records", fontsize=10)
    figure.supylabel("energy distance to the truth, times the sampling error", fontsize=10.5)
    _legend(figure, panels[0][0])
    return figure


def against_best(results: Results) -> Figure:
    """Each method's energy distance over the best single method's, a dot a cell."""
    names = ["auto", "selected", *SINGLE]
    figure = Figure(figsize=(8.4, 5.2), layout="constrained")
    axes = figure.add_subplot()
    cells = results.cells()
    looks = {0.1: ("#D55E00", -0.17, "epsilon = 0.1"), 1.0: ("#0072B2", 0.17, "epsilon = 1")}
    for epsilon, (color, shift, label) in looks.items():
        dots = [
            (results.ratio(cell, name, "energy"), place + shift)
            for place, name in enumerate(names)
            for cell in cells
            if cell[3] == epsilon and results.at(cell, name)["runs"]
        ]
        ratios, heights = zip(*dots, strict=True)
        axes.scatter(ratios, heights, s=20, color=color, alpha=0.65, linewidths=0, label=label)
    axes.axvline(1, color=INK, linewidth=1)
    axes.axvline(LIMIT, color=INK, linewidth=1, linestyle=":")
    axes.set_xscale("log")
    axes.set_xticks([1, 2, 5, 10, 20, 50, 100, 200], ["1", "2", "5", "10", "20", "50", "100", "200"])
    axes.minorticks_off()
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel(
        "energy distance, times that of the best single method of the cell (known only afterwards)", fontsize=9
    )
    axes.legend(frameon=False, fontsize=9, loc="lower right")
    light(axes)
    return figure


def degrees(results: Results) -> Figure:
    """Energy distance against K."""
    figure = Figure(figsize=(8.4, 5.8), layout="constrained")
    colors = {1_000: "#E69F00", 10_000: "#009E73", 1_000_000: "#0072B2"}
    panels = figure.subplots(2, 3, sharex=True, sharey=True)
    for axes, name in zip(panels.flat, LAWS, strict=True):
        for records in RECORDS:
            for epsilon, line in zip(EPSILONS, ("--", "-"), strict=True):
                values = [_relative(results, (name, 1, records, epsilon), f"K={degree}") for degree in DEGREES]
                label = f"n = $10^{len(str(records)) - 1}$, epsilon = {epsilon:g}"
                axes.plot(DEGREES, values, line, color=colors[records], marker="o", markersize=3.5, label=label)
        axes.axhline(1, color=INK, linewidth=0.8)
        axes.set_title(name, loc="left", fontsize=10.5, color=INK)
        _logarithmic(axes)
        light(axes)
    for axes in panels[-1]:
        axes.set_xlabel("K", fontsize=10)
    figure.supylabel("energy distance to the truth, times the sampling error", fontsize=10.5)
    _legend(figure, panels[0][0])
    return figure


def _logarithmic(axes: Any) -> None:
    axes.set_yscale("log")
    axes.set_yticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    axes.minorticks_off()


def _legend(figure: Figure, axes: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=(len(labels) + 1) // 2, frameon=False, fontsize=10)


def main() -> None:
    """Draw all."""
    results = Results(json.loads(RESULTS.read_text()))
    for name, draw in (("distances", distances), ("against-best", against_best), ("degrees", degrees)):
        save(draw(results), FOLDER / f"projection-methods-{name}.png")


if __name__ == "__main__":
    main()
