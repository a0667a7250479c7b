"""What students and models without privacy are: learners by name, and what each of them needs to be installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from threadpoolctl import threadpool_limits

from ogive.core.arrays import Float32, Float64, Int64
from ogive.pate.adversarial import VirtualAdversarialStudent
from ogive.pate.learners import Student, train_semi_supervised, train_student
from ogive.pate.networks import NetworkLearner, perceptron
from ogive_papers.pate.students.discriminants import SharedCovariance

ADVERSARIES, SHORT_ADVERSARIES = "virtual adversaries", "virtual adversaries, 100 steps"
SPREADING, FOREST = "label spreading", "random forest"
PERCEPTRON, SHORT_PERCEPTRON = "perceptron", "perceptron, 300 steps"
BOOSTING, DISCRIMINANTS = "gradient boosting", "linear discriminants"
NONE = "none"
"""In place of a learner where scikit-learn is missing."""

MISSING = "scikit-learn and joblib are not installed; pip install 'ogive[learn]'"


@dataclass(frozen=True)
class Learner:
    """What learns from answers.

    Fields:
        needs: Module that must be installed beside scikit-learn and joblib; empty if none.
        steps: Of a network, 0 of others.
        unlabelled: Whether it learns from inputs without answers, too.
    """

    needs: str = ""
    steps: int = 0
    unlabelled: bool = False


LEARNERS: Mapping[str, Learner] = {
    ADVERSARIES: Learner("torch", 1000, unlabelled=True),
    SHORT_ADVERSARIES: Learner("torch", 100, unlabelled=True),
    SPREADING: Learner(unlabelled=True),
    FOREST: Learner(),
    PERCEPTRON: Learner("torch", 2000),
    SHORT_PERCEPTRON: Learner("torch", 300),
    BOOSTING: Learner(),
    DISCRIMINANTS: Learner(),
}


def available(*names: str) -> str:
    """The first learner of which all is installed, or `NONE`."""
    return next((name for name in names if all(map(_is_installed, (*_COMMON, LEARNERS[name].needs)))), NONE)


def learn(name: str, inputs: Float32 | Float64, answers: Int64, classes: int, seed: int) -> Student:
    """Train a learner, with one thread: several that share few cores wait for each other.

    Args:
        name: Of `LEARNERS`.
        inputs: Features, those with answers first, shape (inputs, features).
        answers: Labels of the first inputs, -1 for refusals, shape (answers,).
        classes: How many there are.
        seed: Decides everything.
    """
    model = _made(name, inputs.shape[1], classes)
    with threadpool_limits(1):
        if LEARNERS[name].unlabelled:
            return train_semi_supervised(model, inputs, answers, classes=classes, seed=seed)
        return train_student(model, inputs[: len(answers)], answers, classes=classes, seed=seed)


def _made(name: str, features: int, classes: int) -> Any:
    steps, network = LEARNERS[name].steps, partial(perceptron, features, classes)
    if name in (ADVERSARIES, SHORT_ADVERSARIES):
        return VirtualAdversarialStudent(network, steps=steps)
    if name in (PERCEPTRON, SHORT_PERCEPTRON):
        return NetworkLearner(network, steps=steps, batch=128)
    if name == DISCRIMINANTS:
        return SharedCovariance
    if name == SPREADING:
        from sklearn.semi_supervised import LabelSpreading

        return LabelSpreading(kernel="knn", n_neighbors=10, alpha=0.8, max_iter=200)
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    return HistGradientBoostingClassifier() if name == BOOSTING else RandomForestClassifier(200, max_features=0.3)


_COMMON = ("sklearn", "joblib")


def _is_installed(module: str) -> bool:
    return not module or importlib.util.find_spec(module) is not None
