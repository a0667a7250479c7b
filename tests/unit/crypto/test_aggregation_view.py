"""What the server and the parties who collude with it see depends on the other vectors through their sum alone.

Once exactly, with masks in Z_4 and every value of those that nobody knows; and once with the whole protocol: the same
messages, byte for byte, come out of other vectors with the same sum if some masks are others, which are uniform to who
does not know their seeds.
"""

from collections import Counter, defaultdict
from itertools import pairwise, product

import numpy as np
import pytest
from helpers.aggregation import Session, settings
from vectors.make_aggregation import fixed

from ogive.crypto.aggregation import Round
from ogive.crypto.aggregation import settings as masks
from ogive.crypto.domains import words

QUARTER = 1 << 62
"""Multiples of it, modulo 2^64, are Z_4."""


def seed(low, high):
    return f"{low} and {high}".encode()


def masked(monkeypatch, party, value, mask_values, neighbours):
    """What the party sends if its vector is one number of Z_4, and so are all masks."""
    monkeypatch.setattr(masks, "words", lambda each, count: np.array([QUARTER * mask_values[each]], np.uint64))
    pairs = {other: seed(*sorted((party, other))) for other in neighbours}
    sent = masks.mask_vector(np.array([QUARTER * value], np.uint64), party=party, own=seed(party, party), pairs=pairs)
    return int(sent[0]) // QUARTER


def views(monkeypatch, *, honest, neighbours, hidden, known):
    """Distribution of what honest parties send, for every choice of their vectors: sum -> the distributions there are.

    Args:
        honest: The honest parties in the sum.
        neighbours: Of each of them.
        hidden: Pairs whose masks nobody else knows; they take all values.
        known: Values of the other masks.
    """
    found = defaultdict(list)
    for vectors in product(range(4), repeat=len(honest)):
        seen = Counter()
        for values in product(range(4), repeat=len(hidden)):
            table = known | {seed(*pair): value for pair, value in zip(hidden, values, strict=True)}
            seen[
                tuple(
                    masked(monkeypatch, party, vector, table, neighbours[party])
                    for party, vector in zip(honest, vectors, strict=True)
                )
            ] += 1
        found[sum(vectors) % 4].append(seen)
    return found


def known_masks(rng, pairs):
    return {seed(*pair): int(rng.integers(4)) for pair in pairs}


# parties 1, 2 and 3 are honest and in the sum; 4 colludes; 5 is honest and left, so its private key was opened.
# Own masks of those in the sum are opened too.
OPENED = [(1, 1), (2, 2), (3, 3), (1, 4), (2, 4), (3, 4), (1, 5), (2, 5), (3, 5)]
EVERYBODY = {1: (2, 3, 4, 5), 2: (1, 3, 4, 5), 3: (1, 2, 4, 5)}


def test_all_vectors_with_one_sum_look_alike(monkeypatch):
    rng = np.random.default_rng(1)
    found = views(
        monkeypatch,
        honest=(1, 2, 3),
        neighbours=EVERYBODY,
        hidden=[(1, 2), (1, 3), (2, 3)],
        known=known_masks(rng, OPENED),
    )
    assert len(found) == 4
    for seen in found.values():
        assert len(seen) == 16
        assert all(each == seen[0] for each in seen)
        assert set(seen[0].values()) == {4}, "uniform among 16 that add up"
    assert len({tuple(sorted(seen[0].items())) for seen in found.values()}) == 4, "and the sum is seen"


def test_a_connected_graph_of_honest_parties_is_enough(monkeypatch):
    rng = np.random.default_rng(2)
    chain = {1: (2, 4), 2: (1, 3, 4), 3: (2, 5)}
    found = views(
        monkeypatch, honest=(1, 2, 3), neighbours=chain, hidden=[(1, 2), (2, 3)], known=known_masks(rng, OPENED)
    )
    assert all(each == seen[0] for seen in found.values() for each in seen)


