"""Studies in words, for those who are asked to approve them or to take part."""

from __future__ import annotations

from ogive.crypto.twoparty import pair_bytes
from ogive.errors import OgiveError
from ogive.privacy import Adjacency
from ogive.provenance import trust_rows
from ogive.releasing.planning.predict import Planned, plan_taken
from ogive.releasing.planning.text import heading, tables
from ogive.study.common import Document
from ogive.study.document import MERGE, Study
from ogive.study.pairs.document import PeopleStudy
from ogive.study.pairs.terms import Meeting
from ogive.study.servers.document import ServersStudy
from ogive.study.servers.uploads import report_bytes
from ogive.trust.models import Simulation
from ogive.trust.pairs import Pairs
from ogive.trust.secagg.model import SecAgg
from ogive.trust.servers.model import Servers
from ogive.trust.servers.uploads import KEYS, SUMS, TABLES
from ogive.trust.table import Central

# --- Studies of any kind


def _named(study: Document) -> list[str]:
    """Name, title and digest of a study."""
    return [f"Study {study.name}" + (f": {study.title}" if study.title else ""), f"SHA-256 {study.digest.hex()}", ""]


def predicted(study: Document, *, records: int, trust: Planned) -> str:
    """A table for each release, of the method that it will use, and what the columns say."""
    plans = {}
    for release in study.releases:
        try:
            plan = plan_taken(release.statistic, privacy=release.privacy, records=records, unit=study.unit, trust=trust)
        except OgiveError as problem:
            raise problem.prefixed(f"release {release.name}") from None
        plans[f"Release {release.name}: {heading(plan)}, {records:,} records, {release.privacy}"] = plan
    return tables(plans)


# --- A study of organizations that keep their rows


def in_words(study: Study, number: int | None) -> str:
    """Everything that an owner of records has to know before approving; `number` is their party's, None for anybody."""
    names = ", ".join(party.name for party in study.parties)
    lines = [
        *_named(study),
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


# --- A study whose servers add up what people upload

_SENT = {KEYS: "comparison keys", TABLES: "tables in shares", SUMS: "sums of its records in shares"}


def servers_in_words(study: ServersStudy, number: int | None) -> str:
    """Everything that somebody has to know before uploading, or before running the server of that number."""
    names = ", ".join(server.name for server in study.servers)
    sender = "each organization" if study.organizations else "a person"
    kinds = " and ".join(dict.fromkeys(_SENT[each.uploads.kind] for each in study.collected))
    lines = [
        *_named(study),
        f"Servers ({len(study.servers)}): {names}; {study.servers[0].name} takes the uploads",
    ]
    if number is not None:
        lines.append(f"You run server {number}, {study.servers[number].name}.")
    lines += [
        f"The guarantee hides: {study.unit.words}",
        f"Budget of each person's record for all releases together: {study.budget}",
        *(said for _, said in trust_rows(study.assumption)),
        f"What {sender} sends once: {kinds}, {report_bytes(study):,} bytes, each part encrypted to one server.",
        "Every server sees who uploads and when"
        + (", and the number of uploads is published." if study.unit.adjacency is Adjacency.REPLACE else "."),
        "",
    ]
    terms = study.terms
    options = {"servers": terms.servers, "upload": terms.upload, "parties": terms.parties, "colluding": terms.colluding}
    simulation = Simulation(Servers, **options)
    return "\n".join([*lines, predicted(study, records=study.records, trust=simulation)]) + "\n"


# --- A study of people who meet in pairs


def people_in_words(study: PeopleStudy, number: int | None) -> str:
    """Everything that a person has to know before taking part."""
    protocol = Meeting.of(study).protocol
    sent = max(sum(pair_bytes(circuit).values()) for circuit in protocol.circuits.values())
    lines = [
        *_named(study),
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
