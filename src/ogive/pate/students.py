"""Students: models that learn from public inputs and the aggregator's answers alone.

A student may be published. It is post-processing of the answers, so that to train it, to train it again, and to choose
among students by the answers costs nothing. To choose by private data, or to stop training by them, would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.errors import DataError, ParameterError
from ogive.pate.learners import (
    check_labels,
    check_learning,
    check_seed,
    fitted,
    number_of_rows,
    predicted,
    probabilities_of,
    rows_of,
)

UNKNOWN = -1
"""The label of a query that was refused, as aggregators give it, and of an input that was never asked."""


@dataclass(frozen=True, eq=False)
class Student:
    """A trained student.

    Fields:
        model: The trained model.
        classes: Number of classes.
        answered: Number of answers in the training data.
    """

    model: Any
    classes: int
    answered: int

    def labels(self, inputs: Any) -> Int64:
        """The student's labels, shape (inputs,)."""
        return predicted(self.model, inputs, self.classes, who="the student")

    def probabilities(self, inputs: Any) -> Float64:
        """Probabilities of all classes, shape (inputs, classes), for `InteractiveGNMax`.

        Classes without an answer in the training data have probability 0.

        Raises:
            ParameterError: the learner does not predict probabilities.
        """
        return probabilities_of(self.model, inputs, self.classes, who="the student")

    def accuracy(self, inputs: Any, truth: Any) -> float:
        """Share of inputs with the correct label.

        Raises:
            DataError: the true labels are invalid, or not one for each input.
        """
        known = check_labels(truth, number_of_rows(inputs), self.classes)
        return float((self.labels(inputs) == known).mean())


def train_student(learner: Any, queries: Any, answers: Any, *, classes: int, seed: int = 0) -> Student:
    """Train a student on the answered queries; refused queries are left out.

    Args:
        learner: A scikit-learn estimator, or a function that makes one.
        queries: Public inputs that were asked, shape (queries, ...).
        answers: Labels of the aggregator, -1 for refusals, shape (queries,).
        classes: Number of classes.
        seed: Seed of all random states of the learner.

    Raises:
        ParameterError: scikit-learn is missing, classes or the seed is out of range, or answers are a release.
        DataError: answers are not labels, all were refused, or the learner fails on them.

    Privacy: post-processing of the answers.
    """
    check_learning()
    found = _answers(answers, queries, classes)
    rows = np.flatnonzero(found != UNKNOWN)
    model = fitted(learner, rows_of(queries, rows), found[rows], seed=check_seed(seed), who="the student")
    return Student(model, int(classes), len(rows))


def train_semi_supervised(learner: Any, inputs: Any, answers: Any, *, classes: int, seed: int = 0) -> Student:
    """Train a student on all public inputs, some of which have answers.

    Args:
        learner: A learner that accepts unlabelled inputs (label -1): `VirtualAdversarialStudent`, or an estimator of
            scikit-learn's `semi_supervised`. The former takes minutes; give it `progress` to follow it.
        inputs: Public inputs, shape (inputs, ...); the queries come first.
        answers: Labels of the aggregator, -1 for refusals, for the first inputs; shape (queries,).
        classes: Number of classes.
        seed: Seed of all random states of the learner.

    Raises:
        ParameterError: scikit-learn is missing, classes or the seed is out of range, or answers are a release.
        DataError: there are more answers than inputs, answers are not labels, all were refused, or the learner fails
            on them.

    Privacy: post-processing of the answers.
    """
    check_learning()
    whole, asked = number_of_rows(inputs), len(np.atleast_1d(_given(answers)))
    if asked > whole:
        raise DataError(f"there are {asked} answers for {whole} inputs; give every input that was asked, in its order")
    found = np.full(whole, UNKNOWN, dtype=np.int64)
    found[:asked] = _answers(answers, inputs[:asked], classes)
    named = np.unique(found[found != UNKNOWN])
    if len(named) < 2:  # nothing to tell apart: a constant, as of a supervised student
        return train_student(learner, inputs, found, classes=classes, seed=seed)
    model = fitted(learner, inputs, found, seed=check_seed(seed), who="the student")
    return Student(model, int(classes), int(np.count_nonzero(found != UNKNOWN)))


def _given(answers: Any) -> Any:
    """Answers, if they are not a release of them."""
    if hasattr(answers, "labels"):
        raise ParameterError(f"`answers` must be labels, not {type(answers).__name__}; give its .labels")
    return answers


def _answers(answers: Any, queries: Any, classes: int) -> Int64:
    found = check_labels(_given(answers), number_of_rows(queries), classes, lowest=UNKNOWN)
    if (found == UNKNOWN).all():
        raise DataError(
            "no query was answered, so the student has no labels to learn from; ask more queries, or use less noise"
        )
    return found
