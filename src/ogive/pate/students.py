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
        model: What was trained.
        classes: How many classes it tells apart.
        answered: How many answers it learned from.
    """

    model: Any
    classes: int
    answered: int

    def labels(self, inputs: Any) -> Int64:
        """The student's labels, shape (inputs,)."""
        return predicted(self.model, inputs, self.classes, who="the student")

    def probabilities(self, inputs: Any) -> Float64:
        """Probabilities of all classes, shape (inputs, classes), as `InteractiveGNMax` takes them.

        Classes that no answer named have probability 0.

        Raises:
            ParameterError: the learner knows no probabilities.
        """
        return probabilities_of(self.model, inputs, self.classes, who="the student")

    def accuracy(self, inputs: Any, truth: Any) -> float:
        """Share of inputs whose label is right.

        Raises:
            DataError: the true labels are none, or not one for each input.
        """
        known = check_labels(truth, number_of_rows(inputs), self.classes)
        return float((self.labels(inputs) == known).mean())


def train_student(learner: Any, queries: Any, answers: Any, *, classes: int, seed: int = 0) -> Student:
    """Train a student on the queries that were answered; refused ones are left out.

    Args:
        learner: A scikit-learn estimator, or a function that makes one.
        queries: Public inputs that were asked, shape (queries, ...).
        answers: Labels of the aggregator, -1 where it refused, shape (queries,).
        classes: How many classes there are.
        seed: Every random state of the learner is drawn from this.

    Raises:
        ParameterError: scikit-learn is missing, classes or the seed is out of range, or answers are a release.
        DataError: answers are no labels, all were refused, or the learner cannot learn from them.

    Privacy: post-processing of the answers.
    """
    check_learning()
    found = _answers(answers, queries, classes)
    rows = np.flatnonzero(found != UNKNOWN)
    model = fitted(learner, rows_of(queries, rows), found[rows], seed=check_seed(seed), who="the student")
    return Student(model, int(classes), len(rows))


def train_semi_supervised(learner: Any, inputs: Any, answers: Any, *, classes: int, seed: int = 0) -> Student:
    """Train a student on all public inputs, of which some were asked and answered.

    Args:
        learner: What learns from inputs with the label -1 too: `VirtualAdversarialStudent`, or an estimator of
            scikit-learn's `semi_supervised`, which share this convention. The former takes minutes in silence unless
            it is given `steps` and `progress`.
        inputs: Public inputs: first those that were asked, then those that were not, shape (inputs, ...).
        answers: Labels of the aggregator, -1 where it refused, for the first inputs; shape (queries,).
        classes: How many classes there are.
        seed: Every random state of the learner is drawn from this.

    Raises:
        ParameterError: scikit-learn is missing, classes or the seed is out of range, or answers are a release.
        DataError: there are more answers than inputs, answers are no labels, all were refused, or the learner cannot
            learn from them.

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
        raise DataError("no query was answered, so that there is nothing to learn from; ask more, or with less noise")
    return found
