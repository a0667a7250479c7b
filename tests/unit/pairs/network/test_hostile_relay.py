"""Studies whose relay drops, repeats, reorders, redirects and changes messages, and whose people leave and restart."""

import random
from collections import Counter

import numpy as np
import pytest
from helpers.pairs_network import Network, person_of, study_of
from helpers.scope import size

from ogive.crypto.twoparty import Step
from ogive.errors import PeerError
from ogive.pairs import permutations, round_robin, with_replacement
from ogive.study.pairs.relay import read_user

KIND = 5
"""Place of a message's type in its header."""
SENDER, RECEIVER, END = 56, 60, 64


def changed(data, rng):
    place = rng.randrange(len(data))
    match rng.randrange(4):
        case 0:
            return data[:place]
        case 1:
            return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]
        case 2:
            return data + b"\0"
        case _:
            return data[:SENDER] + data[RECEIVER:END] + data[SENDER:RECEIVER] + data[END:]


class Hostile(Network):
    """A study with a relay that does as it likes; counts the halves that people let go."""

    def __init__(self, study, values, rng):
        super().__init__(study, values, at_once=rng.choice([1, 2, 64]))
        self.rng = rng
        self.halves = {user: set() for user in range(len(values))}
        self.seen = []
        self.happened = Counter()

    def hand_over(self, receiver, data):
        try:
            if receiver == 0:
                self.say(0, self.collector.receive(data, self.now))
            elif receiver - 1 in self.here:
                said = self.people[receiver - 1].receive(data)
                self.halves[receiver - 1] |= {message for _, message in said if message[KIND] == Step.HALF}
                self.say(receiver, said)
        except PeerError:
            self.happened["refused"] += 1

    def step(self):
        rng, user = self.rng, self.rng.randrange(len(self.values))
        place = rng.randrange(len(self.queue)) if rng.random() < 0.1 else 0
        _, receiver, data = self.queue.pop(place)
        self.seen.append(data)
        what = rng.choices(
            ("carried", "dropped", "changed", "repeated", "redirected", "left", "restarted", "returned"),
            (81, 3, 4, 2, 4, 2, 2, 2),
        )[0]
        self.happened[what] += 1
        if what == "changed":
            self.hand_over(receiver, changed(data, rng))
        elif what == "repeated":
            self.hand_over(receiver, data)
        elif what == "redirected":
            self.hand_over(rng.randrange(len(self.values) + 1), rng.choice(self.seen))
        elif what == "left" and user in self.here:
            self.leave(user)
        elif what == "returned" and user not in self.here:
            self.come_back(user)
        elif what == "restarted":
            note = self.people[user]._note
            self.people[user] = person_of(self.study, user, self.values[user], note=note)
        if what != "dropped":
            self.hand_over(receiver, data)


def test_whatever_a_relay_does_outputs_are_right_and_nobody_gives_more_halves_than_agreed():
    happened = Counter()
    for seed in range(size(60, part=25)):
        rng = random.Random(seed)
        users = rng.randrange(2, 7)
        designs = (
            round_robin(users, rng.randrange(1, max(2, users - 1)), seed=b"hostile"),
            permutations(users, rng.randrange(1, 4), seed=b"hostile"),
            with_replacement(users, rng.randrange(1, 6), seed=b"hostile"),
        )
        design = rng.choice(designs)
        values = [rng.randrange(64) for _ in range(users)]
        network = Hostile(study_of(design.pairs, users), values, rng)
        found = network.run()
        assert {*found.outputs} | {*found.lost} == {*range(len(found.pairs))}
        assert not {*found.outputs} & {*found.lost}
        for pair in found.outputs:
            first, second = found.pairs[pair]
            assert found.values(pair) == {"difference": abs(values[first] - values[second])}
        for user, halves in network.halves.items():
            assert len(halves) <= design.degrees[user]
        happened += network.happened + Counter(opened=len(found.outputs), lost=len(found.lost))
    assert min(happened[each] for each in ("opened", "lost", "refused", "changed", "left", "restarted", "returned")) > 5


@pytest.mark.parametrize("number", [0, 4, 2**32 - 1])
def test_a_relay_that_speaks_of_nobody_is_refused(number):
    study = study_of(np.array([[0, 1]]), 3)
    assert [read_user(study, each.to_bytes(4, "little")) for each in (1, 2, 3)] == [0, 1, 2]
    with pytest.raises(PeerError, match="no person with number"):
        read_user(study, number.to_bytes(4, "little"))
