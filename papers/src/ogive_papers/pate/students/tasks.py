"""Data sets on which students are trained: what they ask, what they learn from, and what they are judged by.

A further one is a class with the members of `StudentTask` and an entry of `TASKS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from ogive.core.arrays import Float32, Float64, Int64
from ogive.errors import DataError, plain
from ogive.pate.aggregators import ConfidentGNMax, InteractiveGNMax
from ogive_papers.items import Places, Setting, content_of
from ogive_papers.pate import characters
from ogive_papers.pate.printed import GLYPH, PRICES, PriceRow
from ogive_papers.pate.stand_in import drawn, is_simulated
from ogive_papers.pate.students import learners
from ogive_papers.pate.students.inputs import digits, incomes
from ogive_papers.pate.students.rounds import CONFIDENCE, Rounds, halves
from ogive_papers.pate.votes import (
    ABSENT,
    ADULT,
    MNIST,
    TRAINING_ROWS,
    find_labels,
    find_named,
    lack,
    votes_of,
)

QUERIES_OF_MNIST = 9000
"""Test images that may be asked; students are judged on the others, the last 1000."""

SPREAD = 10.0
"""Factor of features of digits, whose length is one, so that steps of a network are neither small nor large."""

SHORT_IMAGES = 5000
"""Images that a quick baseline is trained on."""


@dataclass(frozen=True, eq=False)
class Material:
    """What one run learns from, and is judged by.

    Fields:
        votes: Of all teachers, in the order in which queries are asked, shape (queries, classes).
        truth: True classes of the queries, shape (queries,).
        inputs: Features of public inputs, the queries first, shape (inputs, features).
        judged: Features of what students are judged on, shape (judged, features).
        judged_truth: Its true classes, shape (judged,).
    """

    votes: Int64
    truth: Int64
    inputs: Float32 | Float64
    judged: Float32 | Float64
    judged_truth: Int64


class StudentTask(Protocol):
    """A data set on which students are trained.

    Fields:
        title: Names it.
        classes: How many there are.
        rows: Of Table 1, that are run here.
        printed: Whether the accuracies of these rows were printed for these data.
        same_kind: Whether the student is of the kind that the paper trained.
        changed: What is otherwise than in the paper, for evidence; empty if nothing.
        rounds: Two rounds that are compared with one of the rows, whose price whatever the votes is no smaller.
    """

    title: str
    classes: int
    rows: tuple[PriceRow, ...]
    printed: bool
    same_kind: bool
    changed: str
    rounds: Rounds

    def learner(self, quick: bool) -> str:
        """Which of `learners.LEARNERS` is the student; it becomes part of the setting."""
        ...

    def baseline_learner(self, quick: bool) -> str:
        """Which of them is trained on the private records."""
        ...

    def runs(self, quick: bool) -> int:
        """Repetitions of every student."""
        ...

    def inputs(self, places: Places) -> Setting:
        """Names what is read beside votes and labels, by content."""
        ...

    def lack(self, known: Setting) -> str:
        """What students need and is not among the inputs; empty if nothing."""
        ...

    def material(self, places: Places, generator: np.random.Generator) -> Material | None:
        """What a run learns from; None where something is missing."""
        ...

    def baseline(self, places: Places, learner: str, seed: int) -> float | None:
        """Share of what is judged on which a model of the private records is right; None where they are missing."""
        ...


class Digits:
    """MNIST: virtual adversaries or spread labels, with all test images that may be asked as public inputs."""

    title = MNIST.title
    classes = MNIST.classes
    rows = tuple(row for row in PRICES.values() if row.data == MNIST.title)
    printed = True
    same_kind = False
    changed = "a perceptron on strengths of edges in place of the paper's convolutional GAN"
    rounds = halves(PRICES["MNIST Confident-GNMax, 640 queries"])

    def learner(self, quick: bool) -> str:
        """A network where there is torch."""
        return learners.available(learners.SHORT_ADVERSARIES if quick else learners.ADVERSARIES, learners.SPREADING)

    def baseline_learner(self, quick: bool) -> str:
        """A perceptron where there is torch."""
        return learners.available(learners.SHORT_PERCEPTRON if quick else learners.PERCEPTRON, learners.DISCRIMINANTS)

    def runs(self, quick: bool) -> int:
        """Few, since each takes seconds."""
        return 1 if quick else 8

    def inputs(self, places: Places) -> Setting:
        """Nothing more: images are in the file of the labels."""
        return {}

    def lack(self, known: Setting) -> str:
        """Votes or the file of images."""
        return "" if _is_known(MNIST.title, known) else lack(MNIST, known)

    def material(self, places: Places, generator: np.random.Generator) -> Material | None:
        """The published votes in stored order."""
        path = find_labels(MNIST, places)
        votes = votes_of(MNIST, places, QUERIES_OF_MNIST)
        if path is None or votes is None:
            return None
        features, truth = digits(path, "test")
        _check_size(path, truth, QUERIES_OF_MNIST)
        asked = slice(QUERIES_OF_MNIST)
        middle = features[asked].mean(axis=0)
        return Material(
            votes, truth[asked], SPREAD * (features[asked] - middle),
            SPREAD * (features[QUERIES_OF_MNIST:] - middle), truth[QUERIES_OF_MNIST:],
        )  # fmt: skip

    def baseline(self, places: Places, learner: str, seed: int) -> float | None:
        """Trained on the training images."""
        path = find_labels(MNIST, places)
        if path is None:
            return None
        features, truth = digits(path, "train", SHORT_IMAGES if learner == learners.SHORT_PERCEPTRON else None)
        judged, judged_truth = (array[QUERIES_OF_MNIST:] for array in digits(path, "test"))
        middle = features.mean(axis=0)
        model = learners.learn(learner, SPREAD * (features - middle), truth, self.classes, seed)
        return model.accuracy(SPREAD * (judged - middle), judged_truth)


class Incomes:
    """Adult: random forests, judged on the second half of the test rows."""

    title = ADULT.title
    classes = ADULT.classes
    rows = tuple(row for row in PRICES.values() if row.data == ADULT.title)
    printed = True
    same_kind = True
    changed = ""
    rounds = halves(PRICES["Adult Confident-GNMax, 1500 queries"])

    def learner(self, quick: bool) -> str:
        """As the paper's."""
        return learners.available(learners.FOREST)

    def baseline_learner(self, quick: bool) -> str:
        """Quick and accurate on tables."""
        return learners.available(learners.BOOSTING)

    def runs(self, quick: bool) -> int:
        """Each takes less than a second, and they differ more than those of MNIST."""
        return 5 if quick else 40

    def inputs(self, places: Places) -> Setting:
        """The training rows, which only the baseline sees."""
        return {f"{self.title} training rows": content_of(find_named(TRAINING_ROWS, places), ABSENT)}

    def lack(self, known: Setting) -> str:
        """Votes or test rows; training rows are missed by the baseline alone, which then has no number."""
        return "" if _is_known(ADULT.title, known) else lack(ADULT, known)

    def material(self, places: Places, generator: np.random.Generator) -> Material | None:
        """The published votes in stored order."""
        path = find_labels(ADULT, places)
        if path is None:
            return None
        features, truth = incomes(path, path)
        half = len(truth) // 2
        votes = votes_of(ADULT, places, half)
        if votes is None:
            return None
        _check_size(path, truth, 2 * len(votes))
        return Material(votes, truth[:half], features[:half], features[half:], truth[half:])

    def baseline(self, places: Places, learner: str, seed: int) -> float | None:
        """Trained on the training rows."""
        test, training = find_labels(ADULT, places), find_named(TRAINING_ROWS, places)
        if test is None or training is None:
            return None
        features, truth = incomes(test, test)
        half = len(truth) // 2
        model = learners.learn(learner, *incomes(training, test), self.classes, seed)
        return model.accuracy(features[half:], truth[half:])


