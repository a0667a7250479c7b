"""A study of people in words, for those who are asked to take part."""

from __future__ import annotations

from ogive.crypto.twoparty.messages import pair_bytes
from ogive.provenance import trust_rows
from ogive.study.pairs.document import PeopleStudy
from ogive.study.pairs.meeting import Meeting
from ogive.study.predicted import predicted
from ogive.trust.pairs.model import Pairs
from ogive.trust.simulation import Simulation


def in_words(study: PeopleStudy, number: int | None) -> str:
    """Everything that a person has to know before taking part.

    Args:
        study: The study.
        number: The number of the person who reads; None for anybody.
    """
    protocol = Meeting.of(study).protocol
    sent = max(sum(pair_bytes(circuit).values()) for circuit in protocol.circuits.values())
    lines = [
        f"Study {study.name}" + (f": {study.title}" if study.title else ""),
        f"SHA-256 {study.digest.hex()}",
        "",
        f"People: {study.records:,}, who meet in {len(protocol.design):,} pairs, each person in at most "
        f"{int(protocol.agreed.max())}",
    ]
    if number is not None:
        lines.append(f"You are person {number}, in {int(protocol.agreed[number - 1])} of them.")
    lines += [
        f"No pair begins after {study.deadline.isoformat()}",
        f"The guarantee hides: {study.unit.words}",
        f"Budget of each person's record: {study.budget}",
        *(said for _, said in trust_rows(study.assumption)),
        f"The two people of a pair send {sent:,} bytes, most of them to each other.",
        "",
        predicted(study, records=study.records, trust=Simulation(Pairs)),
    ]
    return "\n".join(lines) + "\n"
