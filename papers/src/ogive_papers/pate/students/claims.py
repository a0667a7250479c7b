"""Table 1: whether students are as accurate as the paper's, and the lines of the table that show them."""

from __future__ import annotations

import math

from ogive_papers.pate.prices import ANSWERED, INDEPENDENT, JOINT, PAPER, RIGHT
from ogive_papers.pate.printed import BASELINES, GLYPH, PRICES
from ogive_papers.pate.students import learners
from ogive_papers.pate.students.runs import ACCURACY, BASELINE, FIRST, OWN, STUDENT, TAUGHT, TWO_ROUNDS, row_of
from ogive_papers.pate.students.tasks import TASKS, StudentTask
from ogive_papers.summaries import Cell, Row, Summary, difference
from ogive_papers.verdicts import Check, Outcome, above, show

BELOW = 0.5
"""Percentage points by which an accuracy may be below the printed one."""

QUOTED = {
    "SVHN": "its images are not among the data sets that are read here",
    GLYPH: "its votes and images are not public",
}
"""Why students of other data sets are not trained."""


def judge(summary: Summary) -> tuple[Check, ...]:
    """Compare every student and every model without privacy with the paper's; say which are quoted only."""
    checks = [_student(row) for row in summary.where(of=STUDENT).rows if _task(row).printed]
    checks += [_baseline(row) for row in summary.where(of=BASELINE).rows if _task(row).printed]
    checks += [_two_rounds(row, summary) for row in summary.where(of=TWO_ROUNDS).rows]
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


def _two_rounds(row: Row, summary: Summary) -> Check:
    """Whether the student of two rounds is better than that of one, at the same price whatever the votes."""
    task, cells = _task(row), row.cells
    rounds = task.rounds
    claim = f"beyond the paper: {task.title}: two rounds give a better student than one at the same price"
    alone = summary.where(of=STUDENT, task=task.title, row=rounds.row.name).rows
    if ACCURACY not in cells or not alone or ACCURACY not in alone[0].cells:
        return Check(claim, Outcome.UNDECIDED, missing(row), essential=False)
    once = alone[0].cells
    return Check(
        claim,
        above(difference(cells[ACCURACY], once[ACCURACY]), 0.0),
        f"{show(cells[ACCURACY])} from {cells[TAUGHT].mean:.1f} answers of teachers and {cells[OWN].mean:.1f} labels "
        f"of the first round's student, whose accuracy is {cells[FIRST].mean:.4f}, against {show(once[ACCURACY])} from "
        f"{once[ANSWERED].mean:.1f} answers; epsilon {cells[INDEPENDENT].mean:.4g} whatever the votes (one round "
        f"{rounds.price:.4g}), {cells[JOINT].mean:.4g} with the joint cost of the first round, {cells[PAPER].mean:.4g} "
        "by the paper's accounting, which is not a bound",
        essential=False,
    )


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
    "student of", "learner", "answers", "answers\nthat are\nright", "student,\nprinted", "student", "standard\nerror",
)  # fmt: skip


def lines(summary: Summary) -> list[list[str]]:
    """Students and models without privacy, a line each."""
    results = []
    for row in (*summary.where(of=STUDENT).rows, *summary.where(of=BASELINE).rows):
        task, cells, taught = _task(row), row.cells, row.setting["of"] == STUDENT
        printed = row_of(task, str(row.setting["row"])).accuracy if taught else BASELINES.get(task.title)
        stands_in = "" if task.printed else f" ({task.title.upper()})"
        results.append([
            f"{row.setting['row']}{stands_in}" if taught else f"{task.title}, all private records",
            str(row.setting["learner"]),
            number(cells.get(ANSWERED), 1),
            percent(cells.get(RIGHT)),
            f"{printed:.1f} %" if task.printed and printed else "",
            *accuracy(cells.get(ACCURACY)),
        ])  # fmt: skip
    return results


ROUND_TITLES = (
    "student of two rounds", "answers\nof\nteachers", "labels\nof the\nstudent", "labels\nthat are\nright",
    "epsilon,\npaper's\naccounting", "epsilon,\njoint, then\nwhatever", "epsilon,\nwhatever\nthe votes",
    "student\nof the first\nround", "student", "standard\nerror", "of one\nround, same\nprice",
)  # fmt: skip


def round_lines(summary: Summary) -> list[list[str]]:
    """Students of two rounds beside those of one at the same price, a line each."""
    results = []
    for row in summary.where(of=TWO_ROUNDS).rows:
        task, cells = _task(row), row.cells
        alone = [each.cells for each in summary.where(of=STUDENT, task=task.title, row=task.rounds.row.name).rows]
        results.append([
            f"{task.title}, {' + '.join(map(str, task.rounds.asked))} queries",
            number(cells.get(TAUGHT), 1), number(cells.get(OWN), 1), percent(cells.get(RIGHT)),
            *(number(cells.get(name), 3) for name in (PAPER, JOINT, INDEPENDENT)),
            accuracy(cells.get(FIRST))[0], *accuracy(cells.get(ACCURACY)),
            accuracy(alone[0].get(ACCURACY))[0] if alone else "",
        ])  # fmt: skip
    return results


def number(cell: Cell | None, digits: int) -> str:
    """A mean, for a table; empty where there is none."""
    return "" if cell is None else f"{cell.mean:.{digits}f}"


def percent(cell: Cell | None) -> str:
    """A share, for a table; empty where there is none."""
    return "" if cell is None else f"{100 * cell.mean:.1f} %"


def accuracy(cell: Cell | None) -> tuple[str, str]:
    """A mean accuracy and its standard error, for a table."""
    if cell is None:
        return "", ""
    return f"{100 * cell.mean:.2f} %", f"{100 * cell.error:.2f}" if math.isfinite(cell.error) else ""
