"""A study in words, for the owner of the records who is asked to approve it."""

from __future__ import annotations

from ogive.planning import plan
from ogive.provenance import trust_rows
from ogive.statistics.base import innermost
from ogive.study.document import Study, StudyRelease
from ogive.trust.secagg.model import SecAgg
from ogive.trust.simulation import Simulation


def in_words(study: Study, number: int | None) -> str:
    """Everything that an owner of records has to know before approving.

    Args:
        study: The study.
        number: The number of the party whose owner reads; None for anybody.
    """
    options = study.options
    names = ", ".join(party.name for party in study.parties)
    together = options.colluding
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
        *(said for _, said in trust_rows(options.terms.assumption(simulated=False))),
        f"Who could learn more: the coordinator together with more than {together} "
        f"{'party' if together == 1 else 'parties'} of this list.",
        "The coordinator sees who takes part and when"
        + (", and the number of records of each party." if study.unit.adjacency.value == "replace" else "."),
        f"Up to {options.dropouts} parties may leave a release; it is then released without their records."
        if options.dropouts
        else "Every party has to stay to the end of a release.",
        "",
    ]
    for release in study.releases:
        part = innermost(release.statistic)
        lines += [f"Release {release.name}: {part.name} under {release.privacy}", _planned(study, release), ""]
    return "\n".join(lines).rstrip() + "\n"


def _planned(study: Study, release: StudyRelease) -> str:
    """Predicted error, bytes and time."""
    simulation = Simulation(
        SecAgg, parties=len(study.parties), colluding=study.options.colluding, dropouts=study.options.dropouts
    )
    found = plan(
        release.statistic,
        privacy=release.privacy,
        records=study.records,
        adjacency=study.unit.adjacency,
        person=study.unit.person,
        max_rows_per_person=study.unit.max_rows_per_person,
        trust=simulation,
        public=study.unit.public,
    )
    return str(found)
