"""Who sees the outputs of a pair: a state machine from bytes to bytes.

    `invitation` to the garbler;  its hello -> the invitation to the evaluator, whose hello follows;
    each party's half -> the outputs, once both are in

Learns the outputs and nothing else. Any bytes are accepted or raise PeerError, and what raises leaves it as it was, but
for an authentic message that is malformed, which ends the pair. A pair that was given up (`close`) takes nothing any
more.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.arrays import Bool
from ogive.crypto.twoparty.mailbox import Mailbox, Outgoing
from ogive.crypto.twoparty.messages import Step, read_bits
from ogive.crypto.twoparty.settings import AGGREGATOR, PairSettings
from ogive.errors import PeerError

_PARTICIPANTS = 3


class PairAggregator:
    """The aggregator of a pair, for one session.

    Args:
        settings: Agreed on beforehand.
        key: Its enrolment key, whose public half is in the settings.
        random: Gives so many random bytes.

    Raises:
        ParameterError: the key is another's.
    """

    def __init__(
        self, settings: PairSettings, *, key: Ed25519PrivateKey, random: Callable[[int], bytes] = os.urandom
    ) -> None:
        self._settings = settings
        self._mailbox = Mailbox(settings, AGGREGATOR, key, random)
        self._openings = {AGGREGATOR: self._mailbox.opening}
        parties = (settings.garbler.number, settings.evaluator.number)
        self.invitation, self._second = (self._mailbox.write_opening(Step.INVITE, party) for party in parties)
        self._mailbox.invited(self._mailbox.opening)
        self._halves: dict[int, Bool] = {}
        self._over = False
        self.outputs: Bool | None = None
        """The circuit's output bits, shape (outputs,), once there are any."""

    @property
    def begun(self) -> bool:
        """Whether both parties have said hello: from then on either may have given its half, arrived or not."""
        return len(self._openings) == _PARTICIPANTS

    @property
    def over(self) -> bool:
        """Whether no message is accepted any more."""
        return self._over

    def receive(self, data: bytes) -> list[Outgoing]:
        """Take a party's hello, or its half, and say what follows; after the second half there are `outputs`.

        The evaluator is invited once the garbler has answered: so nobody hears of a pair before it was invited to it.

        Raises:
            PeerError: it is neither, comes too early, too late or again, or is malformed.
        """
        if self._over:
            raise PeerError("this pair is over, and nothing more is taken")
        step = Step.HALF if self.begun else Step.HELLO
        read = self._mailbox.unseal if self.begun else self._mailbox.read_opening
        sender, body = read(data, step)
        try:
            return self._take(step, sender, body)
        except PeerError:
            self.close()
            raise

    def close(self) -> None:
        """Give the pair up, or end it; a half that has come alone is dropped, and tells nothing."""
        self._over = True
        self._halves = {}
        self._mailbox.close()

    def _take(self, step: Step, sender: int, body: bytes) -> list[Outgoing]:
        if step is Step.HELLO:
            self._openings[sender] = body
            if not self.begun:
                return [self._second]
            self._mailbox.meet(self._openings)
            return []
        self._halves[sender] = read_bits(body, self._settings.outputs)
        if len(self._halves) == _PARTICIPANTS - 1:
            first, second = self._halves.values()
            self.outputs = first ^ second
            self.close()
        return []
