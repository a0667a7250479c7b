"""What the three participants of a pair agree on beforehand, and never take from each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from ogive.crypto.channels import PUBLIC_KEY_BYTES
from ogive.crypto.circuits import Circuit
from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.garbling.schedule import Schedule, schedule_of
from ogive.crypto.twoparty.messages import Step, body_bytes, is_extended
from ogive.crypto.wire import STUDY_BYTES
from ogive.errors import ParameterError

AGGREGATOR = 0
"""Number of who sees the outputs; parties are numbered from 1."""
_KEPT = 64


@dataclass(frozen=True)
class Participant:
    """One party of a pair.

    Fields:
        number: From 1, below 2^32.
        key: Its Ed25519 public key.
    """

    number: int
    key: bytes


@dataclass(frozen=True)
class PairSettings:
    """One evaluation of one circuit by one pair.

    Fields:
        study: Digest of all that the pair belongs to, 32 bytes.
        pair: Number of the pair within it, so that a pair that meets twice has two sessions.
        circuit: What is evaluated.
        garbler: Who garbles.
        evaluator: Who evaluates.
        aggregator: Ed25519 public key of who sees the outputs.

    Raises:
        ParameterError: a digest or key has another length, a number is out of its range, or two are the same.
    """

    study: bytes
    pair: int
    circuit: Circuit
    garbler: Participant
    evaluator: Participant
    aggregator: bytes

    def __post_init__(self) -> None:
        if len(self.study) != STUDY_BYTES:
            raise ParameterError(f"the digest of the study must have {STUDY_BYTES} bytes, got {len(self.study)}")
        if not 0 <= self.pair < 1 << 64:
            raise ParameterError(f"the number of the pair must be from 0 and below 2^64, got {self.pair}")
        numbers = (self.garbler.number, self.evaluator.number)
        if min(numbers) < 1 or max(numbers) >> 32 or numbers[0] == numbers[1]:
            raise ParameterError(f"a pair must be of two parties, numbered from 1 and below 2^32, got {numbers}")
        keys = (self.aggregator, self.garbler.key, self.evaluator.key)
        if any(len(key) != PUBLIC_KEY_BYTES for key in keys) or len(set(keys)) != len(keys):
            raise ParameterError("everybody in a pair needs an Ed25519 public key of their own, of 32 bytes")

    @cached_property
    def digest(self) -> bytes:
        """32 bytes that tell this pair from all others; every message carries them."""
        return digest(
            HashDomain.TWOPARTY_SETTINGS,
            self.study,
            number(self.pair),
            _circuit_digest(self.circuit),
            number(self.garbler.number),
            self.garbler.key,
            number(self.evaluator.number),
            self.evaluator.key,
            self.aggregator,
        )

    @property
    def schedule(self) -> Schedule:
        """The order in which the circuit is garbled; made once for all pairs that run it."""
        return _schedule(self.circuit)

    @property
    def extended(self) -> bool:
        return is_extended(self.circuit)

    @property
    def outputs(self) -> int:
        """How many bits are opened."""
        return len(self.circuit.output_wires)

    def public(self, number: int) -> bytes:
        """The public key of a participant."""
        return {
            AGGREGATOR: self.aggregator,
            self.garbler.number: self.garbler.key,
            self.evaluator.number: self.evaluator.key,
        }[number]

    def body_bytes(self, step: Step) -> int:
        """Length of the body of a message before it is sealed."""
        return body_bytes(self.circuit, step)


@lru_cache(_KEPT)
def _schedule(circuit: Circuit) -> Schedule:
    return schedule_of(circuit)


@lru_cache(_KEPT)
def _circuit_digest(circuit: Circuit) -> bytes:
    return circuit.digest()
