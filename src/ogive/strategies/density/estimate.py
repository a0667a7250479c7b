"""A histogram fitted to noisy sums: a mean over densities with and without atoms, weighted by their evidence.

Each prior of the density is fitted with the atoms that were found around the best of them, and atoms are looked for
again, a few times over. Two searches begin from different densities: the best one without atoms, which may have bent to
them already, and a stiff one, which leaves to atoms all that is not straight. No choice between them is needed: what
the measurements speak for gets the weight.

All of it is post-processing of the noisy measurements.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ogive.arrays import Float64
from ogive.strategies.density.atoms import Search, cost
from ogive.strategies.density.fit import PRIORS, STIFF, Prior, Smooth, fit
from ogive.strategies.density.likelihood import Likelihood

_ROUNDS = 4
_DROPPED = 20.0  # evidence below the best from which a prior is tried no more
_WEIGHED = 0.02  # least weight of a fit, the best having 1
_LARGEST = 0.99  # share of the records that atoms may have


@dataclass(frozen=True, eq=False)
class Candidate:
    """Some atoms, and densities of the rest."""

    atoms: list[Float64]
    held: Float64
    densities: list[Smooth]
    constant: float

    @property
    def best(self) -> Smooth:
        """The density of most evidence."""
        return max(self.densities, key=lambda each: each.evidence)

    def evidence(self, density: Smooth) -> float:
        """That of a density and these atoms, up to a constant of the measurements."""
        return density.evidence + self.constant - cost(self.atoms)


class Fitting:
    """Fits to one answer.

    Args:
        likelihood: What was measured, and how noisily.
        answer: What was measured, on the scale of the likelihood's weights, shape (M,).
        records: How many there are, or seem to be; above 0.
    """

    def __init__(self, likelihood: Likelihood, answer: Float64, records: float) -> None:
        self.likelihood, self.answer, self.records = likelihood, answer, records
        self.weighed = likelihood.weigh(answer)

    def histogram(self) -> Float64:
        """Expected records in each bin, at least 0, shape (N,)."""
        smooth = self._candidate([], PRIORS)
        candidates = [smooth]
        stiff = self._candidate([], [STIFF])
        for first in (smooth, stiff):
            found = self._with_atoms(first)
            if found is not None:
                candidates.append(found)
        best = max(each.evidence(each.best) for each in candidates)
        total, weights = np.zeros(self.likelihood.size), 0.0
        for candidate in candidates:
            for density in candidate.densities:
                weight = float(np.exp(candidate.evidence(density) - best))
                if weight > _WEIGHED:
                    total += weight * (candidate.held + density.mass * self.likelihood.even(density.shares))
                    weights += weight
        return total / weights

    def _candidate(self, atoms: list[Float64], priors: Iterable[Prior], start: Float64 | None = None) -> Candidate:
        held = np.sum(atoms, axis=0) if atoms else np.zeros(self.likelihood.size)
        taken = self.likelihood.times(held)
        weighed = self.likelihood.means(self.weighed - taken)
        densities = list[Smooth]()
        for prior in priors:
            densities.append(fit(self.likelihood, weighed, self.records - float(held.sum()), prior, start))
            start = densities[-1].coefficients
        return Candidate(atoms, held, densities, float(held @ (self.weighed - taken / 2)))

    def _with_atoms(self, candidate: Candidate) -> Candidate | None:
        """Atoms around the best density and densities around the atoms, in turns; None where no atom is found."""
        priors: Iterable[Prior] = PRIORS
        for number in range(_ROUNDS):
            best, before = candidate.best, candidate.atoms
            weighed = self.weighed - self.likelihood.times(candidate.held)
            search = Search(self.likelihood, self.answer, weighed, best, candidate.held, self.records)
            atoms, added = search.improved(before)
            if not atoms:
                return None
            held = sum(float(atom.sum()) for atom in atoms)
            if held > _LARGEST * self.records:
                atoms = [atom * (_LARGEST * self.records / held) for atom in atoms]
            candidate = self._candidate(atoms, priors, best.coefficients)
            least = candidate.best.evidence - _DROPPED
            priors = [each.prior for each in candidate.densities if each.evidence > least]
            if number > 1 and not added and len(atoms) == len(before):
                break
        return candidate
