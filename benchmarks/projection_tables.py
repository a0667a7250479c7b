"""Tables of projection.json for docs/benchmarks.md, by name; `publish.py` puts them into the page.

    python benchmarks/projection_tables.py

holds what `auto` and private selection reach against their target, in results.json.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from harness import record, row
from projection import CHOOSING, DEGREES, DISTANCES, EPSILONS, NONE, RECORDS, RESULTS, SINGLE
from projection_cases import LAWS, NAMES

Entry = dict[str, Any]
SHOWN = (*SINGLE, "selected", "auto")
TITLES = {"ks": "KS", "emd": "Earth Mover's", "energy": "energy"}
LIMIT = 2.0
"""Where `auto` is more than this many times as far off as the best single method, the page says why."""


class Results:
    """Results by cell and method."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = {(e["case"], e["wider"], e["records"], e["epsilon"], e["method"]): e for e in entries}

    def at(self, cell: tuple[str, int, int, float], method: str) -> Entry:
        """One result."""
        return self.entries[(*cell, method)]

    def cells(self, *, wider: int = 1, names: Iterable[str] = NAMES) -> list[tuple[str, int, int, float]]:
        """Cells in the order of the page."""
        places = {name: place for place, name in enumerate(names)}
        found = {key[:4] for key in self.entries if key[1] == wider and key[0] in places}
        return sorted(found, key=lambda cell: (places[cell[0]], cell[2], cell[3]))

    def best(self, cell: tuple[str, int, int, float], distance: str) -> Entry:
        """The single method with the least mean distance there, known only afterwards."""
        tried = (self.at(cell, method) for method in SINGLE)
        return min((entry for entry in tried if entry["runs"]), key=lambda entry: entry[distance])

    def ratio(self, cell: tuple[str, int, int, float], method: str, distance: str) -> float:
        """How many times as far off as the best single method."""
        return self.at(cell, method)[distance] / self.best(cell, distance)[distance]


def digits(value: float) -> str:
    """Three digits, never in powers of ten where that is short."""
    return f"{value:.3g}" if value >= 1e-4 else f"{value:.2g}"


def power(records: int) -> str:
    """10^k where it is one."""
    exponent = round(math.log10(records))
    return f"10^{exponent}" if records == 10**exponent else f"{records:,}".replace(",", " ")


