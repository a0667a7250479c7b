"""Learners that teachers and students share, which are copied, trained and give labels; and students.

A learner is a scikit-learn estimator, or anything with its `fit` and `predict`; or a function without arguments that
makes one. Labels are whole numbers from 0, and how many classes there are is public: it is never read off the records.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import any_whole, array_of, refuse_masked
from ogive.errors import DataError, OgiveError, ParameterError, plain, quoted

MOST_CLASSES = 1 << 15


@dataclass(frozen=True)
class Constant:
    """A model that gives one label whatever it is asked: of those who saw no other, or nothing at all."""

    label: int

    def predict(self, features: Any) -> Int64:
        """The label, shape (queries,)."""
        return np.full(number_of_rows(features), self.label, dtype=np.int64)


def check_learning() -> None:
    """Ask for scikit-learn and joblib."""
    for module, name in (("sklearn", "scikit-learn"), ("joblib", "joblib")):
        if importlib.util.find_spec(module) is None:
            raise ParameterError(
                f"teachers and students are trained with {name}, which is not installed; pip install 'ogive[learn]'"
            )


def check_seed(seed: Any) -> int:
    """A seed, if it is one."""
    return any_whole(seed, "seed", 0)


def check_jobs(jobs: Any) -> int:
    """How many workers there are, if it is a number of them."""
    if isinstance(jobs, bool) or not isinstance(jobs, int | np.integer) or not (jobs == -1 or jobs >= 1):
        raise ParameterError(f"`jobs` must be -1 or at least 1, got {quoted(jobs)}")
    return int(jobs)


def check_labels(labels: Any, rows: int, classes: int, *, lowest: int = 0) -> Int64:
    """Labels from `lowest` to `classes` - 1 as an array, shape (rows,); `lowest` is -1 where labels may be missing."""
    any_whole(classes, "classes", 2, MOST_CLASSES)
    result = array_of(labels)
    if result.shape != (rows,):
        raise DataError(f"there must be one label for each of {rows} rows, got labels of the shape {result.shape}")
    if result.dtype.kind not in "iufb":
        raise DataError(f"labels must be whole numbers from {lowest}; number the classes first")
    wrong = ~((result >= lowest) & (result < classes) & (result == np.floor(result)))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(f"the label of row {row} is {result[row]}, none of the classes {lowest} to {classes - 1}")
    return result.astype(np.int64)


def fresh(learner: Any, seed: int) -> Any:
    """An untrained copy of a learner whose every random state is drawn from the seed."""
    from sklearn.base import clone

    if hasattr(learner, "fit") and not isinstance(learner, type):
        copied = clone(learner)
    elif callable(learner):
        copied = _called(learner)
    else:
        copied = None
    if not hasattr(copied, "fit") or not hasattr(copied, "predict"):
        raise ParameterError(
            "a learner must have fit and predict, as scikit-learn's estimators do, or make what has; got "
            f"{type(learner).__name__}"
        )
    if hasattr(copied, "get_params"):
        states = [name for name in copied.get_params() if name == "random_state" or name.endswith("__random_state")]
        drawn = np.random.SeedSequence(seed).generate_state(max(1, len(states)))
        copied.set_params(**{name: int(state) for name, state in zip(sorted(states), drawn, strict=False)})
    return copied


def _called(learner: Any) -> Any:
    try:
        return learner()
    except OgiveError:
        raise
    except Exception as problem:
        raise ParameterError(
            f"{getattr(learner, '__name__', 'the learner')} is called without arguments and failed: "
            f"{_one_line(problem)}"
        ) from problem


def fitted(learner: Any, features: Any, labels: Int64, *, seed: int, who: str) -> Any:
    """A copy of the learner trained on some rows; a constant where there is one label or none."""
    result = np.unique(labels)
    if len(result) < 2:
        return Constant(int(result[0]) if len(result) else 0)
    model = fresh(learner, seed)
    try:
        model.fit(features, labels)
    except ParameterError:
        raise
    except Exception as problem:
        raise DataError(f"{who} could not be trained: {_one_line(problem)}") from problem
    return model


def predicted(model: Any, features: Any, classes: int, *, who: str) -> Int64:
    """Labels that a model gives, int64, shape (queries,)."""
    try:
        labels = model.predict(features)
    except Exception as problem:
        raise DataError(f"{who} could not label the queries: {_one_line(problem)}") from problem
    try:
        return check_labels(labels, number_of_rows(features), classes)
    except DataError as problem:
        raise DataError(f"{who} did not return labels: {plain(problem)}") from None


def probabilities_of(model: Any, features: Any, classes: int, *, who: str) -> Float64:
    """Probabilities of all classes, shape (queries, classes); 0 for classes that the model has not seen."""
    predicted = np.zeros((number_of_rows(features), classes))
    if isinstance(model, Constant):
        predicted[:, model.label] = 1.0
        return predicted
    if not hasattr(model, "predict_proba"):
        raise ParameterError(f"{who} does not predict probabilities; use a learner that has predict_proba")
    try:
        predicted[:, np.asarray(model.classes_, dtype=np.int64)] = model.predict_proba(features)
    except Exception as problem:
        raise DataError(f"{who} did not return probabilities: {_one_line(problem)}") from problem
    if not (predicted >= 0).all() or not np.allclose(predicted.sum(axis=1), 1, atol=1e-3):
        raise DataError(f"{who} returned invalid probabilities: negative or missing numbers, or a sum other than 1")
    return np.asarray(predicted / predicted.sum(axis=1, keepdims=True))


def number_of_rows(features: Any) -> int:
    """Rows of an array, a sparse matrix, a data frame or a list."""
    refuse_masked(features)
    return int(features.shape[0]) if hasattr(features, "shape") else len(features)


def rows_of(features: Any, rows: Int64) -> Any:
    """Some rows of an array, a sparse matrix or a data frame."""
    return features.iloc[rows] if hasattr(features, "iloc") else features[rows]


def _one_line(problem: Exception) -> str:
    text = str(problem).strip().split("\n")[0] or "no reason given"
    return plain(text if isinstance(problem, OgiveError) else f"{type(problem).__name__}: {text}")


# --- Students: models that learn from public inputs and the aggregator's answers alone
#
# A student may be published. It is post-processing of the answers, so that to train it, to train it again, and to
# choose among students by the answers costs nothing. To choose by private data, or to stop training by them, would.

UNKNOWN = -1
"""The label of a query that was refused, as aggregators give it, and of an input without a query."""


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
    result = _answers(answers, queries, classes)
    rows = np.flatnonzero(result != UNKNOWN)
    model = fitted(learner, rows_of(queries, rows), result[rows], seed=check_seed(seed), who="the student")
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
    whole, count = number_of_rows(inputs), len(np.atleast_1d(_given(answers)))
    if count > whole:
        raise DataError(f"there are {count} answers for {whole} inputs; give every input that was asked, in its order")
    result = np.full(whole, UNKNOWN, dtype=np.int64)
    result[:count] = _answers(answers, inputs[:count], classes)
    named = np.unique(result[result != UNKNOWN])
    if len(named) < 2:  # nothing to tell apart: a constant, as of a supervised student
        return train_student(learner, inputs, result, classes=classes, seed=seed)
    model = fitted(learner, inputs, result, seed=check_seed(seed), who="the student")
    return Student(model, int(classes), int(np.count_nonzero(result != UNKNOWN)))


def _given(answers: Any) -> Any:
    """Answers, if they are not a release of them."""
    if hasattr(answers, "labels"):
        raise ParameterError(f"`answers` must be labels, not {type(answers).__name__}; give its .labels")
    return answers


def _answers(answers: Any, queries: Any, classes: int) -> Int64:
    result = check_labels(_given(answers), number_of_rows(queries), classes, lowest=UNKNOWN)
    if (result == UNKNOWN).all():
        raise DataError(
            "no query was answered, so the student has no labels to learn from; ask more queries, or use less noise"
        )
    return result
