"""Table 1: students taught by the rows' labels or in two rounds, and models of the private records without privacy."""

from __future__ import annotations

import numpy as np

from ogive.core.arrays import Int64
from ogive.noise.base import RandomSource
from ogive.pate.labelling import label
from ogive_papers.items import Numbers, Places, Setting
from ogive_papers.pate.prices import ANSWERED, RIGHT, within
from ogive_papers.pate.printed import PriceRow
from ogive_papers.pate.students import learners
from ogive_papers.pate.students.rounds import costs
from ogive_papers.pate.students.tasks import TASKS, Material, StudentTask
from ogive_papers.randomness import streams

STUDENT, BASELINE, TWO_ROUNDS = "student", "baseline", "two rounds"
ACCURACY, FIRST = "accuracy", "accuracy after the first round"
TAUGHT, OWN = "answers of teachers", "labels of the student itself"

BASELINE_RUNS = 5

CODE = (
    "pate/adversarial.py", "pate/labelling.py", "pate/learners.py", "pate/networks.py", "pate/learners.py",
    "queries/labels.py", "papers/pate/students/discriminants.py", "papers/pate/students/inputs.py",
    "papers/pate/students/learners.py", "papers/pate/students/rounds.py", "papers/pate/students/runs.py",
    "papers/pate/students/tasks.py",
    "statistics/labels/*.py",
)  # fmt: skip


def inputs(places: Places) -> Setting:
    """What students read beside votes and labels."""
    return {name: value for task in TASKS.values() for name, value in task.inputs(places).items()}


def settings(quick: bool) -> tuple[Setting, ...]:
    """A student of every row of every task, one of two rounds, and a model without privacy."""
    return tuple(each for task in TASKS.values() for each in _settings(task, quick))


def _settings(task: StudentTask, quick: bool) -> list[Setting]:
    student: Setting = {"task": task.title, "of": STUDENT, "learner": task.learner(quick), "runs": task.runs(quick)}
    baseline: Setting = {
        "row": task.title, "task": task.title, "of": BASELINE, "learner": task.baseline_learner(quick),
        "runs": 1 if quick else BASELINE_RUNS,
    }  # fmt: skip
    both: Setting = {**student, "row": task.title, "of": TWO_ROUNDS} | ({"runs": 1} if quick else {})
    return [*({"row": row.name, **student} for row in task.rows), both, baseline]


def measure(setting: Setting, seed: int, data: Places) -> Numbers:
    """One run: how accurate what was trained is; nothing where data or learners are missing."""
    task, learner = TASKS[str(setting["task"])], str(setting["learner"])
    if learner == learners.NONE:
        return {}
    generator, source = streams(seed)
    if setting["of"] == BASELINE:
        result = task.baseline(data, learner, int(generator.integers(1 << 31)))
        return {} if result is None else {ACCURACY: result}
    material = task.material(data, generator)
    if material is None:
        return {}
    if setting["of"] == TWO_ROUNDS:
        return _two_rounds(task, learner, material, generator, source)
    row = row_of(task, str(setting["row"]))
    labels = within(row.aggregator.answer(material.votes[: row.asked], source=source), row.cap)
    student = learners.learn(learner, material.inputs, labels, task.classes, int(generator.integers(1 << 31)))
    return {**told(labels, material), ACCURACY: student.accuracy(material.judged, material.judged_truth)}


def _two_rounds(
    task: StudentTask, learner: str, material: Material, generator: np.random.Generator, source: RandomSource
) -> Numbers:
    """Labels of both rounds, what they cost, and how accurate students of the first and of both are."""
    rounds, (first, second) = task.rounds, task.rounds.asked
    votes = material.votes[: first + second]
    seeds = generator.integers(1 << 31, size=2).tolist()
    begun = within(rounds.first.answer(votes[:first], source=source), rounds.caps[0])
    student = learners.learn(learner, material.inputs, begun, task.classes, seeds[0])
    probabilities = student.probabilities(material.inputs[first : first + second])
    result = label(
        votes[first:], rounds.second, target_delta=str(rounds.row.delta), max_answers=rounds.caps[1],
        probabilities=probabilities, source=source,
    )  # fmt: skip
    labels = np.concatenate([begun, result.labels])
    final = learners.learn(learner, material.inputs, labels, task.classes, seeds[1])
    numbers, taught = told(labels, material), int((begun >= 0).sum()) + result.answered
    return {
        **numbers,
        TAUGHT: float(taught),
        OWN: numbers[ANSWERED] - taught,
        FIRST: student.accuracy(material.judged, material.judged_truth),
        ACCURACY: final.accuracy(material.judged, material.judged_truth),
        **costs(rounds, votes, probabilities),
    }


def told(labels: Int64, material: Material) -> Numbers:
    """How many labels there are of the first queries, and how many of them are right."""
    answered = labels >= 0
    return {
        ANSWERED: float(answered.sum()),
        RIGHT: float((labels == material.truth[: len(labels)])[answered].mean()),
    }


def row_of(task: StudentTask, name: str) -> PriceRow:
    """The row of a task that is called so."""
    return next(row for row in task.rows if row.name == name)