def markdown(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    lines = [list(heads)]
    lines += [["---"] * len(lines[0]), *(list(row) for row in rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _place(cell: tuple[str, int, int, float]) -> list[str]:
    return [cell[0], power(cell[2]), f"{cell[3]:g}"]


def absolute(results: Results, distance: str) -> str:
    """One distance of every method in every cell; the least of the single methods in bold."""

    def rows() -> Iterable[list[str]]:
        for cell in results.cells():
            best = results.best(cell, distance)["method"]
            shown = [_number(results.at(cell, method), distance, bold=method == best) for method in SHOWN]
            yield [*_place(cell), digits(results.at(cell, NONE)[distance]), *shown]

    return markdown(["records are", "n", "epsilon", "no noise", *SHOWN], rows())


def _number(entry: Entry, distance: str, *, bold: bool = False) -> str:
    if not entry["runs"]:
        return "n/a"
    text = digits(entry[distance])
    return f"**{text}**" if bold else text


def choice(results: Results) -> str:
    """`auto` against the best single method of each cell."""
    heads = ["records are", "n", "epsilon", "`auto` took", "best single (energy)", "energy, times the best's"]
    heads += ["KS", "Earth Mover's", "energy, times the sampling error's", "private selection, times the best's"]

    def rows() -> Iterable[list[str]]:
        for cell in results.cells():
            taken = Counter(results.at(cell, "auto")["chosen"]).most_common(1)[0][0]
            ratios = {name: results.ratio(cell, "auto", name) for name in DISTANCES}
            own = results.at(cell, "auto")["energy"] / results.at(cell, NONE)["energy"]
            yield [
                *_place(cell),
                taken,
                results.best(cell, "energy")["method"],
                *(_ratio(ratios[name]) for name in ("energy", "ks", "emd")),
                f"{own:.2f}",
                _ratio(results.ratio(cell, "selected", "energy")),
            ]

    return markdown(heads, rows())


def _ratio(value: float) -> str:
    return f"**{value:.2f}**" if value > LIMIT else f"{value:.2f}"


def summary(results: Results) -> str:
    """Geometric means over the cells of each method's energy distance over the best's, and the worst cell."""

    def rows() -> Iterable[list[str]]:
        groups = [(records, epsilon) for epsilon in EPSILONS for records in RECORDS]
        for method in SHOWN:
            ratios = {
                cell: results.ratio(cell, method, "energy")
                for cell in results.cells(names=LAWS)
                if results.at(cell, method)["runs"]
            }
            if not ratios:
                continue
            means = [geometric(value for cell, value in ratios.items() if cell[2:] == group) for group in groups]
            worst = max(ratios, key=lambda cell: ratios[cell])
            where = f"{ratios[worst]:.3g} ({worst[0]}, {power(worst[2])}, {worst[3]:g})"
            yield [f"`{method}`", *(f"{mean:.2f}" for mean in means), f"{geometric(ratios.values()):.2f}", where]

    heads = ["method", *(f"n={power(records)}, eps={epsilon:g}" for epsilon in EPSILONS for records in RECORDS)]
    return markdown([*heads, "all", "worst"], rows())


def geometric(values: Iterable[float]) -> float:
    """Geometric mean."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def degrees(results: Results) -> str:
    """Energy distance on the scaled axis against K, mean over the five continuous distributions."""
    scales = {"normal": 4, "beta": 0.5, "uniform": 0.5, "exponential": 4, "mixture": 4}

    def mean(records: int, epsilon: float, method: str) -> float:
        cells = [((name, 1, records, epsilon), scale) for name, scale in scales.items()]
        return sum(results.at(cell, method)["energy"] / math.sqrt(scale) for cell, scale in cells) / len(cells)

    def rows() -> Iterable[list[str]]:
        for records in RECORDS:
            for epsilon in EPSILONS:
                found = [mean(records, epsilon, f"K={degree}") for degree in DEGREES]
                least = min(found)
                cells = [f"**{digits(value)}**" if value == least else digits(value) for value in found]
                rule = digits(mean(records, epsilon, "projection"))
                yield [power(records), f"{epsilon:g}", *cells, rule, digits(mean(records, epsilon, NONE))]

    return markdown(["n", "epsilon", *(f"K={degree}" for degree in DEGREES), "the rule's K", "no noise"], rows())


def wide(results: Results) -> str:
    """Energy distance with bounds twice and ten times too wide, over that with fitting bounds."""

    def mean(method: str, wider: int, epsilon: float) -> float:
        found = [cell for cell in results.cells(wider=wider) if cell[3] == epsilon]
        return geometric(
            results.at(cell, method)["energy"] / results.at((cell[0], 1, *cell[2:]), method)["energy"]
            for cell in found
            if results.at(cell, method)["runs"]
        )

    def rows() -> Iterable[list[str]]:
        for method in (*SHOWN, NONE):
            label = "no noise" if method == NONE else f"`{method}`"
            yield [label, *(f"{mean(method, wider, epsilon):.2f}" for epsilon in EPSILONS for wider in (2, 10))]

    heads = [f"eps={epsilon:g}, {wider} times too wide" for epsilon in EPSILONS for wider in (2, 10)]
    return markdown(["method", *heads], rows())


def smoothing(results: Results) -> str:
    """Distance of the valid curve over that of the estimate before smoothing."""

    def mean(method: str, distance: str, epsilon: float) -> float:
        entries = [results.at(cell, method) for cell in results.cells(names=LAWS) if cell[3] == epsilon]
        return geometric(e[distance] / e[f"raw_{distance}"] for e in entries if e["runs"] and e[f"raw_{distance}"] > 0)

    def rows() -> Iterable[list[str]]:
        for method in SINGLE:
            yield [f"`{method}`", *(f"{mean(method, d, epsilon):.2f}" for epsilon in EPSILONS for d in DISTANCES)]

    heads = [f"{TITLES[name]}, eps={epsilon:g}" for epsilon in EPSILONS for name in DISTANCES]
    return markdown(["method", *heads], rows())


TABLES: dict[str, Callable[[Results], str]] = {
    "KS": lambda results: absolute(results, "ks"),
    "Earth Mover's": lambda results: absolute(results, "emd"),
    "energy": lambda results: absolute(results, "energy"),
    "choice": choice,
    "summary": summary,
    "K": degrees,
    "wide bounds": wide,
    "smoothing": smoothing,
}


def targets(results: Results) -> Iterator[dict[str, Any]]:
    """The worst cell of each method that chooses, over the six distributions, with its target."""
    cells = results.cells(names=LAWS)
    for method in CHOOSING:
        for distance in DISTANCES:
            yield row(
                f"choice by {method}, {len(cells)} cells, {TITLES[distance]} distance",
                "worst, times the best single method's",
                "",
                max(results.ratio(cell, method, distance) for cell in cells),
                runs=min(results.at(cell, method)["runs"] for cell in cells),
                target=LIMIT,
                larger_is_better=False,
            )


if __name__ == "__main__":
    record(targets(Results(json.loads(RESULTS.read_text()))))
