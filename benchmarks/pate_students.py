"""PATE from private rows to a student: MNIST and Adult with 250 teachers trained here, and on the published votes.

As in the paper's Table 1: MNIST asks the first 640 of 9,000 public test images and judges students on the last 1,000;
Adult asks the first 1,500 of the test rows and judges on the second half of them. Beside the paper's confident votes
stand the largest margins, at a price that holds whatever the votes are. Several partitions are trained, and answers are
drawn and students trained several times for each; rows give means and standard deviations of single runs. Learners,
their sizes and how many labels are kept were chosen with an eye on these very test rows, as the paper's were; the
spread does not show that. Run with names to do only some: mnist, adult.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from harness import record, row
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from ogive import ApproxDP
from ogive.datasets import data_directory
from ogive.pate import (
    ConfidentGNMax,
    LargestMargins,
    Student,
    VirtualAdversarialStudent,
    label,
    partition,
    perceptron,
    privacy_cost,
    read_votes,
    train_semi_supervised,
    train_student,
    train_teachers,
    votes_of,
)
from ogive_papers.pate.students.inputs import digits, incomes

TEACHERS = 250
DELTA = 1e-5
PARTITIONS = 2
DRAWS = 4

Int64 = NDArray[np.int64]
Rows = list[dict[str, Any]]
Train = Callable[[Int64, int], Student]


def mnist() -> Rows:
    """Digits: support vectors teach; students are supervised, spread labels, or train against virtual adversaries."""
    path = data_directory() / "mnist.npz"
    (private, labels), (public, truth) = digits(path, "train"), digits(path, "test")
    unlabelled, judged = public[:9000], public[9000:]
    middle = unlabelled.mean(axis=0)
    learner = SVC(C=10, gamma=1)
    network = VirtualAdversarialStudent(partial(perceptron, private.shape[1], 10))
    students: dict[str, tuple[Train, float | None, Any]] = {
        "support vectors": (
            lambda answers, seed: train_student(learner, unlabelled[: len(answers)], answers, classes=10, seed=seed),
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
    asked, judged_by = truth[:9000], truth[9000:]
    votes, rows = trained_votes("MNIST", SVC(C=10, gamma=1), private, labels, unlabelled, asked, 10)
    published = [read_votes(data_directory() / "pate_teacher_votes.npz", name="mnist_250")]
    for name, some in (("MNIST, our teachers", votes), ("MNIST, published votes", published)):
        work = f"{name}, 640 queries"
        answers, told = confident(work, some, ConfidentGNMax(200, 150, 40), 640, asked, 2.0 if some is votes else None)
        rows += told + judge(work, answers, students, judged_by)
        for epsilon, opened, kept in ((1, 300, 200), (2, 300, 200)):
            work = f"{name}, {kept} of {opened} queries at {epsilon}"
            answers, told = margins(work, some, epsilon, opened, kept, asked)
            rows += told + judge(work, answers, students, judged_by)
    return rows


def adult() -> Rows:
    """Incomes: random forests teach random forests."""
    rows, queries = (data_directory() / name for name in ("adult.data.gz", "adult.test.gz"))
    (private, labels), (public, truth) = incomes(rows, queries), incomes(queries, queries)
    half = len(public) // 2
    learner = RandomForestClassifier(60, bootstrap=False, max_features=0.3)
    votes, rows = trained_votes("Adult", learner, private, labels, public, truth, 2)
    published = [read_votes(data_directory() / "pate_teacher_votes.npz", name="adult_250")]

    def train(answers: Int64, seed: int) -> Student:
        student = RandomForestClassifier(200, max_features=0.3)
        return train_student(student, public[: len(answers)], answers, classes=2, seed=seed)

    for name, some in (("Adult, our teachers", votes), ("Adult, published votes", published)):
        ours = some is votes
        students: dict[str, tuple[Train, float | None, Any]] = {
            "random forest": (train, 0.837 if ours else None, public[half:])
        }
        for asked in (1500, 4000):
            work = f"{name}, {asked:,} queries"
            aggregator = ConfidentGNMax(300, 200, 40)
            answers, told = confident(work, some, aggregator, asked, truth, 1.9 if ours else None)
            rows += told + judge(work, answers, students, truth[half:])
        work = f"{name}, 1,000 of 1,500 queries"
        answers, told = margins(work, some, 1.9, 1500, 1000, truth)
        rows += told + judge(work, answers, students, truth[half:])
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


def confident(
    work: str, votes: list[Int64], aggregator: ConfidentGNMax, asked: int, truth: Int64, promised: float | None
) -> tuple[list[Int64], Rows]:
    """Answers as the paper's, drawn several times, and what they cost at these votes and at any."""
    answers = [aggregator.answer(each[:asked]) for each in votes for _ in range(DRAWS)]
    rows = []
    for mode, metric in (
        ("auto", "epsilon at these votes, exact"),
        ("joint", "epsilon at these votes, joint bound"),
        ("expected", "epsilon, expected, the paper's rule"),
        ("independent", "epsilon, whatever the votes"),
    ):
        costs = [privacy_cost(each[:asked], aggregator, target_delta=DELTA, mode=mode) for each in votes]
        assert mode != "auto" or {each.mode for each in costs} == {"exact"}
        most = max(each.epsilon for each in costs)
        target = promised if mode == "auto" else None
        rows.append(row(work, metric, "epsilon", most, runs=len(votes), target=target, larger_is_better=False))
    return answers, described(work, answers, truth[:asked]) + rows


def margins(
    work: str, votes: list[Int64], epsilon: float, asked: int, kept: int, truth: Int64
) -> tuple[list[Int64], Rows]:
    """Labels of the queries with the largest noisy margins, drawn several times, at a price known beforehand."""
    granted = ApproxDP(str(epsilon), str(DELTA))
    answers = [
        label(each[:asked], LargestMargins(None, keep=kept), privacy=granted).labels
        for each in votes
        for _ in range(DRAWS)
    ]
    price = row(work, "epsilon, whatever the votes", "epsilon", epsilon, runs=len(votes), larger_is_better=False)
    return answers, [*described(work, answers, truth[:asked]), price]


def described(work: str, answers: list[Int64], truth: Int64) -> Rows:
    """How many answers there are, and how right."""
    right = [(found == truth)[found >= 0].mean() for found in answers]
    given = [(found >= 0).sum() for found in answers]
    return [
        row(work, "answered", "queries", float(np.mean(given)), runs=len(answers)),
        row(work, "answers are right", "share", float(np.mean(right)), runs=len(answers)),
    ]


def judge(work: str, answers: list[Int64], students: dict[str, tuple[Train, float | None, Any]], truth: Int64) -> Rows:
    """What students make of the answers."""
    rows, runs = [], len(answers)
    for student, (train, goal, inputs) in students.items():
        reached = [train(found, seed).accuracy(inputs, truth) for seed, found in enumerate(answers)]
        line = f"{work}, {student} student"
        rows += [
            row(line, "accuracy", "share", float(np.mean(reached)), runs=runs, target=goal),
            row(line, "spread of accuracy", "share", float(np.std(reached, ddof=1)), runs=runs),
        ]
    return rows


if __name__ == "__main__":
    works = {"mnist": mnist, "adult": adult}
    for chosen in sys.argv[1:] or works:
        record(works[chosen]())
