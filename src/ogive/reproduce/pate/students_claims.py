"""Table 1: whether students are as accurate as the paper's, and the lines of the table that show them."""

from __future__ import annotations

import math

from ogive.reproduce.pate import learners
from ogive.reproduce.pate.prices import ANSWERED, RIGHT
from ogive.reproduce.pate.printed import BASELINES, GLYPH, PRICES
from ogive.reproduce.pate.student_tasks import TASKS, StudentTask
from ogive.reproduce.pate.students import ACCURACY, BASELINE, STUDENT, row_of
from ogive.reproduce.summaries import Cell, Row, Summary
from ogive.reproduce.verdicts import Check, Outcome, above, show

BELOW = 0.5
"""Percentage points by which an accuracy may be below the printed one."""

QUOTED = {
    "SVHN": "neither its votes nor its images are among the data sets that are read here",
    GLYPH: "its votes and images are not public",
}
"""Why students of other data sets are not trained."""


def judge(summary: Summary) -> tuple[Check, ...]:
    """Compare every student and every model without privacy with the paper's; say which are quoted only."""
    checks = [_student(row) for row in summary.where(of=STUDENT).rows if _task(row).printed]
    checks += [_baseline(row) for row in summary.where(of=BASELINE).rows if _task(row).printed]
    return (*checks, *(_quoted(data, reason) for data, reason in QUOTED.items()))


def _student(row: Row) -> Check:
    task, cells = _task(row), row.cells
    printed = row_of(task, str(row.setting["row"])).accuracy
    claim = f"{row.setting['row']}: student's accuracy: printed {printed:g} %, at most {BELOW:g} points below it"
    if ACCURACY not in cells:
        return Check(claim, Outcome.UNDECIDED, missing(row), essential=task.same_kind)
    return Check(
        claim,
        above(cells[ACCURACY], (printed - BELOW) / 100),
        f"{show(cells[ACCURACY])} by {_kind(task, row)}, from {cells[ANSWERED].mean:.1f} answers of which "
        f"{cells[RIGHT].mean:.4f} are right",
        essential=task.same_kind,
    )


def _kind(task: StudentTask, row: Row) -> str:
    learner = str(row.setting["learner"])
    words = f"{learner}, {task.changed}" if task.changed else learner
    return f"{words} (torch is not installed)" if learner == learners.SPREADING else words


def _baseline(row: Row) -> Check:
    task = _task(row)
    printed = BASELINES[task.title]
    claim = f"{task.title}: accuracy without privacy: printed {printed:g} %, at most {BELOW:g} points below it"
    if ACCURACY not in row.cells:
        return Check(claim, Outcome.UNDECIDED, missing(row), essential=False)
    words = f"{show(row.cells[ACCURACY])} by {row.setting['learner']}, trained on the private records themselves"
    return Check(claim, above(row.cells[ACCURACY], (printed - BELOW) / 100), words, essential=False)


def _quoted(data: str, reason: str) -> Check:
    printed = ", ".join(f"{row.accuracy:g} % ({row.name})" for row in PRICES.values() if row.data == data)
    claim = f"{data}: students' accuracy: {printed}; without privacy {BASELINES[data]:g} %"
    return Check(claim, Outcome.UNDECIDED, f"quoted from the paper; {reason}", essential=False)


def missing(row: Row) -> str:
    """What a run without numbers needs."""
    if row.setting["learner"] == learners.NONE:
        return learners.MISSING
    return _task(row).lack(row.setting) or "the training rows were not found among the data"


def _task(row: Row) -> StudentTask:
    return TASKS[str(row.setting["task"])]


TITLES = (
    "student of",
    "learner",
    "answers",
    "answers\nthat are\nright",
    "student,\nprinted",
    "student",
    "standard\nerror",
)


def lines(summary: Summary) -> list[list[str]]:
    """Students and models without privacy, a line each."""
    found = []
    for row in (*summary.where(of=STUDENT).rows, *summary.where(of=BASELINE).rows):
        task, cells, taught = _task(row), row.cells, row.setting["of"] == STUDENT
        printed = row_of(task, str(row.setting["row"])).accuracy if taught else BASELINES.get(task.title)
        found.append([
            str(row.setting["row"]) if taught else f"{task.title}, all private records",
            str(row.setting["learner"]),
            f"{cells[ANSWERED].mean:.1f}" if ANSWERED in cells else "",
            percent(cells.get(RIGHT)),
            f"{printed:.1f} %" if task.printed and printed else "",
            *(accuracy(cells.get(ACCURACY))),
        ])  # fmt: skip
    return found


def percent(cell: Cell | None) -> str:
    """A share, for a table; empty where there is none."""
    return "" if cell is None else f"{100 * cell.mean:.1f} %"


def accuracy(cell: Cell | None) -> tuple[str, str]:
    """A mean accuracy and its standard error, for a table."""
    if cell is None:
        return "", ""
    return f"{100 * cell.mean:.2f} %", f"{100 * cell.error:.2f}" if math.isfinite(cell.error) else ""
