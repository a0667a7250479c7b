"""Any study in words, for those who are asked to approve it or to take part."""

from __future__ import annotations

from ogive.crypto.twoparty import pair_bytes
from ogive.errors import OgiveError
from ogive.privacy import Adjacency
from ogive.provenance import trust_rows
from ogive.releasing.planning.predict import Planned, plan_taken
from ogive.releasing.planning.text import heading, tables
from ogive.study.document import MERGE, AnyStudy, PeopleStudy, ServersStudy, Study
from ogive.study.pairs.study import Meeting
from ogive.study.servers.uploads import report_bytes
from ogive.trust import models, pairs, table
from ogive.trust.secagg.model import SecAgg
from ogive.trust.servers.model import Servers
from ogive.trust.servers.uploads import KEYS, SUMS, TABLES


def in_words(study: AnyStudy, number: int | None) -> str:
    """Everything that somebody has to know before taking part; `number` is their party's, server's or person's own."""
    if isinstance(study, ServersStudy):
        about = _servers(study, number)
    else:
        about = _people(study, number) if isinstance(study, PeopleStudy) else _parties(study, number)
    who, you, owner, seen, trust, records = about
    return "\n".join(
        [
            f"Study {study.name}" + (f": {study.title}" if study.title else ""),
            f"SHA-256 {study.digest.hex()}",
            "",
            who,
            *([] if number is None else [you]),
            *([f"No pair begins after {study.deadline.isoformat()}"] if isinstance(study, PeopleStudy) else []),
            f"The guarantee hides: {study.unit.words}",
            f"Budget of {owner}: {study.budget}",
            *seen,
            "",
            _predicted(study, records=records, trust=trust),
            "",
        ]
    )


def _predicted(study: AnyStudy, *, records: int, trust: Planned) -> str:
    plans = {}
    for release in study.releases:
        try:
            plan = plan_taken(release.statistic, privacy=release.privacy, records=records, unit=study.unit, trust=trust)
        except OgiveError as problem:
            raise problem.prefixed(f"release {release.name}") from None
        plans[f"Release {release.name}: {heading(plan)}, {records:,} records, {release.privacy}"] = plan
    return tables(plans)


_About = tuple[str, str, str, list[str], Planned, int]
"""Who takes part, who reads, whose the budget is, who sees what, and what predicts."""


def _parties(study: Study, number: int | None) -> _About:
    count, records = len(study.parties), study.records
    trust: Planned = table.Central
    if study.trust == MERGE:
        records = max(records // count, 1)
        seen = [
            "Your agent releases a curve of your records alone, under your own ledger. "
            "The coordinator adds the curves up.",
            "Everyone may see your curve. It is private by itself, and nobody else has to be trusted.",
            "The sum has the noise of all parties: as a share of all records, your own curve's error divided by the "
            f"square root of {count} where all are of one size.",
            f"Up to {_some(study.dropouts)} may be missing from the sum."
            if study.dropouts
            else "Every party has to send one.",
        ]
    else:
        options = study.aggregation
        trust = models.Simulation(SecAgg, parties=count, colluding=options.colluding, dropouts=options.dropouts)
        seen = [
            *(text for _, text in trust_rows(study.assumption)),
            f"Who could learn more: the coordinator together with more than {_some(options.colluding)} of this list.",
            "The coordinator sees who takes part and when"
            + _public(study, ", and the number of records of each party."),
            f"Up to {_some(options.dropouts)} may leave a release; it is then released without their records."
            if options.dropouts
            else "Every party has to stay to the end of a release.",
        ]
    who = f"Parties ({count}): {', '.join(party.name for party in study.parties)}"
    you = f"You are party {number}, {study.parties[(number or 1) - 1].name}."
    return who, you, "your records for all releases together", seen, trust, records


def _servers(study: ServersStudy, number: int | None) -> _About:
    words = {KEYS: "comparison keys", TABLES: "tables in shares", SUMS: "sums of its records in shares"}
    kinds = " and ".join(dict.fromkeys(words[each.uploads.kind] for each in study.collected))
    names = [server.name for server in study.servers]
    terms = study.terms
    sender = "each organization" if study.organizations else "a person"
    seen = [
        *(text for _, text in trust_rows(study.assumption)),
        f"What {sender} sends once: {kinds}, {report_bytes(study):,} bytes, each part encrypted to one server.",
        "Every server sees who uploads and when" + _public(study, ", and the number of uploads is published."),
    ]
    options = {"servers": terms.servers, "upload": terms.upload, "parties": terms.parties, "colluding": terms.colluding}
    who = f"Servers ({len(names)}): {', '.join(names)}; {names[0]} takes the uploads"
    you = f"You run server {number}, {names[number or 0]}."
    owner = "each person's record for all releases together"
    return who, you, owner, seen, models.Simulation(Servers, **options), study.records


def _people(study: PeopleStudy, number: int | None) -> _About:
    protocol = Meeting.of(study).protocol
    sent = max(sum(pair_bytes(circuit).values()) for circuit in protocol.circuits.values())
    who = (
        f"People: {study.records:,}, who meet in {len(protocol.design):,} pairs, each person in at most "
        f"{int(protocol.agreed.max())}"
    )
    you = f"You are person {number}, in {int(protocol.agreed[(number or 1) - 1])} of them."
    seen = [
        *(text for _, text in trust_rows(study.assumption)),
        f"The two people of a pair send {sent:,} bytes, most of them to each other.",
    ]
    return who, you, "each person's record", seen, models.Simulation(pairs.Pairs), study.records


def _public(study: AnyStudy, words: str) -> str:
    return words if study.unit.adjacency is Adjacency.REPLACE else "."


def _some(number: int) -> str:
    return "1 party" if number == 1 else f"{number} parties"
