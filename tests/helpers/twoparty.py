"""One pair in one process: its three participants, and every message that they sent."""

from fractions import Fraction

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.crypto.circuits import Builder, LaplaceLaw, ResponseLaw
from ogive.crypto.circuits.arithmetic import absolute_difference, kendall, less
from ogive.crypto.circuits.sampling import (
    add_laplace,
    index_of_sign,
    respond_binary,
    respond_ternary,
    uniform_bits,
)
from ogive.crypto.twoparty import AGGREGATOR, PairAggregator, PairParty, PairSettings, Participant

STUDY = b"a study of pairs, of 32 bytes......"[:32]
GARBLER, EVALUATOR = 3, 7


def enrolment(number: int) -> Ed25519PrivateKey:
    """A participant's fixed private key."""
    return Ed25519PrivateKey.from_private_bytes((1000 + number).to_bytes(32, "big"))


def public(number: int) -> bytes:
    return enrolment(number).public_key().public_bytes_raw()


def settings_of(circuit, **more) -> PairSettings:
    chosen = {
        "study": STUDY,
        "pair": 5,
        "garbler": Participant(GARBLER, public(GARBLER)),
        "evaluator": Participant(EVALUATOR, public(EVALUATOR)),
        "aggregator": public(AGGREGATOR),
    }
    return PairSettings(circuit=circuit, **{**chosen, **more})


class Notes:
    """What a party noted for good."""

    def __init__(self):
        self.values = {}

    def __call__(self, token, value):
        earlier = self.values.get(token)
        self.values.setdefault(token, value)
        return earlier


def deliver_in_any_order(queue, step, rng):
    """Deliver messages as a relay may: of each sender in order, and to each receiver in the order in which it got them.

    Args:
        queue: List of (sender, receiver, data), in the order in which they were sent; steps add to it.
        step: Takes the first of the queue and delivers it.
        rng: Says who is next.
    """
    at_relay = []
    while queue or at_relay:
        sent = {each[0]: place for place, each in reversed(list(enumerate(queue)))}
        waiting = {each[1]: place for place, each in reversed(list(enumerate(at_relay)))}
        choice = int(rng.integers(len(sent) + len(waiting)))
        if choice < len(sent):
            at_relay.append(queue.pop(list(sent.values())[choice]))
        else:
            queue.insert(0, at_relay.pop(list(waiting.values())[choice - len(sent)]))
            step()


class Pair:
    """Three participants, and what is on its way between them, in order.

    Args:
        settings: Of the pair.
        garbler: Bits of the garbler.
        evaluator: Bits of the evaluator.
        notes: Of both parties, from an earlier session.
    """

    def __init__(self, settings, garbler, evaluator, *, notes=None):
        self.settings = settings
        self.bits = {GARBLER: np.asarray(garbler, bool), EVALUATOR: np.asarray(evaluator, bool)}
        self.notes = notes or {GARBLER: Notes(), EVALUATOR: Notes()}
        self.aggregator = PairAggregator(settings, key=enrolment(AGGREGATOR))
        self.parties = {
            number: PairParty(settings, number, bits, key=enrolment(number), note=self.notes[number])
            for number, bits in self.bits.items()
        }
        self.queue = [(AGGREGATOR, *self.aggregator.invitation)]
        self.sent = []

    def deliver(self, receiver, data):
        """Hand a message over, and put answers in the queue."""
        machine = self.aggregator if receiver == AGGREGATOR else self.parties[receiver]
        self.queue += [(receiver, *outgoing) for outgoing in machine.receive(data)]

    def step(self):
        sender, receiver, data = self.queue.pop(0)
        self.sent.append((sender, receiver, data))
        self.deliver(receiver, data)

    def run(self, until=None):
        """Deliver all, or until `until` messages were delivered; the outputs."""
        while self.queue and (until is None or len(self.sent) < until):
            self.step()
        return self.aggregator.outputs


def gini_circuit(width=4, epsilon=Fraction(1), digits=5, precision=16):
    law = LaplaceLaw.of(epsilon, sensitivity=(1 << width) - 1, digits=digits, precision=precision)
    builder = Builder()
    value = absolute_difference(builder.garbler("x", width), builder.evaluator("x", width))
    return builder.finish({"noisy": add_laplace(value, law, uniform_bits(builder, law.uniform_bits))})


def auc_circuit(width=8, epsilon=Fraction(1), precision=16):
    law = ResponseLaw.of(epsilon, values=2, precision=precision)
    builder = Builder()
    value = less(builder.garbler("x", width), builder.evaluator("x", width))
    return builder.finish({"noisy": respond_binary(value, law, uniform_bits(builder, law.uniform_bits))})


def kendall_circuit(width=8, epsilon=Fraction(1), precision=16):
    law = ResponseLaw.of(epsilon, values=3, precision=precision)
    builder = Builder()
    sides = [[side(name, width) for name in ("y", "z")] for side in (builder.garbler, builder.evaluator)]
    value = index_of_sign(kendall(*map(tuple, sides)))
    return builder.finish({"noisy": respond_ternary(value, law, uniform_bits(builder, law.uniform_bits))})
