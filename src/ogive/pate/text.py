"""A plan of labels as a table to read."""

from __future__ import annotations

from ogive.pate.labels_plan import LabelsPlan, LabelsPlanRow
from ogive.planning.table import Column, Table


def table(plan: LabelsPlan) -> str:
    """A row for every guarantee, number of answers and aggregator, then what the columns say."""
    what = "the truth" if plan.known else "the plurality"
    taught = any(row.corrected is not None for row in plan.rows)
    columns: list[Column[LabelsPlanRow]] = [
        Column("epsilon", lambda row: f"{row.epsilon:.4g}"),
        Column("at most", lambda row: str(row.max_answers)),
        Column("aggregator", lambda row: row.aggregator, left=True, least=11),
        Column("asked", lambda row: str(row.asked)),
        Column("answered", lambda row: f"{row.answered:.1f}"),
        Column("right", lambda row: f"{row.right:.1%}", least=6),
        *([Column("corrects", _corrected)] if taught else []),
        Column("joint", lambda row: "-" if row.joint is None else f"{row.joint:.3f}"),
        Column("parameters", _parameters, left=True),
    ]
    shown = Table(columns, plan.rows)
    lines = [
        f"{plan.queries} queries, {plan.teachers} teachers, {plan.classes} classes, delta = {plan.delta:g}",
        shown.heading,
        *map(shown.line, plan.rows),
        f"right: share of the answered that agree with {what}; margins and confident pick what is easy",
        "epsilon holds for all votes; joint, the data-dependent cost, only for votes like these",
    ]
    if taught:
        lines.append("corrects: how many answers are right where the student errs, which rows are chosen by")
    return "\n".join(lines + [_best(row) for row in plan.best_by_epsilon])


def _best(row: LabelsPlanRow) -> str:
    gain = "right answers" if row.corrected is None else "answers that correct the student"
    return f"most {gain} at epsilon = {row.epsilon:.4g}: {row.aggregator}, {row.gain:.1f} of {row.answered:.1f}"


def _corrected(row: LabelsPlanRow) -> str:
    return "" if row.corrected is None else f"{row.corrected:.1f}"


def _parameters(row: LabelsPlanRow) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in row.parameters.items())
