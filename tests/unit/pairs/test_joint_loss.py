"""What all of a person's pairs cost together: exact losses of all outputs of whole designs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from ogive.crypto.circuits.sampling import LaplaceLaw, ResponseLaw
from ogive.pairs import Design, divisors, round_robin, sampled_partners

SEED = b"joint"
DESIGNS = {
    "tournament": round_robin(4, 2, seed=SEED),
    "odd tournament": round_robin(5, 2, seed=SEED),
    "random degrees": sampled_partners(4, 1, seed=SEED),
    "a star": Design(4, np.array([[0, 1], [2, 0], [0, 3]])),
}


def joint(outputs):
    """Probability of every list of outputs of independent pairs."""
    found = {}
    for drawn in itertools.product(*(law.items() for law in outputs)):
        chance = Fraction(1)
        for _, each in drawn:
            chance *= each
        found[tuple(output for output, _ in drawn)] = chance
    return found


def responses(law, value):
    return {index: 1 - law.change if index == value else law.change for index in range(2)}


def sums(law, value):
    return {value + noise: law.probability(noise) for noise in range(-law.largest, law.largest + 1)}


def neighbours(design):
    """Two lists of bits that differ in one person, for every person and some others' bits."""
    for others in ([0] * design.users, [1] * design.users, [place % 2 for place in range(design.users)]):
        for person in range(design.users):
            for bit in (0, 1):
                yield person, [*others[:person], bit, *others[person + 1 :]], [*others[:person], 1 - bit,
                                                                              *others[person + 1 :]]  # fmt: skip


def outputs_of(design, laws, people, law_of):
    """Of the kernel that says whether two bits differ, so that each change of a bit changes it."""
    pairs = design.pairs.tolist()
    return [law_of(law, people[i] ^ people[j]) for law, (i, j) in zip(laws, pairs, strict=True)]


@pytest.mark.parametrize("name", DESIGNS)
def test_responses_of_a_whole_design_cost_nobody_more_than_epsilon(name):
    design, epsilon = DESIGNS[name], Fraction(3, 2)
    laws = [ResponseLaw.of(epsilon / int(part), values=2) for part in divisors(design)]
    lost = dict.fromkeys(range(design.users), 0.0)
    for person, one, other in neighbours(design):
        ours, theirs = (joint(outputs_of(design, laws, people, responses)) for people in (one, other))
        lost[person] = max(lost[person], *(math.log(ours[key] / theirs[key]) for key in ours))
    assert max(lost.values()) <= epsilon
    assert max(lost.values()) == pytest.approx(float(epsilon), rel=1e-9)
    # each person spends its own pairs, and no other's
    stated = [sum(law.epsilon for law, pair in zip(laws, design.pairs, strict=True) if person in pair)
              for person in range(design.users)]  # fmt: skip
    assert list(lost.values()) == pytest.approx(stated, rel=1e-9, abs=1e-12)


def test_control_laws_of_the_mean_degree_cost_somebody_more():
    design, epsilon = DESIGNS["a star"], Fraction(3, 2)
    mean = Fraction(2 * len(design), design.users)
    law = ResponseLaw.of(epsilon / mean, values=2)
    ours, theirs = (
        joint(outputs_of(design, [law] * len(design), people, responses)) for people in ([0] * 4, [1, 0, 0, 0])
    )
    assert max(math.log(ours[key] / theirs[key]) for key in ours) > 1.9 * epsilon


@pytest.mark.parametrize("name", ["tournament", "a star"])
def test_truncated_noise_of_a_whole_design_costs_nobody_more_than_epsilon_and_delta(name):
    design, epsilon = DESIGNS[name], Fraction(2)
    laws = [LaplaceLaw.of(epsilon / int(part), sensitivity=1, digits=2, precision=16) for part in divisors(design)]
    touched = [[law for law, pair in zip(laws, design.pairs, strict=True) if person in pair] for person in range(4)]
    for person, one, other in itertools.islice(neighbours(design), 4):
        spent, delta = (sum(each) for each in zip(*((law.epsilon, law.delta) for law in touched[person]), strict=True))
        # pairs without the person are the same in both, so that they are left out
        chosen = [place for place, pair in enumerate(design.pairs.tolist()) if person in pair]
        ours, theirs = (
            joint([outputs_of(design, laws, people, sums)[place] for place in chosen]) for people in (one, other)
        )
        lost = sum(max(0.0, float(p) - math.exp(spent) * float(theirs.get(key, 0))) for key, p in ours.items())
        assert 0 < lost <= delta
        # control: a part of the pairs' deltas is not enough
        assert len(chosen) == 1 or lost > delta / len(chosen)