class Characters:
    """Characters in place of Glyph: discriminants, of answered queries alone, asked in an order of the run."""

    title = "Characters"
    classes = characters.CLASSES
    rows = tuple(row for row in PRICES.values() if row.data == GLYPH)
    printed = False
    same_kind = False
    changed = "linear discriminants of the answered queries in place of the paper's convolutional network"
    rounds = Rounds(
        PRICES["Glyph Confident-GNMax, 12000 queries"],
        ConfidentGNMax(3500, 1500, 100),
        InteractiveGNMax(3500, 2000, 200, CONFIDENCE),
        (6000, 10_000),
        (4500, 10_000),
    )

    def learner(self, quick: bool) -> str:
        """Quick to train on many classes."""
        return learners.available(learners.DISCRIMINANTS)

    def baseline_learner(self, quick: bool) -> str:
        """The same, which was trained when the file was made."""
        return learners.available(learners.DISCRIMINANTS)

    def runs(self, quick: bool) -> int:
        """Each takes a second or two, most of it for prices."""
        return 1 if quick else 8

    def inputs(self, places: Places) -> Setting:
        """Nothing more: features are in the file of the votes."""
        return {}

    def lack(self, known: Setting) -> str:
        """The file of votes and features."""
        if not is_simulated(known):
            return ""
        return f"no file {characters.FILE} was found; `make characters` writes it, and --data names it or its folder"

    def material(self, places: Places, generator: np.random.Generator) -> Material | None:
        """Votes of the file, of all its queries in random order."""
        if characters.find_characters(places) is None:
            return None
        result = drawn(places, generator, characters.QUERIES)
        file = read_found(places)
        return Material(result.votes, result.truth, file.queries[result.rows], file.judged, file.judged_truth)

    def baseline(self, places: Places, learner: str, seed: int) -> float | None:
        """As the file says."""
        return None if characters.find_characters(places) is None else read_found(places).baseline


def read_found(places: Places) -> characters.Characters:
    """The file of characters, which is among the data."""
    path = characters.find_characters(places)
    assert path is not None
    return characters.read_characters(path)


def _is_known(title: str, known: Setting) -> bool:
    """Whether votes and labels are among the inputs."""
    return all(known.get(f"{title} {what}", ABSENT) != ABSENT for what in ("votes", "labels"))


def _check_size(path: Path, truth: Int64, least: int) -> None:
    if len(truth) < least:
        raise DataError(f"{plain(path)} has {len(truth)} rows, fewer than {least}, to train students and judge them")


TASKS: Mapping[str, StudentTask] = {task.title: task for task in (Digits(), Incomes(), Characters())}
