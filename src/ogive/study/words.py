"""A study in words, for the owner of the records who is asked to approve it."""

from __future__ import annotations

from ogive.privacy import Adjacency
from ogive.provenance import trust_rows
from ogive.study.document import MERGE, Study
from ogive.study.predicted import predicted
from ogive.trust.central.model import Central
from ogive.trust.secagg.model import SecAgg
from ogive.trust.simulation import Simulation


def in_words(study: Study, number: int | None) -> str:
    """Everything that an owner of records has to know before approving.

    Args:
        study: The study.
        number: The number of the party whose owner reads; None for anybody.
    """
    names = ", ".join(party.name for party in study.parties)
    lines = [
        f"Study {study.name}" + (f": {study.title}" if study.title else ""),
        f"SHA-256 {study.digest.hex()}",
        "",
        f"Parties ({len(study.parties)}): {names}",
    ]
    if number is not None:
        lines.append(f"You are party {number}, {study.parties[number - 1].name}.")
    lines += [
        f"The guarantee hides: {study.unit.words}",
        f"Budget of your records for all releases together: {study.budget}",
        *(_merging(study) if study.trust == MERGE else _adding(study)),
        "",
    ]
    return "\n".join([*lines, _predicted(study)]) + "\n"


def _adding(study: Study) -> list[str]:
    """Who sees what where only sums are opened."""
    options = study.aggregation
    together = options.colluding
    return [
        *(said for _, said in trust_rows(options.terms.assumption(simulated=False))),
        f"Who could learn more: the coordinator together with more than {_parties(together)} of this list.",
        "The coordinator sees who takes part and when"
        + (", and the number of records of each party." if study.unit.adjacency is Adjacency.REPLACE else "."),
        f"Up to {_parties(options.dropouts)} may leave a release; it is then released without their records."
        if options.dropouts
        else "Every party has to stay to the end of a release.",
    ]


def _merging(study: Study) -> list[str]:
    """Who sees what where each party releases its own curve."""
    return [
        "Your agent releases a curve of your records alone, under your own ledger. The coordinator adds the curves up.",
        "Everyone may see your curve. It is private by itself, and nobody else has to be trusted.",
        "The sum has the noise of all parties: as a share of all records, your own curve's error divided by the square "
        f"root of {len(study.parties)} where all are of one size.",
        f"Up to {_parties(study.dropouts)} may be missing from the sum."
        if study.dropouts
        else "Every party has to send one.",
    ]


def _parties(number: int) -> str:
    return "1 party" if number == 1 else f"{number} parties"


def _predicted(study: Study) -> str:
    """Predicted errors, bytes and time."""
    if study.trust == MERGE:
        return predicted(study, records=max(study.records // len(study.parties), 1), trust=Central)
    options = study.aggregation
    simulation = Simulation(SecAgg, parties=len(study.parties), colluding=options.colluding, dropouts=options.dropouts)
    return predicted(study, records=study.records, trust=simulation)
