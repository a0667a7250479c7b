"""Runs at one setting, summarized: mean with standard error, and median."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ogive.core.arrays import Float64


@dataclass(frozen=True)
class Cell:
    """One quantity at one setting.

    Fields:
        mean: Average over runs.
        error: Standard error of the mean; infinite for a single run.
        median: Middle value.
        runs: How many runs there were.
    """

    mean: float
    error: float
    median: float
    runs: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Cell:
        """Summarize the runs' values, at least one."""
        array = np.fromiter(values, dtype=np.float64)
        spread = float(array.std(ddof=1)) / math.sqrt(array.size) if array.size > 1 else math.inf
        return cls(float(array.mean()), spread, float(np.median(array)), int(array.size))


def average(cells: tuple[Cell, ...]) -> Cell:
    """Average of independent quantities."""
    size = len(cells)
    return Cell(
        math.fsum(cell.mean for cell in cells) / size,
        math.hypot(*(cell.error for cell in cells)) / size,
        math.fsum(cell.median for cell in cells) / size,
        min(cell.runs for cell in cells),
    )


def difference(first: Cell, second: Cell) -> Cell:
    """First minus second, independent of each other."""
    return Cell(
        first.mean - second.mean,
        math.hypot(first.error, second.error),
        first.median - second.median,
        min(first.runs, second.runs),
    )


def scaled(cell: Cell, factor: float) -> Cell:
    """A multiple of a quantity."""
    return Cell(factor * cell.mean, abs(factor) * cell.error, factor * cell.median, cell.runs)


def excess(pairs: Iterable[tuple[Cell, Cell]]) -> Cell:
    """By what part of the second the first is larger, averaged over pairs of quantities."""
    return average(tuple(scaled(difference(first, second), 1 / second.mean) for first, second in pairs))


@dataclass(frozen=True)
class Row:
    """All quantities at one setting."""

    setting: Mapping[str, int | float | str]
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class Summary:
    """All settings of an item, in their order."""

    rows: tuple[Row, ...]

    @classmethod
    def of(cls, outcomes: Iterable[tuple[Mapping[str, int | float | str], Mapping[str, float]]]) -> Summary:
        """Group runs, given as pairs of setting and numbers, by setting."""
        groups: dict[tuple[tuple[str, int | float | str], ...], list[Mapping[str, float]]] = {}
        for setting, numbers in outcomes:
            groups.setdefault(tuple(setting.items()), []).append(numbers)
        rows = []
        for setting_items, runs in groups.items():
            names = dict.fromkeys(name for numbers in runs for name in numbers)
            cells = {name: Cell.of(numbers[name] for numbers in runs if name in numbers) for name in names}
            rows.append(Row(dict(setting_items), cells))
        return cls(tuple(rows))

    def where(self, **wanted: int | float | str) -> Summary:
        """Only the settings with these values."""
        return Summary(tuple(row for row in self.rows if all(row.setting.get(k) == v for k, v in wanted.items())))

    def series(self, axis: str, quantity: str) -> tuple[Float64, tuple[Cell, ...]]:
        """Values of a parameter, ascending, and the cells of a quantity there; settings without it are left out."""
        results = [(float(row.setting[axis]), row.cells[quantity]) for row in self.rows if quantity in row.cells]
        results.sort(key=lambda pair: pair[0])
        return np.array([place for place, _ in results]), tuple(cell for _, cell in results)

    def write_csv(self, path: Path) -> None:
        """One line for every quantity at every setting."""
        names = list(dict.fromkeys(name for row in self.rows for name in row.setting))
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([*names, "quantity", "mean", "standard_error", "median", "runs"])
            for row in self.rows:
                place = [row.setting.get(name, "") for name in names]
                for quantity, cell in row.cells.items():
                    error = f"{cell.error:.3g}" if math.isfinite(cell.error) else ""
                    writer.writerow([*place, quantity, f"{cell.mean:.6g}", error, f"{cell.median:.6g}", cell.runs])
