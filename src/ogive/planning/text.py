"""A plan as a table to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive.planning.metrics import METRICS, in_order, title

if TYPE_CHECKING:
    from ogive.planning.rows import Plan, PlanRow

_COLUMNS = ("column", "score", "probability")


def heading(plan: Plan) -> str:
    """What is planned, in a few words."""
    name = str(plan.statistic.get("name", "statistic"))
    columns = [str(plan.statistic[key]) for key in _COLUMNS if key in plan.statistic]
    return f"{name} of {columns[0]}" if columns else name


def table(plan: Plan) -> str:
    """Aligned rows, then what was left out, then what the columns say."""
    errors = in_order({name for row in plan.rows for name in row.errors})
    titles = [" ", "method", "price", "noise", *map(title, errors)]
    lines = [f"plan for {heading(plan)}: {plan.records} records, trust model {plan.trust}", plan.unit.words]
    if plan.guessed:
        lines.append(f"{plan.records} is your own guess; errors are shares of that many records")
    cells = {id(row): _cells(row, errors) for row in plan.rows}
    widths = [max(map(len, column)) for column in zip(titles, *cells.values(), strict=True)]
    for privacy in dict.fromkeys(row.privacy for row in plan.rows):
        lines += ["", f"{privacy}", _line(titles, widths)]
        lines += [_line(cells[id(row)], widths) for row in plan.rows if row.privacy == privacy]
        lines += _reasons(plan, privacy)
    lines += ["", '* what this statistic takes; with method="auto" the smallest error that fits']
    lines += [f"{title(name)}: {METRICS[name].words}" for name in errors if name in METRICS]
    if plan.basis:
        lines.append(plan.basis)
    return "\n".join(lines)


def _reasons(plan: Plan, privacy: object) -> list[str]:
    # advice on what else to write follows a semicolon, and is for those who asked for that very method
    reasons = [(each.method, each.reason.split(";")[0]) for each in plan.left_out if each.privacy == privacy]
    return [f"   left out: {method}, since {reason}" for method, reason in reasons]


def _cells(row: PlanRow, errors: list[str]) -> list[str]:
    values = [f"{row.errors[name]:.3g}" if name in row.errors else "-" for name in errors]
    return ["*" if row.chosen else " ", row.method, str(row.price), row.noise, *values]


def _line(cells: list[str], widths: list[int]) -> str:
    words, numbers = cells[:4], cells[4:]
    parts = [cell.ljust(width) for cell, width in zip(words, widths[:4], strict=True)]
    parts += [cell.rjust(width) for cell, width in zip(numbers, widths[4:], strict=True)]
    return "  ".join(parts).rstrip()
