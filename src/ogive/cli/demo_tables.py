"""The demonstration's tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from ogive.cli.demo_story import DECILES, TOTAL
from ogive.privacy import number_text
from ogive.report.axis import show

if TYPE_CHECKING:
    from ogive.cli.demo_data import Table
    from ogive.cli.demo_story import Part


def print_story(parts: tuple[Part, ...], table: Table) -> None:
    """Print what was spent, how far off the curves are, and their deciles, to standard output."""
    console = Console(highlight=False, soft_wrap=True)
    prices = " + ".join(number_text(part.privacy.epsilon) for part in parts)
    console.print(Text(f"{table.records.size:,} {table.origin}", style="bold"))
    console.print(f"Two curves under one epsilon: {prices} = {number_text(TOTAL.epsilon)}, which hides any one record.")
    console.print("The deciles are read off the curves. That is post-processing and costs nothing.")
    console.print()
    console.print(_errors(parts))
    console.print("*  root mean square over the thresholds, before smoothing", style="dim")
    console.print("** at any threshold; not exceeded with 95 % confidence", style="dim")
    console.print()
    for part in parts:
        console.print(_deciles(part))


def _errors(parts: tuple[Part, ...]) -> Grid:
    grid = Grid(title="How far off, in percentage points", title_justify="left", box=SIMPLE_HEAD)
    grid.add_column("curve")
    for name in ("epsilon", "thresholds", "typical*", "actual", "largest**", "actual"):
        grid.add_column(name, justify="right", no_wrap=True)
    for part in parts:
        found = part.errors()
        numbers = (f"{100 * found[name]:.3f}" for name in ("predicted_rms", "actual_rms", "predicted_ks", "actual_ks"))
        grid.add_row(part.column, number_text(part.privacy.epsilon), f"{part.curve.grid.bins:,}", *numbers)
    return grid


def _deciles(part: Part) -> Grid:
    grid = Grid(title=f"Nine deciles of {part.column}", title_justify="left", box=SIMPLE_HEAD)
    for name in ("share", "private", "95 % interval", "true", "inside"):
        grid.add_column(name, justify="right", no_wrap=True)
    released = part.estimates
    found = zip(DECILES, released.numbers, released.low, released.high, part.true_deciles(), part.inside(), strict=True)
    for share, value, low, high, true, inside in found:
        shown, first, last, exact = (show(released.grid, number) for number in (value, low, high, true))
        grid.add_row(f"{share:.0%}", shown, f"{first} to {last}", exact, "yes" if inside else "no")
    return grid
