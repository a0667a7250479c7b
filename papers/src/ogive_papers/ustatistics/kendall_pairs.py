"""Figure 4, in pairs: sampled pairs and all pairs with noise of two parties, simulated, and what theory says of them.

What two parties compute is the kernel with noise that neither knows (`ogive.crypto.circuits`). Who meets whom is drawn
as the protocol draws it. Of the noise only its sum matters, which is drawn by its own law: a sum of Laplace variables
is a difference of two gamma variables, and responses are counted by value. Both are exact, and take no longer for the
30 billion pairs of 243 713 people than for a few.

The paper's truth is the coefficient of the very records. Theorem 5 is about records that are drawn too, and the
coefficient of what they are drawn from; so the same pairs are formed of new records as well, drawn from the ratings
with replacement, and errors of both kinds are squared beside their own prediction.
"""

from __future__ import annotations

import numpy as np

from ogive.core.arrays import Float64, Int8, Int64
from ogive.pairs import (
    FixedRecords,
    LaplaceNoise,
    Overlaps,
    ResponseNoise,
    fixed_records,
    optimal_pairs,
    permutations,
    round_robin,
)
from ogive_papers.items import Numbers
from ogive_papers.ustatistics import all_pairs
from ogive_papers.ustatistics.ratings import signs

ROUNDS = (1, 2, 5, 10)
"""P: in how many pairs everybody is."""

DRAWN, RENEWED = 30, 10
"""Permutations of a run, and how many of them share new records: 30 estimates for P = 1, and 3 for P = 10."""

TOURNAMENTS = 2
"""Tournaments of a run at each number of rounds."""

SAMPLED = {rounds: f"sampled pairs, P = {rounds}, Laplace" for rounds in ROUNDS}
ALL = "all pairs, advanced composition, Laplace"
ALL_EXACT = "all pairs, exact composition, ternary"
ONE, BEST = "tournament, P = 1, ternary", "tournament, best P, ternary"
BEST_ROUNDS = "best P"

SQUARE, GIVEN = "squared error", "predicted given the records"
FRESH, THEOREM, PRINTED = "squared error of new records", "Theorem 5, corrected", "Theorem 5, as printed"

VALUES = (-1.0, 0.0, 1.0)
WIDTH = 2.0
"""Of the kernel: one record can change it from -1 to 1."""


def of(protocol: str, quantity: str) -> str:
    """The name of a quantity of a protocol."""
    return f"{protocol}: {quantity}"


