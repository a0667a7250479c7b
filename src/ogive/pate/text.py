"""A plan of labels as a table to read."""

from __future__ import annotations

from ogive.pate.labels_plan import LabelsPlan, LabelsPlanRow
from ogive.pate.plot import draw as draw  # a plan finds it here
from ogive.releasing.planning.text import Column, Table
from ogive.showing.view import Card


def table(plan: LabelsPlan) -> str:
    """A row for every guarantee, number of answers and aggregator, then what the columns say."""
    shown = Table(_columns(plan), plan.rows)
    return "\n".join([_heading(plan), shown.heading, *map(shown.line, plan.rows), *_legend(plan)])


def short(plan: LabelsPlan) -> str:
    """A few words."""
    rows = len(plan.rows)
    return f"of {_heading(plan)}: {rows} {'row' if rows == 1 else 'rows'}; best {plan.best.aggregator}"


def card(plan: LabelsPlan) -> Card:
    """What notebooks show."""
    columns = _columns(plan)
    rows = [[column.cell(row) for column in columns] for row in plan.rows]
    return Card(
        "Plan of labels", [("votes", _heading(plan))], [column.title for column in columns], rows, _legend(plan)
    )


def _heading(plan: LabelsPlan) -> str:
    return f"{plan.queries} queries, {plan.teachers} teachers, {plan.classes} classes, delta = {plan.delta:g}"


def _taught(plan: LabelsPlan) -> bool:
    return any(row.corrected is not None for row in plan.rows)


def _columns(plan: LabelsPlan) -> list[Column[LabelsPlanRow]]:
    return [
        Column("epsilon", lambda row: f"{row.epsilon:.4g}"),
        Column("at most", lambda row: str(row.max_answers)),
        Column("aggregator", lambda row: row.aggregator, left=True, least=11),
        Column("asked", lambda row: str(row.asked)),
        Column("answered", lambda row: f"{row.answered:.1f}"),
        Column("right", lambda row: f"{row.right:.1%}", least=6),
        *([Column("corrects", _corrected)] if _taught(plan) else []),
        Column("joint", lambda row: "-" if row.joint is None else f"{row.joint:.3f}"),
        Column("parameters", _parameters, left=True),
    ]


def _legend(plan: LabelsPlan) -> list[str]:
    """What the columns say, and which rows are best."""
    what = "the truth" if plan.known else "the plurality"
    lines = [
        f"right: share of answers that agree with {what}; margins and confident select easy queries",
        "epsilon holds for all votes; joint is the data-dependent cost and holds only for votes like these",
    ]
    if _taught(plan):
        lines.append(
            "corrects: number of answers that are right where the student errs; the criterion for choosing rows"
        )
    return lines + [_best(row) for row in plan.best_by_epsilon]


def _best(row: LabelsPlanRow) -> str:
    gain = "right answers" if row.corrected is None else "answers that correct the student"
    return f"most {gain} at epsilon = {row.epsilon:.4g}: {row.aggregator}, {row.gain:.1f} of {row.answered:.1f}"


def _corrected(row: LabelsPlanRow) -> str:
    return "" if row.corrected is None else f"{row.corrected:.1f}"


def _parameters(row: LabelsPlanRow) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in row.parameters.items())
