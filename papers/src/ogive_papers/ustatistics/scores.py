"""Scores of two classes: the paper's three synthetic sets, and a model's on diabetes patients.

The paper's class sizes of Diabetes are in a picture only; its text says that the smaller class of the test set has
693 people. Here every patient counts once, with the first stay; the test set has 693 of those who came
back within 30 days and the same part of the others, drawn once by a fixed public seed.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.demo.data import check_learning, design_matrix, fit, read_table
from ogive_papers.ecdf.data_sets import DIABETES, inputs_of
from ogive_papers.items import Places, Setting
from ogive_papers.ustatistics.tables import of_patients

AUC_ONE, UNIFORM, DIGIT = "auc_one", "ur", "ithdigit"
SYNTHETIC = (AUC_ONE, UNIFORM, DIGIT)
PATIENTS = "diabetes"

PEOPLE = 1_000_000
"""In each class of a synthetic set."""

HIDDEN = 1e-4
"""The score of all positives of ithdigit; its negatives have 0."""

SMALLER = 693
STAND_IN = (10_000, 693)
"""Negatives and positives where there is no data; their scores have the distributions Beta(2, 3) and Beta(3, 2)."""

PERSON = "patient_nbr"
RETURNED = dataclasses.replace(DIABETES, positive="<30")
"""Whether a patient came back within 30 days."""

INPUT = f"{DIABETES.name} data"
SPLIT_SEED = 2020


@dataclass(frozen=True)
class Classes:
    """People per bin in both classes, and what the score's area under the ROC curve is without bins.

    Fields:
        histogram: Shape (2, bins), negatives first.
        half: Area with ties counted half.
        strict: Area with ties counted as lost, as the paper does.
    """

    histogram: Int64
    half: float
    strict: float

    @property
    def by_symbol(self) -> Int64:
        """People per pair of bin and class, of which the class runs fastest, shape (2 bins,)."""
        return self.histogram.T.reshape(-1)

    @property
    def binned(self) -> float:
        """Area of the binned scores, with ties counted half."""
        return areas(self.histogram)[0]


def classes(name: str, bins: int, generator: np.random.Generator, places: Places) -> Classes:
    """One data set with scores floored to so many bins on [0, 1].

    Args:
        name: One of `SYNTHETIC`, or `PATIENTS`.
        bins: Number of bins, d.
        generator: For scores that are drawn anew in every run.
        places: Of data.
    """
    if name == PATIENTS:
        negatives, positives = patients(places)
        return _binned(_floored(negatives, bins), _floored(positives, bins), bins, negatives, positives)
    histogram = np.zeros((2, bins), dtype=np.int64)
    if name == UNIFORM:
        histogram[:] = generator.multinomial(PEOPLE, np.full(bins, 1 / bins), size=2)
        return Classes(histogram, *areas(histogram))
    histogram[0, 0] = PEOPLE
    histogram[1, bins - 1 if name == AUC_ONE else int(HIDDEN * bins)] = PEOPLE
    return Classes(histogram, 1.0, 1.0)


def areas(histogram: Int64) -> tuple[float, float]:
    """Area under the ROC curve of binned scores, with ties counted half and as lost."""
    negatives, positives = (each.astype(np.float64) for each in histogram)
    pairs = negatives.sum() * positives.sum()
    strict = float(positives @ (np.cumsum(negatives) - negatives) / pairs)
    return strict + float(positives @ negatives / pairs) / 2, strict


def _floored(scores: Float64, bins: int) -> Int64:
    return np.minimum((scores * bins).astype(np.int64), bins - 1)


def _binned(negatives: Int64, positives: Int64, bins: int, low: Float64, high: Float64) -> Classes:
    histogram = np.stack([np.bincount(negatives, minlength=bins), np.bincount(positives, minlength=bins)])
    values = np.unique(np.concatenate([low, high]))
    exact = np.stack([np.bincount(np.searchsorted(values, each), minlength=values.size) for each in (low, high)])
    return Classes(histogram.astype(np.int64), *areas(exact))


def inputs(places: Places) -> Setting:
    """The start of the SHA-256 of the table of patients, or `SIMULATED`."""
    return inputs_of(DIABETES.name)(of_patients(places))


@lru_cache(maxsize=2)
def patients(places: Places) -> tuple[Float64, Float64]:
    """Scores of the test set, of those who did not come back soon and of those who did.

    Raises:
        DataError: the data cannot be read.
        ParameterError: scikit-learn is missing.
    """
    path = DIABETES.find(of_patients(places))
    if path is None:
        generator = np.random.default_rng(SPLIT_SEED)
        return generator.beta(2, 3, STAND_IN[0]), generator.beta(3, 2, STAND_IN[1])
    check_learning()
    table, soon = read_table(RETURNED, path)
    first = np.sort(np.unique(table[PERSON].to_numpy(), return_index=True)[1])
    order = first[np.random.default_rng(SPLIT_SEED).permutation(first.size)]
    positives, negatives = order[soon[order]], order[~soon[order]]
    others = round(negatives.size * SMALLER / positives.size)
    training = np.concatenate([positives[SMALLER:], negatives[others:]])
    features = design_matrix(RETURNED, table, training)

    def scored(rows: Int64) -> Float64:
        return fit(features[training], soon[training], features[rows])

    tested = scored(np.concatenate([negatives[:others], positives[:SMALLER]]))
    return tested[:others], tested[others:]
