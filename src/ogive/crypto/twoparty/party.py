"""A party of a pair: a state machine from bytes to bytes.

    invitation -> its hello to the aggregator, and of the evaluator to the garbler, who was invited before it
    the partner's hello -> the garbler's to the evaluator, and what a role begins with
    every message of the partner -> what a role answers, and its half to the aggregator at the end

Any bytes are accepted or raise PeerError. What is not from whom it should be, or not the next step, leaves the party as
it was; what is, but malformed, ends the pair. Once a pair is over its secrets are dropped and arrays overwritten, as
far as Python allows: bytes that were made on the way stay in memory until it is used for something else.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.arrays import Bool
from ogive.crypto.twoparty.evaluator import Evaluator
from ogive.crypto.twoparty.garbler import Garbler
from ogive.crypto.twoparty.mailbox import Mailbox, Outgoing
from ogive.crypto.twoparty.messages import OPEN_STEPS, Step
from ogive.crypto.twoparty.settings import AGGREGATOR, PairSettings
from ogive.errors import ParameterError, PeerError

Note = Callable[[bytes, bytes], bytes | None]
"""Notes a value for good unless the token has one, and says which it had, None for none."""


class Role(Protocol):
    """What a garbler or an evaluator computes."""

    expected: tuple[Step, ...]
    """Steps of the partner that it waits for, in turn."""

    def begin(self) -> dict[Step, bytes]:
        """Bodies by step, before anything was received."""

    def answer(self, step: Step, body: bytes) -> dict[Step, bytes]:
        """Bodies by step, for the partner and of the half for the aggregator.

        Raises:
            PeerError: the body is malformed.
        """

    def erase(self) -> None:
        """Overwrite secrets."""


class PairParty:
    """The garbler or the evaluator of a pair, for one session.

    Args:
        settings: Agreed on beforehand.
        number: The party's, which says its role.
        bits: Its inputs in the order of their wires, values and noise (`drawn_bits`), shape (wires,).
        key: Its enrolment key, whose public half is in the settings.
        note: Called as note(token, value) before its half is made, which must not be given twice; has to outlive the
            process and be one for all of the party's sessions, or a restarted party could be asked for another output
            of the same pair, which nobody has agreed to.
        random: Gives so many random bytes.

    Raises:
        ParameterError: the number is of neither party, the key another's, or there are more or fewer bits than inputs.
    """

    def __init__(
        self,
        settings: PairSettings,
        number: int,
        bits: Bool,
        *,
        key: Ed25519PrivateKey,
        note: Note,
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:
        if number not in (settings.garbler.number, settings.evaluator.number):
            raise ParameterError(f"number {number} is not of this pair")
        self._garbles = number == settings.garbler.number
        wanted = settings.circuit.garbler_bits if self._garbles else settings.circuit.evaluator_bits
        if bits.shape != (wanted,):
            raise ParameterError(f"this party has {wanted} inputs, got bits of shape {bits.shape}")
        self._settings = settings
        self._number = number
        self._partner = (settings.evaluator if self._garbles else settings.garbler).number
        self._bits = bits.copy()
        self._note = note
        self._random = random
        self._mailbox = Mailbox(settings, number, key, random)
        self._role: Role | None = None
        self._openings = {number: self._mailbox.opening}
        self._expected: tuple[Step, ...] = OPEN_STEPS
        self.spent = False
        """Whether its half may have left it: then the pair counts, whatever became of it."""

    @property
    def over(self) -> bool:
        """Whether no message is expected any more."""
        return not self._expected

    def receive(self, data: bytes) -> list[Outgoing]:
        """From a message to the messages that answer it.

        Raises:
            PeerError: it is not the next message of who should send it, or malformed, or the half was given before.
        """
        if self.over:
            raise PeerError("this party has nothing more to say in this pair")
        step = self._expected[0]
        read = self._mailbox.read_opening if step in OPEN_STEPS else self._mailbox.unseal
        sender, body = read(data, step)
        try:
            said = self._answer(step, sender, body)
        except PeerError:
            self.close()
            raise
        self._expected = self._expected[1:]
        if self.over:
            self.close()
        return said

    def close(self) -> None:
        """Give the pair up, or end it: nothing is said any more, and secrets are dropped."""
        self._expected = ()
        self._bits.fill(False)
        if self._role is not None:
            self._role.erase()
            self._role = None
        self._mailbox.close()

    def _answer(self, step: Step, sender: int, body: bytes) -> list[Outgoing]:
        if step is Step.INVITE:
            self._openings[sender] = body
            self._mailbox.invited(body)
            # to the aggregator first: then it knows the session before it can get a half
            receivers = (AGGREGATOR,) if self._garbles else (AGGREGATOR, self._partner)
            return self._hellos(*receivers)
        if step is Step.HELLO:
            said = self._hellos(self._partner) if self._garbles else []
            self._openings[sender] = body
            self._mailbox.meet(self._openings)
            kind = Garbler if self._garbles else Evaluator
            role: Role = kind(self._settings, self._mailbox.session, self._bits, self._random)
            self._role = role
            self._expected += role.expected
            return said + self._sealed(role.begin())
        assert self._role is not None
        return self._sealed(self._role.answer(step, body))

    def _hellos(self, *receivers: int) -> list[Outgoing]:
        return [self._mailbox.write_opening(Step.HELLO, receiver) for receiver in receivers]

    def _sealed(self, bodies: dict[Step, bytes]) -> list[Outgoing]:
        if Step.HALF in bodies:
            if self._note(b"pair " + self._settings.digest, b"") is not None:
                raise PeerError("this party gave its half of this pair before")
            self.spent = True
        return [
            self._mailbox.seal(step, AGGREGATOR if step is Step.HALF else self._partner, body)
            for step, body in bodies.items()
        ]