@pytest.mark.parametrize(
    ("neighbours", "hidden", "opened"),
    [
        # party 1 shares masks with party 4 alone, who colludes: its vector is seen
        ({1: (4,), 2: (3, 4), 3: (2, 4)}, [(2, 3)], []),
        # both secrets of party 1 were opened
        (EVERYBODY, [(2, 3)], [(1, 2), (1, 3)]),
        # a server that knows the masks of two honest parties
        (EVERYBODY, [(1, 3)], [(1, 2), (2, 3)]),
    ],
    ids=["apart", "both secrets", "two pairs"],
)
def test_with_fewer_masks_vectors_with_one_sum_look_different(monkeypatch, neighbours, hidden, opened):
    """Controls: what the settings, and the rule of one secret a party, are for."""
    rng = np.random.default_rng(3)
    known = known_masks(rng, OPENED + opened)
    found = views(monkeypatch, honest=(1, 2, 3), neighbours=neighbours, hidden=hidden, known=known)
    assert any(each != seen[0] for seen in found.values() for each in seen)


# --- the whole protocol


def play(vectors, agreed, leaving, shifts=None):
    """All messages to the server, what a colluding party holds at every step, and the seeds of pairs.

    Args:
        vectors: One a party.
        agreed: The settings.
        leaving: Who leaves when.
        shifts: Seed -> what is added to its stream.
    """
    shifts = shifts or {}
    masks.words = lambda each, count: words(each, count) + shifts.get(each, np.zeros(count, np.uint64))
    try:
        randoms = [fixed(number) for number in range(1, len(vectors) + 1)]
        session = Session(agreed, vectors, leaving=leaving, randoms=randoms)
        sent, held = [], []
        pairs = {}
        collude = session.parties[max(session.parties)]
        for step in session.rounds:
            held.append(collude.to_bytes())
            answers = session.answers()
            sent.append(answers)
            if step is Round.SHARES:
                pairs = {number: dict(party._pairs) for number, party in session.parties.items()}
            for data in answers.values():
                session.server.receive(data)
            session.close()
            sent.append(dict(session.inbox))
    finally:
        masks.words = words
    return sent, held, pairs, session.server.sum().tolist()


def compensated(vectors, others, honest, pairs):
    """What to add to the masks along a path of honest parties, so that `others` are masked as `vectors` were."""
    shifts = {}
    carried = np.zeros(len(vectors[0]), np.uint64)
    for party, after in pairwise(honest):
        carried = carried + vectors[party - 1] - others[party - 1]
        shifts[pairs[party][after]] = carried
    return shifts


CASES = {
    "nobody leaves": ({}, (1, 2, 3, 4)),
    "one leaves before its vector": ({2: Round.INPUT}, (1, 3, 4)),
    "one leaves after its vector": ({3: Round.CONFIRM}, (1, 2, 3, 4)),
    "two leave": ({1: Round.SHARES, 4: Round.UNMASK}, (2, 3, 4)),
}


@pytest.mark.parametrize("case", CASES)
def test_other_vectors_with_the_same_sum_give_the_same_messages_under_other_masks(case):
    leaving, honest = CASES[case]
    rng = np.random.default_rng(4)
    agreed = settings(6, dropouts=2, colluding=1)
    vectors = list(rng.integers(0, 2**64, size=(6, 3), dtype=np.uint64))
    others = list(vectors)
    for party in honest[:-1]:
        others[party - 1] = rng.integers(0, 2**64, size=3, dtype=np.uint64)
    rest = np.sum([vectors[party - 1] - others[party - 1] for party in honest[:-1]], axis=0, dtype=np.uint64)
    others[honest[-1] - 1] = vectors[honest[-1] - 1] + rest
    sent, held, pairs, total = play(vectors, agreed, leaving)
    again, held_again, _, total_again = play(others, agreed, leaving, compensated(vectors, others, honest, pairs))
    assert total == total_again
    assert sent == again, "the server sees the same bytes in every round"
    assert held == held_again, "and so does who colludes with it"
    # controls: without other masks, or with another sum, not so
    assert play(others, agreed, leaving)[0] != sent
    others[honest[0] - 1] = others[honest[0] - 1] + np.uint64(1)
    assert play(others, agreed, leaving, compensated(vectors, others, honest, pairs))[0] != sent


def test_what_a_party_that_left_would_have_sent_is_never_seen():
    rng = np.random.default_rng(5)
    agreed = settings(5, dropouts=1)
    vectors = list(rng.integers(0, 2**64, size=(5, 3), dtype=np.uint64))
    others = [*vectors[:4], rng.integers(0, 2**64, size=3, dtype=np.uint64)]
    leaving = {5: Round.INPUT}
    assert play(vectors, agreed, leaving)[0] == play(others, agreed, leaving)[0]
    assert play(vectors, agreed, {})[0] != play(others, agreed, {})[0]
