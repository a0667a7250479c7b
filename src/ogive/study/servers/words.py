"""A study of servers in words, for those who are asked to upload and those who run a server."""

from __future__ import annotations

from ogive.privacy import Adjacency
from ogive.provenance import trust_rows
from ogive.study.predicted import predicted
from ogive.study.servers.document import ServersStudy
from ogive.study.servers.reports import report_bytes
from ogive.trust.servers.model import Servers
from ogive.trust.servers.uploads import KEYS, SUMS, TABLES
from ogive.trust.simulation import Simulation

_SENT = {KEYS: "comparison keys", TABLES: "tables in shares", SUMS: "sums of its records in shares"}


def in_words(study: ServersStudy, number: int | None) -> str:
    """Everything that somebody has to know before uploading, or before running a server.

    Args:
        study: The study.
        number: The number of the server whose operator reads; None for anybody.
    """
    names = ", ".join(server.name for server in study.servers)
    kinds = " and ".join(dict.fromkeys(_SENT[each.uploads.kind] for each in study.collected))
    lines = [
        f"Study {study.name}" + (f": {study.title}" if study.title else ""),
        f"SHA-256 {study.digest.hex()}",
        "",
        f"Servers ({len(study.servers)}): {names}; {study.servers[0].name} takes the uploads",
    ]
    if number is not None:
        lines.append(f"You run server {number}, {study.servers[number].name}.")
    lines += [
        f"The guarantee hides: {study.unit.words}",
        f"Budget of each person's record for all releases together: {study.budget}",
        *(said for _, said in trust_rows(study.assumption)),
        f"What {_sender(study)} sends once: {kinds}, {report_bytes(study):,} bytes, each part encrypted to one server.",
        "Every server sees who uploads and when"
        + (", and the number of uploads is published." if study.unit.adjacency is Adjacency.REPLACE else "."),
        "",
    ]
    terms = study.terms
    options = {"servers": terms.servers, "upload": terms.upload, "parties": terms.parties, "colluding": terms.colluding}
    simulation = Simulation(Servers, **options)
    return "\n".join([*lines, predicted(study, records=study.records, trust=simulation)]) + "\n"


def _sender(study: ServersStudy) -> str:
    return "each organization" if study.organizations else "a person"
