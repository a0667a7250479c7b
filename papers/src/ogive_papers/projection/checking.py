"""Claims about which method is nearer to the truth, in numbers.

Distances of one release are far from independent, so where several are joined their errors are averaged, which is
right or too large.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ogive_papers.projection.central import quantity
from ogive_papers.projection.distances import DISTANCES
from ogive_papers.projection.reference import ERROR, TOLERANCE, Reference
from ogive_papers.summaries import Cell, Row, Summary
from ogive_papers.verdicts import MARGIN, MIN_RUNS, Check, Outcome, below, every

NAIVE, JOINT = "naive accounting, as in the paper", "correct accounting"


def at(summary: Summary, data: str, epsilon: float) -> Row | None:
    """The numbers at one setting, or None where it was not measured."""
    rows = summary.where(data=data, epsilon=epsilon).rows
    return rows[0] if rows else None


def nearer(row: Row, first: str, second: str, distances: Sequence[str] = DISTANCES) -> Cell:
    """Logarithm of the first method's distance over the second's, averaged; below 0 if first is nearer."""
    return joined(
        log_ratio(row.cells[quantity(first, distance)], row.cells[quantity(second, distance)])
        for distance in distances
    )  # fmt: skip


def log_ratio(first: Cell, second: Cell) -> Cell:
    """Logarithm of a ratio of positive means."""
    return Cell(
        math.log(first.mean / second.mean),
        math.hypot(first.error / first.mean, second.error / second.mean),
        math.log(first.median / second.median) if first.median > 0 < second.median else 0.0,
        min(first.runs, second.runs),
    )


def joined(cells: Iterable[Cell]) -> Cell:
    """Average of quantities that may depend on each other."""
    result = list(cells)
    size = len(result)
    return Cell(
        math.fsum(cell.mean for cell in result) / size,
        math.fsum(cell.error for cell in result) / size,
        math.fsum(cell.median for cell in result) / size,
        min(cell.runs for cell in result),
    )


def ahead(rows: Iterable[Row], first: str, others: Sequence[str], distances: Sequence[str] = DISTANCES) -> Outcome:
    """Whether a method is nearer to the truth than all others, in every distance at every setting."""
    return every([
        below(nearer(row, first, other, [distance]), 0.0)
        for row in rows for other in others for distance in distances
    ])  # fmt: skip


def behind(rows: Iterable[Row], last: str, others: Sequence[str], distances: Sequence[str] = DISTANCES) -> Outcome:
    """Whether a method is farther from the truth than all others, in every distance at every setting."""
    return every([
        below(nearer(row, other, last, [distance]), 0.0)
        for row in rows for other in others for distance in distances
    ])  # fmt: skip


def comparable(cell: Cell, factor: float) -> Outcome:
    """Whether a logarithm of a ratio is that of at most a factor, either way; the mean decides unless it is beyond."""
    if cell.runs < MIN_RUNS:
        return Outcome.UNDECIDED
    beyond = abs(cell.mean) - math.log(factor)
    if beyond <= 0:
        return Outcome.HOLDS
    return Outcome.FAILS if beyond > MARGIN * cell.error else Outcome.UNDECIDED


def numbers(row: Row, *methods: str) -> str:
    """Distances of methods, for evidence: KS / EMD / energy."""
    shown = (
        f"{method} " + "/".join(f"{row.cells[quantity(method, distance)].mean:.3g}" for distance in DISTANCES)
        for method in methods
    )
    return "; ".join(shown)


def place(row: Row) -> str:
    """Where a row was measured, for evidence."""
    return f"{row.setting['data']}, epsilon {row.setting['epsilon']:g}"


def both_ways(claim: str, naive: Outcome, joint: Outcome, evidence: Sequence[str]) -> tuple[Check, Check]:
    """A claim of the paper under its accounting, and whether it is true of the methods themselves.

    Args:
        claim: What the paper says.
        naive: What came of it with every count charged on its own.
        joint: With what all counts cost together.
        evidence: The numbers of either.
    """
    only = naive is Outcome.HOLDS and joint is Outcome.FAILS
    remark = "so it holds ONLY UNDER NAIVE ACCOUNTING; " if only else ""
    return (
        Check(f"{claim} ({NAIVE})", naive, evidence[0]),
        Check(f"the same with {JOINT}: {claim}", joint, remark + evidence[1], essential=False),
    )


def agreement(summary: Summary, reference: Reference, methods: Sequence[str], mode: str) -> tuple[Check, ...]:
    """Compare with numbers of other simulations: on the whole for every method, and one by one.

    Args:
        summary: What was measured.
        reference: What is expected.
        methods: Whose numbers are compared.
        mode: How they are called together.
    """
    singles: list[tuple[str, Cell]] = []
    wholes: list[tuple[str, Cell]] = []
    for method in methods:
        ratios = []
        for (name, data, epsilon, distance), value in reference.items():
            row = at(summary, data, epsilon) if name == method else None
            if row is not None and quantity(method, distance) in row.cells:
                expected = Cell(value, ERROR * value, value, row.cells[quantity(method, distance)].runs)
                ratios.append(log_ratio(row.cells[quantity(method, distance)], expected))
                singles.append((f"{method} {distance} at {place(row)}", ratios[-1]))
        if ratios:
            wholes.append((method, joined(ratios)))
    factor = 1 + TOLERANCE
    return tuple(
        Check(claim, every([comparable(cell, factor) for _, cell in cells]), _farthest(cells), essential)
        for claim, cells, essential in (
            (
                f"{mode}: every method's distances are within {TOLERANCE:.0%} of those expected, on average",
                wholes,
                True,
            ),
            (f"{mode}: each of {len(singles)} distances is within {TOLERANCE:.0%}", singles, False),
        )
        if cells
    )


def _farthest(cells: list[tuple[str, Cell]]) -> str:
    name, cell = max(cells, key=lambda pair: abs(pair[1].mean))
    return f"farthest: {name}, {math.exp(cell.mean):.2f} times what is expected (relative error {cell.error:.2f})"