def errors(counts: Int64, epsilon: float, generator: np.random.Generator) -> Numbers:
    """Mean absolute and squared errors of one run of every protocol in pairs, and their predictions.

    Args:
        counts: Reviews per pair of levels, in one row.
        epsilon: Of each person.
        generator: Of public randomness.
    """
    kernel, users = signs(), int(counts.sum())
    known = fixed_records(kernel, counts)
    mean, zeta1, zeta2 = components(kernel, counts / users)
    by_value = values_of_all(kernel, counts)
    numbers = _sampled(counts, epsilon, known, mean, generator)
    for rounds, name in SAMPLED.items():
        pairs = rounds * (users // 2)
        noise = LaplaceNoise(WIDTH).variance(epsilon / rounds) / pairs
        design = Overlaps.permutations(users, rounds)
        numbers[of(name, GIVEN)] = known.variance(design) + noise
        numbers[of(name, THEOREM)] = design.variance(zeta1, zeta2) + noise
        numbers[of(name, PRINTED)] = design.variance(zeta1, zeta2) + noise / 2
    response = ResponseNoise(VALUES, tuple((by_value / by_value.sum()).tolist()))
    best = optimal_pairs(users, epsilon, zeta1, zeta2, response)
    numbers[BEST_ROUNDS] = best
    for name, rounds in ((ONE, 1), (BEST, best)):
        off = tournaments(counts, epsilon, rounds, known.mean, generator)
        numbers |= _errors(name, off)
        noise = response.variance(epsilon / rounds) / (rounds * (users // 2))
        numbers[of(name, GIVEN)] = known.variance(Overlaps.round_robin(users, rounds)) + noise
    total, score = int(by_value.sum()), int(by_value[2] - by_value[0])
    scale = WIDTH / all_pairs.advanced(epsilon, users - 1)
    noisy = score + laplace_sums(scale, total, DRAWN, generator)
    numbers |= _errors(ALL, noisy / total - known.mean)
    own = all_pairs.exact(epsilon, users - 1)
    answers = np.array([response_sum(by_value, own, generator) for _ in range(DRAWN)])
    return numbers | _errors(ALL_EXACT, answers / total - known.mean)


def components(kernel: Float64, shares: Float64) -> tuple[float, float, float]:
    """The mean of the kernel over independent records, zeta1 and zeta2.

    Args:
        kernel: Between kinds of records, shape (kinds, kinds).
        shares: Of each kind, adding up to 1.
    """
    mean = float(shares @ kernel @ shares)
    apart = kernel - mean
    return mean, float(shares @ (apart @ shares) ** 2), float(shares @ apart**2 @ shares)


def values_of_all(kernel: Float64, counts: Int64) -> Int64:
    """How many of all pairs are of each of `VALUES`."""
    ordered = np.outer(counts, counts) - np.diag(counts)
    return np.array([int(ordered[kernel == value].sum()) // 2 for value in VALUES])


def laplace_sums(scale: float, count: int, size: int, generator: np.random.Generator) -> Float64:
    """Sums of so many Laplace variables each, shape (size,): a gamma variable less another one."""
    sums: Float64 = scale * (generator.gamma(count, size=size) - generator.gamma(count, size=size))
    return sums


def response_sum(by_value: Int64, epsilon: float, generator: np.random.Generator) -> float:
    """Sum of decoded ternary responses.

    Args:
        by_value: How many pairs are of each of `VALUES`.
        epsilon: Of each pair.
        generator: Of public randomness.
    """
    response = ResponseNoise(VALUES)
    keep = response.keep(epsilon)
    chances = keep * np.eye(len(VALUES)) + (1 - keep) / len(VALUES)
    answers = generator.multinomial(by_value, chances).sum(axis=0)
    return float(answers @ response.decoded(epsilon))


def tournaments(counts: Int64, epsilon: float, rounds: int, truth: float, generator: np.random.Generator) -> Float64:
    """Errors of tournaments with ternary responses, shape (TOURNAMENTS,).

    Args:
        counts: Reviews per pair of levels, in one row.
        epsilon: Of each person, divided by the rounds.
        rounds: P.
        truth: What is estimated.
        generator: Of public randomness.
    """
    users = int(counts.sum())
    here = np.repeat(np.arange(counts.size, dtype=np.int8), counts)
    results = []
    for _ in range(TOURNAMENTS):
        pairs = round_robin(users, rounds, seed=generator.bytes(16)).pairs
        by_value = np.bincount(_values(here, pairs) + 1, minlength=len(VALUES))
        results.append(response_sum(by_value, epsilon / rounds, generator) / len(pairs) - truth)
    return np.array(results)


def _sampled(
    counts: Int64, epsilon: float, known: FixedRecords, mean: float, generator: np.random.Generator
) -> Numbers:
    """Errors of the paper's permutations, of these records and of new ones.

    Rounds are independent, so that every P of them in a row are a design of P permutations.
    """
    users = known.users
    pairs = permutations(users, DRAWN, seed=generator.bytes(16)).pairs.reshape(DRAWN, users // 2, 2)
    kinds = np.arange(counts.size, dtype=np.int8)
    here = there = np.repeat(kinds, counts)
    scores, fresh = np.empty(DRAWN), np.empty(DRAWN)
    for place, drawn in enumerate(pairs):
        if place % RENEWED == 0:
            # users are in random places, so that it does not matter in which order their records stand
            there = np.repeat(kinds, generator.multinomial(users, counts / users))
        scores[place] = _values(here, drawn).sum(dtype=np.int64)
        fresh[place] = _values(there, drawn).sum(dtype=np.int64)
    numbers: Numbers = {}
    for rounds, name in SAMPLED.items():
        size = rounds * (users // 2)
        for each, truth, quantity in ((scores, known.mean, SQUARE), (fresh, mean, FRESH)):
            sums = each.reshape(-1, rounds).sum(axis=1)
            off = (sums + laplace_sums(WIDTH * rounds / epsilon, size, sums.size, generator)) / size - truth
            numbers |= _errors(name, off) if quantity == SQUARE else {of(name, quantity): float((off**2).mean())}
    return numbers


def _values(records: Int8, pairs: Int64) -> Int8:
    """The kernel of each pair of records, shape (pairs,)."""
    kernel = signs().astype(np.int8)
    result: Int8 = kernel[records[pairs[:, 0]], records[pairs[:, 1]]]
    return result


def _errors(name: str, off: Float64) -> Numbers:
    return {name: float(np.abs(off).mean()), of(name, SQUARE): float((off**2).mean())}
