"""A quick learner of many classes from few records: linear discriminants with one covariance for all classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.core.arrays import Float32, Float64, Int64

SHRINKAGE = 0.1
"""What is added to the diagonal of the covariance, as a part of its mean."""


class SharedCovariance:
    """Gaussian classes of one shrunken covariance, in float32: learned in one solution of a linear system.

    A class may have a single record. `ogive.pate.train_teachers` takes the class itself as a learner.
    """

    def fit(self, features: Any, labels: Int64) -> SharedCovariance:
        """Learn means, their common covariance, and how frequent classes are.

        Args:
            features: Shape (records, features).
            labels: Shape (records,).
        """
        inputs = np.asarray(features, dtype=np.float32)
        self.classes_, places, counts = np.unique(labels, return_inverse=True, return_counts=True)
        sums = np.zeros((len(counts), inputs.shape[1]), dtype=np.float32)
        np.add.at(sums, places, inputs)
        means = sums / counts[:, None].astype(np.float32)
        rest = inputs - means[places]
        covariance = rest.T @ rest / max(1, len(inputs) - len(counts))
        size = len(covariance)
        covariance[np.arange(size), np.arange(size)] += SHRINKAGE * np.trace(covariance) / size + 1e-6
        self.slopes_ = np.linalg.solve(covariance, means.T).astype(np.float32)
        self.starts_ = (np.log(counts / len(inputs)) - 0.5 * (means * self.slopes_.T).sum(axis=1)).astype(np.float32)
        return self

    def predict(self, features: Any) -> Int64:
        """The likeliest class of every input, shape (inputs,)."""
        return np.asarray(self.classes_[self._scores(features).argmax(axis=1)], dtype=np.int64)

    def predict_proba(self, features: Any) -> Float64:
        """Probabilities of the classes that were seen, shape (inputs, classes seen)."""
        scores = self._scores(features).astype(np.float64)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _scores(self, features: Any) -> Float32:
        return np.asarray(np.asarray(features, dtype=np.float32) @ self.slopes_ + self.starts_)
