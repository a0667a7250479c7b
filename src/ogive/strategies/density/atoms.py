"""Single bins that hold more than a smooth density explains, found one after the other.

An atom is a sum of records on one bin that is not known, so it is held as a distribution over bins: with prior
probabilities of places, and a half normal prior of its size for each of three scales, the likelihood around a fitted
density gives the odds that there is an atom, and its expected size at each place. Atoms are added while the odds are in
favor; then each is looked at again with the others held fixed. An atom that moves is paid for by the smooth part, so
directions are e_i - p, and the curvature is what is left of J when the density has adapted.

Source:
    Wang, Sarkar, Carbonetto and Stephens 2020 (sum of single effects).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.strategies.density.fit import Smooth
from ogive.strategies.density.likelihood import Likelihood

_SIZES = np.array([0.03, 0.15, 0.6])  # deviations of the prior of an atom, as shares of the records
_ENDS = 0.35  # prior probability of either end: values are clipped to the bounds, and zero is often one of them
_ADDED, _KEPT = 0.5, 0.4  # probability from which an atom is added, and kept
_MOST = 30
_NEEDED = 1.0  # what an atom costs in evidence, besides the distance of its places from their prior
_NEGLIGIBLE = 1e-12  # share of an atom at a place, of which its cost has nothing
_FAR_BELOW = -30.0
_PLACES = 256  # bins that are looked at: those that stand out most, and the ends


def log_places(size: int) -> Float64:
    """Logarithms of the prior probabilities of places, shape (N,)."""
    places = np.full(size, (1 - 2 * _ENDS) / max(size - 2, 1))
    places[[0, -1]] = _ENDS
    found: Float64 = np.log(places)
    return found


def cost(atoms: list[Float64]) -> float:
    """What some atoms cost in evidence: a constant each, and the distance of their places from the prior."""
    paid = 0.0
    for atom in atoms:
        chances = atom / atom.sum()
        places = np.flatnonzero(chances > _NEGLIGIBLE)
        chances = chances[places]
        paid += _NEEDED + float(chances @ (np.log(chances) - log_places(len(atom))[places]))
    return paid


class Search:
    """Atoms around one fitted density.

    Args:
        likelihood: What was measured, and how noisily.
        answer: What was measured, shape (M,).
        weighed: b of the likelihood less J times the atoms that the density was fitted beside, shape (N,).
        fitted: The density.
        held: Those atoms together, shape (N,).
        records: How many there are.
    """

    def __init__(
        self,
        likelihood: Likelihood,
        answer: Float64,
        weighed: Float64,
        fitted: Smooth,
        held: Float64,
        records: float,
    ) -> None:
        from scipy.linalg import solve_triangular  # slow to import

        self.likelihood, self.fitted, self.records = likelihood, fitted, records
        even = likelihood.even(fitted.shares)
        self._adapted = solve_triangular(fitted.factor, fitted.pulled.T, lower=True)
        self._met = likelihood.precision @ fitted.shares
        # what the smooth part leaves, and where its prior pulls it
        left = weighed - fitted.mass * likelihood.times(even)
        self.score = self._against(left, fitted.residual, fitted.pulled @ fitted.scaled)
        own = self._met - self._adapted.T @ (self._adapted @ fitted.shares)
        curvature = likelihood.diagonal - (self._adapted**2).sum(axis=0)[likelihood.group]
        curvature = curvature - 2 * own[likelihood.group] + float(fitted.shares @ own)
        self.curvature = np.maximum(curvature, 1e-12)
        self._outliers = likelihood.outliers(answer, fitted.mass * even + held)

    def _against(self, values: Float64, grouped: Float64, pull: Float64 | float = 0.0) -> Float64:
        """Derivatives in the directions e_i - p, once the density has adapted, shape (N,).

        Args:
            values: J times something, shape (N,).
            grouped: The same on average over groups, shape (G,).
            pull: What the prior adds, shape (G,).
        """
        # slopes^T J x is what the density feels of x
        felt = self._inverse(grouped + pull)
        turned = values + (pull - felt)[self.likelihood.group]
        found: Float64 = turned - float(self.fitted.shares @ self.likelihood.means(turned))
        return found

    def _inverse(self, grouped: Float64) -> Float64:
        from scipy.linalg import solve_triangular  # slow to import

        inner = solve_triangular(self.fitted.factor, self.fitted.slopes.T @ grouped, lower=True)
        found: Float64 = self._adapted.T @ inner
        return found

    def shift(self, atom: Float64) -> Float64:
        """How much an atom takes off the score, shape (N,)."""
        total = float(atom.sum())
        values = self.likelihood.times(atom)
        grouped = self.likelihood.means(values) - total * self._met
        return self._against(values - total * self._met[self.likelihood.group], grouped)

    @cached_property
    def _log_places(self) -> Float64:
        return log_places(self.likelihood.size)

    def _looked_at(self, score: Float64) -> Int64:
        size = len(score)
        if size <= 2 * _PLACES:
            return np.arange(size)
        standing = np.argpartition(score / np.sqrt(self.curvature), size - _PLACES)[size - _PLACES :]
        return np.union1d(standing, [0, size - 1])

    def single(self, score: Float64) -> tuple[float, Float64]:
        """One more atom: the log odds that there is one, and its expected size at every bin, shape (N,)."""
        from scipy.special import log_ndtr, logsumexp  # slow to import

        places = self._looked_at(score)
        s, c, outliers = score[places], self.curvature[places], self._outliers[places]
        scales = _SIZES[:, np.newaxis] * self.records
        deviation = 1 / np.sqrt(1 / scales**2 + c)
        z = s * deviation
        normal = z * z / 2
        # no more evidence than Laplace noise allows
        least = np.where(z > np.sqrt(2), np.sqrt(2) * z - 1, normal)
        explained = np.where(z > 0, np.maximum(normal - outliers, least), normal)
        below = log_ndtr(z)
        odds = np.log(2) - np.log1p(scales**2 * c) / 2 + explained + below + self._log_places[places]
        sizes = np.maximum(deviation * (z + _mills(z, normal, below)), 0.0)
        whole = float(logsumexp(odds))
        atom = np.zeros(len(score))
        atom[places] = (np.exp(odds - whole) * sizes).sum(axis=0)
        return whole - float(np.log(len(_SIZES))), atom

    def improved(self, atoms: list[Float64]) -> tuple[list[Float64], int]:
        """The atoms looked at again, and how many were added."""
        score, kept = self.score, list[Float64]()
        for atom in atoms:
            score = score + self.shift(atom)
            chance, found = _chance(*self.single(score))
            if chance > _KEPT:
                kept.append(found)
                score = score - self.shift(found)
        before = len(kept)
        while len(kept) < _MOST:
            chance, found = _chance(*self.single(score))
            if chance < _ADDED:
                break
            kept.append(found)
            score = score - self.shift(found)
        return kept, len(kept) - before


def _mills(z: Float64, normal: Float64, below: Float64) -> Float64:
    """The normal density at z over the probability below; `normal` is z squared over 2, `below` its logarithm."""
    from scipy.special import erfcx  # slow to import

    usual = z > _FAR_BELOW
    found = np.exp(np.where(usual, -normal - below, 0.0)) / np.sqrt(2 * np.pi)
    # far below, where two large numbers would nearly cancel
    far = np.sqrt(2 / np.pi) / erfcx(-np.minimum(z, _FAR_BELOW) / np.sqrt(2))
    ratio: Float64 = np.where(usual, found, far)
    return ratio


def _chance(odds: float, atom: Float64) -> tuple[float, Float64]:
    """The probability of an atom, and its expected size when it may not be there."""
    chance = float(1 / (1 + np.exp(-np.clip(odds, -50.0, 50.0))))
    return chance, chance * atom
